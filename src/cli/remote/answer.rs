//! Answers of an instance, taken apart: the outcome of an entry, its output, its facts, and the news below it. The grammar
//! is that of every answer; nothing an eval prints can pass for a line of it.

use crate::base::{EntryId, Status};

/// The answer about one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// The value, the failure, or how the entry stands.
    outcome: Vec<String>,
    /// Its output.
    pub(super) output: Output,
    /// The line of facts, as it came.
    facts_line: String,
    /// The same, understood.
    pub(super) facts: Facts,
    /// More about the entry.
    about: Vec<String>,
    /// News of the session, which have nothing to do with the entry.
    pub(super) news: Vec<String>,
}

/// The facts of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// Its id.
    pub(super) id: EntryId,
    /// Its status.
    pub(super) status: Status,
}

impl Default for Facts {
    fn default() -> Self {
        Self { id: EntryId(0), status: Status::Running }
    }
}

/// The output of an entry, as far as its answer shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    /// Its first lines.
    pub(super) head: Vec<String>,
    /// The mark of a gap, and how many lines it stands for.
    pub(super) gap: Option<(String, usize)>,
    /// Its last lines, when there is a gap.
    pub(super) tail: Vec<String>,
}

impl Output {
    /// The number of lines the entry has printed.
    pub(super) fn total(&self) -> usize {
        self.head.len() + self.gap.as_ref().map_or(0, |(_, lines)| *lines) + self.tail.len()
    }

    /// The lines from number `from` on that are shown in one piece, and the number of the first one.
    pub(super) fn from(&self, from: usize) -> (usize, &[String]) {
        if from < self.head.len() {
            return (from, &self.head[from..]);
        }
        let start = self.total() - self.tail.len();
        let first = from.clamp(start, self.total());
        (first, &self.tail[first - start..])
    }

    /// The lines as they came, with the mark.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        let mark = self.gap.iter().map(|(mark, _)| mark);
        self.head.iter().chain(mark).chain(&self.tail).map(String::as_str)
    }
}

impl Answer {
    /// Takes an answer apart; `None` when it is about no entry, such as a refusal.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut answer = Self::default();
        let (mut printed, mut in_output) = (Vec::new(), false);
        loop {
            let line = lines.next()?;
            if let Some(facts) = facts(line) {
                (answer.facts, answer.facts_line) = (facts, line.to_owned());
                break;
            }
            match line {
                ";; out" if !in_output => in_output = true,
                line if in_output => printed.push(line.to_owned()),
                line => answer.outcome.push(line.to_owned()),
            }
        }
        answer.output = output(printed);
        for line in lines {
            let is_news = NEWS.iter().any(|start| line.starts_with(start));
            if is_news { &mut answer.news } else { &mut answer.about }.push(line.to_owned());
        }
        Some(answer)
    }

    /// The value alone.
    pub(super) fn outcome(&self) -> String {
        self.outcome.join("\n")
    }

    /// The value is not whole.
    pub(super) fn is_cut(&self) -> bool {
        self.about.iter().any(|line| line.starts_with(";; truncated"))
    }

    /// The entry failed.
    pub(super) fn is_failed(&self) -> bool {
        self.facts.status == Status::Failed
    }

    /// The answer as a person reads it: nothing is said of a value `()`; without what was printed, when that was shown already.
    pub(super) fn text(&self, with_output: bool) -> String {
        let nothing = self.facts.status == Status::Ok && self.outcome == ["()"];
        let outcome = self.outcome.iter().filter(|_| !nothing).map(String::as_str);
        let shows_output = with_output && self.output.total() > 0;
        let header = shows_output.then_some(";; out");
        let output = self.output.lines().filter(|_| shows_output);
        let facts = std::iter::once(self.facts_line.as_str());
        let rest = self.about.iter().chain(&self.news).map(String::as_str);
        outcome.chain(header).chain(output).chain(facts).chain(rest).collect::<Vec<_>>().join("\n")
    }
}

/// The beginnings of lines of news.
const NEWS: [&str; 4] = [";; settled news:", ";; evicted:", ";; new session under", ";; manual unread"];

/// Understands `;; id 12 · session bfw · ns s-bfw · ok · 3 ms`.
fn facts(line: &str) -> Option<Facts> {
    let mut fields = line.strip_prefix(";; id ")?.split(" · ");
    let id = fields.next()?.parse().ok()?;
    let status = fields.find_map(|field| match field.split(',').next().unwrap_or(field) {
        // It has been asked to stop, and has not yet.
        "cancelling" => Some(Status::Running),
        word => Status::from_word(word),
    })?;
    Some(Facts { id, status })
}

/// The printed lines, with the mark of a gap told apart from them.
fn output(mut printed: Vec<String>) -> Output {
    let Some((at, lines)) = printed.iter().enumerate().find_map(|(at, line)| Some((at, gap(line)?))) else {
        return Output { head: printed, ..Output::default() };
    };
    let tail = printed.split_off(at + 1);
    let mark = printed.pop().map(|mark| (mark, lines));
    Output { head: printed, gap: mark, tail }
}

/// The number of lines that a mark stands for, such as `… 9,998 lines elided (1.2 MB) · out(12, 500, 100) pages through it`.
fn gap(line: &str) -> Option<usize> {
    let (number, rest) = line.strip_prefix("… ")?.split_once(' ')?;
    let rest = rest.strip_prefix("lines ").or_else(|| rest.strip_prefix("line "))?;
    let is_mark = (rest.starts_with("elided (") && rest.contains(" · out("))
        || (rest.starts_with("dropped (") && rest.ends_with("only the newest are kept"));
    is_mark.then(|| number.replace(',', "").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_its_parts() {
        let text = "[\n  1,\n]\n;; out\na\n… 9,998 lines elided (1.2 MB) · out(12, 1, 100) pages through it\n ;; id 7\nz\n\
                    ;; id 12 · session bfw · ns s-bfw · ok · 3 ms\n;; truncated — 3 elided · res(12) is the whole value\n\
                    ;; new space lab\n;; settled news: entry 9 ok\n;; evicted: entry 3";
        let answer = Answer::of(text).unwrap();
        assert_eq!(answer.outcome(), "[\n  1,\n]");
        assert_eq!(answer.facts, Facts { id: EntryId(12), status: Status::Ok });
        assert!(answer.is_cut());
        assert_eq!(answer.news, [";; settled news: entry 9 ok", ";; evicted: entry 3"]);
        assert_eq!(answer.text(true), text);
        assert!(!answer.text(false).contains("elided ("));
        let output = &answer.output;
        assert_eq!(output.total(), 10_001);
        assert_eq!(output.from(0), (0, ["a".to_owned()].as_slice()));
        let tail = [" ;; id 7".to_owned(), "z".to_owned()];
        assert_eq!(output.from(1), (9_999, tail.as_slice()));
        assert_eq!(output.from(10_000), (10_000, &tail[1..]));
        assert_eq!(output.from(usize::MAX), (10_001, [].as_slice()));
    }

    #[test]
    fn where_an_entry_is_in_its_life() {
        let status = |fields: &str| facts(&format!(";; id 7 · session bfw · ns s-bfw · {fields}")).map(|f| f.status);
        assert_eq!(status("running"), Some(Status::Running));
        assert_eq!(status("cancelling"), Some(Status::Running));
        assert_eq!(status("queued, 3 before it"), Some(Status::Queued));
        assert_eq!(status("failed · 1.0 s"), Some(Status::Failed));
        assert_eq!(status("cancelled · 3 ms"), Some(Status::Cancelled));
        assert_eq!(status("asleep"), None);
    }

    #[test]
    fn what_is_about_no_entry_is_no_answer_and_unit_is_not_shown() {
        assert_eq!(Answer::of("no entry 900; the newest is 41"), None);
        assert_eq!(Answer::of(""), None);
        let nothing = Answer::of("()\n;; id 1 · session bfw · ns s-bfw · ok · 0 ms").unwrap();
        assert_eq!(nothing.text(true), ";; id 1 · session bfw · ns s-bfw · ok · 0 ms");
    }
}
