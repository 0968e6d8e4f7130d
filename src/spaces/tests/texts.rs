//! Functions that change a text in place give the new text too, and numbers are read from texts.

use super::harness::Harness;

#[test]
fn what_changes_a_text_gives_the_new_text() {
    let s = Harness::new().session();
    for (call, expected) in [
        ("trim()", "a-b c"),
        ("replace(\"-\", \"+\")", "  a+b c "),
        ("replace('-', \"++\")", "  a++b c "),
        ("replace(\"a-\", 'x')", "  xb c "),
        ("replace('-', '.')", "  a.b c "),
        ("replace(\"nosuch\", \"x\")", "  a-b c "),
        ("crop(2, 3)", "a-b"),
        ("crop(-2)", "c "),
        ("crop(2..5)", "a-b"),
        ("crop(2..=5)", "a-b "),
        ("crop(99)", ""),
        ("pad(10, '!')", "  a-b c !!"),
        ("pad(11, \"xy\")", "  a-b c xyx"),
        ("truncate(4)", "  a-"),
        ("truncate(-1)", ""),
        ("remove(\"-b\")", "  a c "),
        ("remove(' ')", "a-bc"),
        ("make_upper()", "  A-B C "),
        ("make_lower()", "  a-b c "),
        ("clear()", ""),
        ("set(2, 'é')", "  é-b c "),
        ("set(-2, 'é')", "  a-b é "),
        ("set(99, 'é')", "  a-b c "),
        ("append(5)", "  a-b c 5"),
        ("append(\"5\")", "  a-b c 5"),
        ("append([1, 'c'])", "  a-b c [1, 'c']"),
        ("append(blob(1, 65))", "  a-b c A"),
    ] {
        s.is(
            &format!("let t = \"  a-b c \"; let given = t.{call}; if given != t {{ throw \"{expected}\" }} given"),
            expected,
        );
        s.is(&format!("[\"  a-b c \"].map(|t| t.{call})[0]"), expected);
    }
    s.is("let t = \"x-y\".replace(\"-\", \"+\"); t", "x+y");
    s.is("let c = 'é'; [c.make_upper(), c, c.make_lower(), 'ß'.make_upper()]", "['É', 'É', 'é', 'ß']");
    s.is("\"ΑΣ ΑΣΑ\".make_lower()", "ας ασα");
    s.is("let t = \"é\"; t.pad(70000, \"ab\"); t.make_upper(); t.crop(-3)", "ABA");
    // A copy elsewhere keeps what it is.
    s.is("let t = \" a \"; let u = t; t.trim(); [t, u]", "[\"a\", \" a \"]");
    s.has("const T = \" a \"; T.trim()", "onstant");
}

#[test]
fn numbers_are_read_from_texts() {
    let s = Harness::new().session();
    for (code, expected) in [
        ("[\"5\".to_int(), \" -7\\n\".to_int(), \"9223372036854775807\".to_int()]", "[5, -7, 9223372036854775807]"),
        ("[\"2.5\".to_float(), \" 3 \".to_float(), \"-1e3\".to_float()]", "[2.5, 3.0, -1000.0]"),
        ("[2.9.to_int(), 3.to_float(), '5'.to_int()]", "[2, 3.0, 53]"),
    ] {
        s.is(code, expected);
    }
    for (code, problem) in [
        ("\"12x\".to_int()", "!BadArgument: to_int cannot read \"12x\" as a whole number"),
        ("\"2.5\".to_int()", "!BadArgument: to_int cannot read \"2.5\" as a whole number"),
        ("\"\".to_int()", "!BadArgument: to_int cannot read \"\" as a whole number"),
        ("\"9223372036854775808\".to_int()", "!BadArgument: to_int cannot read"),
        ("\"1,5\".to_float()", "!BadArgument: to_float cannot read \"1,5\" as a number"),
    ] {
        s.has(code, problem);
    }
}

#[test]
fn empty_texts_are_split_as_rhai_does() {
    let s = Harness::new().session();
    let plain = rhai::Engine::new();
    for text in ["", "abc", " ", "a b", ",a,,b,"] {
        for call in [
            "split()",
            "split(\"\")",
            "split(\",\")",
            "split(',')",
            "split(\"\", 3)",
            "split(',', 2)",
            "split(',', 0)",
            "split_rev(\"\")",
            "split_rev(',')",
            "split_rev(\"\", 3)",
            "split_rev(',', 2)",
            "split(1)",
        ] {
            let code = format!("\"{text}\".{call}");
            s.is(&code, &plain.eval::<rhai::Dynamic>(&code).unwrap().to_string());
        }
    }
}

#[test]
fn texts_of_lists_and_maps_quote_characters_as_rhai_does() {
    let s = Harness::new().session();
    let plain = rhai::Engine::new();
    for code in ["`${[',', 'a', '\\n', '\\'']}`", "`${#{c: 'x'}}`", "`${'a'}`"] {
        s.is(code, &plain.eval::<String>(code).unwrap());
    }
}
