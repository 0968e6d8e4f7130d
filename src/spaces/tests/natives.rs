//! The functions of the small host.

use super::harness::{Host, Job, Link, PATIENCE};
use crate::base::lock;
use crate::engine::rhai::{Array, Dynamic, FnPtr, FuncRegistration, Map, Module, NativeCallContext};
use crate::engine::{Api, Callable, Ended, EntryHandle, Fallible, Task, Unfinished, call, terminated};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

type Context<'c> = NativeCallContext<'c>;

fn job_of(entry: &EntryHandle) -> Arc<Job> {
    Arc::clone(&entry.ops::<Link>().unwrap().0)
}

fn jobs_of(host: &Host, list: Array) -> Fallible<Vec<Arc<Job>>> {
    list.into_iter()
        .map(|item| match item.as_int() {
            Ok(id) => host.found(id as u64),
            Err(_) => Ok(job_of(&item.cast::<EntryHandle>())),
        })
        .collect()
}

fn handles(jobs: Vec<Arc<Job>>) -> Array {
    jobs.iter().map(|job| Dynamic::from(job.handle())).collect()
}

fn start_child(context: &Context<'_>, function: FnPtr) -> Fallible<EntryHandle> {
    let (host, task) = Host::of(context);
    task.check()?;
    let callable = Callable::bind(context, function)?;
    let parent = host.found(task.id().0)?;
    let child = host.admit(&parent.space, Some(task.id()));
    lock(&parent.children).push(Arc::clone(&child));
    let run = Arc::clone(&child);
    host.launch(&child, move || call(&run.task, callable));
    // A parent that was cancelled meanwhile may have looked through its children already.
    if task.stopped().is_some() {
        child.cancel();
        return Err(terminated());
    }
    Ok(child.handle())
}

pub(super) fn functions() -> Api {
    let mut api = Api::new();
    api.function("bg", &[], "", |context: Context<'_>, f: FnPtr| start_child(&context, f));
    api.function("value", &[], "", |context: Context<'_>, entry: &mut EntryHandle| {
        let (host, task) = Host::of(&context);
        host.value_of(&task, &job_of(entry), None)
    });
    api.function("value", &[], "", |context: Context<'_>, entry: &mut EntryHandle, secs: f64| {
        let (host, task) = Host::of(&context);
        host.value_of(&task, &job_of(entry), Some(secs))
    });
    api.function("cancel", &[], "", |entry: &mut EntryHandle| job_of(entry).cancel());
    api.function("detach", &[], "", |entry: &mut EntryHandle| job_of(entry).detached.store(true, Ordering::SeqCst));
    api.getter("status", "", |entry: &mut EntryHandle| {
        let job = job_of(entry);
        let status = match &*lock(&job.ended) {
            None => "running",
            Some(Ended { result: Ok(_), .. }) => "ok",
            Some(Ended { result: Err(Unfinished::Stopped(_)), .. }) => "cancelled",
            Some(_) => "failed",
        };
        status.to_owned()
    });
    api.getter("parent", "", |entry: &mut EntryHandle| {
        job_of(entry).parent.map_or(Dynamic::UNIT, |id| Dynamic::from(id.0 as i64))
    });
    api.getter("lost", "", |entry: &mut EntryHandle| -> Map { job_of(entry).ended().lost });
    api.function("res", &[], "", |context: Context<'_>, id: i64| -> Fallible<EntryHandle> {
        let (host, _) = Host::of(&context);
        Ok(host.found(id as u64)?.handle())
    });
    api.function("timeout", &[], "", |context: Context<'_>, secs: f64, f: FnPtr| -> Fallible<Dynamic> {
        let (_, task) = Host::of(&context);
        task.within(Duration::from_secs_f64(secs), || f.call_within_context(&context, ()))
    });
    api.function("await_all", &[], "", |context: Context<'_>, list: Array| -> Fallible<Array> {
        let (host, task) = Host::of(&context);
        let jobs = jobs_of(&host, list)?;
        host.await_jobs(&task, &jobs, true, None)?;
        Ok(handles(jobs))
    });
    api.function("await_any", &[], "", |context: Context<'_>, list: Array| -> Fallible<Array> {
        let (host, task) = Host::of(&context);
        let mut jobs = jobs_of(&host, list)?;
        host.await_jobs(&task, &jobs, false, None)?;
        jobs.retain(|job| job.is_done());
        Ok(handles(jobs))
    });
    api.function("gate", &[], "", |context: Context<'_>, name: String| -> Fallible<()> {
        let (host, task) = Host::of(&context);
        {
            let mut gates = lock(&host.gates);
            let gate = gates.entry(name.clone()).or_default();
            gate.arrived += 1;
            gate.waiting.push(task.wake().clone());
            host.gates_changed.notify_all();
        }
        task.wait(None, || lock(&host.gates)[&name].open).map(drop)
    });
    api.function("block_native", &[], "", |context: Context<'_>, name: String| {
        let (host, _) = Host::of(&context);
        let mut gates = lock(&host.gates);
        gates.entry(name.clone()).or_default().arrived += 1;
        host.gates_changed.notify_all();
        let waited = host.gates_changed.wait_timeout_while(gates, PATIENCE, |gates| !gates[&name].open);
        drop(waited);
    });
    api.function("boom", &[], "", || -> i64 { panic!("host function panicked") });
    api.function("whoami", &[], "", |context: Context<'_>| Task::of(&context).id().0 as i64);
    api
}

/// A module of the embedding program, registered without our help.
pub(super) fn embedded() -> Module {
    let mut module = Module::new();
    FuncRegistration::new("count").with_comments(["/// How many."]).set_into_module(&mut module, || 3_i64);
    FuncRegistration::new("crash").set_into_module(&mut module, || -> i64 { panic!("host function panicked") });
    FuncRegistration::new("spoil")
        .in_global_namespace()
        .set_into_module(&mut module, |_: &mut Array| -> i64 { panic!("host function panicked") });
    module
}
