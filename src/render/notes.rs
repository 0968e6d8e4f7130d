//! Remarks beside an answer, and what to say instead.

use crate::base::Note;

/// The functions of lists and maps that work in place and give `()`, and what gives the value that was meant.
const INSTEAD: [(&str, &str); 15] = [
    ("sort", "order()"),
    ("sort_by", "order_by(f)"),
    ("sort_desc", "order_desc()"),
    ("reverse", "let r = l; r.reverse(); r"),
    ("dedup", "let d = l; d.dedup(); d"),
    ("push", "l + [x]"),
    ("append", "l + other"),
    ("insert", "l.extract(0, i) + [x] + l.extract(i)"),
    ("clear", "[] or #{}"),
    ("truncate", "l.extract(0, n)"),
    ("chop", "l.extract(-n)"),
    ("pad", "let p = l; p.pad(n, x); p"),
    ("mixin", "m + other"),
    ("splice", "let p = l; p.splice(0, n, other); p"),
    ("fill_with", "let f = m; f.fill_with(other); f"),
];

/// The remark as one sentence.
pub(super) fn sentence(note: &Note) -> String {
    match note {
        Note::InPlace(name) => {
            let instead = INSTEAD.iter().find(|(function, _)| function == name);
            let advice = instead.map_or("the list or map itself on a line of its own", |(_, advice)| advice);
            format!("{name}() works in place and gives () · say {advice}")
        }
        Note::ItemFirst => "for (item, index) in list: the item comes first".to_owned(),
        Note::SlashesComment => Note::SLASHES.to_owned(),
        Note::Contested(name) => format!("{name} was changed by several entries at once; an atom loses nothing"),
    }
}
