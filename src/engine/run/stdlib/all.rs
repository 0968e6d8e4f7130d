//! The module of all standard functions of ours, which every script sees beside those of Rhai and of the host.

use super::atoms;
use super::basics;
use super::callbacks;
use super::comparing;
use super::entries;
use super::showing;
use crate::engine::native::Api;
use rhai::Module;

/// The finished standard module: functions of Rhai that could hang or kill the process, in a form that cannot, and those of
/// atoms and entries.
pub fn stdlib() -> Module {
    let mut api = Api::new();
    basics::register(&mut api);
    comparing::register(&mut api);
    showing::register(&mut api);
    callbacks::register(&mut api);
    atoms::register(&mut api);
    entries::register(&mut api);
    api.build()
}
