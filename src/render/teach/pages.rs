//! The pages of the manual: sections of the guide `doc/scripting.md`, so that there is one text of each.

use super::texts::{Variant, filled};
use crate::base::Limits;
use crate::render::plain::{head, listed, one_line};

/// The guide.
pub(super) const GUIDE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/scripting.md"));

/// One page.
pub(super) struct Page {
    /// Its name, as in `manual("children")`.
    pub(super) name: &'static str,
    /// Its subject, for the list of pages.
    pub(super) about: &'static str,
    /// Other words by which somebody may ask for it.
    pub(super) words: &'static str,
    /// The headings of the sections of the guide that it consists of.
    pub(super) sections: &'static [&'static str],
}

const fn page(name: &'static str, about: &'static str, words: &'static str, sections: &'static [&'static str]) -> Page {
    Page { name, about, words, sections }
}

/// Every page, in the order of the list.
pub(super) const PAGES: &[Page] = &[
    page("rhai", "the language in two minutes", "language syntax basics introduction", &["Rhai in two minutes"]),
    page("entries", "ids, results, output, failures, what is kept", "results ids evals eviction", &["Entries and ids"]),
    page(
        "variables",
        "publishing, conflicts, constants, imports",
        "publishing conflicts constants state lost",
        &["Variables and publishing", "Constants and imports"],
    ),
    page("functions", "what they see, copies, closures", "closures capture scope", &["Functions", "Closures"]),
    page("lists", "lists, texts, ranges, sorting", "arrays texts strings ranges sorting", &["Lists, texts and ranges"]),
    page(
        "children",
        "background work, what ends with its parent",
        "child background parallel concurrency threads jobs fan out",
        &["Background children"],
    ),
    page(
        "waiting",
        "long evals, await, tasks, timeouts, cancelling, deadlocks",
        "await awaiting tasks timeouts cancelling stopping deadlocks sleeping long polling",
        &["Waiting, and stopping"],
    ),
    page("sharing", "atoms", "atoms shared state lock locks mutex race counters", &["Sharing by atoms"]),
    page("channels", "values that travel from eval to eval", "queues streams producers consumers", &["Channels"]),
    page("spaces", "shared spaces, moving, reading another's", "namespaces ns moving", &["Spaces"]),
    page(
        "modules",
        "scripts/, live edits, working inside a module, docs",
        "scripts files libraries import imports packages edits",
        &["Modules, and editing them live"],
    ),
    page(
        "library",
        "patterns, time, JSON, CSV, hashes, figures: native modules",
        "regex regexp json csv toml time date random hash base64 url diff format numbers statistics",
        &["Modules that come along"],
    ),
    page(
        "tools",
        "files and the environment, permissions, the record",
        "files folders fs env environment permissions allow audit disk machine",
        &["Reaching the machine"],
    ),
    page(
        "sessions",
        "who is here, handing over, release",
        "others handing over roster release",
        &["Working with others"],
    ),
    page("errors", "what catch gives, failures, stops", "failures exceptions catching throwing", &["Errors"]),
    page(
        "answers",
        "every line of an answer, cuts, output",
        "output printing footer news cuts",
        &["What an answer says", "Output"],
    ),
    page("limits", "each limit with its value and option", "memory sizes depth options", &["Limits"]),
    page("surprises", "all of them, with examples", "gotchas pitfalls traps", &["What surprises"]),
    page("reference", "every function of this host in a line", "functions api index", &[]),
];

/// The page that somebody means by a name: its own, in any case, or one that only it resembles.
pub(super) fn meant(name: &str) -> Option<&'static Page> {
    let wanted = plain_name(name);
    let by = |is: &dyn Fn(&Page) -> bool| PAGES.iter().find(|page| is(page));
    by(&|page| plain_name(page.name) == wanted)
        .or_else(|| by(&|page| page.words.split(' ').any(|word| plain_name(word) == wanted)))
        .or_else(|| {
            let close = |page: &&Page| strsim::normalized_damerau_levenshtein(&plain_name(page.name), &wanted) > 0.7;
            let mut all = PAGES.iter().filter(close);
            all.next().filter(|_| all.next().is_none())
        })
}

/// Letters in lower case, without the mark of a plural.
fn plain_name(name: &str) -> String {
    let name = name.trim().to_lowercase();
    match name.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => name.strip_suffix('s').filter(|stem| stem.len() > 1).unwrap_or(&name).to_owned(),
    }
}

/// Whether there is a page of exactly this name.
pub fn page_named(name: &str) -> bool {
    PAGES.iter().any(|page| page.name == name)
}

/// The pages as a search sees them: the name, the words for it, what it is about, and its text.
pub fn page_hits() -> impl Iterator<Item = (&'static str, String, &'static str, String)> {
    PAGES.iter().map(|page| (page.name, format!("{} {}", page.name, page.words), page.about, prose(page)))
}

/// The sentence for a page that is not there.
pub(super) fn no_page(name: &str) -> String {
    let wanted = plain_name(head(name, 80));
    let mut near: Vec<_> = PAGES
        .iter()
        .map(|page| (strsim::normalized_damerau_levenshtein(&plain_name(page.name), &wanted), page.name))
        .filter(|(score, _)| *score > 0.4)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<_> = near.iter().take(3).map(|(_, name)| *name).collect();
    let near = if near.is_empty() { String::new() } else { format!("; did you mean: {}", near.join(", ")) };
    let all = listed(PAGES.iter().map(|page| page.name));
    format!("the manual has no page `{}`{near}; its pages are: {all}", one_line(head(name, 80)))
}

/// The text of a page as far as it stands in the guide.
pub(super) fn prose(page: &Page) -> String {
    let sections: Vec<_> = page.sections.iter().filter_map(|heading| section(heading)).collect();
    sections.join("\n")
}

/// A section of the guide, with its heading, without links.
fn section(heading: &str) -> Option<String> {
    let start = GUIDE.find(&format!("\n## {heading}\n"))? + 1;
    let text = &GUIDE[start..];
    let end = text[3..].find("\n## ").map_or(text.len(), |end| end + 3);
    Some(without_links(text[..end].trim_end()))
}

/// Prose without what only a page in a browser needs: `[words](target)` are the words, anchors are gone.
fn without_links(text: &str) -> String {
    let mut fenced = false;
    let mut out = String::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("](").filter(|_| !fenced) {
            let (before, words) = before.rsplit_once('[').unwrap_or((before, ""));
            out.push_str(before);
            out.push_str(words);
            rest = after.split_once(')').map_or("", |(_, rest)| rest);
        }
        match rest.split_once("</a>").filter(|(anchor, _)| anchor.starts_with("<a id=")) {
            Some((_, rest)) => out.push_str(rest),
            None => out.push_str(rest),
        }
        out.push('\n');
    }
    out
}

/// The list of pages, a line each.
pub(super) fn list() -> String {
    PAGES.iter().map(|page| format!("- `{}`: {}\n", page.name, page.about)).collect()
}

/// How calls that last are answered, to a client of this kind.
pub(super) fn waiting(variant: Variant, limits: &Limits) -> String {
    let text = match variant {
        Variant::Await => include_str!("manual/waiting-await.md"),
        Variant::Tasks => include_str!("manual/waiting-tasks.md"),
    };
    filled(text, limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_of_the_guide_is_on_a_page() {
        for page in PAGES {
            for heading in page.sections {
                assert!(section(heading).is_some(), "{} has no section {heading}", page.name);
            }
        }
        let paged = |heading: &str| PAGES.iter().any(|page| page.sections.contains(&heading));
        let left: Vec<_> =
            GUIDE.lines().filter_map(|line| line.strip_prefix("## ")).filter(|heading| !paged(heading)).collect();
        // People at the prompt have its help.
        assert_eq!(left, ["The prompt"]);
    }

    #[test]
    fn a_page_is_found_by_what_people_call_it() {
        let found = [
            "children", "Children", "child", "channel", "sharings", "atom", "chanels", "module", "deadlock", " Limit ",
        ];
        let found: Vec<_> = found.iter().map(|name| meant(name).map_or("-", |page| page.name)).collect();
        assert_eq!(
            found,
            [
                "children", "children", "children", "channels", "sharing", "sharing", "channels", "modules", "waiting",
                "limits"
            ]
        );
        assert!(meant("").is_none() && meant("quantum").is_none());
        assert!(no_page("childhood").starts_with("the manual has no page `childhood`; did you mean: children"));
    }

    #[test]
    fn links_are_words_and_code_is_left_alone() {
        let text = "See [the table](state.md#limits), [below](#times).\n<a id=\"times\"></a>**Times.**\n```rhai\na[0](1)\n```\n";
        assert_eq!(without_links(text), "See the table, below.\n**Times.**\n```rhai\na[0](1)\n```\n");
        for page in PAGES {
            let text = prose(page);
            assert!(!text.contains("](") && !text.contains("<a id"), "{}", page.name);
        }
    }
}
