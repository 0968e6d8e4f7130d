//! Patterns as `re` uses them: compiled within bounds, the latest kept, and searches whose time is bounded.
//!
//! What falls back to following all states of a pattern at once takes some 7 ns for each state and byte, and cannot be interrupted.
//! So beyond [`SEARCH_COST`] a text is searched by the lazy automaton alone, which is quick or gives up.

use crate::base::limits::bytes;
use crate::base::{LibraryError, lock};
use crate::engine::{Fallible, Task};
use crate::toolkit::arguments::raise;
use crate::toolkit::limits::{
    PATTERN_BYTES, PATTERN_DEPTH, PATTERN_LENGTH, PATTERN_SLOTS, PATTERNS, PATTERNS_BYTES, SEARCH_COST,
};
use regex_automata::nfa::thompson::{self, NFA};
use regex_automata::util::captures::{Captures, GroupInfo};
use regex_automata::util::iter::Searcher;
use regex_automata::util::{primitives::PatternID, syntax};
use regex_automata::{Anchored, Input, Match, MatchError, hybrid, meta};
use rhai::EvalAltResult;
use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, OnceLock};

/// The caches of one pattern that are kept, and the bytes that each may have.
const CACHES: (usize, usize) = (4, 256 << 10);
/// The bytes of the cache of a lazy automaton.
const LAZY_CACHE: usize = 2 << 20;

/// One compiled pattern.
#[derive(Debug)]
pub(in crate::toolkit) struct Pattern {
    regex: meta::Regex,
    /// The states of its automaton.
    states: usize,
    /// The lazy automaton, once it was needed; none when there cannot be one.
    lazy: OnceLock<Option<hybrid::regex::Regex>>,
    text: String,
    caches: Mutex<Vec<meta::Cache>>,
}

impl Pattern {
    fn compile(text: &str) -> Fallible<Self> {
        if text.len() > PATTERN_LENGTH {
            let reason = format!("it has {} and the limit is {}", bytes(text.len()), bytes(PATTERN_LENGTH));
            return Err(raise(&LibraryError::BadPattern { reason }));
        }
        let nfa = NFA::compiler().syntax(reading()).configure(compiling()).build(text);
        let nfa = nfa.map_err(|error| refused(error.size_limit().is_some(), &error))?;
        let (states, slots) = (nfa.states().len(), nfa.group_info().slot_len());
        if states.saturating_mul(slots) > PATTERN_SLOTS {
            let reason = format!("{} groups are too many for a pattern of {states} states", slots / 2 - 1);
            return Err(raise(&LibraryError::BadPattern { reason }));
        }
        let config = meta::Config::new()
            .nfa_size_limit(Some(PATTERN_BYTES))
            .onepass_size_limit(Some(CACHES.1))
            .hybrid_cache_capacity(LAZY_CACHE);
        let regex = meta::Builder::new().syntax(reading()).configure(config).build(text);
        let regex = regex.map_err(|error| refused(error.size_limit().is_some(), &error))?;
        Ok(Self { regex, states, lazy: OnceLock::new(), text: text.to_owned(), caches: Mutex::default() })
    }

    /// The names of its groups, with their numbers from 1.
    pub(super) fn groups(&self) -> impl Iterator<Item = (usize, Option<&str>)> {
        self.info().pattern_names(PatternID::ZERO).enumerate().skip(1)
    }

    fn info(&self) -> &GroupInfo {
        self.regex.group_info()
    }

    /// The bytes that it takes, roughly.
    fn bytes(&self) -> usize {
        self.regex.memory_usage() + self.text.len() + CACHES.1
    }

    fn lazy(&self) -> Option<&hybrid::regex::Regex> {
        let built = self.lazy.get_or_init(|| {
            let config = hybrid::dfa::Config::new()
                .cache_capacity(LAZY_CACHE)
                .skip_cache_capacity_check(true)
                .minimum_cache_clear_count(Some(3))
                .minimum_bytes_per_state(Some(10))
                .unicode_word_boundary(true);
            let mut builder = hybrid::regex::Builder::new();
            builder.syntax(reading()).thompson(compiling()).dfa(config).build(&self.text).ok()
        });
        built.as_ref()
    }

    fn too_costly(&self, text: &str) -> Box<EvalAltResult> {
        raise(&LibraryError::TooCostly { states: self.states, bytes: text.len(), limit: SEARCH_COST })
    }
}

fn reading() -> syntax::Config {
    syntax::Config::new().nest_limit(PATTERN_DEPTH)
}

fn compiling() -> thompson::Config {
    thompson::Config::new().nfa_size_limit(Some(PATTERN_BYTES))
}

/// The error for a pattern that does not compile.
fn refused(too_big: bool, error: &dyn Error) -> Box<EvalAltResult> {
    if too_big {
        let reason = format!("compiled it would have more than {}, which is the limit", bytes(PATTERN_BYTES));
        return raise(&LibraryError::BadPattern { reason });
    }
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    // Several lines: the pattern, a mark below what is wrong, and the reason.
    let whole = innermost.to_string();
    let reason = whole.lines().last().unwrap_or_default();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    let mark = whole.lines().find(|line| line.trim_start().starts_with('^'));
    let place =
        mark.map_or(String::new(), |line| format!("at character {}: ", line.find('^').unwrap_or(0).saturating_sub(3)));
    raise(&LibraryError::BadPattern { reason: format!("{place}{reason}") })
}

/// The patterns that were used last.
#[derive(Debug, Default)]
pub(in crate::toolkit) struct Patterns(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Each with the number of its latest use.
    patterns: HashMap<String, (Arc<Pattern>, u64)>,
    uses: u64,
    bytes: usize,
}

impl Patterns {
    /// The pattern that a text stands for.
    ///
    /// # Errors
    /// `BadPattern` when it is none, or too big.
    pub(in crate::toolkit) fn get(&self, text: &str) -> Fallible<Arc<Pattern>> {
        {
            let mut kept = lock(&self.0);
            kept.uses += 1;
            let now = kept.uses;
            if let Some((pattern, used)) = kept.patterns.get_mut(text) {
                *used = now;
                return Ok(Arc::clone(pattern));
            }
        }
        let pattern = Arc::new(Pattern::compile(text)?);
        let mut gone = Vec::new();
        let mut kept = lock(&self.0);
        kept.bytes += pattern.bytes();
        let now = kept.uses;
        gone.extend(kept.patterns.insert(text.to_owned(), (Arc::clone(&pattern), now)));
        while kept.patterns.len() > PATTERNS || kept.bytes > PATTERNS_BYTES && kept.patterns.len() > 1 {
            let oldest = kept.patterns.iter().min_by_key(|(_, (_, used))| *used).map(|(text, _)| text.clone());
            let Some(removed) = oldest.and_then(|text| kept.patterns.remove(&text)) else { break };
            kept.bytes = kept.bytes.saturating_sub(removed.0.bytes());
            gone.push(removed);
        }
        drop(kept);
        drop(gone);
        Ok(pattern)
    }
}

/// A search for the matches of a pattern in a text, one after the other.
pub(in crate::toolkit) struct Search<'t> {
    task: &'t Task,
    pattern: Arc<Pattern>,
    text: &'t str,
    searcher: Searcher<'t>,
    cache: Option<meta::Cache>,
    /// The cache of the lazy automaton, when the search is by it alone.
    lazy: Option<hybrid::regex::Cache>,
    captures: Captures,
}

impl<'t> Search<'t> {
    /// A search that has not begun. With `groups` it keeps what the groups of a match matched.
    ///
    /// # Errors
    /// `TooCostly` when the text is too long for the pattern and there is no quick way.
    pub(in crate::toolkit) fn new(
        task: &'t Task,
        pattern: Arc<Pattern>,
        text: &'t str,
        groups: bool,
    ) -> Fallible<Self> {
        let lazy = if pattern.states.saturating_mul(text.len()) <= SEARCH_COST {
            None
        } else {
            Some(pattern.lazy().ok_or_else(|| pattern.too_costly(text))?.create_cache())
        };
        let info = pattern.info().clone();
        let captures =
            if groups && info.group_len(PatternID::ZERO) > 1 { Captures::all(info) } else { Captures::matches(info) };
        let searcher = Searcher::new(Input::new(text));
        let cache = lock(&pattern.caches).pop();
        Ok(Self { task, pattern, text, searcher, cache, lazy, captures })
    }

    /// Whether there is a match anywhere.
    pub(in crate::toolkit) fn any(&mut self) -> Fallible<bool> {
        self.searcher = Searcher::new(Input::new(self.text).earliest(true));
        Ok(self.advance()?.is_some())
    }

    /// The next match; [`Search::group`] tells of its groups.
    pub(super) fn advance(&mut self) -> Fallible<Option<Match>> {
        self.task.check()?;
        let Self { pattern, searcher, cache, lazy, captures, .. } = self;
        let found = searcher.try_advance(|input| step(pattern, cache, lazy.as_mut(), captures, input));
        found.map_err(|_| self.pattern.too_costly(self.text))
    }

    /// What a group of the latest match matched.
    pub(super) fn group(&self, number: usize) -> Option<&'t str> {
        self.captures.get_group(number).map(|span| &self.text[span.range()])
    }

    /// The pattern.
    pub(super) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Adds a text to another, with `$1` and `${name}` replaced by what the groups of the latest match matched; `$$` is a `$`.
    pub(super) fn interpolate(&self, template: &str, into: &mut String) {
        self.captures.interpolate_string_into(self.text, template, into);
    }
}

impl Drop for Search<'_> {
    fn drop(&mut self) {
        if let Some(cache) = self.cache.take().filter(|cache| cache.memory_usage() <= CACHES.1) {
            let mut caches = lock(&self.pattern.caches);
            if caches.len() < CACHES.0 {
                caches.push(cache);
            }
        }
    }
}

/// One step of a search.
fn step(
    pattern: &Pattern,
    cache: &mut Option<meta::Cache>,
    lazy: Option<&mut hybrid::regex::Cache>,
    captures: &mut Captures,
    input: &Input<'_>,
) -> Result<Option<Match>, MatchError> {
    let cache = cache.get_or_insert_with(|| pattern.regex.create_cache());
    let groups = captures.group_info().explicit_slot_len() > 0 && captures.slots().len() > 2;
    let (Some(lazy), Some(automaton)) = (lazy, pattern.lazy.get().and_then(Option::as_ref)) else {
        if groups {
            pattern.regex.search_captures_with(cache, input, captures);
            return Ok(captures.get_match());
        }
        let found = pattern.regex.search_with(cache, input);
        note(captures, found);
        return Ok(found);
    };
    let found = automaton.try_search(lazy, input)?;
    let Some(found) = found.filter(|_| groups) else {
        note(captures, found);
        return Ok(found);
    };
    // The groups are looked for in the match alone.
    if pattern.states.saturating_mul(found.len()) > SEARCH_COST {
        return Err(MatchError::gave_up(found.start()));
    }
    let inside = input.clone().range(found.range()).anchored(Anchored::Yes);
    pattern.regex.search_captures_with(cache, &inside, captures);
    Ok(Some(found))
}

/// Keeps a match without groups.
fn note(captures: &mut Captures, found: Option<Match>) {
    captures.clear();
    captures.set_pattern(found.map(|found| found.pattern()));
    for (slot, place) in
        captures.slots_mut().iter_mut().zip(found.iter().flat_map(|found| [found.start(), found.end()]))
    {
        *slot = regex_automata::util::primitives::NonMaxUsize::new(place);
    }
}
