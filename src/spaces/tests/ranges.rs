//! Ranges, steps, characters and bits are gone through like lists.

use super::harness::Harness;

#[test]
fn ranges_have_the_functions_of_lists() {
    let s = Harness::new().session();
    for items in ["0..5", "0..=4", "range(0, 5)", "range(0, 5, 1)", "range(0..5, 1)"] {
        s.run(&format!("let items = {items};"));
        for (call, expected) in [
            ("map(|x| x * 2)", "[0, 2, 4, 6, 8]"),
            ("map(|x, i| x * 10 + i)", "[0, 11, 22, 33, 44]"),
            ("filter(|x| x % 2 == 0)", "[0, 2, 4]"),
            ("reduce(|sum, x| sum + x, 100)", "110"),
            ("reduce(|sum, x| (sum ?? 0) + x)", "10"),
            ("some(|x| x > 3)", "true"),
            ("some(|x| x > 4)", "false"),
            ("all(|x| x < 5)", "true"),
            ("all(|x| x < 4)", "false"),
            ("find(|x| x > 1)", "2"),
            ("find(|x| x > 9)", "()"),
            ("len()", "5"),
            ("len", "5"),
            ("is_empty", "false"),
            ("contains(4)", "true"),
            ("contains(5)", "false"),
            ("to_array()", "[0, 1, 2, 3, 4]"),
            ("collect()", "[0, 1, 2, 3, 4]"),
        ] {
            s.is(&format!("items.{call}"), if expected == "()" { "" } else { expected });
        }
        s.is("let seen = []; items.for_each(|x| seen.push(x)); seen", "[0, 1, 2, 3, 4]");
        s.is("let seen = []; for x in items { seen.push(x); } seen", "[0, 1, 2, 3, 4]");
        s.is("3 in items", "true");
        s.is(
            "fn inside() { [items.len(), items.contains(1), items.map(|x| x)] } inside()",
            "[5, true, [0, 1, 2, 3, 4]]",
        );
    }
}

#[test]
fn steps_characters_and_bits_do_as_well() {
    let s = Harness::new().session();
    for (code, expected) in [
        ("range(10, 0, -3).to_array()", "[10, 7, 4, 1]"),
        ("range(0.0, 1.0, 0.25).map(|x| x * 2)", "[0.0, 0.5, 1.0, 1.5]"),
        ("range(0.0, 1.0, 0.25).len()", "4"),
        ("[6 in range(0, 10, 3), 7 in range(0, 10, 3), 0.5 in range(0.0, 1.0, 0.25)]", "[true, false, true]"),
        ("\"abc\".chars().map(|c| c.to_upper())", "['A', 'B', 'C']"),
        ("\"añb\".chars(1).to_array()", "['ñ', 'b']"),
        ("\"añb\".chars(-2, 1).to_array()", "['ñ']"),
        ("\"añb\".chars(0..2).to_array()", "['a', 'ñ']"),
        ("\"añb\".chars(1..=1).to_array()", "['ñ']"),
        ("\"añb\".chars(1..=0).to_array()", "[]"),
        ("\"añb\".chars.len", "3"),
        ("['ñ' in \"añb\".chars(), 'x' in \"añb\".chars()]", "[true, false]"),
        ("5.bits(0, 3).to_array()", "[true, false, true]"),
        ("5.bits.filter(|b| b).len()", "2"),
        ("5.bits(-1).to_array()", "[false]"),
        ("6.bits(1..=2).all(|b| b)", "true"),
        ("range(3, 3, 1).is_empty()", "true"),
        ("let r = range(0, 9, 4); r.to_array(); r.to_array()", "[0, 4, 8]"),
        ("`${range(0, 9, 4)} ${[\"a\".chars()]} ${5.bits(0, 2)}`", "range(0, 9, 4) [chars(\"a\")] bits(5, 0, 2)"),
    ] {
        s.is(code, expected);
    }
    s.has("range(0, 10, 0)", "step value cannot be zero");
    s.has("5.bits(64)", "64");
    s.has("(0..3).filter(|x| x)", "!BadArgument: filter: the function gave 0 (int); it must give true or false");
}

#[test]
fn a_range_is_no_list() {
    let s = Harness::new().session();
    s.is("(0..1_000_000_000_000).some(|x| x > 3)", "true");
    s.is("(0..=1_000_000_000_000).find(|x| x > 3)", "4");
    s.is("range(0, 1_000_000_000_000, 2).len()", "500000000000");
    s.is("(-9223372036854775807..9223372036854775807).len()", "9223372036854775807");
    for code in [
        "timeout(0.01, || (0..1_000_000_000_000).map(|x| 0))",
        "timeout(0.01, || (0..1_000_000_000_000).all(|x| true))",
        "timeout(0.01, || range(0, 1_000_000_000_000, 1).contains(-1))",
        "timeout(0.01, || range(0.0, 1e300, 1.0).len())",
    ] {
        s.has(code, "!Timeout");
    }
    s.has("(0..1_000_000_000_000).to_array()", "!MemoryLimit");
}
