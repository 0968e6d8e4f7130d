//! [`Pattern`]: a compiled regular expression, kept for the next call, which searches within a bound of cost.

use crate::base::lock;
use crate::engine::{Fallible, fail};
use regex::{Regex, RegexBuilder};
use regex_automata::Input;
use regex_automata::hybrid::dfa;
use regex_automata::hybrid::regex::{Cache, Regex as LazyRegex};
use regex_automata::nfa::thompson::NFA;
use regex_automata::util::syntax;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The most bytes of a compiled pattern.
const MOST_BYTES: usize = 1 << 20;
/// The deepest brackets of a pattern.
const DEEPEST: u32 = 50;
/// The states times bytes up to which the exact engine works: about 1.5 s at the very worst.
const MOST_STEPS: usize = 200_000_000;
/// The number of patterns that are kept.
const KEPT: usize = 256;

static PATTERNS: Mutex<VecDeque<(String, Arc<Pattern>)>> = Mutex::new(VecDeque::new());

/// A place in a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::toolkit) struct Found {
    pub(in crate::toolkit) start: usize,
    pub(in crate::toolkit) end: usize,
}

/// The groups of a place, each `None` when it took no part.
pub(in crate::toolkit) struct Groups<'t> {
    pub(in crate::toolkit) all: Vec<Option<&'t str>>,
    /// Those with names.
    pub(in crate::toolkit) named: Vec<(String, Option<&'t str>)>,
}

/// A compiled pattern.
pub(in crate::toolkit) struct Pattern {
    regex: Regex,
    states: usize,
    written: String,
    /// The lazy automaton with its memory, once a text was too long for the exact engine.
    lazy: Mutex<Option<(LazyRegex, Cache)>>,
}

impl Pattern {
    /// The pattern that is written so.
    ///
    /// # Errors
    /// `BadPattern`, with what is wrong or the limit.
    pub(in crate::toolkit) fn of(written: &str) -> Fallible<Arc<Self>> {
        let known = {
            let mut patterns = lock(&PATTERNS);
            let at = patterns.iter().position(|(known, _)| known == written);
            let known = at.and_then(|at| patterns.remove(at));
            if let Some(known) = &known {
                patterns.push_back((known.0.clone(), Arc::clone(&known.1)));
            }
            known
        };
        if let Some((_, pattern)) = known {
            return Ok(pattern);
        }
        let pattern = Arc::new(Self::compile(written)?);
        let mut patterns = lock(&PATTERNS);
        if patterns.len() >= KEPT {
            patterns.pop_front();
        }
        patterns.push_back((written.to_owned(), Arc::clone(&pattern)));
        Ok(pattern)
    }

    fn compile(written: &str) -> Fallible<Self> {
        let too_large = || "it would take more than 1 MiB; repeat less, or search in steps".to_owned();
        let bad = |problem: String| {
            let shown: String = written.chars().take(100).collect();
            fail("BadPattern", format!("`{shown}` is no usable pattern: {problem}"))
        };
        if written.len() > MOST_BYTES {
            return Err(bad(too_large()));
        }
        let regex = RegexBuilder::new(written).size_limit(MOST_BYTES).nest_limit(DEEPEST).build();
        let regex = regex.map_err(|problem| {
            bad(match problem {
                regex::Error::CompiledTooBig(_) => too_large(),
                problem => last_line(&problem.to_string()),
            })
        })?;
        let states = NFA::new(written).map_or(MOST_BYTES, |nfa| nfa.states().len());
        Ok(Self { regex, states, written: written.to_owned(), lazy: Mutex::new(None) })
    }

    /// The first place at or behind byte `from`.
    ///
    /// # Errors
    /// `TooCostly` when the text is too long for this pattern.
    pub(in crate::toolkit) fn find(&self, text: &str, from: usize) -> Fallible<Option<Found>> {
        if self.states.saturating_mul(text.len() - from) <= MOST_STEPS {
            return Ok(self.regex.find_at(text, from).map(|found| Found { start: found.start(), end: found.end() }));
        }
        let costly = || {
            fail(
                "TooCostly",
                format!(
                    "this pattern is too costly for a text of {} bytes; search line by line, or write it with fewer repetitions",
                    text.len()
                ),
            )
        };
        let mut lazy = lock(&self.lazy);
        if lazy.is_none() {
            let config = dfa::Config::new().minimum_cache_clear_count(Some(10)).minimum_bytes_per_state(Some(10));
            let built =
                LazyRegex::builder().syntax(syntax::Config::new().nest_limit(DEEPEST)).dfa(config).build(&self.written);
            let regex = built.map_err(|_| costly())?;
            let cache = regex.create_cache();
            *lazy = Some((regex, cache));
        }
        let Some((regex, cache)) = lazy.as_mut() else { return Err(costly()) };
        let found = regex.try_search(cache, &Input::new(text).range(from..)).map_err(|_| costly())?;
        Ok(found.map(|found| Found { start: found.start(), end: found.end() }))
    }

    /// The groups of a place, and those with names. Of a place too long for the exact engine there are none.
    pub(in crate::toolkit) fn groups<'t>(&self, text: &'t str, found: Found) -> Groups<'t> {
        let captures = self.captures(text, found);
        let group = |index: usize| captures.as_ref().and_then(|c| c.get(index)).map(|group| group.as_str());
        let groups = (1..self.regex.captures_len()).map(group).collect();
        let names = self.regex.capture_names().enumerate();
        let named = names.filter_map(|(index, name)| Some((name?.to_owned(), group(index)))).collect();
        Groups { all: groups, named }
    }

    /// A template with the groups of a place in it.
    pub(in crate::toolkit) fn expand(&self, text: &str, found: Found, template: &str) -> String {
        if !template.contains('$') {
            return template.to_owned();
        }
        let mut made = String::new();
        match self.captures(text, found) {
            Some(captures) => captures.expand(template, &mut made),
            None => made.push_str(template),
        }
        made
    }

    fn captures<'t>(&self, text: &'t str, found: Found) -> Option<regex::Captures<'t>> {
        // The whole text is looked at, for what stands around the place counts; a long one only where the place ends.
        let rest =
            if self.states.saturating_mul(text.len() - found.start) <= MOST_STEPS { text } else { &text[..found.end] };
        if self.states.saturating_mul(rest.len() - found.start) > MOST_STEPS {
            return None;
        }
        self.regex.captures_at(rest, found.start).filter(|captures| {
            captures.get(0).is_some_and(|whole| whole.start() == found.start && whole.end() == found.end)
        })
    }
}

/// What a problem of the parser says behind its picture of the pattern.
fn last_line(problem: &str) -> String {
    let last = problem.lines().last().unwrap_or(problem);
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
