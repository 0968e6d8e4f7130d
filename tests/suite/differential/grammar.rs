//! A grammar of programs that end: statements over a few variables of fixed types, closures, and functions that read them.
//!
//! Two things are left out because of plain Rhai: a closure that names the list which the call it is given to is made on (there a
//! data race), and natives called as functions to change what was captured (there they change a copy, as long as a closure has the
//! variable). So `u` and `v`, which are changed that way, are never captured.

use proptest::prelude::*;
use proptest::strategy::Union;
use std::fmt;

/// What every program begins with.
const BEGIN: &str = "
fn add(a, b) { a + b }
fn longer(list, x) { list.push(x); list }
fn grow(x) { this.push(x); this.len() }
fn bump(x) { this += x; }
fn mark(x) { this.a += x; }
fn sum(list) { let s = 0; for x in list { s += x; } s }
fn deep(x) { if x <= 0 { 0 } else { 1 + deep(x - 1) } }
let n = 1;
let k = 5;
let l = [3, 1, 2];
let m = #{a: 1, b: [7], c: 2};
let t = \"ab\";
let f = |x| x + 1;
let g = || 0;
let p = Fn(\"grow\");
let out = [];
let u = [2];
let v = 1;
";

/// What every program ends with: everything that can be looked at.
const END: &str = "[n, k, l, m, t, out, f.call(1), g.call(), n, l, u, v]";

/// Functions that read variables, and what stands for their calls in plain Rhai.
const READS: [(&str, &str, &str); 8] = [
    ("read_n()", "fn read_n() { n }", "n"),
    ("read_l()", "fn read_l() { l }", "l"),
    ("read_m()", "fn read_m() { m.a + m.b.len() }", "(m.a + m.b.len())"),
    ("read_t()", "fn read_t() { t }", "t"),
    ("read_u()", "fn read_u() { [u, v] }", "[u, v]"),
    ("read_both()", "fn read_both() { [read_n(), read_l().len(), k] }", "[n, l.len(), k]"),
    ("read_closure()", "fn read_closure() { f.call(2) }", "f.call(2)"),
    ("Fn(\"read_plus\")", "fn read_plus(x) { x + n }", "|x| x + n"),
];

/// A program, and the same for plain Rhai.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) ours: String,
    pub(super) plain: String,
}

/// The text is shown with the difference.
impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program above")
    }
}

type Text = BoxedStrategy<String>;

/// Programs of some statements.
pub(super) fn program() -> impl Strategy<Value = Pair> {
    proptest::collection::vec(top_level(), 3..12).prop_map(|statements| {
        let body = format!("{}\n{END}", statements.join("\n"));
        let definitions: Vec<_> = READS.iter().map(|(_, definition, _)| *definition).collect();
        let plain = READS.iter().fold(body.clone(), |text, (call, _, stand_in)| text.replace(call, stand_in));
        Pair { ours: format!("{}{BEGIN}{body}", definitions.join("\n")), plain: format!("{BEGIN}{plain}") }
    })
}

/// One of these, by weight.
fn one_of(choices: Vec<(u32, Text)>) -> Text {
    Union::new_weighted(choices).boxed()
}

fn words(choices: &'static [&'static str]) -> Text {
    proptest::sample::select(choices).prop_map(str::to_owned).boxed()
}

/// A template, each `€` in it an own expression.
fn filled(templates: &'static [&'static str], expression: &Text) -> Text {
    (proptest::sample::select(templates), proptest::collection::vec(expression.clone(), 3))
        .prop_map(|(template, expressions)| {
            let mut text = String::new();
            for (index, part) in template.split('€').enumerate() {
                if index > 0 {
                    text.push_str(&expressions[(index - 1) % expressions.len()]);
                }
                text.push_str(part);
            }
            text
        })
        .boxed()
}

/// An expression of a whole number that names no list, calls no closure, and changes nothing.
fn quiet() -> Text {
    let leaf = words(&["0", "1", "2", "3", "-1", "n", "k", "m.a", "m.c", "t.len()"]);
    let inner = filled(&["(€ + €)", "(€ - €)", "add(€, 2)", "(€ % 7)", "if € > € { 1 } else { n }"], &leaf);
    one_of(vec![(3, leaf), (1, inner)])
}

/// An expression of a whole number.
fn int(depth: u32) -> Text {
    let leaf = one_of(vec![(4, quiet()), (2, words(&["l.len()", "sum(l)", "m.b.len()", "l[0]", "f.call(3)"]))]);
    if depth == 0 {
        return leaf;
    }
    let inner = int(depth - 1);
    let calm = filled(
        &[
            "(€ + €)",
            "(€ - €)",
            "(€ * 2)",
            "(€ % 7)",
            "add(€, €)",
            "deep(€ % 5)",
            "(l.get(€ % 3) ?? €)",
            "f.call(€)",
            "if € > € { € } else { 4 }",
            "switch € { 0 => €, 1..5 => 5, _ => € }",
            "{ let q = €; q + € }",
            "l.index_of(€)",
            "[€, €, €].len()",
            "#{z: €}.z",
            "sum(longer(l, €))",
        ],
        &inner,
    );
    let over_lists = filled(
        &[
            "l.map(|x| x + €).len()",
            "sum(l.map(|x| x * 2 + €))",
            "l.filter(|x| x > €).len()",
            "l.reduce(|s, x| s + x + €, 0)",
            "sum(m.b.map(|x, i| x + i + n))",
            "(l.find(|x| x > €) ?? €)",
            "if l.some(|x| x == €) { 1 } else { 0 }",
        ],
        &quiet(),
    );
    let changing = filled(
        &[
            "(l.pop() ?? €)",
            "(l.shift() ?? €)",
            "{ n += 1; € }",
            "g.call()",
            "{ l.push(€); l.len() }",
            "l.grow(€)",
            "(m.b.pop() ?? €)",
        ],
        &leaf,
    );
    let reads = words(&["read_n()", "read_l().len()", "read_m()", "read_closure()", "sum(read_l())", "read_t().len()"]);
    one_of(vec![(4, leaf), (6, calm), (2, over_lists), (2, changing), (2, reads)])
}

/// A statement without blocks.
fn simple() -> Text {
    let changes = filled(
        &[
            "n = (€) % 1000;",
            "n += (€) % 100;",
            "k = (€) % 50;",
            "n -= k;",
            "l.push((€) % 100);",
            "l.insert(0, (€) % 100);",
            "l.reverse();",
            "l.sort();",
            "l.truncate(6);",
            "l.grow((€) % 100);",
            "l[0] = (€) % 100;",
            "l[-1] += (€) % 100;",
            "l = longer(l, (€) % 100);",
            "l = [(€) % 10, n, (€) % 10];",
            "l += [(€) % 10];",
            "l.dedup();",
            "n.bump((€) % 10);",
            "m.a.bump((€) % 10);",
            "l[0].bump((€) % 10);",
            "m.mark((€) % 10);",
            "m.a = (€) % 1000;",
            "m[\"c\"] += (€) % 10;",
            "m.b.push((€) % 10);",
            "m.b = l;",
            "m.b.grow((€) % 10);",
            "push(m.b, (€) % 10);",
            "m.mixin(#{c: (€) % 10});",
            "l.splice(0..1, [(€) % 10]);",
            "t += (€) % 10;",
            "t += 'x';",
            "t = `${n}-${(€) % 10}`;",
            "t.truncate(6);",
            "t.make_upper();",
            "t.pad(4, 'z');",
            "t[0] = 'q';",
            "out.push((€) % 1000);",
            "out.push(`${€} ${l} ${t}`);",
            "out.push(m);",
            "print(`${n} ${€}`);",
            "g.call();",
            "out.push(g.call());",
            "out.push(f.call((€) % 10));",
        ],
        &int(2),
    );
    let with_closures = filled(
        &[
            "l = l.map(|x| (x + €) % 100);",
            "l.retain(|x| x != €);",
            "l.for_each(|| this += (€) % 10);",
            "out.push(l.drain(|x| x > 50));",
            "m.b.for_each(|i| this += i);",
            "l.sort(|a, b| b - a);",
            "f = |x| x + €;",
            "f = |x| (x * 2 + €) % 1000;",
            "g = || €;",
        ],
        &quiet(),
    );
    let closures = words(&[
        "g = || { n += 1; n };",
        "g = || { l.push(n % 10); l.len() };",
        "g = || { m.a += 1; m.a };",
        "g = || { t += \"g\"; t.len() };",
        "g = || { l = [n]; l.len() };",
        "f = |x| x + l.len();",
        "f = |x| { n += x % 3; n % 1000 };",
        "m.c = [1, 2].map(|x| { n += x; n % 100 })[1];",
        "[1, 2].for_each(|| l.push(this));",
        "out.push([1, 2, 3].map(f));",
        "out.push([2, 1].map(|x| f.call(x)));",
    ]);
    let in_place = filled(
        &[
            "push(u, (€) % 10);",
            "sort(u);",
            "reverse(u);",
            "u.truncate(5);",
            "shop::add(u, (€) % 10);",
            "shop::raise(v, (€) % 10);",
            "v = shop::twice(v) % 100;",
            "insert(u, 0, v);",
            "if shop::count(u) > 3 { pop(u); }",
            "out.push(pop(u));",
            "u = u.split(1);",
        ],
        &int(1),
    );
    one_of(vec![
        (12, changes),
        (4, with_closures),
        (3, closures),
        (2, in_place),
        (1, words(&["l.call(p, 4);", "m.b.call(p, n % 10);", "n.tag = 3;", "l.tag += 1;", "out.push(l.tag + n.tag);"])),
        (2, words(&["g = || f.call(1);", "f = |x| x + g.call();"])),
    ])
}

/// Some statements in a row.
fn several(depth: u32) -> Text {
    proptest::collection::vec(statement(depth), 1..4).prop_map(|all| all.join(" ")).boxed()
}

/// A statement inside a block or at the top level.
fn statement(depth: u32) -> Text {
    if depth == 0 {
        return simple();
    }
    let (inner, number) = (several(depth - 1), int(1));
    let blocks = (
        proptest::sample::select(
            &[
                "if € > € { § } else { § }",
                "if (€) % 2 == 0 { § }",
                "if € in l { § } else if l.is_empty() { § }",
                "for i in 0..3 { § }",
                "for i in 0..2 { k += i; § }",
                "for (x, i) in l.extract(0, 3) { n += x * i % 10; § }",
                "for x in m.b.extract(0, 2) { § if x > € { break; } }",
                "{ let w = 0; while w < 3 && n != € { w += 1; § } }",
                "{ let w = 0; loop { w += 1; if w > 2 { break; } if w == 1 { continue; } § } }",
                "{ let w = 0; do { w += 1; § } until w > 1; }",
                "switch (€) % 3 { 0 => { § } 1 => { § } _ => n += 1 }",
                "try { § if € > € { throw €; } § } catch (e) { out.push(if type_of(e) == \"i64\" { e } else { e.error }); § }",
                "try { § } catch { § }",
                "{ § }",
                "{ let j = €; f = |x| x + j; }",
                "{ let j = [€]; g = || { j.push(1); j.len() }; }",
            ][..],
        ),
        proptest::collection::vec(inner, 2),
        proptest::collection::vec(number, 3),
    )
        .prop_map(|(template, blocks, numbers)| {
            let mut text = String::new();
            let (mut block, mut number) = (0, 0);
            for c in template.chars() {
                match c {
                    '§' => {
                        text.push_str(&blocks[block % blocks.len()]);
                        block += 1;
                    }
                    '€' => {
                        text.push_str(&numbers[number % numbers.len()]);
                        number += 1;
                    }
                    c => text.push(c),
                }
            }
            text
        })
        .boxed();
    // Names that hide variables. Expressions that call functions have no place here: in plain Rhai the name stands for the call.
    let hiding = filled(
        &[
            "{ let n = €; out.push(n + €); n += 1; out.push(n); }",
            "{ let l = [€]; l.push(€); out.push(l); }",
            "if n > € { let l = [0]; l.push(€); m.b = l; }",
            "k = { let n = €; n += €; n % 50 };",
        ],
        &quiet(),
    );
    one_of(vec![(12, simple()), (7, blocks), (1, hiding)])
}

/// A statement that can only stand at the top level, or any other.
fn top_level() -> Text {
    let declarations = filled(
        &[
            "let n = (€) % 100;",
            "let l = [€, n];",
            "let t = `${€}`;",
            "let k = n;",
            "let m = #{a: €, b: l, c: n};",
            "let f = |x| x - 1;",
            "let j = €; k = j % 10;",
            "const C = €; n += C % 10;",
        ],
        &int(1),
    );
    let reads = words(&[
        "out.push([read_n(), read_l(), read_m(), read_t()]);",
        "out.push(read_both());",
        "out.push(read_u());",
        "n = read_n() + read_m() % 10;",
        "out.push([1, 2].map(Fn(\"read_plus\")));",
        "out.push(read_closure());",
        "out.push(`${read_n()} ${read_t()} ${read_l()}`);",
        "if read_n() > read_m() { out.push(\"more\"); } else { out.push(\"less\"); }",
        "for x in read_l().extract(0, 3) { out.push(x); }",
    ]);
    let reads_in_loops = filled(
        &[
            "for i in 0..3 { n += (€) % 10; out.push(read_n()); }",
            "for i in 0..3 { l.push((€) % 10); k += 1; out.push(read_both()); }",
            "for i in 0..3 { push(u, i); out.push(read_u()); shop::raise(v, i); out.push(read_u()); }",
            "for i in 0..2 { m.b.push(i); m.a = n; out.push(read_m()); }",
            "for i in 0..2 { t += 'r'; out.push(read_t()); l.reverse(); out.push(read_l()); }",
        ],
        &quiet(),
    );
    one_of(vec![(8, statement(2)), (2, declarations), (4, reads), (2, reads_in_loops)])
}
