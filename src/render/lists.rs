//! Lists of the prompt: tables with aligned columns.

use super::plain::{count, duration, first_line, one_line};
use super::style::{Role, Style};
use crate::base::limits::{bytes, thousands};
use crate::base::{EntryId, Status};
use crate::registry::{Page, SessionRow};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// A row of `:evals`.
#[derive(Clone, Debug)]
pub(crate) struct EvalRow {
    /// Its id.
    pub id: EntryId,
    /// Its status.
    pub status: Status,
    /// Whose it is; `None` for the prompt's own.
    pub by: Option<String>,
    /// The space or module it is evaluated in.
    pub ns: String,
    /// The time it ran, or runs.
    pub time: Duration,
    /// Lines it printed.
    pub lines: usize,
    /// Its code; the first line is shown.
    pub code: String,
    /// The entry that started it.
    pub parent: Option<EntryId>,
}

/// A row of `:spaces`.
#[derive(Clone, Debug)]
pub(crate) struct SpaceRow {
    /// Its name.
    pub name: String,
    /// `scratch`, `shared`, or `module` for one that stands for a module.
    pub kind: String,
    /// Variables in it.
    pub variables: usize,
    /// Functions in it.
    pub functions: usize,
    /// The bytes it keeps.
    pub bytes: usize,
    /// The session whose scratch it is, as people know it.
    pub owner: Option<Arc<str>>,
    /// The number of sessions (and the nil caller) that are there now.
    pub sessions: usize,
}

/// A row of `:help`.
#[derive(Clone, Debug)]
pub(crate) struct CommandRow<'a> {
    /// The command as it is typed, with its arguments: `:res 12`.
    pub usage: String,
    /// Its effect, in one line.
    pub help: &'a str,
}

/// Characters of a cell that holds free text: code, notes.
const CELL: usize = 80;
/// The same in a sentence that names several.
const SHORT_CELL: usize = 40;
/// How many of a kind such a sentence names.
const NAMED: usize = 5;

/// Entries, oldest first, children under their parents.
pub(crate) fn evals(rows: &[EvalRow], style: Style) -> String {
    if rows.is_empty() {
        return "no entries".to_owned();
    }
    let mut table = Table::new(&["id", "status", "by", "ns", "time", "lines", "code"]).right(&[4, 5]);
    for (row, depth) in tree(rows) {
        let branch = if depth == 0 { String::new() } else { format!("{}└ ", "  ".repeat(depth - 1)) };
        table.row(
            vec![
                format!("{branch}{}", row.id),
                row.status.to_string(),
                row.by.clone().unwrap_or_default(),
                row.ns.clone(),
                duration(row.time),
                thousands(row.lines),
                first_line(&row.code, CELL),
            ],
            &[(1, role(row.status))],
        );
    }
    table.text(style)
}

/// Rows in the order of a tree, with their depth. A child whose parent is not among them stands at the root.
fn tree(rows: &[EvalRow]) -> Vec<(&EvalRow, usize)> {
    let there: BTreeSet<_> = rows.iter().map(|row| row.id).collect();
    let mut children: BTreeMap<Option<EntryId>, Vec<&EvalRow>> = BTreeMap::new();
    for row in rows {
        // Parents are older than their children; anything else would be a circle.
        let parent = row.parent.filter(|parent| there.contains(parent) && *parent < row.id);
        children.entry(parent).or_default().push(row);
    }
    let mut open: Vec<_> = children.remove(&None).unwrap_or_default().into_iter().rev().map(|row| (row, 0)).collect();
    let mut ordered = Vec::with_capacity(rows.len());
    while let Some((row, depth)) = open.pop() {
        ordered.push((row, depth));
        let below = children.remove(&Some(row.id)).unwrap_or_default();
        open.extend(below.into_iter().rev().map(|child| (child, depth + 1)));
    }
    ordered
}

/// The colour of a status.
fn role(status: Status) -> Role {
    match status {
        Status::Ok => Role::Good,
        Status::Failed => Role::Bad,
        Status::Queued | Status::Running | Status::Cancelled => Role::Busy,
    }
}

/// The roster.
pub(crate) fn sessions(rows: &[SessionRow], style: Style) -> String {
    if rows.is_empty() {
        return "no sessions".to_owned();
    }
    let mut table = Table::new(&["session", "client", "idle", "entries", "running", "peer", "note"]).right(&[2, 3, 4]);
    for row in rows {
        table.row(
            vec![
                row.label.to_string(),
                row.client.to_string(),
                duration(row.idle),
                thousands(row.entries),
                thousands(row.running),
                row.peer.as_deref().unwrap_or_default().to_owned(),
                first_line(row.note.as_deref().unwrap_or_default(), CELL),
            ],
            &[(0, Role::Name)],
        );
    }
    table.text(style)
}

/// Sessions, and evals that have not ended: the first of them, and how many more there are.
pub(crate) fn ended_by_leaving(sessions: &[SessionRow], evals: &[(EntryId, Option<&str>, &str)]) -> String {
    let session = |row: &SessionRow| {
        let who = one_line(format!("{} {}", row.label, row.client).trim());
        format!("{who} (idle {})", duration(row.idle))
    };
    let eval = |(id, by, code): &(EntryId, Option<&str>, &str)| {
        let by = by.map(|by| format!(" of {}", one_line(by))).unwrap_or_default();
        format!("{id}{by} {}", first_line(code, SHORT_CELL))
    };
    let line = |what: &str, named: Vec<String>, all: usize| {
        let more = all.saturating_sub(NAMED);
        let named = named.join(" · ");
        match more {
            0 => format!("{what}: {named}"),
            more => format!("{what}: {named} · {} more", thousands(more)),
        }
    };
    let mut lines = Vec::new();
    if !sessions.is_empty() {
        lines.push(line("here", sessions.iter().take(NAMED).map(session).collect(), sessions.len()));
    }
    if !evals.is_empty() {
        lines.push(line("running", evals.iter().take(NAMED).map(eval).collect(), evals.len()));
    }
    lines.join("\n")
}

/// Spaces. The one the prompt is in, called `here`, is marked.
pub(crate) fn spaces(rows: &[SpaceRow], here: &str, style: Style) -> String {
    if rows.is_empty() {
        return "no spaces".to_owned();
    }
    let mut table = Table::new(&["space", "kind", "variables", "functions", "keeps", ""]).right(&[2, 3, 4]);
    for row in rows {
        table.row(
            vec![
                row.name.clone(),
                row.kind.clone(),
                thousands(row.variables),
                thousands(row.functions),
                bytes(row.bytes),
                if row.name == here { "← here".to_owned() } else { String::new() },
            ],
            &[(0, Role::Name)],
        );
    }
    table.text(style)
}

/// The commands of the prompt.
pub(crate) fn commands(rows: &[CommandRow<'_>], style: Style) -> String {
    let mut table = Table::new(&[]);
    for row in rows {
        table.row(vec![row.usage.clone(), row.help.to_owned()], &[(0, Role::Name)]);
    }
    table.text(style)
}

/// A page of output for `:out`: the number of each line, seconds since the start of its eval, source and text.
pub(crate) fn output(page: &Page, style: Style) -> String {
    let dropped = (page.skipped > 0).then(|| {
        let line = format!("… {} dropped: only the newest are kept", count(page.skipped as usize, "line"));
        style.paint(Role::Quiet, &line)
    });
    let total = page.total as usize;
    let mut lines: Vec<_> = dropped.into_iter().collect();
    if page.lines.is_empty() && lines.is_empty() {
        return if total == 0 { "no output".to_owned() } else { format!("no more output · {}", count(total, "line")) };
    }
    let mut table = Table::new(&[]).right(&[0, 1]);
    for (n, line) in (page.first..).zip(&page.lines) {
        let text = super::output::line(line);
        table.row(
            vec![
                n.to_string(),
                format!("{:.1} s", line.after.as_secs_f64()),
                format!("{text}{}", super::output::missing(line)),
            ],
            &[(0, Role::Quiet), (1, Role::Quiet)],
        );
    }
    let end = page.first + page.lines.len() as u64;
    if !page.lines.is_empty() {
        lines.push(table.text(style));
        if page.first > 0 || end < page.total {
            let place = format!("lines {} to {} of {}", page.first, end - 1, thousands(total));
            lines.push(style.paint(Role::Quiet, &place));
        }
    }
    lines.join("\n")
}

/// Settled news for the prompt, one line an entry: `12 ok after 3.2 s · sleep(3)`.
pub(crate) fn settled(id: EntryId, status: Status, time: Duration, code: &str, style: Style) -> String {
    let word = style.paint(role(status), status.as_str());
    let rest = format!("after {} · {}", duration(time), first_line(code, CELL));
    format!("{id} {word} {}", style.paint(Role::Quiet, &rest))
}

/// Text in columns, two blanks apart.
struct Table {
    head: Vec<String>,
    right: Vec<usize>,
    rows: Vec<Row>,
}

/// The cells of one row, and which of them have a colour.
struct Row {
    cells: Vec<String>,
    roles: Vec<(usize, Role)>,
}

impl Table {
    /// A table with this header; none when it is empty.
    fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|cell| (*cell).to_owned()).collect(), right: Vec::new(), rows: Vec::new() }
    }

    /// These columns are aligned to the right.
    fn right(mut self, columns: &[usize]) -> Self {
        self.right = columns.to_vec();
        self
    }

    /// Adds a row; cells come from anywhere and are made safe here.
    fn row(&mut self, cells: Vec<String>, roles: &[(usize, Role)]) {
        let cells = cells.iter().map(|cell| one_line(cell)).collect();
        self.rows.push(Row { cells, roles: roles.to_vec() });
    }

    /// The lines. Columns in which no row has anything are left out.
    fn text(self, style: Style) -> String {
        let columns = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let widths: Vec<_> = (0..columns).map(|column| self.width(column)).collect();
        let last = widths.iter().rposition(|width| *width > 0);
        let line = |cells: &[String], roles: &[(usize, Role)], all: Option<Role>| {
            let mut text = String::new();
            for (column, cell) in cells.iter().enumerate().filter(|(column, _)| widths[*column] > 0) {
                let blanks = " ".repeat(widths[column] - cell.chars().count());
                let role = all.or_else(|| roles.iter().find(|(at, _)| *at == column).map(|(_, role)| *role));
                let painted = role.map_or_else(|| cell.clone(), |role| style.paint(role, cell));
                let (before, after) = if self.right.contains(&column) { (&*blanks, "") } else { ("", &*blanks) };
                text.push_str(&format!("{before}{painted}{after}"));
                if Some(column) != last {
                    text.push_str("  ");
                }
            }
            text.trim_end().to_owned()
        };
        let head = (!self.head.is_empty()).then(|| line(&self.head, &[], Some(Role::Quiet)));
        let rows = self.rows.iter().map(|row| line(&row.cells, &row.roles, None));
        head.into_iter().chain(rows).collect::<Vec<_>>().join("\n")
    }

    /// Width of a column in characters; 0 when no row has anything in it.
    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.cells.get(column));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        if widest == 0 { 0 } else { widest.max(self.head.get(column).map_or(0, |cell| cell.chars().count())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ClientInfo;
    use crate::registry::Line;
    use crate::render::style::visible;
    use expect_test::expect;

    const PLAIN: Style = Style::Terminal { colour: false };
    const COLOUR: Style = Style::Terminal { colour: true };

    fn eval(id: u64, parent: Option<u64>, status: Status, code: &str) -> EvalRow {
        EvalRow {
            id: EntryId(id),
            status,
            by: id.is_multiple_of(2).then(|| "bfw".to_owned()),
            ns: "s-bfw".into(),
            time: Duration::from_millis(id * 321),
            lines: 1_234 * (id as usize % 2),
            code: code.into(),
            parent: parent.map(EntryId),
        }
    }

    #[test]
    fn evals_are_a_tree() {
        let rows = [
            eval(3, None, Status::Running, "let a = 1;\nlet b = 2;"),
            eval(4, None, Status::Ok, "\u{1b}[31mred"),
            eval(5, Some(3), Status::Failed, "|| work()"),
            eval(6, Some(5), Status::Cancelled, &"x".repeat(200)),
            eval(7, Some(3), Status::Queued, "|| more()"),
            eval(8, Some(1), Status::Ok, "orphan"),
        ];
        expect![[r#"
            id     status     by   ns       time  lines  code
            3      running         s-bfw  963 ms  1,234  let a = 1;…
            └ 5    failed          s-bfw   1.6 s  1,234  || work()
              └ 6  cancelled  bfw  s-bfw   1.9 s      0  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
            └ 7    queued          s-bfw   2.2 s  1,234  || more()
            4      ok         bfw  s-bfw   1.3 s      0  \x1b[31mred
            8      ok         bfw  s-bfw   2.6 s      0  orphan"#]].assert_eq(&evals(&rows, PLAIN));
        expect![[r#"
            ␛[2mid␛[0m  ␛[2mstatus␛[0m   ␛[2mns␛[0m       ␛[2mtime␛[0m  ␛[2mlines␛[0m  ␛[2mcode␛[0m
            3   ␛[33mrunning␛[0m  s-bfw  963 ms  1,234  let a = 1;…"#]]
        .assert_eq(&visible(&evals(&rows[..1], COLOUR)));
        assert_eq!(evals(&[], PLAIN), "no entries");
        let circle = [eval(3, Some(5), Status::Ok, "a"), eval(5, Some(3), Status::Ok, "b")];
        assert_eq!(evals(&circle, PLAIN).lines().count(), 3, "no row is lost");
    }

    #[test]
    fn the_roster() {
        let row = |label: &str, note: &str| SessionRow {
            session: None,
            label: label.into(),
            client: ClientInfo { name: "claude-code\u{1b}".into(), version: "2".into(), ..ClientInfo::default() },
            note: Some(note.into()),
            idle: Duration::from_secs(75),
            entries: 1_200,
            running: 3,
            peer: Some("127.0.0.1:4711".into()),
            ns: "lab".into(),
        };
        let code = "while true {\n  sleep(0.01)\n}";
        let evals = [(EntryId(12), Some("bfw"), code), (EntryId(13), None, "loop {}")];
        expect![[r#"
            here: bfw claude-code\x1b 2 (idle 75.0 s)
            running: 12 of bfw while true {… · 13 loop {}"#]]
        .assert_eq(&ended_by_leaving(&[row("bfw", "")], &evals));
        expect!["running: 12 of bfw while true {… · 13 loop {}"].assert_eq(&ended_by_leaving(&[], &evals));
        expect!["running: 1 1 · 2 1 · 3 1 · 4 1 · 5 1 · 2 more"]
            .assert_eq(&ended_by_leaving(&[], &[1, 2, 3, 4, 5, 6, 7].map(|id| (EntryId(id), None, "1"))));
        expect![[r#"
            session   client               idle  entries  running  peer            note
            bfw       claude-code\x1b 2  75.0 s    1,200        3  127.0.0.1:4711  reads the log…
            1a2b3c4d  claude-code\x1b 2  75.0 s    1,200        3  127.0.0.1:4711"#]]
        .assert_eq(&sessions(&[row("bfw", "reads the log\nand more"), row("1a2b3c4d", "")], PLAIN));
        expect![[r#"
            session  client               idle  entries  running  peer
            bfw      claude-code\x1b 2  75.0 s    1,200        3  127.0.0.1:4711"#]]
        .assert_eq(&sessions(&[row("bfw", "")], PLAIN));
        assert_eq!(sessions(&[], PLAIN), "no sessions");
    }

    #[test]
    fn spaces_and_where_the_prompt_stands() {
        let row = |name: &str| SpaceRow {
            name: name.into(),
            kind: "shared".into(),
            variables: 12,
            functions: 3,
            bytes: 123_456,
            owner: None,
            sessions: 1,
        };
        expect![[r#"
            space     kind    variables  functions   keeps
            scratch   shared         12          3  123 KB  ← here
            workshop  shared         12          3  123 KB"#]]
        .assert_eq(&spaces(&[row("scratch"), row("workshop")], "scratch", PLAIN));
        assert_eq!(spaces(&[], "scratch", PLAIN), "no spaces");
    }

    #[test]
    fn commands_with_their_arguments() {
        let rows = [
            CommandRow { usage: ":help".into(), help: "this list" },
            CommandRow { usage: ":out ID [FROM N]".into(), help: "what an entry printed" },
        ];
        expect![[r#"
            :help             this list
            :out ID [FROM N]  what an entry printed"#]]
        .assert_eq(&commands(&rows, PLAIN));
        expect!["␛[36m:help␛[0m  this list"].assert_eq(&visible(&commands(&rows[..1], COLOUR)));
    }

    #[test]
    fn pages_of_output() {
        let line = |ms, source: &'static str, text: &str, cut| Line {
            after: Duration::from_millis(ms),
            source: source.into(),
            text: text.into(),
            cut,
        };
        let lines = vec![line(20, "print", "one", 0), line(12_340, "WARN orders", "slow\u{7}", 9_000)];
        let page = Page { first: 9, skipped: 4, lines, total: 2_000 };
        expect![[r#"
            … 4 lines dropped: only the newest are kept
             9   0.0 s  one
            10  12.3 s  [WARN orders] slow\x07… 9,000 characters elided
            lines 9 to 10 of 2,000"#]]
        .assert_eq(&output(&page, PLAIN));
        expect![[r#"
            ␛[2m… 4 lines dropped: only the newest are kept␛[0m
             ␛[2m9␛[0m   ␛[2m0.0 s␛[0m  one
            ␛[2m10␛[0m  ␛[2m12.3 s␛[0m  [WARN orders] slow\x07… 9,000 characters elided
            ␛[2mlines 9 to 10 of 2,000␛[0m"#]]
        .assert_eq(&visible(&output(&page, COLOUR)));
        expect![[r#"
            0   0.0 s  one
            1  12.3 s  [WARN orders] slow\x07… 9,000 characters elided"#]]
        .assert_eq(&output(&Page { first: 0, skipped: 0, total: 2, ..page.clone() }, PLAIN));
        expect!["… 4 lines dropped: only the newest are kept"]
            .assert_eq(&output(&Page { lines: Vec::new(), ..page }, PLAIN));
        assert_eq!(output(&Page::default(), PLAIN), "no output");
        assert_eq!(output(&Page { total: 5, ..Page::default() }, PLAIN), "no more output · 5 lines");
    }

    #[test]
    fn news_of_settled_work() {
        expect!["12 ok after 3.2 s · sleep(3);…"].assert_eq(&settled(
            EntryId(12),
            Status::Ok,
            Duration::from_millis(3_210),
            "sleep(3);\n1",
            PLAIN,
        ));
        expect!["12 ␛[31mfailed␛[0m ␛[2mafter 3 ms · x␛[0m"].assert_eq(&visible(&settled(
            EntryId(12),
            Status::Failed,
            Duration::from_millis(3),
            "x",
            COLOUR,
        )));
    }
}
