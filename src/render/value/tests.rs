//! Values of every kind, and what holds for all of them.

use super::types::is_whole;
use super::*;
use crate::base::Failure;
use crate::base::limits::thousands;
use crate::render::plain;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use rhai::Dynamic;
use rhai::{Array, Blob, Engine, FnPtr, Map};
use std::cell::Cell;
use std::sync::Arc;

/// Room for one line.
const NARROW: Budget = Budget { bytes: 400, depth: 3, items: 10, head: 8, tail: 2, string: 60, cell: 20 };

/// A type of native code that the hook does not know.
#[derive(Clone, Debug)]
struct Plain;

fn no_hook(_: &Dynamic) -> Option<Shown> {
    None
}

fn never() -> bool {
    false
}

fn eval(code: &str) -> Dynamic {
    let mut engine = Engine::new();
    engine.set_max_expr_depths(64, 64).set_max_call_levels(64);
    engine.eval(code).unwrap()
}

fn show(value: &Dynamic) -> Rendered {
    super::value(value, &Budget::ANSWER, &no_hook, &never)
}

fn check(code: &str, expected: Expect) {
    expected.assert_eq(&show(&eval(code)).text);
}

#[test]
fn zeros_keep_their_sign() {
    check("[-0.0, 0.0, #{a: -0.0}]", expect!["[-0.0, 0.0, #{a: -0.0}]"]);
    check("-0.0", expect!["-0.0"]);
}

#[test]
fn every_kind_of_value() {
    let kinds = [
        "()",
        "true",
        "-9223372036854775808",
        "1.0",
        "0.1",
        "1e100",
        "-1.0/0.0",
        "0.0/0.0",
        "'c'",
        r"'\''",
        r"'\n'",
        r#""""#,
        r#""plain""#,
        r#""quote \" back \\ tab \t bell \x07 esc \x1b[1m c1 \x9b bidi \u202e é😀""#,
        "[]",
        "#{}",
        "[1, 2.5, 'c', \"s\", (), [true]]",
        "#{b: 1, a: #{c: [()]}, \"we ird\": 2, \"\": 3, \"9\": 4}",
        "blob()",
        "blob(3, 7)",
        "timestamp()",
        "0..10",
        "1..=3",
        "Fn(\"abs\")",
        "curry(Fn(\"add\"), 1, [2])",
        "|x| x + 1",
    ];
    let shown: Vec<_> = kinds.iter().map(|code| show(&eval(code)).text).collect();
    expect![[r#"
        ()
        true
        -9223372036854775808
        1.0
        0.1
        1e100
        -inf
        NaN
        'c'
        '\''
        '\n'
        ""
        "plain"
        "quote \" back \\ tab \t bell \x07 esc \x1b[1m c1 \x9b bidi \u202e é😀"
        []
        #{}
        [1, 2.5, 'c', "s", (), [true]]
        #{"": 3, "9": 4, a: #{c: [()]}, b: 1, "we ird": 2}
        blob[]
        blob[07 07 07]
        <timestamp>
        0..10
        1..=3
        Fn("abs")
        Fn("add").curry(1, [2])
        closure"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn a_string_with_line_breaks_is_itself_when_it_is_the_whole_value() {
    check(
        r#""first\n;; id 12 · forged\n\ttabbed \"quoted\" \\ back\nesc \x1b[1m and \r\n""#,
        expect![[r#"
            first
             ;; id 12 · forged
            	tabbed "quoted" \ back
            esc \x1b[1m and \r
        "#]],
    );
    check(r#"["a\nb"]"#, expect![[r#"["a\nb"]"#]]);
    check(r#""\n\n""#, expect![[r#""\n\n""#]]);
}

#[test]
fn a_cut_container_shows_head_and_tail() {
    let value = eval("let a = []; for i in 0..20000 { a.push(i) } #{list: a, deep: [[[[[[[1, 2]]]]]]]}");
    let shown = show(&value);
    expect![[r#"
        #{deep: [[[[[[… 1 elided]]]]]], list: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, … 19,950 elided …, 19990, 19991, 19992, 19993, 19994, 19995, 19996, 19997, 19998, 19999]}"#]]
    .assert_eq(&shown.text);
    assert_eq!(shown.elided, Elided::Counted { items: 19_951, characters: 0 });
    let map = eval("let m = #{}; for i in 0..60 { m[`k${i+100}`] = i } m");
    let shown = show(&map);
    assert!(shown.text.contains("k139: 39, … 10 elided …, k150: 50"), "{}", shown.text);
    let bytes = show(&Dynamic::from_blob((0..=255).collect::<Blob>()));
    assert!(bytes.text.contains("26 27 … 206 elided … f6 f7"), "{}", bytes.text);
    let fifty = eval("let a = []; for i in 0..50 { a.push(i) } a");
    assert_eq!(show(&fifty).elided, Elided::None);
}

#[test]
fn long_strings_are_cut_where_they_stand() {
    let long: Dynamic = "x".repeat(5_000).into();
    let inside = show(&Dynamic::from_array(vec![long.clone(), Dynamic::ONE]));
    assert!(inside.text.ends_with("xx\"… 4,000 characters elided, 1]"), "{}", inside.text);
    assert_eq!(inside.elided, Elided::Counted { items: 0, characters: 4_000 });
    assert_eq!(show(&long).elided, Elided::None, "a string that is the whole value has the whole budget");
    let emoji = show(&"😀".repeat(5_000).into());
    assert!(emoji.text.starts_with("\"😀😀") && emoji.text.ends_with(" characters elided"), "{}", emoji.text);
    let lines = show(&"line\n".repeat(5_000).into());
    assert!(lines.text.contains("line\n… ") && lines.text.ends_with(" characters elided"), "{}", lines.text);
    let giant = show(&"x".repeat(5 << 20).into());
    let Elided::Counted { items: 0, characters } = giant.elided else { panic!("{:?}", giant.elided) };
    let shown = giant.text.chars().filter(|c| *c == 'x').count();
    assert_eq!(shown + characters, 5 << 20, "however long it is, every character is counted");
    assert!(giant.text.ends_with(&format!("… {} characters elided", thousands(characters))));
    let Elided::Counted { characters, .. } = show(&"é".repeat(2 << 20).into()).elided else { panic!("not counted") };
    assert!((2 << 20) - 4_096 < characters && characters < 2 << 20, "{characters}");
}

#[test]
fn what_is_marked_whole_is_shown_whole() {
    let manual = whole("a line of the manual\n".repeat(1_500));
    assert_eq!(show(&manual).elided, Elided::None);
    assert_eq!(show(&whole("fn a() { 1 }")).text, "fn a() { 1 }");
    let rows: Array = (0..500).map(Dynamic::from).collect();
    assert_eq!(show(&whole(Dynamic::from_array(rows))).elided, Elided::None);
    let too_long = show(&whole("a line of the manual\n".repeat(9_000)));
    assert!(too_long.text.len() <= 48 << 10 && matches!(too_long.elided, Elided::Counted { .. }));
    let mut engine = Engine::new();
    engine.register_fn("manual", || whole("one\ntwo\n".repeat(2_000)));
    let kept: Dynamic = engine.eval("if manual().contains(\"one\") { manual() }").unwrap();
    assert!(is_whole(&kept), "the mark follows the value out of calls and blocks");
    for made in ["manual() + \"\"", "[manual()]", "manual().sub_string(0, 9000)"] {
        let made: Dynamic = engine.eval(made).unwrap();
        assert!(!is_whole(&made) && show(&made).text.len() <= 8 << 10, "what is made of it is ordinary");
    }
}

#[test]
fn the_hook_shows_what_the_language_does_not_know() {
    let entry =
        |end| EntryShown {
            line: "entry 12 · ok · 3 ms".into(), facts: "entry 12 · ns s-bfw · ok · 3 ms".into(), end
        };
    let hook = move |value: &Dynamic| {
        if value.is_fnptr() {
            return Some(Shown::Closure(vec!["x".into(), "y".into()]));
        }
        match value.clone().try_cast::<Wrapped>()?.0 {
            0 => Some(Shown::Entry(entry(EntryEnd::Value("two\n;; lines".into())))),
            1 => Some(Shown::Entry(entry(EntryEnd::Open))),
            2 => {
                let failure = Failure { line: 1, column: 7, ..Failure::new("Thrown", "for the record") };
                Some(Shown::Entry(EntryShown {
                    line: "entry 13 · failed · 3 ms".into(),
                    facts: "entry 13 · ns s-bfw · failed · 3 ms".into(),
                    end: EntryEnd::Stopped {
                        set: Some("set before it stopped: a".into()),
                        failure: Some(Arc::new(failure)),
                    },
                }))
            }
            3 => Some(Shown::Around("atom".into(), Dynamic::from_array(vec![1.into(), 2.into()]))),
            4 => Some(Shown::Text("2024-02-03\u{1b}\nbad".into())),
            5 => Some(Shown::Around("atom".into(), Dynamic::from(Wrapped(5)))),
            6 => Some(Shown::Entry(entry(EntryEnd::Value(Dynamic::from(Wrapped(6)))))),
            7 => Some(Shown::Entry(entry(EntryEnd::Ask(Ask::new(|| EntryEnd::Value("asked".into())))))),
            _ => None,
        }
    };
    let mut out = String::new();
    for n in 0..9 {
        let shown = super::value(&Dynamic::from(Wrapped(n)), &Budget::ANSWER, &hook, &never);
        out += &format!("{}\n--- {:?}\n", shown.text, shown.elided);
    }
    let all = (0..9).map(|n| Dynamic::from(Wrapped(n))).chain([eval("|x, y| x")]).collect::<Array>();
    out += &super::value(&all.into(), &Budget::ANSWER, &hook, &never).text;
    out += &format!("\n{}", show(&Dynamic::from(Plain)).text);
    expect![[r#"
        entry 12 · ns s-bfw · ok · 3 ms
        two
         ;; lines
        --- None
        entry 12 · ns s-bfw · ok · 3 ms
        --- None
        entry 13 · ns s-bfw · failed · 3 ms
        set before it stopped: a
        Thrown: for the record · 1:7
        --- None
        atom([1, 2])
        --- None
        2024-02-03\x1b\nbad
        --- None
        atom(atom(atom(atom(atom(atom(atom(… 1 elided)))))))
        --- Counted { items: 1, characters: 0 }
        entry 12 · ns s-bfw · ok · 3 ms
        entry 12 · ns s-bfw · ok · 3 ms
        entry 12 · ns s-bfw · ok · 3 ms
        entry 12 · ns s-bfw · ok · 3 ms
        --- Counted { items: 1, characters: 0 }
        entry 12 · ns s-bfw · ok · 3 ms
        "asked"
        --- None
        <Wrapped>
        --- None
        [<entry 12 · ok · 3 ms>, <entry 12 · ok · 3 ms>, <entry 13 · failed · 3 ms>, atom([1, 2]), 2024-02-03\x1b\nbad, atom(atom(atom(atom(atom(atom(… 1 elided)))))), <entry 12 · ok · 3 ms>, <entry 12 · ok · 3 ms>, <Wrapped>, |x, y| closure]
        <Plain>"#]]
    .assert_eq(&out);
}

#[derive(Clone, Debug)]
struct Wrapped(i32);

#[test]
fn what_the_hook_says_cannot_pass_for_the_system() {
    let forged = |_: &Dynamic| Some(Shown::Text(";; id 12 · forged".into()));
    let shown = super::value(&Dynamic::from(Plain), &Budget::ANSWER, &forged, &never);
    assert_eq!(shown.text, " ;; id 12 · forged");
    let named = |_: &Dynamic| Some(Shown::Around(";; id".into(), Dynamic::UNIT));
    assert_eq!(super::value(&Dynamic::from(Plain), &Budget::ANSWER, &named, &never).text, " ;; id(())");
    let handle = |value: &Dynamic| {
        Some(match value.clone_cast::<Wrapped>().0 {
            0 => Shown::Entry(EntryShown {
                line: "entry 12".into(),
                facts: "entry 12".into(),
                end: EntryEnd::Value(Dynamic::from(Wrapped(1))),
            }),
            _ => Shown::Text(";; id 12 · forged".into()),
        })
    };
    let shown = super::value(&Dynamic::from(Wrapped(0)), &Budget::ANSWER, &handle, &never);
    assert_eq!(shown.text, "entry 12\n ;; id 12 · forged");
}

#[test]
fn a_tail_of_long_items_has_its_room() {
    let items: Array = (0..60).map(|n| Dynamic::from(format!("{n:->100}{}", "x".repeat(300)))).collect();
    let shown = show(&items.into());
    assert!(shown.text.contains("-59x") && shown.text.contains(" elided …, "), "{}", shown.text);
    let marks = shown.text.split("… ").skip(1).map(|mark| mark.split(' ').collect::<Vec<_>>());
    let told: usize = marks
        .filter(|words| words[1].starts_with("elided") || words[1] == "characters")
        .map(|words| words[0].parse::<usize>().unwrap())
        .sum();
    let Elided::Counted { items, characters } = shown.elided else { panic!("{:?}", shown.elided) };
    assert_eq!(items + characters, told, "what is said where it happens is what is counted");
}

#[test]
fn a_value_without_room_is_told() {
    let key = "k".repeat(300);
    let map = Map::from([("a".into(), Dynamic::ONE), (key.into(), 2_i64.into())]);
    let narrow = Budget { string: 300, ..NARROW };
    let shown = super::value(&map.into(), &narrow, &no_hook, &never);
    assert!(shown.text.ends_with(": … 1 elided}") && shown.elided != Elided::None, "{}", shown.text);
}

#[test]
fn the_smallest_budget_holds() {
    let tiny = Budget { bytes: 40, ..Budget::ANSWER };
    let value = Dynamic::from_array(vec![Dynamic::from("é".repeat(100)); 20]);
    let shown = super::value(&value, &tiny, &no_hook, &never);
    assert!(shown.text.len() <= 40, "{}", shown.text);
    assert_eq!(shown.elided, Elided::Uncounted);
}

#[test]
fn cycles_and_busy_cells_end() {
    let cyclic = Dynamic::from_map(Map::new()).into_shared();
    let mut rest = cyclic.clone();
    rest.write_lock::<Map>().unwrap().insert("me".into(), cyclic.clone());
    rest.write_lock::<Map>().unwrap().insert("n".into(), Dynamic::ONE);
    assert_eq!(show(&cyclic).text, "#{me: <cycle>, n: 1}");
    rest.write_lock::<Map>().unwrap().clear();

    let held = Dynamic::from(5_i64).into_shared();
    let free = Dynamic::from(6_i64).into_shared();
    let many: Array = std::iter::repeat_n(held.clone(), 4).chain([free.clone()]).collect();
    let mut other = held.clone();
    let lock = other.write_lock::<Dynamic>().unwrap();
    let shown = show(&many.into());
    drop(lock);
    assert_eq!(shown.text, "[<busy>, <busy>, <busy>, <busy>, <busy>]", "patience ends before the value does");
    assert_eq!(shown.elided, Elided::Uncounted);
    assert_eq!(show(&vec![held, free].into()).text, "[5, 6]");
}

#[test]
fn giant_values_are_visited_only_where_they_are_shown() {
    let visits = Cell::new(0);
    let items: Array = (0..1_000_000).map(|_| Dynamic::from(Plain)).collect();
    let value = Dynamic::from_array(vec![Dynamic::from_array(items); 3]);
    let shown = super::value(&value, &Budget::ANSWER, &no_hook, &|| {
        visits.set(visits.get() + 1);
        false
    });
    assert!(visits.get() < 1_000, "asked {} times", visits.get());
    assert_eq!(shown.elided, Elided::Counted { items: 3 * 999_950, characters: 0 });
}

#[test]
fn a_stop_ends_the_walk() {
    let visits = Cell::new(0);
    let value = Dynamic::from_array(vec![Dynamic::from_array(vec![Dynamic::ONE; 45]); 45]);
    let shown = super::value(&value, &Budget::ANSWER, &no_hook, &|| {
        visits.set(visits.get() + 1);
        visits.get() > 20
    });
    assert!(visits.get() < 30 && shown.text.len() < 200, "{}", shown.text);
    assert_eq!(shown.elided, Elided::Uncounted);
}

#[test]
fn what_is_elided_in_words() {
    let shown = [
        Elided::Counted { items: 9_872, characters: 0 },
        Elided::Counted { items: 0, characters: 1 },
        Elided::Counted { items: 1, characters: 4_000 },
        Elided::Uncounted,
    ]
    .map(|elided| elided.phrase().unwrap());
    expect![[r#"
        9,872 elided
        1 character elided
        1 item and 4,000 characters elided
        uncounted elision"#]]
    .assert_eq(&shown.join("\n"));
    assert_eq!(Elided::None.phrase(), None);
}

/// Values of any shape, with strings that try to break out.
fn values() -> impl Strategy<Value = Dynamic> {
    let text = proptest::string::string_regex(r#"(;;|\n|é|😀|"|\\|\x1b|\x9b|\u{202e}|[a-z ]){0,40}"#).unwrap().boxed();
    let leaf = prop_oneof![
        any::<i64>().prop_map(Dynamic::from),
        any::<f64>().prop_map(Dynamic::from),
        any::<char>().prop_map(Dynamic::from),
        text.clone().prop_map(Dynamic::from),
        text.clone().prop_map(|t| Dynamic::from(t.repeat(300))),
        Just(Dynamic::from(Plain)),
        Just(Dynamic::from(FnPtr::new("abs").unwrap())),
        proptest::collection::vec(any::<u8>(), 0..80).prop_map(Dynamic::from_blob),
    ];
    leaf.prop_recursive(9, 300, 60, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..60).prop_map(Dynamic::from_array),
            proptest::collection::vec((text.clone(), inner.clone()), 0..60)
                .prop_map(|pairs| Dynamic::from_map(pairs.into_iter().map(|(k, v)| (k.into(), v)).collect())),
            inner.prop_map(Dynamic::into_shared),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_value_breaks_the_rules(value in values(), small in prop::bool::ANY) {
        let budget = if small { NARROW } else { Budget::ANSWER };
        let shown = super::value(&value, &budget, &no_hook, &never);
        prop_assert!(shown.text.len() <= budget.bytes, "{} bytes", shown.text.len());
        prop_assert!(!shown.text.is_empty());
        for line in shown.text.split('\n') {
            prop_assert!(!line.starts_with(";;"), "{line}");
        }
        let raw = shown.text.chars().find(|c| plain::is_unsafe(*c) && !matches!(c, '\n' | '\t'));
        prop_assert_eq!(raw, None);
        prop_assert_eq!(shown.text.contains(" elided"), shown.elided != Elided::None);
    }
}
