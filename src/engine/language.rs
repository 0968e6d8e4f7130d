//! [`Language`]: what every eval shares, built once and never changed: the standard functions, the host's, the embedder's.

use crate::words::Limits;
use rhai::Module;

/// The language of one process: limits, standard functions, host functions, and the modules of the embedding program.
#[derive(Clone, Debug)]
pub struct Language {}

/// One native function, for reference texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionFacts {
    /// Its name.
    pub name: String,
    /// The embedded module it lives in; `None` for functions every script sees.
    pub module: Option<String>,
    /// Its signature, as in `sleep(secs: float)`.
    pub signature: String,
    /// Its doc comment, without comment marks.
    pub doc: String,
    /// Whether it is of the standard library rather than the host's.
    pub standard: bool,
}

impl Language {
    /// The language with the host's functions `api` and the embedder's modules, each reachable as `name::f()` in every eval
    /// without an import.
    pub fn new(limits: Limits, api: Module, embedded: Vec<(String, Module)>) -> Self {
        let _ = (limits, api, embedded);
        todo!()
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        todo!()
    }

    /// Every native function, by module and name.
    pub fn functions(&self) -> Vec<FunctionFacts> {
        todo!()
    }
}
