//! The handwritten programs: all ways agree, but for those that are listed.

use super::faults::FAULTS;
use super::programs::{self, Program};
use super::purposes::{Differs, PURPOSES};
use super::runs::{Bench, Outcome, STACK};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

/// Threads that run programs. Each has an engine and a host of its own.
const THREADS: usize = 2;

/// What is wrong with one program.
fn differences(bench: &mut Bench, program: &Program, how: Option<Differs>) -> Result<Vec<String>, String> {
    let plain = bench.plainly(&program.code);
    let (whole, watched) = (bench.whole(&program.code), bench.watched(&program.code));
    let parts = bench.in_parts(&program.code)?;
    let needed = |differs: Option<String>| match differs {
        Some(_) => Ok(()),
        None => Err("nothing differs: it is no purpose any more".to_owned()),
    };
    let meant = match how {
        None | Some(Differs::InParts) => plain,
        Some(Differs::Alone) => {
            needed(plain.against(&whole))?;
            whole.clone()
        }
        Some(Differs::FromPlain) => {
            let counterpart = program.counterpart.as_ref().ok_or("it has no counterpart for plain Rhai")?;
            // It declares what it needs, so its variables are no subject; but all ways agree on those of the program.
            let meant = Outcome { variables: whole.variables.clone(), ..bench.plainly(counterpart) };
            needed(Outcome { variables: None, ..plain }.against(&meant))?;
            meant
        }
    };
    // What a failed program leaves is not what plain Rhai leaves, but it is the same in all ways.
    let variables = meant.variables.clone().or_else(|| whole.variables.clone());
    let meant = Outcome { variables, ..meant };
    let mut ways = vec![("whole", &whole), ("watched", &watched)];
    if how == Some(Differs::InParts) {
        needed(parts.against(&meant))?;
    } else {
        ways.push(("in parts", &parts));
    }
    Ok(ways.iter().filter_map(|(way, outcome)| Some(format!("{way}: {}", outcome.against(&meant)?))).collect())
}

/// Each program's name with what is wrong, in order. The remark is for whoever has to mend the lists.
fn judged(
    programs: &Arc<Vec<Program>>,
    purposes: &Arc<BTreeMap<&'static str, Differs>>,
) -> Vec<(String, Result<Vec<String>, String>)> {
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (programs, purposes) = (Arc::clone(programs), Arc::clone(purposes));
            let work = move || {
                let mut bench = Bench::new();
                let mine = programs.iter().skip(thread).step_by(THREADS);
                mine.map(|program| {
                    let how = purposes.get(program.name.as_str()).copied();
                    (program.name.clone(), differences(&mut bench, program, how))
                })
                .collect::<Vec<_>>()
            };
            std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap()
        })
        .collect();
    threads.into_iter().flat_map(|thread| thread.join().expect("no program ends a thread")).collect()
}

#[test]
fn every_program_means_the_same_each_way() {
    let only = std::env::var("PROGRAM").unwrap_or_default();
    let mut programs = programs::all();
    programs.retain(|program| program.name.contains(&only));
    let purposes: BTreeMap<_, _> =
        PURPOSES.iter().flat_map(|purpose| purpose.programs.iter().map(|name| (*name, purpose.how))).collect();
    let faults: BTreeSet<_> = FAULTS.iter().flat_map(|fault| fault.programs).copied().collect();

    let mut wrong = String::new();
    let mut wrongly = |name: &str, what: &str| writeln!(wrong, "== {name}\n{what}").unwrap();
    for program in &programs {
        if program.counterpart.is_some() && purposes.get(program.name.as_str()) != Some(&Differs::FromPlain) {
            wrongly(&program.name, "it has a counterpart, and no purpose says why");
        }
    }
    for (name, judgement) in judged(&Arc::new(programs), &Arc::new(purposes)) {
        match judgement {
            Err(error) => wrongly(&name, &error),
            Ok(differences) => match (differences.is_empty(), faults.contains(name.as_str())) {
                (true, true) => wrongly(&name, "nothing differs any more: take it off the list of faults"),
                (false, false) => wrongly(&name, &differences.join("\n")),
                _ => {}
            },
        }
    }
    assert!(wrong.is_empty(), "these programs do not mean the same each way:\n{wrong}");
}

#[test]
fn the_lists_name_programs_that_exist_each_once() {
    let programs = programs::all();
    let known: BTreeSet<_> = programs.iter().map(|program| program.name.as_str()).collect();
    let lists = [
        PURPOSES.iter().flat_map(|purpose| purpose.programs).copied().collect::<Vec<_>>(),
        FAULTS.iter().flat_map(|fault| fault.programs).copied().collect::<Vec<_>>(),
    ];
    for list in lists {
        let mut seen = BTreeSet::new();
        for name in list {
            assert!(known.contains(name), "there is no program `{name}`");
            assert!(seen.insert(name), "`{name}` is listed twice");
        }
    }
    assert!(
        PURPOSES.iter().all(|purpose| !purpose.why.is_empty()) && FAULTS.iter().all(|fault| !fault.what.is_empty())
    );
    assert!(programs.len() >= 500, "the corpus has shrunk to {}", programs.len());
}
