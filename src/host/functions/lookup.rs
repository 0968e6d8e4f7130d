//! The docs behind a name: of a variable, a function, a keyword, a type, a module, a page of the manual. What is no name is left to
//! the search beside this file.

use super::modules;
use crate::base::limits::thousands;
use crate::engine::{Fallible, FunctionFacts};
use crate::host::core::host_core::HostCore;
use crate::render::plain::duration;
use crate::render::teach::{self, FunctionDoc, VariableDoc, Word};
use crate::render::value::{Budget, value};
use crate::spaces::Space;
use std::cmp::Reverse;
use std::sync::Arc;

/// The reason why nothing is looked up under a name: comparing it with all others would take long.
pub(super) fn too_long(name: &str) -> Option<String> {
    const LONGEST: usize = 200;
    let length = name.chars().count();
    (length > LONGEST).then(|| format!("a name has at most {LONGEST} characters, not {}", thousands(length)))
}

/// A question about a name, by somebody who is in `place`: a space or a module.
pub(super) struct Lookup<'a> {
    pub(super) host: &'a Arc<HostCore>,
    pub(super) place: &'a str,
    /// Whether to go on.
    pub(super) check: &'a dyn Fn() -> Fallible<()>,
}

/// A name as it was asked for, without what does not belong to it: `own()` is `own`.
pub(super) fn bare(name: &str) -> &str {
    let name = name.trim();
    name.strip_suffix("()").filter(|bare| !bare.is_empty()).unwrap_or(name)
}

impl Lookup<'_> {
    /// All that has this name, the nearest to the caller first.
    pub(super) fn named(&self, name: &str) -> Fallible<Option<String>> {
        let host = self.host;
        let mut parts = Vec::new();
        parts.extend(self.variable(name));
        parts.extend(modules::doc_of_space(host, self.place, name));
        parts.extend(host.docs.iter().find(|doc| is_called(doc, name)).map(teach::doc));
        if parts.is_empty() || !host.docs.iter().any(|doc| is_called(doc, name)) {
            parts.extend(self.native(name));
        }
        parts.extend(teach::word(name).map(|word| word.entry(&self.functions_of(&word))));
        if parts.is_empty() {
            (self.check)()?;
            parts.extend(modules::doc(host, name)?);
        }
        let page = name.to_lowercase();
        if page == "limits" {
            parts.push(teach::limit_lines(&host.limits).trim_end().to_owned());
        }
        if teach::page_named(&page) {
            parts.push(format!("manual(\"{page}\") is a page about this"));
        }
        Ok((!parts.is_empty()).then(|| parts.join("\n\n")))
    }

    /// The docs of a variable of the place.
    fn variable(&self, name: &str) -> Option<String> {
        let variable = self.space()?.variable(name)?;
        let shown = Budget { bytes: 600, depth: 3, items: 10, head: 7, tail: 3, string: 200, ..Budget::ANSWER };
        let hook = |value: &rhai::Dynamic| self.host.show(value, None);
        let stopped = || (self.check)().is_err();
        let now = self.host.clock.now();
        let set_by = match self.host.registry().get(variable.by, now) {
            Ok(entry) => {
                let whose = entry.by.map_or(String::new(), |by| format!(" of session {by}"));
                let ago = duration(now.since(entry.settled.or(entry.started).unwrap_or(entry.created)));
                format!("entry {}{whose}, {ago} ago", variable.by)
            }
            Err(_) => format!("entry {}, which is gone", variable.by),
        };
        Some(teach::variable(&VariableDoc {
            name: name.to_owned(),
            constant: variable.constant,
            kind: match variable.value.type_name() {
                "i64" => "int",
                "f64" => "float",
                other => other.rsplit("::").next().unwrap_or(other),
            }
            .to_owned(),
            bytes: variable.bytes,
            space: self.place.to_owned(),
            set_by,
            value: value(&variable.value, &shown, &hook, &stopped).text,
        }))
    }

    /// The space that the caller is in.
    fn space(&self) -> Option<Arc<Space>> {
        let id = self.host.registry().find_space(self.place);
        match id {
            Ok(id) => self.host.known_space(id),
            Err(_) => self.host.known_module_space(self.place),
        }
    }

    /// The docs of a native function, of an embedded module too: those overloads first that scripts call most.
    fn native(&self, name: &str) -> Option<String> {
        let (module, function) = match name.rsplit_once("::") {
            Some((module, function)) => (Some(module), function),
            None => (None, name),
        };
        let (of, function) = match function.rsplit_once('.') {
            Some(("", function)) => (None, function),
            Some((of, function)) => (Some(teach::word(of).and_then(|word| word.of_type()).unwrap_or(of)), function),
            None => (None, function),
        };
        let getter = format!("get${function}");
        let all = self.host.runtime.functions();
        let facts: Vec<&FunctionFacts> = all
            .iter()
            .filter(|facts| (facts.name == function || facts.name == getter) && facts.module.as_deref() == module)
            .filter(|facts| of.is_none_or(|of| first_type(&facts.signature) == of))
            .collect();
        let first = facts.first()?;
        let overloads: Vec<_> = ranked(&facts)
            .into_iter()
            .map(|own| {
                let call = match own.name.strip_prefix("get$") {
                    Some(field) => format!(".{field}"),
                    None => module.map_or(own.signature.clone(), |module| format!("{module}::{}", own.signature)),
                };
                (call, doc_of(own, &facts).to_owned())
            })
            .collect();
        Some(teach::overloads(&first.name, &overloads))
    }

    /// The names of the functions that take a value of a type first.
    fn functions_of(&self, word: &Word) -> Vec<&str> {
        let Some(of) = word.of_type() else { return Vec::new() };
        // Of those with a plain number or text first, many are no functions of numbers or texts.
        let plain = of.starts_with(char::is_lowercase);
        let hosts = |name: &str| plain && self.host.docs.iter().any(|doc| doc.name == name);
        let facts = self.host.runtime.functions().iter();
        let mut names: Vec<_> = facts
            .filter(|facts| facts.module.is_none() && !facts.hidden && first_type(&facts.signature) == of)
            .map(|facts| facts.name.as_str())
            .filter(|name| {
                !name.contains('$')
                    && !hosts(name)
                    && teach::word(name).is_none_or(|word| !plain || word.of_type().is_none())
            })
            .filter(|name| !["to_debug", "debug", "print"].contains(name))
            .collect();
        names.dedup();
        names
    }

    /// Names that are near, best first.
    pub(super) fn near(&self, name: &str) -> Fallible<Vec<String>> {
        let host = self.host;
        let mut names: Vec<String> = host.docs.iter().map(|doc| doc.name.clone()).collect();
        names.extend(host.runtime.functions().iter().map(|facts| match &facts.module {
            Some(module) => format!("{module}::{}", facts.name),
            None => facts.name.clone(),
        }));
        names.extend(teach::words().iter().flat_map(|word| word.names.iter().map(|&name| name.to_owned())));
        names.extend(host.library.names());
        if let Some(space) = self.space() {
            names.extend(space.variables().iter().map(ToString::to_string));
        }
        names.retain(|other| !other.contains('$'));
        names.sort();
        names.dedup();
        let mut near = Vec::new();
        for other in names {
            (self.check)()?;
            let score = strsim::normalized_damerau_levenshtein(name, &other);
            if score > 0.6 {
                near.push((score, other));
            }
        }
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(near.into_iter().take(3).map(|(_, other)| other).collect())
    }
}

/// The overloads that can be called: those for the types that scripts use most first, and of one type those with few parameters.
pub(super) fn ranked<'a>(facts: &[&'a FunctionFacts]) -> Vec<&'a FunctionFacts> {
    const USED: [&str; 7] = ["blob", "range", "float", "int", "map", "string", "array"];
    let mut own: Vec<_> = facts.iter().copied().filter(|facts| !facts.hidden).collect();
    own.sort_by_key(|facts| {
        let of = first_type(&facts.signature);
        let used = USED.iter().position(|used| *used == of);
        (Reverse(used), facts.signature.matches(',').count())
    });
    own
}

/// What is said of an overload: its own doc, or that of another for the same type. Of a function that is made anew here counts what
/// is said of the new one.
pub(super) fn doc_of<'a>(own: &'a FunctionFacts, all: &[&'a FunctionFacts]) -> &'a str {
    let of = first_type(&own.signature);
    let others =
        |hidden: bool| all.iter().filter(move |facts| facts.hidden == hidden && first_type(&facts.signature) == of);
    let docs = std::iter::once(own).chain(others(false).copied()).chain(others(true).copied());
    docs.map(|facts| facts.doc.trim()).find(|doc| !doc.is_empty()).unwrap_or_default()
}

/// The type of the first parameter in a signature.
pub(super) fn first_type(signature: &str) -> &str {
    let inside = signature.split_once('(').map_or("", |(_, inside)| inside);
    let first = inside.split([',', ')']).next().unwrap_or_default();
    first.split_once(": ").map_or("", |(_, of)| of)
}

/// Whether a function is what somebody means who asks for `name`: `sleep`, or a method as it is written, `atom.swap`.
fn is_called(doc: &FunctionDoc, name: &str) -> bool {
    let call = format!("{name}(");
    doc.name == name || doc.signatures.iter().any(|signature| signature.starts_with(&call))
}
