//! The pure modules with their names.

use super::{codecs, csv, diff, fmt, hash, json, num, random, re, time, toml, urls, yaml};
use crate::engine::Api;
use rhai::Module;

/// The name of a module, and what registers its functions.
type Entry = (&'static str, fn(&mut Api));

/// All of them, in the order of the manual.
const ALL: &[Entry] = &[
    ("re", re::register),
    ("time", time::register),
    ("random", random::register),
    ("json", json::register),
    ("csv", csv::register),
    ("toml", toml::register),
    ("yaml", yaml::register),
    ("hash", hash::register),
    ("encode", codecs::register_encode),
    ("decode", codecs::register_decode),
    ("url", urls::register),
    ("fmt", fmt::register),
    ("diff", diff::register),
    ("num", num::register),
];

/// All of them, built.
pub(in crate::toolkit) fn all() -> Vec<(&'static str, Module)> {
    let built = |(name, register): &Entry| {
        let mut api = Api::new();
        register(&mut api);
        (*name, api.build_as(name))
    };
    ALL.iter().map(built).collect()
}
