//! `find_path`: where something stands in a nested value.

use super::harness::Harness;

#[test]
fn every_place_of_a_value_is_found() {
    let s = Harness::new().session();
    s.run(
        r#"let town = #{rooms: [#{name: "hall", size: 2}, #{name: "loft", size: 2.0}], main: "loft", "a/b~c": [[2]]};"#,
    );
    for (code, expected) in [
        (r#"find_path(town, "loft")"#, r#"["/main", "/rooms/1/name"]"#),
        ("town.find_path(2)", r#"["/a~1b~0c/0/0", "/rooms/0/size", "/rooms/1/size"]"#),
        ("find_path(town.rooms, #{name: \"hall\", size: 2})", r#"["/0"]"#),
        ("find_path([[1], [1, [1]]], [1])", r#"["/0", "/1/1"]"#),
        ("find_path(town, town)", r#"[""]"#),
        ("find_path(7, 7)", r#"[""]"#),
        ("find_path(7, \"7\")", "[]"),
        ("find_path([(), 1], ())", r#"["/0"]"#),
        ("find_path(#{\"\": 1}, 1)", r#"["/"]"#),
    ] {
        s.is(code, expected);
    }
    s.is("const FIXED = [1, [2]]; fn at(x) { FIXED.find_path(x) } at(2)", r#"["/1/0"]"#);
}

#[test]
fn a_function_says_what_is_looked_for() {
    let s = Harness::new().session();
    s.run("let data = #{list: [1, 20, 300], more: #{n: 40, list: []}}; let least = 30;");
    for (code, expected) in [
        ("find_path(data, |v| type_of(v) == \"i64\" && v > least)", r#"["/list/2", "/more/n"]"#),
        ("data.find_path(|v, key| key == \"list\")", r#"["/list", "/more/list"]"#),
        ("data.find_path(|v, key| key == 1)", r#"["/list/1"]"#),
        ("data.find_path(|v| if data.list.len() == 3 { v == 40 })", r#"["/more/n"]"#),
    ] {
        s.is(code, expected);
    }
    s.has("find_path(data, |v| 5)", "find_path: the function gave 5 (int); it must give true or false");
    s.has("find_path(data, |v| throw \"no\")", "no");
}

#[test]
fn a_search_ends_whatever_the_value_is() {
    let s = Harness::new().session();
    s.is("let a = #{n: 1}; let f = || a; a.me = [f]; find_path(a, 1)", r#"["/n"]"#);
    s.run("let row = []; row.pad(300, 1); let big = []; big.pad(300, row);");
    s.has("timeout(0.01, || find_path(big, 2))", "!Timeout");
    s.is("find_path(big, 1).len()", "90000");
}
