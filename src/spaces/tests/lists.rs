//! Functions of lists and maps that call a function: errors come through, a stop ends them, and only yes and no count.

use super::harness::Harness;

#[test]
fn errors_of_a_function_come_through() {
    let s = Harness::new().session();
    s.run("let l = [1, 1, 2]; fn bad() { throw \"bad\" } fn bad(x) { throw \"bad\" } fn bad(x, y) { throw \"bad\" }");
    for call in
        ["map", "filter", "some", "all", "find", "find_map", "index_of", "for_each", "drain", "retain", "order_by"]
    {
        s.has(&format!("l.{call}(|x| throw \"bad\")"), "bad");
        s.has(&format!("l.{call}(bad)"), "bad");
    }
    for call in [
        "dedup(|x, y|",
        "sort(|x, y|",
        "sort_by(|x, y|",
        "order(|x, y|",
        "reduce(|r, x|",
        "reduce_rev(|r, x|",
        "zip([1], |x, y|",
    ] {
        s.has(&format!("l.{call} throw \"bad\")"), "bad");
    }
    s.has("l.dedup(bad)", "bad");
    s.has("l.dedup(\"bad\")", "bad");
    s.has("#{a: 1}.filter(|k, v| throw \"bad\")", "bad");
    s.is("l", "[1, 1, 2]");
}

#[test]
fn a_stop_ends_what_goes_through_a_list() {
    let s = Harness::new().session();
    s.run("let l = []; l.pad(300000, 7);");
    for call in [
        "dedup(|x, y| false)",
        "dedup()",
        "drain(|x| true)",
        "retain(|x| true)",
        "map(|x| x)",
        "filter(|x| true)",
        "all(|x| true)",
        "some(|x| false)",
        "zip(l, |x, y| x)",
        "sort(|x, y| x - y)",
        "order_by(|x| x)",
        "reduce(|r, x| r, 0)",
    ] {
        s.has(&format!("let m = l; timeout(0.001, || {{ m.{call}; m.{call}; m.{call}; sleep(60) }})"), "!Timeout");
    }
    s.is("l.len()", "300000");
}

#[test]
fn only_yes_and_no_choose() {
    let s = Harness::new().session();
    for (code, given) in [
        ("[1, 2, 3].filter(|x| x % 2)", "filter: the function gave 1 (int)"),
        ("[1, 2].some(|x| \"yes\")", "some: the function gave \"yes\" (string)"),
        ("[1, 2].all(|x| x)", "all: the function gave 1 (int)"),
        ("[1, 2].find(|x| 1.5)", "find: the function gave 1.5 (float)"),
        ("[1, 2].index_of(|x| [x])", "index_of: the function gave [1] (array)"),
        ("[1, 2].drain(|x| 'c')", "drain: the function gave 'c' (char)"),
        ("[1, 2].retain(|x| #{})", "retain: the function gave #{} (map)"),
        ("[1, 2].dedup(|x, y| x - y)", "dedup: the function gave -1 (int)"),
        ("#{a: 1}.filter(|k, v| v)", "filter: the function gave 1 (int)"),
        ("#{a: 1}.retain(|k, v| v)", "retain: the function gave 1 (int)"),
    ] {
        s.has(code, &format!("!BadArgument: {given}; it must give true or false"));
    }
    s.is("[1, 2, 3].filter(|x| if x > 1 { true })", "[2, 3]");
}

#[test]
fn lists_are_searched_for_texts_and_not_for_functions_of_their_name() {
    let s = Harness::new().session();
    s.is("[\"len\", \"x\"].index_of(\"len\")", "0");
    s.is("[\"x\", \"len\", \"len\"].index_of(\"len\", 2)", "2");
    s.is("[1, 2].index_of(\"len\")", "-1");
}

#[test]
fn repeated_items_are_equal_ones() {
    let s = Harness::new().session();
    for (code, expected) in [
        ("let l = [1, 1, 2, 2, 1]; l.dedup(); l", "[1, 2, 1]"),
        ("let l = [1, 1.0, \"a\", \"a\", [1], [1], (), ()]; l.dedup(); l", "[1, \"a\", [1], ()]"),
        ("let l = [1, 2, 3, 10, 11]; l.dedup(|x, y| y - x == 1); l", "[1, 3, 10]"),
        ("let l = [1, 1]; l.dedup(\"==\"); l", "!Parsing"),
        ("fn same(x, y) { x == y } let l = [1, 1]; l.dedup(\"same\"); l", "[1]"),
    ] {
        s.has(code, expected);
    }
}

#[test]
fn items_leave_a_list_in_one_go() {
    let s = Harness::new().session();
    for (code, expected) in [
        ("let l = [1, 2, 3, 4]; [l.drain(|x| x % 2 == 0), l]", "[[2, 4], [1, 3]]"),
        ("let l = [1, 2, 3, 4]; [l.retain(|x, i| i > 1), l]", "[[1, 2], [3, 4]]"),
        ("let l = [1, 2, 3, 4]; try { l.drain(|x| if x == 3 { throw 1 } else { true }) } catch { } l", "[1, 2, 3, 4]"),
        ("let l = [1, 2, 3]; l.drain(\"is_odd\"); l", "[2]"),
    ] {
        s.is(code, expected);
    }
}

#[test]
fn closures_are_anonymous() {
    let s = Harness::new().session();
    s.is(
        "let f = |x| x; [f.is_anonymous, f.is_anonymous(), (|x| x).is_anonymous, Fn(\"len\").is_anonymous]",
        "[true, true, true, false]",
    );
    s.is("[f.is_anonymous, f.is_anonymous()]", "[true, true]");
}

#[test]
fn a_range_is_no_index_of_a_list() {
    let s = Harness::new().session();
    s.run("let l = [1, 2, 3]; let r = 0..2; let b = blob(3);");
    for code in ["l[r]", "let i = 0..=1; l[i]", "b[r]", "l[r] = 5"] {
        let failure = s.fails(code);
        assert_eq!(failure.message, "lists and blobs cannot be indexed by a range", "{code}");
        assert!(failure.hint.unwrap().contains("list.extract(range)"), "{code}");
    }
    s.is(
        "let said = (); try { l[r] } catch (e) { said = e.message; } said",
        "lists and blobs cannot be indexed by a range",
    );
    s.has("if r { 1 }", "!MismatchDataType: data type incorrect");
}

#[test]
fn functions_by_name_get_what_they_have_parameters_for() {
    let s = Harness::new().session();
    s.run(
        "fn twice(x) { x * 2 } fn with_place(x, i) { x * 10 + i } fn its_own() { this * 3 } fn raise() { this += 1; } \
         fn raise_by(i) { this += i; } fn joined(r, x) { r * 10 + x } fn joined_this(r) { r * 10 + this } \
         fn weighed(r, x, i) { r + x * i } fn many(x) { x > 1 } fn second(k, v) { v > 1 } fn sum(x, y) { x + y }",
    );
    // In the eval that writes the name, and through a variable of the space.
    for (name, call, expected) in [
        ("twice", "[1, 2].map(F)", "[2, 4]"),
        ("with_place", "[1, 2].map(F)", "[10, 21]"),
        ("its_own", "[1, 2].map(F)", "[3, 6]"),
        ("raise", "let l = [1, 2]; l.for_each(F); l", "[2, 3]"),
        ("raise_by", "let l = [1, 2]; l.for_each(F); l", "[1, 3]"),
        ("joined", "[1, 2, 3].reduce(F, 0)", "123"),
        ("joined_this", "[1, 2, 3].reduce(F, 0)", "123"),
        ("weighed", "[1, 2, 3].reduce(F, 0)", "8"),
        ("joined", "(1..4).reduce(F, 0)", "123"),
        ("many", "[1, 2].filter(F)", "[2]"),
        ("second", "#{a: 1, b: 2}.filter(F)", "#{\"b\": 2}"),
        ("sum", "[1, 2].zip([10, 20], F)", "[11, 22]"),
    ] {
        s.is(&call.replace('F', name), expected);
        s.is(&call.replace('F', &format!("Fn(\"{name}\")")), expected);
        s.run(&format!("let kept = {name};"));
        s.is(&call.replace('F', "kept"), expected);
    }
    s.is("[[1, 2], [3]].map(Fn(\"len\"))", "[2, 1]");
    s.is("[3, 9].reduce(Fn(\"max\"), 5)", "9");
    s.is("[\"a\"].map(Fn(\"to_upper\"))", "[\"A\"]");
}
