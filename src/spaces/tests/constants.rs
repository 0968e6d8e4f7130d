//! What only reads works on constants, and so on variables of the space inside functions.

use super::harness::Harness;

#[test]
fn what_only_reads_works_on_constants_and_in_functions() {
    let s = Harness::new().session();
    s.run("const L = [5, 1, 4]; const B = blob(3, 7); const T = \"añb\"; const M = #{a: 1}; const R = 0..3; const I = 0..=2;");
    s.run("const N = 6; const S = range(0, 5, 2); const C = \"ab\".chars(); const F = |x| x;");
    s.run("let l = [5, 1, 4]; let b = blob(3, 7); let t = \"añb\"; let m = #{a: 1}; let r = 0..3; let i = 0..=2;");
    s.run("let n = 6; let s = range(0, 5, 2); let c = \"ab\".chars(); let f = |x| x;");
    for (object, calls) in [
        (
            "L",
            "get(0) extract(0, 2) extract(1) extract(0..1) extract(0..=1) len() len is_empty() order() order_desc() \
             order(|x, y| x - y) order_by(|x| x) order_by(|x, y| y - x) map(|x| x) map(|| this) map(\"abs\") filter(|x| x > 1) \
             filter(\"is_odd\") some(|x| x > 1) some(\"is_odd\") all(|x| x > 1) find(|x| x > 1) find(|x| x > 1, 1) \
             find_map(|x| x) find_map(|x| x, 1) index_of(1) index_of(1, 1) index_of(|x| x > 1) index_of(|x| x > 1, 1) \
             contains(1) reduce(|r, x| r + x, 0) reduce_rev(|r, x| r + x, 0) zip([1], |x, y| x + y) to_json() to_string() \
             for_each(|| this) for_each(|k| k)",
        ),
        (
            "B",
            "get(0) extract(0, 2) extract(1) extract(0..1) extract(0..=1) len() contains(7) to_array() to_json() parse_le_int(0, 2) as_string()",
        ),
        (
            "T",
            "get(0) len() len bytes is_empty() contains(\"ñ\") contains('ñ') starts_with(\"a\") ends_with('b') index_of('b') \
             index_of(\"b\", 1) sub_string(1) sub_string(0, 2) sub_string(0..1) split() split(\"ñ\") split('ñ', 2) split(1) \
             split_rev('ñ') to_chars() chars() chars chars(1) to_upper() to_lower() to_blob() to_json() to_string()",
        ),
        (
            "M",
            "len() get(\"a\") contains(\"a\") keys() values() is_empty() filter(|k, v| v > 0) map(|k, v| v) map(|k| this) to_json()",
        ),
        ("R", "start end start() is_empty() is_inclusive contains(1) len() map(|x| x) to_array() some(|x| x > 1)"),
        (
            "I",
            "start end end() is_empty() is_exclusive contains(1) len() filter(|x| x > 1) collect() reduce(|r, x| r + x, 0)",
        ),
        ("N", "bits bits(1) get_bit(1) get_bits(0, 2) to_float() to_hex() is_even() abs() to_json() to_string()"),
        ("S", "len() to_array() contains(2) is_empty() map(|x| x) to_string()"),
        ("C", "len() to_array() contains('a') is_empty() map(|x| x)"),
        ("F", "call(1) is_anonymous is_anonymous() curry(1).call()"),
    ] {
        for call in split_calls(calls) {
            let variable = object.to_lowercase();
            let shown = s.shown(&format!("{variable}.{call}"));
            assert!(!shown.starts_with('!'), "{variable}.{call}\n→ {shown}");
            s.is(&format!("{object}.{call}"), &shown);
            s.is(&format!("fn inside() {{ {variable}.{call} }} inside()"), &shown);
        }
    }
    s.is(
        "fn inside() { [1 in l, 1 in r, 1 in i, \"a\" in m, 7 in b, 'a' in t, 2 in s] } inside()",
        "[true, true, true, true, true, true, true]",
    );
}

/// Calls that stand behind each other, with spaces only inside of brackets.
fn split_calls(calls: &str) -> Vec<String> {
    let (mut found, mut depth) = (vec![String::new()], 0);
    for c in calls.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if c == ' ' && depth == 0 { found.push(String::new()) } else { found.last_mut().unwrap().push(c) }
    }
    found.retain(|call| !call.is_empty());
    found
}

#[test]
fn an_item_of_a_constant_cannot_be_changed() {
    let s = Harness::new().session();
    s.run("const L = [1, 2]; const M = #{a: 1}; let l = [1, 2]; let m = #{a: 1};");
    for code in [
        "L.for_each(|| this += 1)",
        "L.for_each(|i| this += i)",
        "L.map(|| { this += 1; this })",
        "L.filter(|| { this += 1; true })",
        "L.some(|| { this += 1; false })",
        "L.reduce(|r| { this += 1; r }, 0)",
        "M.map(|k| { this += 1; k })",
        "M.filter(|k| { this += 1; true })",
        "fn raise() { this += 1; } L.for_each(raise)",
        "fn inside() { l.for_each(|| this += 1) } inside()",
        "fn inside2() { m.map(|k| this += 1) } inside2()",
    ] {
        let failure = s.fails(code);
        assert_eq!(
            (&*failure.kind, &*failure.message),
            ("AssignmentToConstant", "cannot change 'this', which is constant here"),
            "{code}"
        );
    }
    s.is("[L, M, l, m]", "[[1, 2], #{\"a\": 1}, [1, 2], #{\"a\": 1}]");
    s.is("L.map(|x| { x += 1; x })", "[2, 3]");
    s.is("l.for_each(|| this += 1); l", "[2, 3]");
    let shown = s.run("L.for_each(|| print(this));");
    assert_eq!(shown.output(), ["1", "2"]);
}
