//! Code as it arrives: spaces that are not seen, characters that look like others, and fences.

use super::harness::Harness;

#[test]
fn spaces_of_unicode_are_spaces() {
    let harness = Harness::new();
    harness.write("odd", "fn\u{a0}two()\u{3000}{\u{200b}2 }");
    let s = harness.session();
    for (code, expected) in [
        ("let\u{a0}a\u{2003}= 1;\u{200b}a + 1", "2"),
        ("\u{feff}\u{a0}40\u{202f}+ 2", "42"),
        ("let a = \"x\u{a0}y\"; a.len() // \u{a0}", "3"),
        ("`\u{a0}${1\u{a0}+ 1}\u{a0}`.len()", "3"),
        ("let a = 1;\r// one\ra + 1", "2"),
        ("let a = 1;\n\ra + 1", "2"),
        ("import\u{a0}\"odd\" as odd; odd::two()", "2"),
    ] {
        s.is(code, expected);
    }
    let failure = s.fails("let\u{a0}x = 1;\u{a0}x.nosuch()");
    assert_eq!((failure.line, failure.column), (1, 14));
}

#[test]
fn characters_that_look_like_others_are_named() {
    let s = Harness::new().session();
    for (code, name) in [
        ("let x = “a”;", "a curly quote (U+201C)"),
        ("let x = ‘a’;", "a curly quote (U+2018)"),
        ("1 – 2", "an en dash (U+2013)"),
        ("1 − 2", "a minus sign of mathematics (U+2212)"),
        ("2 × 3", "a multiplication sign (U+00D7)"),
        ("let x = 1；", "a full-width character (U+FF1B)"),
        ("1 \u{200d}+ 2", "a character of no width (U+200D)"),
        ("1 \u{7}+ 2", "a control character (U+0007)"),
        ("1 + €", "the character € (U+20AC)"),
    ] {
        let failure = s.fails(code);
        assert_eq!(failure.message, format!("syntax error: {name} outside of a text"), "{code}");
    }
    let hint = s.fails("let x = “a”;").hint.unwrap();
    assert!(hint.contains("straight quotes"), "{hint}");
    s.has("1 $ 2", "syntax error: ");
}

#[test]
fn a_closure_without_this_is_told_how_to_have_it() {
    let s = Harness::new().session();
    let failure = s.fails("let a = atom([1, 2]); a.read(|| [0, 1].map(|i| this[i]))");
    assert!(failure.hint.as_deref().is_some_and(|hint| hint.contains("let l = this;")), "{failure:?}");
    s.is("a.read(|| { let l = this; [0, 1].map(|i| l[i]) })", "[1, 2]");
}

#[test]
fn code_inside_a_fence_is_refused() {
    let s = Harness::new().session();
    for code in ["```\n1 + 1\n```", "```rhai\n1 + 1\n```\n", "\n  ```js\n1\n```", "```1```"] {
        let failure = s.fails(code);
        assert_eq!(failure.message, "syntax error: the code stands inside a Markdown fence, three backticks", "{code}");
        assert!(failure.hint.unwrap().starts_with("send the code alone"), "{code}");
    }
    // With prose before it the parser stops at the prose.
    let failure = s.fails("Here it is:\n```js\nlet x = 1;\n```");
    assert!(failure.hint.as_deref().is_some_and(|hint| hint.starts_with("send the code alone")), "{failure:?}");
    s.is("let a = ``; a.len()", "0");
}
