//! Tables: how they look, what is none, and that no line of one can be misread.

use super::super::{Budget, Elided, Rendered, value, whole};
use super::COLUMNS;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use rhai::{Array, Dynamic, Engine, Map};
use std::collections::BTreeSet;

fn show(shown: &Dynamic) -> Rendered {
    value(shown, &Budget::ANSWER, &|_| None, &|| false)
}

fn eval(code: &str) -> Dynamic {
    let mut engine = Engine::new();
    engine.set_max_expr_depths(64, 64);
    engine.eval(code).unwrap()
}

fn check(code: &str, expected: Expect) {
    expected.assert_eq(&show(&eval(code)).text);
}

#[test]
fn like_maps_are_rows() {
    check(
        r#"[#{id: 7, name: "ann", score: 9.5}, #{id: 12, name: "bo", score: -0.0}, #{id: 130, name: "cy d", score: 100}]"#,
        expect![[r#"
            3 rows · id name score
              7  ann   9.5
             12  bo    -0.0
            130  cy d  100"#]],
    );
}

#[test]
fn a_missing_key_is_blank_and_every_kind_tells_itself() {
    check(
        r##"[
            #{a: (), b: true, c: 'c', d: [1, "x"], e: "x"},
            #{a: "()", c: "true", d: "[1]", e: ""},
            #{a: "12", b: "0x1f", c: "-", d: "'c'", e: "say \"hi\""},
            #{b: "a  b", c: " a", d: "#{x: 1}", e: "two\nlines"},
            #{a: "1,200", b: "NaN", c: ";; id 1", d: [], e: "2024-01-02"},
            #{a: "… 3 rows elided", b: "x… 9 elided", c: "it's", d: #{x: 1}},
        ]"##,
        expect![[r##"
            6 rows · a b c d e
            ()                 true           'c'        [1, "x"]   x
            "()"                              "true"     "[1]"      ""
            "12"               "0x1f"         "-"        "'c'"      "say \"hi\""
                               "a  b"         " a"       "#{x: 1}"  "two\nlines"
            "1,200"            "NaN"          ";; id 1"  []         2024-01-02
            "… 3 rows elided"  "x… 9 elided"  it's       #{x: 1}"##]],
    );
}

#[test]
fn columns_with_long_cells_stand_last_and_are_not_padded() {
    check(
        r#"[
            #{code: "let a = 1; let b = 2; a + b", id: 1, note: "the first one of all of them", ok: true},
            #{code: "x", id: 2, ok: true},
            #{code: "y", id: 3, note: "short", ok: false},
            #{id: 14, note: "no code", ok: false},
        ]"#,
        expect![[r#"
            4 rows · id ok code note
             1  true   let a = 1; let b = 2; a + b  the first one of all of them
             2  true   x
             3  false  y  short
            14  false  -  no code"#]],
    );
}

#[test]
fn keys_that_are_no_names_are_quoted() {
    check(
        r#"[#{"a b": 1, "": 2}, #{"a b": 3, "": 4}, #{"a b": 5, "": 6}]"#,
        expect![[r#"
        3 rows · "" "a b"
        2  1
        4  3
        6  5"#]],
    );
}

#[test]
fn what_is_cut_is_counted() {
    let value = eval("let l = []; for i in 0..60 { l.push(#{id: i, text: \"x\"}) } l");
    let shown = show(&value);
    let lines: Vec<_> = shown.text.lines().collect();
    assert_eq!(
        (lines[0], lines[1], lines[40], lines[41], lines[42], lines[51]),
        ("60 rows · id text", " 0  x", "39  x", "… 10 rows elided …", "50  x", "59  x")
    );
    assert_eq!((lines.len(), shown.elided), (52, Elided::Counted { items: 10, characters: 0 }));

    let long = |n: usize| Dynamic::from_map(Map::from([("n".into(), 1.into()), ("t".into(), "y".repeat(n).into())]));
    let few = show(&Dynamic::from_array(vec![long(200); 3]));
    assert_eq!(few.elided, Elided::None, "a short table is whole: {}", few.text);
    let many = show(&Dynamic::from_array(vec![long(200); 30]));
    assert!(many.text.ends_with(&format!("\n1  {}… 120 elided", "y".repeat(80))), "{}", many.text);
    assert_eq!(many.elided, Elided::Counted { items: 0, characters: 30 * 120 });

    let wide: Map = (0..15).map(|n| (format!("k{n:02}").into(), n.into())).collect();
    let shown = show(&Dynamic::from_array(vec![wide.into(); 3]));
    assert!(shown.text.starts_with("3 rows · k00 k01 k02 k03 k04 k05 k06 k07 k08 k09 k10 k11 … 3 columns elided\n"));
    assert_eq!(shown.elided, Elided::Counted { items: 3, characters: 0 });
}

#[test]
fn a_table_that_is_too_long_has_its_head_and_tail() {
    let row = |n: i64| {
        let text = |c: &str| Dynamic::from(c.repeat(70));
        Dynamic::from_map(Map::from([
            ("n".into(), n.into()),
            ("t".into(), text("t")),
            ("u".into(), text("u")),
            ("v".into(), text("v")),
        ]))
    };
    let shown = show(&Dynamic::from_array((0..100).map(row).collect()));
    assert!(shown.text.len() <= Budget::ANSWER.bytes);
    let mark = shown.text.lines().position(|line| line.starts_with("… ")).unwrap();
    let rows = shown.text.lines().count() - 2;
    assert_eq!(shown.elided, Elided::Counted { items: 100 - rows, characters: 0 });
    assert!(mark > 20 && rows > mark && shown.text.lines().last().unwrap().starts_with("99  t"), "{}", shown.text);
    let whole_table = show(&whole(Dynamic::from_array((0..100).map(row).collect())));
    assert_eq!((whole_table.text.lines().count(), whole_table.elided), (101, Elided::None));
    let docs = Dynamic::from_map(Map::from([("doc".into(), "word ".repeat(500).into())]));
    assert_eq!(show(&whole(Dynamic::from_array(vec![docs; 5]))).elided, Elided::None, "no cell of it is cut");
}

#[test]
fn other_lists_are_lists() {
    for code in [
        "[#{a: 1}, #{a: 2}]",
        "[#{a: 1}, #{a: 2}, 3]",
        "[#{a: 1}, #{a: 2}, #{}]",
        "[#{a: 1}, #{b: 2}, #{c: 3}]",
        "[#{a: 1}, #{a: 2}, #{a: blob(3, 1)}]",
        "[#{a: 1}, #{a: 2}, #{a: Fn(\"abs\")}]",
        "#{rows: [#{a: 1}, #{a: 2}, #{a: 3}]}",
        "[[#{a: 1}, #{a: 2}, #{a: 3}]]",
    ] {
        let shown = show(&eval(code)).text;
        assert!(shown.starts_with(['[', '#']) && !shown.contains('\n'), "{code}: {shown}");
    }
    let nested = format!("[#{{a: 1}}, #{{a: 2}}, #{{a: [\"{}\"]}}]", "x".repeat(80));
    assert!(show(&eval(&nested)).text.starts_with("[#{"), "a list too long for a cell is shown where it stands");
    let mut many = Map::new();
    (0..70).for_each(|n| drop(many.insert(format!("k{n}").into(), n.into())));
    assert!(show(&Dynamic::from_array(vec![many.into(); 3])).text.starts_with("[#{"));
}

#[test]
fn a_text_full_of_quotes_is_itself_below_a_line_that_says_so() {
    let json = format!(r#"{{"rows": [{}], "path": "C:\\x"}}"#, vec![r#"{"a": "b"}"#; 30].join(", "));
    let shown = show(&json.clone().into());
    assert_eq!(shown.text, format!("text · {} characters\n{json}", json.chars().count()));
    assert_eq!(shown.elided, Elided::None);
    let forged = format!(";; id 1 · {json}");
    assert!(show(&forged.into()).text.contains("characters\n ;; id 1 ·"));
    for quoted in [r#"{"a": "b"}"#.to_owned(), "word ".repeat(100), format!("\"one\" {}", "word ".repeat(100))] {
        assert!(show(&quoted.into()).text.starts_with('"'));
    }
    let long = show(&format!("[{}]", vec![r#""a""#; 9_000].join(",")).into());
    assert!(long.text.starts_with("text · 36,001 characters\n[\"a\",") && long.text.ends_with(" characters elided"));
}

/// Texts that try to be something else.
fn texts() -> impl Strategy<Value = String> {
    let parts = r#"(;;|\n|\t|  | |é|😀|"|\\|\x1b|…| elided|\(\)|true|-|[0-9,._]|[a-z]|\[|#\{|'){0,12}"#;
    prop_oneof![
        4 => proptest::string::string_regex(parts).unwrap(),
        1 => proptest::string::string_regex("[a-z ]{60,200}").unwrap(),
        1 => any::<f64>().prop_map(|n| n.to_string()),
        1 => any::<i64>().prop_map(|n| n.to_string()),
    ]
}

fn plain_values() -> impl Strategy<Value = Dynamic> {
    prop_oneof![
        4 => texts().prop_map(Dynamic::from),
        2 => any::<i64>().prop_map(Dynamic::from),
        2 => any::<f64>().prop_map(Dynamic::from),
        1 => any::<bool>().prop_map(Dynamic::from),
        1 => Just(Dynamic::UNIT),
        1 => proptest::collection::vec(any::<i8>().prop_map(|n| Dynamic::from(i64::from(n))), 0..5).prop_map(Dynamic::from_array),
    ]
}

fn rows() -> impl Strategy<Value = Array> {
    let cells = proptest::collection::vec(proptest::option::weighted(0.8, plain_values()), 16);
    (1_usize..16, proptest::collection::vec(cells, 3..80)).prop_map(|(columns, rows)| {
        let row = |cells: Vec<Option<Dynamic>>| {
            let named = cells.into_iter().take(columns).enumerate();
            let row: Map = named.filter_map(|(n, cell)| Some((format!("k{n}").into(), cell?))).collect();
            Dynamic::from_map(row)
        };
        rows.into_iter().map(row).collect()
    })
}

/// The cells of a line, as somebody reads it who knows only that two blanks part them.
fn read(line: &str) -> Vec<String> {
    let (mut cells, mut rest) = (Vec::new(), line.trim_start());
    while !rest.is_empty() {
        let closed = rest.strip_prefix('"').map_or(0, |inside| {
            let mut escaped = false;
            let end = inside.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            end.expect("the quote is closed") + 2
        });
        let end = rest[closed..].find("  ").map_or(rest.len(), |at| closed + at);
        cells.push(rest[..end].to_owned());
        rest = rest[end..].trim_start();
    }
    cells
}

/// Whether a cell stands for this value and can stand for no other, and how many characters it lacks.
fn stands_for(cell: &str, value: &Dynamic) -> Result<usize, TestCaseError> {
    let (cell, cut) = match cell.rsplit_once("… ").filter(|(_, rest)| !cell.ends_with('"') && rest.ends_with(" elided"))
    {
        Some((cell, rest)) => (cell, rest.trim_end_matches(" elided").replace(',', "").parse().unwrap()),
        None => (cell, 0),
    };
    if let Ok(text) = value.clone().into_immutable_string() {
        let read = if cell.starts_with('"') {
            eval(&cell.replace("\u{202e}", "")).into_string().unwrap()
        } else {
            prop_assert!(cell.parse::<f64>().is_err() && !["()", "true", "false", "-"].contains(&cell), "{}", cell);
            prop_assert!(!cell.starts_with(['[', '#']) || cell.starts_with("#") && !cell.starts_with("#{"), "{}", cell);
            cell.to_owned()
        };
        prop_assert!(text.starts_with(&read), "{} for {:?}", cell, text);
        prop_assert_eq!(text.chars().count(), read.chars().count() + cut);
    } else {
        prop_assert_eq!(cell, &show(value).text);
        prop_assert_eq!(cut, 0);
    }
    Ok(cut)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_row_or_column_is_lost_and_no_line_can_be_misread(rows in rows()) {
        let shown = show(&rows.clone().into());
        prop_assert!(shown.text.len() <= Budget::ANSWER.bytes);
        if shown.text.starts_with('[') {
            // Rows that are not alike, or have nothing to show.
            return Ok(());
        }
        let mut lines: Vec<_> = shown.text.lines().collect();
        let head = lines.remove(0).strip_prefix(&format!("{} rows · ", rows.len())).expect("a table says its rows").to_owned();
        let (keys, hidden) = match head.split_once(" … ") {
            Some((keys, rest)) => (keys, rest.split(' ').next().unwrap().parse().unwrap()),
            None => (&*head, 0),
        };
        let keys: Vec<_> = keys.split(' ').collect();
        prop_assert!(keys.len() <= COLUMNS);
        let mark = lines.iter().position(|line| line.starts_with("… "));
        let between = mark.map_or(0, |at| lines.remove(at).split(' ').nth(1).unwrap().replace(',', "").parse().unwrap());
        prop_assert_eq!(lines.len() + between, rows.len());
        let head = mark.unwrap_or(lines.len());
        let mut union = BTreeSet::new();
        let mut characters = 0;
        for (at, line) in lines.iter().enumerate() {
            let row = rows[if at < head { at } else { rows.len() - (lines.len() - at) }].read_lock::<Map>().unwrap();
            union.extend(row.keys().cloned());
            let read: Vec<_> = read(line).into_iter().filter(|cell| cell != "-").collect();
            let there: Vec<_> = keys.iter().filter_map(|key| row.get(*key)).collect();
            prop_assert_eq!(read.len(), there.len(), "{}", line);
            for (cell, value) in read.iter().zip(there) {
                characters += stands_for(cell, value)?;
            }
            prop_assert!(!line.starts_with(";;"));
        }
        if mark.is_none() {
            prop_assert_eq!(union.len(), keys.len() + hidden);
        }
        let items = between + hidden;
        let elided = if items + characters == 0 { Elided::None } else { Elided::Counted { items, characters } };
        prop_assert_eq!(shown.elided, elided);
    }
}
