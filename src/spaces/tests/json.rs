//! JSON of plain values, and reading it within the limits.

use super::harness::Harness;

#[test]
fn any_plain_value_has_json() {
    let s = Harness::new().session();
    for (code, json) in [
        ("[1, [2.5, \"x\"], #{a: ()}]", "[1,[2.5,\"x\"],{\"a\":null}]"),
        ("\"a\\\"b\\n\"", "\"a\\\"b\\n\""),
        ("2.0", "2.0"),
        ("-7", "-7"),
        ("true", "true"),
        ("'é'", "\"é\""),
        ("()", "null"),
        ("blob(2, 7)", "[7,7]"),
        ("#{b: [true], a: 'c'}", "{\"a\":\"c\",\"b\":[true]}"),
        ("(1.0 / 0.0)", "null"),
    ] {
        s.is(&format!("let value = {code}; value.to_json()"), json);
        s.is(&format!("to_json({code})"), json);
    }
}

#[test]
fn json_is_read_as_values() {
    let s = Harness::new().session();
    for (json, expected) in [
        ("[1, -2, 2.5, 1e2, \"x\\u00e9\", true, null]", "[1, -2, 2.5, 100.0, \"xé\", true, ()]"),
        ("{\"a\": {\"b\": []}, \"c d\": 1}", "#{\"a\": #{\"b\": []}, \"c d\": 1}"),
        ("{\"a\": 1, \"a\": 2}", "#{\"a\": 2}"),
        ("18446744073709551615", "1.8446744073709552e19"),
        (" 5 ", "5"),
    ] {
        s.is(&format!("parse_json({json:?})"), expected);
    }
    for json in ["", "[1,", "[1] 2", "{a: 1}", "nul"] {
        s.has(&format!("parse_json({json:?})"), "!BadArgument: this is not JSON: ");
    }
    s.has("parse_json(`${\"[\"}`.pad(100000, '['))", "recursion limit exceeded");
}

#[test]
fn ranges_have_json_as_parts_of_lists_do() {
    let s = Harness::new().session();
    s.is("[(0..3).to_json(), (0..=3).to_json(), [0..3].to_json()]", r#"["\"0..3\"", "\"0..=3\"", "[\"0..3\"]"]"#);
}

#[test]
fn reading_json_meets_limits_and_stops() {
    let s = Harness::new().session();
    s.run("let json = \"{\\\"a\\\":{}},\"; for i in 0..18 { json += json; } json = \"[\" + json + \"0]\";");
    s.has("timeout(0.01, || parse_json(json).len())", "!Timeout");
    s.has("timeout(0.01, || { let list = [json, json]; list.map(|text| parse_json(text)) })", "!Timeout");
}
