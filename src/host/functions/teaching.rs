//! Teaching: the manual, and the docs of one function.

use super::call::{Call, Table};
use super::modules;
use crate::base::Owner;
use crate::base::limits::thousands;
use crate::engine::{Fallible, fail};
use crate::host::core::host_core::HostCore;
use crate::render::teach::{self, FunctionDoc, Variant};
use crate::render::value::whole;
use rhai::{Dynamic, NativeCallContext};

pub(super) fn register(table: &mut Table) {
    const MANUAL: &str =
        "How to work here: the concepts, and a reference of every function. Read it once before real work.";
    table.doc("manual", &["manual()"], MANUAL);
    table.api.function("manual", &["string"], MANUAL, |context: NativeCallContext<'_>| {
        let call = Call::of(&context)?;
        let variant = {
            let mut registry = call.host.registry();
            registry.manual_read(call.owner());
            let tasks = match call.owner() {
                Owner::Session(session) => registry.client_of(session).is_some_and(|client| client.tasks),
                Owner::Local => false,
            };
            if tasks { Variant::Tasks } else { Variant::Await }
        };
        let text = teach::manual(&call.host.describe, variant, &call.host.docs, &call.host.embedded, &call.host.limits);
        Ok::<_, Box<rhai::EvalAltResult>>(whole(text))
    });

    const DOC: &str = "
Prints how a function is called and what it does: one of this host, of the language, of an embedded module (`doc(\"orders::count\")`),
of a script module (`doc(\"stats::mean\")`), of the space you are in, of another space (`doc(\"@workshop::mean\")`), or a whole
module (`doc(\"stats\")`).

```rhai
doc(\"sleep\")
```";
    table.doc("doc", &["doc(\"name\")"], DOC);
    table.api.function("doc", &["name: string"], DOC, |context: NativeCallContext<'_>, name: &str| {
        let call = Call::of(&context)?;
        let name = name.trim().trim_end_matches("()");
        if let Some(problem) = too_long(name) {
            return Err(fail("BadArgument", problem));
        }
        let Some(found) = find(&call.host, call.task.space().name(), name)? else {
            let near = near(&call.host, name);
            let more = if near.is_empty() { String::new() } else { format!("; did you mean: {}", near.join(", ")) };
            return Err(fail("NotFound", format!("nothing is known about `{name:.80}`{more}")));
        };
        call.task.print("print", found.trim_end());
        Ok(Dynamic::UNIT)
    });
}

impl HostCore {
    /// The docs of a function or a module, for the prompt; or why there is nothing to say.
    pub(in crate::host) fn documentation(&self, name: &str) -> Result<String, String> {
        let name = name.trim().trim_end_matches("()");
        if let Some(problem) = too_long(name) {
            return Err(problem);
        }
        let place = self.registry().current(Owner::Local).unwrap_or_default();
        match find(self, &place, name) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(teach::no_doc(name, &near(self, name))),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The reason why nothing is looked up under a name: comparing it with all others would take long.
fn too_long(name: &str) -> Option<String> {
    const LONGEST: usize = 200;
    let length = name.chars().count();
    (length > LONGEST).then(|| format!("a name has at most {LONGEST} characters, not {}", thousands(length)))
}

/// The docs behind a name, for somebody who is in `place`: a space or a module.
fn find(host: &HostCore, place: &str, name: &str) -> Fallible<Option<String>> {
    if let Some(own) = host.docs.iter().find(|doc| is_called(doc, name)) {
        return Ok(Some(teach::doc(own)));
    }
    let (module, function) = match name.rsplit_once("::") {
        Some((module, function)) => (Some(module), function),
        None => (None, name),
    };
    let facts: Vec<_> = host
        .runtime
        .functions()
        .iter()
        .filter(|facts| facts.name == function && facts.module.as_deref() == module)
        .collect();
    if let Some(first) = facts.first() {
        // What is said of a function that is made anew here counts more than what Rhai says of its own.
        let of = |hidden: bool| facts.iter().filter(move |facts| facts.hidden == hidden).map(|facts| facts.doc.trim());
        let doc = of(false).chain(of(true)).find(|doc| !doc.is_empty()).unwrap_or_default();
        let mut signatures: Vec<_> = facts
            .iter()
            .filter(|facts| !facts.hidden)
            .map(|facts| match module {
                Some(module) => format!("{module}::{}", facts.signature),
                None => facts.signature.clone(),
            })
            .collect();
        signatures.dedup();
        return Ok(Some(teach::doc(&FunctionDoc { name: first.name.clone(), signatures, doc: doc.to_owned() })));
    }
    let found = modules::doc(host, name)?;
    Ok(found.or_else(|| modules::doc_of_space(host, place, name)))
}

/// Names that are near, best first.
fn near(host: &HostCore, name: &str) -> Vec<String> {
    let mut names: Vec<String> = host.docs.iter().map(|doc| doc.name.clone()).collect();
    names.extend(host.runtime.functions().iter().map(|facts| match &facts.module {
        Some(module) => format!("{module}::{}", facts.name),
        None => facts.name.clone(),
    }));
    names.sort();
    names.dedup();
    let mut near: Vec<_> = names
        .into_iter()
        .map(|other| (strsim::normalized_damerau_levenshtein(name, &other), other))
        .filter(|(score, _)| *score > 0.6)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(3).map(|(_, other)| other).collect()
}

/// Whether a function is what somebody means who asks for `name`: `sleep`, or a method as it is written, `atom.swap`.
fn is_called(doc: &FunctionDoc, name: &str) -> bool {
    let call = format!("{name}(");
    doc.name == name || doc.signatures.iter().any(|signature| signature.starts_with(&call))
}
