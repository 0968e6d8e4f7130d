//! The modules that come along and reach nothing: what they give and refuse, and that they end in time whatever they are given.

use crate::harness::{Harness, Speaker};
use remontoire::Clock;
use remontoire::internals::Time;
use std::time::Duration;

/// Every one of these is true.
async fn all_true(session: &Speaker, claims: &[&str]) {
    for claim in claims {
        let said = session.eval(claim).await;
        assert_eq!(said.first(), "true", "{claim}\n{}", said.text);
    }
}

/// Each fails with this kind, and says these words.
async fn all_fail(session: &Speaker, cases: &[(&str, &str, &str)]) {
    for (code, kind, words) in cases {
        let said = session.eval(code).await;
        assert!(said.is_error && said.first().starts_with(&format!("{kind}: ")), "{code}: {}", said.text);
        said.fails(words);
        let caught = format!("let kind = (); try {{ {code} }} catch (e) {{ kind = e.kind; }} kind");
        session.eval(&caught).await.is(&format!("{kind:?}"));
    }
}

/// Takes no longer than this, or, unoptimised, a few times as long.
async fn in_time(session: &Speaker, code: &str, millis: u64, what: impl FnOnce(&crate::harness::Said)) {
    let clock = Clock::real();
    what(&session.eval(code).await);
    let (took, most) = (
        clock.now().since(Time::START),
        Duration::from_millis(if cfg!(debug_assertions) { 5 * millis } else { millis }),
    );
    assert!(took <= most, "{code} took {took:?}");
}

#[tokio::test]
async fn patterns_search_replace_and_split() {
    let harness = Harness::new();
    let session = harness.session();
    all_true(
        &session,
        &[
            r#"let m = re::find("(?P<key>\\w+)=(\\d+)", "é: width=40;"); [m.text, m.start, m.end, m.groups, m.named] == ["width=40", 3, 11, ["width", "40"], #{key: "width"}]"#,
            r#"re::find("x", "abc") == ()"#,
            r#"re::find("a|(b)", "a").groups == [()]"#,
            r#"re::find_all("\\d+", "a1 b22 c333", 2).map(|m| m.text) == ["1", "22"]"#,
            r#"re::find_all("", "éa").map(|m| [m.start, m.end]) == [[0, 0], [1, 1], [2, 2]]"#,
            r#"re::find_all("\\bé", "é aé é").map(|m| m.start) == [0, 5]"#,
            r#"re::replace("(?P<a>\\w+)@(\\w+)", "a@b c@d", "$2 at ${a}$$") == "b at a$ d at c$""#,
            r#"re::replace("\\d+", "1 22", |m| `<${m.text}@${m.start}>`) == "<1@0> <22@2>""#,
            r#"re::replace("x", "abc", "y") == "abc" && re::replace("", "ab", "-") == "-a-b-""#,
            r#"re::split("[,;]\\s*", "a, b;c") == ["a", "b", "c"] && re::split("x", "") == [""]"#,
            r#"re::escape("a.b*c") == "a\\.b\\*c""#,
        ],
    )
    .await;
    all_fail(
        &session,
        &[
            ("re::test(\"a(b\", \"\")", "BadPattern", "at character 2: unclosed group"),
            ("re::test(\"(?=a)\", \"\")", "BadPattern", "look-around"),
            ("re::test(\"(?:a{1000}){1000}\", \"\")", "BadPattern", "1 MiB"),
            ("re::replace(\"a\", \"a\", |m| 1)", "BadArgument", "the function gave int"),
            ("re::find_all(\"a\", \"a\", -1)", "BadArgument", "not -1"),
        ],
    )
    .await;
    // What the function of a match fails with is its own failure.
    session.eval("re::replace(\"a\", \"a\", |m| throw \"mine\")").await.fails("mine");
    session.eval("let seen = 0; let kept = atom(0); re::replace(\"a\", \"aaa\", |m| { kept.swap(|n| n + 1); \"\" }); kept.get()").await.is("3");
}

#[tokio::test]
async fn patterns_that_grow_are_refused_at_once() {
    let harness = Harness::new();
    let session = harness.session();
    for pattern in [
        "let p = \"(?:a{1000}){1000}\";",
        "let p = \"\"; for n in 0..200 { p = `(${p})`; }",
        "let p = \"\"; for n in 0..20000 { p += `|w${n}`; }",
        "let p = \"\"; for n in 0..3000 { p += \"(b)?\"; }",
        "let p = \"a\"; p.pad(1000000, 'a');",
    ] {
        session.eval(pattern).await;
        in_time(&session, "re::test(p, \"a\")", 100, |said| {
            said.fails("BadPattern");
        })
        .await;
    }
}

#[tokio::test]
async fn searches_are_quick_or_give_up() {
    let harness = Harness::new();
    let session = harness.session();
    session.eval("let long = \"\"; long.pad(8 * 1024 * 1024, 'a'); ()").await;
    in_time(&session, "re::test(\"(a+)+$b\", long)", 300, |said| {
        said.is("false");
    })
    .await;
    in_time(&session, "re::find(\"(a+)+$\", long).end", 600, |said| {
        said.is("8388608");
    })
    .await;
    session.eval("let piece = \"abbabaabbaab\"; for n in 0..14 { piece += piece + \"b\"; } ()").await;
    let costly = "re::test(\"(?:[ab]*a[ab]{900}){3}c\", piece + piece + piece + piece + piece)";
    in_time(&session, costly, 600, |said| {
        said.fails("TooCostly").has("200,000,000");
    })
    .await;
    // A short text is searched in any case.
    session.eval("re::test(\"(?:[ab]*a[ab]{90}){3}c\", \"abba\")").await.is("false");
}

#[tokio::test]
async fn figures_are_those_of_the_books() {
    let harness = Harness::new();
    let session = harness.session();
    all_true(
        &session,
        &[
            "[num::sum([1, 2]), num::sum([1, 0.5]), num::sum([])] == [3, 1.5, 0]",
            "[num::variance([2, 4, 4, 4, 5, 5, 7, 9], #{population: true}), num::variance([1, 3])] == [4.0, 2.0]",
            "[num::quantile([1, 2, 3, 4], 0), num::quantile([1, 2, 3, 4], 1), num::median([4, 1, 3, 2])] == [1.0, 4.0, 2.5]",
            "num::range_of([3, 1.5, 2]) == [1.5, 3]",
            "num::histogram([1, 1, 1], 3).map(|b| b.count) == [3, 0, 0]",
            "num::histogram([0, 1, 2, 3, 4], 2).map(|b| b.count) == [2, 3]",
            "[num::round(2.675, 2), num::round(-2.5, 0), num::gcd(12, -18)] == [2.67, -3.0, 6]",
        ],
    )
    .await;
    all_fail(
        &session,
        &[
            ("num::mean([])", "BadArgument", "num::mean: the list is empty"),
            ("num::sum([1, \"x\"])", "BadArgument", "element 1 of the list is string"),
            ("num::median([1.0, 0.0 / 0.0])", "BadArgument", "element 1 of the list is NaN"),
            ("num::sum([9223372036854775807, 1])", "BadArgument", "beyond the range of int"),
            ("num::quantile([1], 2)", "BadArgument", "0 to 1, not 2"),
            ("num::clamp(1, 3, 2)", "BadArgument", "hold nothing"),
            ("num::variance([1, 2], #{whole: true})", "BadArgument", "no option `whole`; its options are: population"),
        ],
    )
    .await;
}

#[tokio::test]
async fn json_is_read_written_and_looked_into() {
    let harness = Harness::new();
    let session = harness.session();
    all_true(
        &session,
        &[
            r#"json::parse("{\"a\":[1,2.5,null,true,\"\\u00e9\"]}") == #{a: [1, 2.5, (), true, "é"]}"#,
            r#"json::parse(json::text([1, "x", #{k: [()]}, 1.0])) == [1, "x", #{k: [()]}, 1.0]"#,
            r#"json::text([1], 2) == "[\n  1\n]" && json::text([1], 0) == "[1]""#,
            r#"json::lines("{\"a\":1}\n\n{\"a\":2}\n").map(|r| r.a) == [1, 2]"#,
            r#"[json::get(#{"a/b": [#{c: 7}]}, "/a~1b/0/c"), json::get([1, 2], "/01"), json::get(5, "")] == [7, (), 5]"#,
            "json::parse(\"123456789012345678901234567890\") == 123456789012345678901234567890.0",
        ],
    )
    .await;
    all_fail(
        &session,
        &[
            ("json::parse(\"{\\n  \\\"a\\\": nope}\")", "BadJson", "line 2, column 9"),
            ("json::lines(\"1\\n2\\n{\\n\")", "BadJson", "line 3"),
            ("json::parse(\"1e999\")", "BadJson", "out of range"),
            ("json::parse(\"\\\"\\\\ud800\\\"\")", "BadJson", "hex escape"),
            ("json::parse(\"\".pad(100000, '['))", "BadJson", "recursion limit"),
            ("json::text(|| 1)", "BadArgument", "Fn"),
            ("let l = []; for n in 0..200 { l = [l]; } json::text(l)", "BadArgument", "128 levels"),
            ("json::get(#{}, \"a\")", "BadArgument", "begins with `/`"),
        ],
    )
    .await;
    session.eval("6 * 7").await.is("42");
}

#[tokio::test]
async fn tables_are_read_and_written() {
    let harness = Harness::new();
    let session = harness.session();
    all_true(
        &session,
        &[
            r#"csv::parse("name,n\n\"a, b\",1\n\"c\nd\",2\n") == [#{name: "a, b", n: "1"}, #{name: "c\nd", n: "2"}]"#,
            r#"csv::parse("a;1", #{separator: ";", header: false, types: true}) == [["a", 1]]"#,
            r#"csv::parse("a\n007\n1.50\n1.5\n\"\"\ntrue\n-0\n", #{types: true}).map(|r| r.a) == ["007", "1.50", 1.5, (), true, "-0"]"#,
            r#"csv::parse(csv::text([#{a: "x,y", b: 1}])) == [#{a: "x,y", b: "1"}]"#,
            r#"csv::text([#{b: 1}, #{a: [1], b: ()}], #{separator: "\t"}) == "b\ta\n1\t\n\t[1]\n""#,
            r#"csv::text([#{a: 1, b: 2}], #{columns: ["b"], header: false}) == "2\n""#,
            r#"csv::text([[1, "x"], [2]]) == "1,x\n2\n" && csv::parse("") == [] && csv::text([]) == """#,
        ],
    )
    .await;
    all_fail(
        &session,
        &[
            ("csv::parse(\"a,b\\n1,2\\n3\\n\")", "BadCsv", "line 3: the row has 1 cells and the first one has 2"),
            ("csv::parse(\"a,a\\n1,2\\n\")", "BadCsv", "`a` is named twice"),
            (
                "csv::parse(\"a\", #{sep: \";\"})",
                "BadArgument",
                "no option `sep`; its options are: separator, header, types",
            ),
            ("csv::parse(\"a\", #{separator: \"ab\"})", "BadArgument", "one character"),
            ("csv::text([1])", "BadArgument", "row 0 is int"),
            ("csv::text([#{a: || 1}])", "BadArgument", "Fn"),
        ],
    )
    .await;
}

#[tokio::test]
async fn chance_keeps_to_its_bounds_and_repeats_for_a_seed_alone() {
    let harness = Harness::new();
    let session = harness.session();
    all_true(
        &session,
        &[
            "(0..500).to_array().all(|i| { let n = random::int(1, 6); n >= 1 && n <= 6 })",
            "let a = random::seed(7); let b = random::seed(7); [a.int(1, 1000), a.float(), a.token(9)] == [b.int(1, 1000), b.float(), b.token(9)]",
            // A copy draws from the same sequence, in another eval and in a function as well.
            "let one = random::seed(1); let two = random::seed(1); let copy = one; fn draw(g) { g.int(0, 1000000) } [draw(copy), draw(one)] == [two.int(0, 1000000), two.int(0, 1000000)]",
            "one.int(0, 1000000) == two.int(0, 1000000)",
            "let l = []; for i in 0..50 { l.push(i); } let m = random::shuffle(l); m != l && m.order() == l && l[0] == 0",
            "let s = random::sample(l, 10); s.len() == 10 && s.all(|i| i in l)",
            "random::uuid() != random::uuid() && re::test(\"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]\", random::seed(3).uuid())",
            "[random::bytes(16).len(), random::token(24).len(), random::bytes(0).len()] == [16, 24, 0]",
        ],
    )
    .await;
    all_fail(
        &session,
        &[
            ("random::int(6, 1)", "BadArgument", "6 is larger than 1"),
            ("random::pick([])", "BadArgument", "empty"),
            ("random::sample([1], 2)", "BadArgument", "0 to 1, not 2"),
            ("random::bytes(1048577)", "BadArgument", "1048576"),
        ],
    )
    .await;
}

#[tokio::test]
async fn time_is_that_of_the_host_and_of_the_calendar() {
    let clock = Clock::manual();
    let harness = Harness::build(clock.clone(), |builder| builder);
    let session = harness.session();
    session.eval("time::now()").await.is("946684800.0");
    clock.advance(Duration::from_millis(1_500));
    session.eval("time::text(time::now())").await.is("\"2000-01-01T00:00:01.5Z\"");
    all_true(
        &session,
        &[
            r#"time::format(time::parse("2026-02-28T23:30:00Z"), "%Y-%m-%d %H:%M", "Europe/Berlin") == "2026-03-01 00:30""#,
            r#"time::add("2026-01-31T12:00:00+02:00", #{months: 1}) == "2026-02-28T12:00:00+02:00""#,
            // Days are those of the calendar: this one has 23 hours in Berlin.
            r#"time::add("2026-03-28T12:00:00Z", #{days: 1}, "Europe/Berlin") == "2026-03-29T11:00:00Z""#,
            "[time::add(0, #{seconds: 1}), time::add(0, #{seconds: 0.5}), time::add(0.0, #{hours: -1, minutes: 30})] == [1, 0.5, -1800.0]",
            r#"let p = time::parts("2026-11-30T10:20:30Z", "UTC"); [p.weekday, p.yearday, p.offset] == ["Monday", 334, 0] && time::from_parts(p) == time::parse("2026-11-30T10:20:30")"#,
            r#"let p = time::parts(0, "America/New_York"); [p.hour, p.offset, time::from_parts(p)] == [19, -18000, 0.0]"#,
            "time::from_parts(#{year: 1970}) == 0.0 && time::from_parts(#{year: 1970, second: 1.25}) == 1.25",
            r#"time::parse("2026-02-28", "%Y-%m-%d") == time::parse("2026-02-28") && time::parse("12:00 +0100 01.01.1970", "%H:%M %z %d.%m.%Y") == 39600.0"#,
            r#"time::parse("2026-07-01T00:00:00[Europe/Berlin]") == time::parse("2026-06-30T22:00:00Z")"#,
            r#"time::seconds_between("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z") == -86400.0"#,
        ],
    )
    .await;
    all_fail(
        &session,
        &[
            ("time::parse(\"2026-02-30T00:00:00Z\")", "BadTime", "2026-02-30"),
            ("time::format(0, \"%Y\", \"Europe/Nowhere\")", "BadTime", "Europe/Nowhere"),
            ("time::format(0, \"%!\")", "BadTime", "`%!` is no format"),
            ("time::text(1e300)", "BadTime", "out of range"),
            ("time::text(9223372036854775807)", "BadTime", "out of range"),
            ("time::add(0, #{years: 99999})", "BadTime", "out of range"),
            ("time::add(0, #{month: 1})", "BadArgument", "no option `month`; its options are: years, months"),
            ("time::from_parts(#{month: 1})", "BadArgument", "no `year`"),
            ("time::from_parts(#{year: 2026, month: 13})", "BadTime", "13"),
            ("time::from_parts(#{year: 2026, day: 900})", "BadTime", "`day` is 900"),
            ("time::text(true)", "BadArgument", "not bool"),
        ],
    )
    .await;
}

#[tokio::test]
async fn settings_are_read_and_written() {
    let harness = Harness::new();
    let session = harness.session();
    all_true(
        &session,
        &[
            r#"toml::parse("[a]\nb = [1, 2.5]\nc = true\nd = 2026-02-28T00:00:00Z\n") == #{a: #{b: [1, 2.5], c: true, d: "2026-02-28T00:00:00Z"}}"#,
            r#"let m = #{z: 1, a: #{b: "x\ny", l: [#{k: 1.0}]}}; toml::parse(toml::text(m)) == m && m.z == 1"#,
        ],
    )
    .await;
    all_fail(
        &session,
        &[
            ("toml::parse(\"a = 1\\nb = \")", "BadToml", "line 2"),
            ("toml::parse(\"a = 1\\na = 2\")", "BadToml", "line 2"),
            ("let t = \"a = \"; t.pad(100000, '['); toml::parse(t)", "BadToml", "recursion"),
            ("toml::text(#{a: ()})", "BadArgument", "toml::text"),
            ("toml::text(#{a: || 1})", "BadArgument", "Fn"),
        ],
    )
    .await;
}

#[tokio::test]
async fn yaml_is_read_written_and_bounded() {
    let harness = Harness::new();
    let session = harness.session();
    all_true(
        &session,
        &[
            r#"yaml::parse("a:\n  - 1\n  - two\n  - 1.5\n  - true\n  - ~\n1: x\n") == #{a: [1, "two", 1.5, true, ()], "1": "x"}"#,
            r#"yaml::parse("[no, yes, on, off, n, 'true', 007x]") == ["no", "yes", "on", "off", "n", "true", "007x"]"#,
            r#"let v = #{a: [1, "no", "1", "true", "~", "", " x", "a: b", "two\nlines\n", 1.0, -2.5, (), [], #{}], b: #{c: [[1], #{d: 2}]}}; yaml::parse(yaml::text(v)) == v"#,
            r#"yaml::parse("a: &x [1]\nb: *x") == #{a: [1], b: [1]}"#,
        ],
    )
    .await;
    all_fail(
        &session,
        &[
            ("yaml::parse(\"a: [1\\nb: 2\")", "BadYaml", "line 2"),
            ("yaml::parse(\"a: 1\\na: 2\")", "BadYaml", "line 2"),
            ("yaml::text(|| 1)", "BadArgument", "Fn"),
        ],
    )
    .await;
    session.eval("let bomb = \"a: &a [x,x,x,x,x,x,x,x,x]\\n\"; let last = \"a\"; for c in \"bcdefghij\".chars().to_array() { let refs = `*${last}`; bomb += `${c}: &${c} [${refs},${refs},${refs},${refs},${refs},${refs},${refs},${refs},${refs}]\\n`; last = `${c}`; } let deep = \"\"; deep.pad(100000, '['); ()").await;
    in_time(&session, "yaml::parse(bomb)", 1_000, |said| {
        said.fails("BadYaml");
    })
    .await;
    in_time(&session, "yaml::parse(deep)", 1_000, |said| {
        said.fails("BadYaml");
    })
    .await;
    session.eval("let wide = \"\"; for n in 0..300 { wide += \"- a\\n\"; } yaml::parse(wide).len()").await.is("300");
}

#[tokio::test]
async fn bytes_are_encoded_decoded_and_hashed() {
    let harness = Harness::new();
    let session = harness.session();
    all_true(
        &session,
        &[
            "hash::sha256(\"abc\") == \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\" && hash::sha256(\"abc\") == hash::sha256(\"abc\".to_blob())",
            "[hash::sha1(\"abc\"), hash::md5(\"\"), hash::sha512(\"abc\").len()] == [\"a9993e364706816aba3e25717850c26c9cd0d89d\", \"d41d8cd98f00b204e9800998ecf8427e\", 128]",
            "hash::hmac_sha256(\"key\", \"The quick brown fox jumps over the lazy dog\") == \"f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8\"",
            "encode::base64(\"hé\") == \"aMOp\" && decode::utf8(decode::base64(\"aMOp\")) == \"hé\" && decode::base64(\"YQ\") == decode::base64(\"YQ==\")",
            "encode::base64_url(blob(2, 255)) == \"__8\" && decode::base64_url(\"__8=\") == blob(2, 255)",
            "encode::hex(\"AZ\") == \"415a\" && decode::hex(\"415A\") == \"AZ\".to_blob()",
            "encode::percent(\"a b/ü\") == \"a%20b%2F%C3%BC\" && decode::percent(\"a%20b+\") == \"a b+\"",
            "encode::html(\"<a & 'b'>\\\"\") == \"&lt;a &amp; &#39;b&#39;&gt;&quot;\" && decode::html(encode::html(\"<a & 'b'>\\\"\")) == \"<a & 'b'>\\\"\"",
            "decode::html(\"&#x41;&#66;&nope; & &\") == \"AB&nope; & &\"",
        ],
    )
    .await;
    all_fail(
        &session,
        &[
            ("decode::base64(\"a$$=\")", "BadText", "at byte 1"),
            ("decode::utf8(decode::hex(\"61ff\"))", "BadText", "at byte 1"),
            ("decode::hex(\"4\")", "BadText", "half a byte"),
            ("decode::hex(\"é\")", "BadText", "at byte 0"),
            ("decode::percent(\"a%2\")", "BadText", "at byte 1"),
            ("hash::sha256(1)", "BadArgument", "a text or a blob, not int"),
        ],
    )
    .await;
}

#[tokio::test]
async fn addresses_are_taken_apart_joined_and_built() {
    let harness = Harness::new();
    let session = harness.session();
    all_true(
        &session,
        &[
            "let u = url::parse(\"https://u:p@Example.com:8443/a/b?x=1&y=%20&x=2&x=3#f\"); [u.scheme, u.user, u.password, u.host, u.port, u.path, u.query, u.fragment] == [\"https\", \"u\", \"p\", \"example.com\", 8443, \"/a/b\", #{x: [\"1\", \"2\", \"3\"], y: \" \"}, \"f\"]",
            "let u = url::parse(\"http://[::1]\"); [u.user, u.host, u.port, u.path, u.query, u.fragment] == [(), \"[::1]\", 80, \"/\", #{}, ()]",
            "url::join(\"http://h/a/b\", \"../c\") == \"http://h/c\" && url::join(\"http://h/a\", \"//other/x\") == \"http://other/x\"",
            "url::build(\"http://h/p?a=1\", #{q: \"a b&c\", n: 2, none: ()}) == \"http://h/p?a=1&n=2&q=a+b%26c\"",
        ],
    )
    .await;
    all_fail(
        &session,
        &[
            ("url::parse(\"http://[::1\")", "BadUrl", "IPv6"),
            ("url::parse(\"a/b\")", "BadUrl", "no scheme"),
            ("url::parse(\"http://münchen.de/\")", "BadUrl", "punycode"),
        ],
    )
    .await;
}

#[tokio::test]
async fn functions_that_modules_call_read_variables_as_they_are() {
    let harness = Harness::new();
    let session = harness.session();
    session.eval("let kept = []; fn size() { kept.len() }").await;
    let each =
        |call: &str| format!("kept = []; let seen = []; for i in 0..3 {{ kept.push(i); seen.push({call}); }} seen");
    session.eval(&each("re::replace(\"a\", \"a\", |m| size().to_string())")).await.is("[\"1\", \"2\", \"3\"]");
    session.eval(&each("[num::gcd(4, 6), size()]")).await.is("[[2, 1], [2, 2], [2, 3]]");
    session.eval("import \"stats\" as stats;").await;
    session.eval(&each("[stats::mean(kept), size()]")).await.is("[[0.0, 1], [0.5, 2], [1.0, 3]]");
    // An import may have the name of a native module.
    harness.script("calling.rhai", "fn gcd(f, x) { f.call() }");
    harness.script("through.rhai", "import \"calling\" as num;\n\nfn call_it(f) { num::gcd(f, 1) }");
    session.eval("import \"through\" as through;").await;
    session.eval(&each("through::call_it(|| size())")).await.is("[1, 2, 3]");
    session.eval("import \"calling\" as num;").await;
    session.eval(&each("num::gcd(|| size(), 1)")).await.is("[1, 2, 3]");
}

#[tokio::test]
async fn what_takes_long_can_be_stopped() {
    let harness = Harness::new();
    let session = harness.session();
    session.eval("let big = \"\"; big.pad(20000000, 'a'); let list = []; list.pad(1000000, 1); ()").await;
    for code in [
        "loop { re::find_all(\"a\", big); }",
        "loop { hash::sha512(big); }",
        "loop { json::parse(json::text(list)); }",
        "loop { num::median(list); }",
        "loop { csv::parse(csv::text([list])); }",
        "loop { try { timeout(0.01, || re::split(\"\", big)); } catch {} }",
    ] {
        session.eval("let begun = atom(false);").await;
        let id = session.start(&format!("begun.set(true); {code}")).id;
        session.eval("while !begun.get() { sleep(0.001) }").await;
        session.stop(id);
        let clock = Clock::real();
        session.settled(id).await;
        let took = clock.now().since(Time::START);
        assert!(took < Duration::from_secs(2), "{code} took {took:?} to stop");
    }
}
