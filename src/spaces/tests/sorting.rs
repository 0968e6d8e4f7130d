//! Sorting: what a comparison and a key may give, what stays where it is, and what is refused.

use super::harness::Harness;

#[test]
fn comparisons_give_numbers_or_booleans() {
    let s = Harness::new().session();
    s.run("fn falling(x, y) { y - x }");
    for (code, expected) in [
        ("let b = [1.5, 0.2, 1.1]; b.sort(|a, b| b - a); b", "[1.5, 1.1, 0.2]"),
        ("[#{p: 9.99}, #{p: 1.25}].order_by(|a, b| a.p - b.p).map(|row| row.p)", "[1.25, 9.99]"),
        ("[0.1, 0.3, 0.2].order(|a, b| a - b)", "[0.1, 0.2, 0.3]"),
        ("let l = [3, 1, 2]; l.sort_by(|a, b| a < b); l", "[1, 2, 3]"),
        ("[3, 1, 2].order(|a, b| a > b)", "[3, 2, 1]"),
        ("[3, 1, 2].order(Fn(\"falling\"))", "[3, 2, 1]"),
        ("[3, 1, 2].order(falling)", "[3, 2, 1]"),
        ("let l = [3, 1, 2]; l.sort(\"falling\"); l", "[3, 2, 1]"),
        ("let l = [3, 1, 2]; l.sort(falling); l", "[3, 2, 1]"),
    ] {
        s.is(code, expected);
    }
    for (code, given) in [
        ("[5, 3, 4].order(|a, b| \"x\")", "order: the comparison gave \"x\" (string)"),
        ("[5, 3, 4].sort(|a, b| ())", "sort: the comparison gave ();"),
        ("[5, 3, 4].sort_by(|a, b| [1])", "sort_by: the comparison gave [1] (array)"),
        ("[5, 3, 4].order_by(|a, b| 'c')", "order_by: the comparison gave 'c' (char)"),
        ("[5.0, 3.0].order(|a, b| 0.0 / 0.0)", "order: the comparison gave NaN (float)"),
    ] {
        let failure = s.fails(code);
        assert_eq!(failure.kind, "BadArgument", "{code}");
        assert!(failure.message.starts_with(given), "{code}\n→ {}", failure.message);
        let may_give = "it may give a number below, at or above 0, or true when the first comes first";
        assert!(failure.message.ends_with(may_give), "{code}\n→ {}", failure.message);
    }
    s.has("let l = [2, 1, 3]; try { l.sort(|a, b| \"\") } catch { } l", "[2, 1, 3]");
}

#[test]
fn equal_items_stay_in_their_order() {
    let s = Harness::new().session();
    s.run("let l = [[2, 'a'], [1, 'b'], [2, 'c'], [1, 'd']];");
    for by in
        ["|x, y| x[0] - y[0]", "|x, y| x[0] < y[0]", "|x, y| x[0] <= y[0]", "|x, y| x[0] * 1.0 - y[0]", "|x| x[0]"]
    {
        s.is(&format!("l.order_by({by}).map(|x| x[1])"), "['b', 'd', 'a', 'c']");
    }
    s.is("l.order(|x, y| x[0] > y[0]).map(|x| x[1])", "['a', 'c', 'b', 'd']");
    let many = "let many = []; for i in 0..3000 { many.push([i * 7 % 10, i]); }";
    let in_order = "many.order_by(|x| x[0]) == many.order(|x, y| if x[0] == y[0] { x[1] - y[1] } else { x[0] - y[0] })";
    s.is(&format!("{many} {in_order}"), "true");
}

#[test]
fn a_function_of_one_parameter_gives_keys_to_order_by() {
    let s = Harness::new().session();
    s.run("fn minus(x) { -x } let seen = atom(0);");
    for (code, expected) in [
        ("[#{p: 9.5}, #{p: 1}, #{p: 3.25}].order_by(|row| row.p).map(|row| row.p)", "[1, 3.25, 9.5]"),
        ("[\"bb\", \"c\", \"a\"].order_by(|t| t)", "[\"a\", \"bb\", \"c\"]"),
        ("['b', 'a'].order_by(|c| c)", "['a', 'b']"),
        ("[1, 2, 3].order_by(|n| n != 2)", "[2, 1, 3]"),
        ("[1, 3, 2].order_by(Fn(\"minus\"))", "[3, 2, 1]"),
        ("[1, 3, 2].order_by(minus)", "[3, 2, 1]"),
        ("[\"bb\", \"a\"].order_by(Fn(\"len\"))", "[\"a\", \"bb\"]"),
        ("let l = [2, 1]; l.order_by(|x| x); l", "[2, 1]"),
        ("[9007199254740993, 9007199254740992.0].order_by(|x| x)", "[9007199254740992.0, 9007199254740993]"),
        ("[5, 4, 3, 2, 1].order_by(|x| { seen.swap(|n| n + 1); x }); seen.get()", "5"),
        ("[].order_by(|x| x)", "[]"),
    ] {
        s.is(code, expected);
    }
    for (code, problem) in [
        ("[3, 1].order_by(|x| ())", "order_by: the key is ();"),
        ("[3, 1].order_by(|x| [x])", "order_by: the key is [3] (array);"),
        ("[3, 1].order_by(|x| 0.0 / 0.0)", "order_by: the key is NaN (float);"),
        ("[3, 1].order_by(|x| if x == 3 { 1 } else { \"a\" })", "order_by: one key is a number and another a text"),
    ] {
        s.has(code, problem);
    }
    s.has("[3, 1].order_by(|x| throw \"no key\")", "no key");
}

#[test]
fn other_numbers_of_parameters_are_refused() {
    let s = Harness::new().session();
    s.run("fn one(x) { x }");
    for code in [
        "[3, 1, 2].sort(|a| a)",
        "[3, 1, 2].sort_by(|a| a)",
        "[3, 1, 2].order(|a| a)",
        "[].sort(|a| a)",
        "[1].sort(|a| a)",
        "let w = 2; [3, 1, 2].sort(|a| a * w)",
    ] {
        s.has(code, "!FunctionNotFound: this closure takes 1 argument and was given 2");
    }
    s.has("[3, 1].order_by(|| 1)", "!FunctionNotFound: this closure takes 0 arguments and was given 2");
    s.has("[3, 1].order_by(|a, b, c| 1)", "!FunctionNotFound: this closure takes 3 arguments and was given 2");
    s.has("[3, 1].sort(one)", "!FunctionNotFound: no function 'one' for (int, int)");
    s.has("[3, 1].order_by(Fn(\"nosuch\"))", "!FunctionNotFound: no function 'nosuch' for (int)");
}

#[test]
fn items_are_sorted_by_themselves() {
    let s = Harness::new().session();
    for (code, expected) in [
        ("[3, 1.5, 2].order()", "[1.5, 2, 3]"),
        ("[3, 1.5, 2].order_desc()", "[3, 2, 1.5]"),
        ("let l = [\"b\", \"a\"]; l.sort(); l", "[\"a\", \"b\"]"),
        ("let l = [true, false]; l.sort_desc(); l", "[true, false]"),
        ("[(), ()].order()", "[(), ()]"),
        ("[[1]].order()", "[[1]]"),
    ] {
        s.is(code, expected);
    }
    s.has("[1, \"a\"].sort()", "!FunctionNotFound: elements of different types cannot be sorted");
    s.has("[[2], [1]].order()", "!FunctionNotFound: elements of array cannot be sorted");
    s.has("[1.0, 0.0 / 0.0].sort()", "!BadArgument: sort: NaN has no order");
}
