//! The pure modules with their names.

use super::{codecs, csv, diff, fmt, hash, json, num, random, re, time, toml, urls};
use rhai::Module;

/// All of them, in the order of the manual.
pub(in crate::toolkit) fn all() -> Vec<(&'static str, Module)> {
    vec![
        ("re", re::module()),
        ("time", time::module()),
        ("random", random::module()),
        ("json", json::module()),
        ("csv", csv::module()),
        ("toml", toml::module()),
        ("hash", hash::module()),
        ("encode", codecs::encode()),
        ("decode", codecs::decode()),
        ("url", urls::module()),
        ("fmt", fmt::module()),
        ("diff", diff::module()),
        ("num", num::module()),
    ]
}
