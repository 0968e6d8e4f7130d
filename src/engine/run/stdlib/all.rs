//! The module of all standard functions of ours, which every script sees beside those of Rhai and of the host.

use super::atoms;
use super::basics;
use super::comparing;
use super::entries;
use super::finding;
use super::json;
use super::lists;
use super::maps;
use super::ranges;
use super::reading;
use super::showing;
use super::sorting;
use super::splitting;
use super::texts;
use crate::engine::native::Api;
use rhai::Module;

/// The finished standard module: functions of Rhai that could hang or kill the process, in a form that cannot, and those of
/// atoms and entries.
pub(crate) fn stdlib() -> Module {
    let mut api = Api::new();
    basics::register(&mut api);
    comparing::register(&mut api);
    finding::register(&mut api);
    showing::register(&mut api);
    lists::register(&mut api);
    maps::register(&mut api);
    ranges::register(&mut api);
    reading::register(&mut api);
    sorting::register(&mut api);
    texts::register(&mut api);
    splitting::register(&mut api);
    json::register(&mut api);
    atoms::register(&mut api);
    entries::register(&mut api);
    api.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Limits;
    use crate::engine::task::runtime::Runtime;

    #[test]
    fn no_function_shows_a_type_of_the_program() {
        let runtime = Runtime::new(Limits::default(), stdlib(), Module::new(), Vec::new());
        let foreign =
            ["&", "Dynamic", "Immutable", "Array", "Map", "Blob", "FnPtr", "i64", "f64", "INT", "<", "::", "Result"];
        for facts in runtime.functions() {
            let signature = &facts.signature;
            assert!(!foreign.iter().any(|word| signature.contains(word)), "{signature}");
            assert!(!facts.doc.contains("`Dynamic`") && !facts.doc.contains("`Array`"), "{signature}: {}", facts.doc);
        }
    }
}
