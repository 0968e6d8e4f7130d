//! Functions see a variable of their space as of their call, however it was written and wherever the call stands.

use super::harness::Harness;

#[test]
fn a_function_sees_a_variable_as_of_its_call() {
    for (code, expected) in [
        ("let l = []; fn n() { l.len() } let s = []; for i in 0..3 { s.push(n()); l.push(i); } s", "[0, 1, 2]"),
        (
            "let q = [1, 2, 3]; fn left() { q.len() } let s = []; while q.len() > 0 { let j = q.pop(); s.push(left()); } s",
            "[2, 1, 0]",
        ),
        ("let l = [7]; fn r() { l.len() } for i in 0..1 { l.push(2); l.pop(); } [r(), l.len()]", "[1, 1]"),
        ("let l = [7]; fn r() { l.len() } [{ l.push(1); r() }, { l.pop(); r() }, r()]", "[2, 1, 1]"),
        ("let l = [7]; fn r() { l.len() } [l.pop(), r()]", "[7, 0]"),
        (
            "let total = 0; fn report() { total } let s = []; for i in 0..3 { total += i; s += report(); } s",
            "[0, 1, 3]",
        ),
        ("let x = 1; fn r() { x } let s = []; loop { if x > 3 { break; } x += 1; s += r(); } s", "[2, 3, 4]"),
        (
            "let x = 1; fn r() { x } let s = []; for i in 0..4 { if i % 2 == 0 { x = i; continue; } s += r(); } s",
            "[0, 2]",
        ),
        (
            "let x = 1; fn r() { x } let s = []; for i in 0..3 { try { x = i; throw 1; } catch { } s += r(); } s",
            "[0, 1, 2]",
        ),
        ("let x = 1; fn r() { x } { x = 2; let y = x == 2 && r() == 2; [y, r()] }", "[true, 2]"),
        ("let x = 1; fn r() { x } { x = 2; let no = false && r() == 2; [no, r()] }", "[false, 2]"),
        ("let x = 1; fn r() { x } let f = |v| { r() + v }; { x = 5; f.call(1) }", "6"),
        ("let x = 1; fn r() { x } { x = 5; [1, 2].map(|v| v + r()) }", "[6, 7]"),
        (
            "let m = #{}; fn look(k) { m[k] } let s = []; for k in [\"a\", \"b\"] { m[k] = 1; s += look(k); } s",
            "[1, 1]",
        ),
        ("let x = 1; fn r() { x } fn s() { r() } { x = 3; s() }", "3"),
        ("let x = 1; fn r() { x } let z = switch x { 1 => { x = 9; r() } _ => 0 }; [z, r()]", "[9, 9]"),
        ("let x = 1; fn r() { x } do { x += 1; } while r() < 4; x", "4"),
        ("let x = 1; fn r() { x } while r() < 4 { x += 1; } x", "4"),
        ("let l = []; fn r() { l.len() } let f = || { l.push(1); r() }; [f.call(), f.call()]", "[1, 2]"),
        ("let l = []; fn r() { l.len() } [1, 2].map(|x| { l.push(x); r() })", "[1, 2]"),
        ("let x = 1; fn r() { x } { let x = 9; r() }", "1"),
        ("let x = 1; fn r() { x } { x = 4; `${r()}` }", "4"),
        ("let x = 1; fn r(n) { x } { x = 4; r(r(1)) }", "4"),
        ("let a = [0]; fn at() { a.len() - 1 } { a.push(5); a[at()] = 6; a }", "[0, 6]"),
    ] {
        let process = Harness::new();
        process.session().is(code, expected);
    }
}

#[test]
fn functions_of_earlier_evals_see_it_as_well() {
    let s = Harness::new().session();
    s.run("let l = []; fn n() { l.len() }");
    s.is("let s = []; for i in 0..3 { s.push(n()); l.push(i); } s", "[0, 1, 2]");
    s.is("for i in 0..1 { l.push(2); l.pop(); } [n(), l.len()]", "[3, 3]");
}

#[test]
fn a_function_of_a_module_that_changes_its_first_argument_changes_the_variable() {
    let process = Harness::new();
    process.write("shop", "fn add(list, item) { list.push(item); list }");
    let s = process.session();
    s.run("import \"shop\" as shop; let l = [1]; let m = shop::add(l, 2);");
    s.is("m", "[1, 2]");
}

#[test]
fn what_arguments_and_receivers_write_is_seen_by_the_call() {
    for (code, expected) in [
        ("let x = 0; fn f(a) { x } { x = 1; f({ x = 2; 0 }) }", "2"),
        ("let x = 1; fn f(n) { x * 100 + n } fn inc() { this += 1; this } { x = 5; f(x.inc()) }", "606"),
        (
            "let x = 0; fn f(a) { x } let r = []; for i in 0..3 { r.push(f({ if true { x = i + 10; } 0 })); } r",
            "[10, 11, 12]",
        ),
        (
            "let x = 0; fn f(a) { x } fn bad() { throw 1 } let r = []; \
             for i in 0..2 { r.push(f({ try { x = i + 5; bad(); } catch { x += 100; } 1 })); } r",
            "[105, 106]",
        ),
        ("let x = 0; fn f(a) { x } fn g() { 1 } { x = 1; f({ for i in 0..0 { g(); } 0 }) }", "1"),
        ("let x = 0; fn f() { x } let r = ({ x = 5; [1] }).map(|e| f()); r", "[5]"),
        (
            "let q = [1, 2, 3]; fn left(v) { `${v}:${q.len()}` } let r = []; \
             for i in 0..2 { q.push(i); q.push(i); r.push(left(q.shift())); } r",
            "[\"1:4\", \"2:5\"]",
        ),
    ] {
        Harness::new().session().is(code, expected);
    }
}

#[test]
fn an_error_loses_nothing_that_was_written_before_it() {
    for (code, expected) in [
        ("let x = 0; fn g() { 1 } fn f() { x } { try { x = 1; let y = 1 / 0; g(); } catch { } f() }", "1"),
        (
            "let x = 0; fn f() { x } let r = []; \
             for i in 0..4 { try { x = i; if i % 2 == 0 { [][3]; } f(); } catch { r.push(f()); } } r",
            "[0, 2]",
        ),
    ] {
        Harness::new().session().is(code, expected);
    }
}

#[test]
fn locals_of_the_same_name_are_nobody_elses_business() {
    for (code, expected) in [
        (
            "let i = 0; fn cur() { i } let r = []; while i < 3 { i += 1; for i in 10..12 { r.push(cur()); } } r",
            "[1, 1, 2, 2, 3, 3]",
        ),
        ("let x = 0; fn f() { x } { x = 1; let x = 99; f() }", "1"),
        (
            "let e = 0; fn cur() { e } let r = []; for k in 0..2 { e += 1; try { throw 77 } catch(e) { r.push(cur()); } } r",
            "[1, 2]",
        ),
        ("let x = 0; fn f() { x } { x = 1; for i in 0..0 { let c = || x; } f() }", "1"),
    ] {
        Harness::new().session().is(code, expected);
    }
}

#[test]
fn a_call_that_reads_nothing_itself_shows_what_it_comes_to() {
    for (code, expected) in [
        ("let x = 1; fn r() { x } fn a(f) { f.call() } { x = 2; a(|| r()) }", "2"),
        (
            "let x = 1; fn r() { x } fn a(n) { if n == 0 { r() } else { b(n) } } fn b(n) { a(n - 1) } { x = 2; a(3) }",
            "2",
        ),
        ("let x = 1; fn r(v) { x + v } { x = 2; [1].map(r) }", "[3]"),
        ("let x = 1; fn r(v) { x + v } { x = 2; [1].map(\"r\") }", "[3]"),
        (
            "let x = 1; fn r(v) { x + v } let f = Fn(\"r\"); { x = 2; [f.call(1), call(f, 2), [3].map(f)] }",
            "[3, 4, [5]]",
        ),
        ("let x = 1; fn r() { x } let f = || r(); let l = [f]; { x = 2; l.map(|g| g.call()) }", "[2]"),
        (
            "let x = 1; fn r() { x } let s = []; for i in 0..3 { switch i { 1 => x = 5, _ => () } s.push(r()); } s",
            "[1, 5, 5]",
        ),
        (
            "let x = 1; fn r() { x } let s = []; for i in 0..3 { let z = switch i { 1 => { x = 5; 1 } _ => 0 }; s.push(r() + z); } s",
            "[1, 6, 5]",
        ),
        (
            "let x = 1; fn r() { x } let s = []; for i in 0..3 { let z = if i == 1 { x = 5; 1 } else { 0 }; s.push(r() + z); } s",
            "[1, 6, 5]",
        ),
        (
            "let l = [1]; fn r() { l.len() } let s = []; for i in 0..3 { i == 1 && l.pop() == 1; s.push(r()); } s",
            "[1, 0, 0]",
        ),
        (
            "let l = []; let o = []; fn r() { l.len() } fn s() { o.len() } { for i in 0..3 { o.push(1); l.push(i); r(); } s() }",
            "3",
        ),
        (
            "let l = []; let o = []; fn r() { l.len() } fn s() { o.len() } let t = []; \
             for i in 0..2 { for j in 0..2 { o.push(1); r(); } if i == 0 { l.push(1); } t.push([r(), s()]); } t",
            "[[1, 2], [1, 4]]",
        ),
    ] {
        Harness::new().session().is(code, expected);
    }
}

#[test]
fn a_function_of_a_map_under_the_name_of_a_native_one_sees_what_was_written() {
    for (code, expected) in [
        ("let x = 1; fn r() { x } let m = #{len: || r()}; { x = 2; m.len() }", "2"),
        (
            "let x = 1; fn r() { x } let m = #{len: || r()}; let s = []; for i in 5..8 { x = i; s.push(m.len()); } s",
            "[5, 6, 7]",
        ),
        ("let x = 1; fn r() { x } let m = #{}; m.len = || r(); { x = 2; m.len() }", "2"),
        ("let x = 1; fn r() { x } let m = #{}; let k = \"len\"; m[k] = || r(); { x = 2; m.len() }", "2"),
        ("let x = 1; fn r() { x } let m = #{}; m.set(\"len\", || r()); { x = 2; m.len() }", "2"),
        ("let x = 1; fn r() { x } let m = #{a: #{len: || r()}}; { x = 2; m.a.len() }", "2"),
        ("let x = 1; fn r() { x } let m = #{len: || r()}; fn n(o) { o.len() } { x = 2; n(m) }", "2"),
        ("let x = 1; fn r() { x } let m = #{len: || r()}; { x = 2; [m].map(|o| o.len()) }", "[2]"),
        ("let x = 1; fn r() { x } let m = #{map: |f| r()}; { x = 2; m.map(|v| v) }", "2"),
        ("let x = 1; fn r() { x } fn size() { 0 } let m = #{size: || r()}; { x = 2; m.size() }", "2"),
    ] {
        Harness::new().session().is(code, expected);
    }
    let s = Harness::new().session();
    s.run("let x = 1; fn r() { x } let m = #{len: || r()}; fn n(o) { o.len() }");
    s.is("{ x = 2; [m.len(), n(m)] }", "[2, 2]");
    // Also when the function that calls it was there first.
    let s = Harness::new().session();
    s.run("let x = 1; fn r() { x } fn n(o) { o.len() }");
    s.run("let m = #{len: || r()};");
    s.is("{ x = 2; n(m) }", "2");
}

#[test]
fn a_function_of_a_module_shows_what_it_calls_back() {
    let process = Harness::new();
    process.write(
        "hof",
        "fn apply(f, v) { f.call(v) } fn pad(v) { `<${v}>` } fn both(f) { apply(f, 1) } fn size(v) { v.len() }",
    );
    for (code, expected) in [
        ("import \"hof\" as h; let x = 1; fn r(v) { x + v } { x = 2; h::apply(r, 1) }", "3"),
        ("import \"hof\" as h; let x = 1; fn r(v) { x + v } { x = 2; h::both(|v| r(v)) }", "3"),
        (
            "import \"hof\" as h; let x = 1; fn r(v) { x + v } let s = []; for i in 0..2 { x = i; s.push(h::apply(r, 1)); h::pad(1); } s",
            "[1, 2]",
        ),
        ("import \"hof\" as h; let x = 1; fn r(v) { x + v } { x = 2; `${h::pad(1)}${r(0)}` }", "<1>2"),
        ("import \"hof\" as h; let x = 1; fn r() { x } let m = #{len: || r()}; { x = 2; h::size(m) }", "2"),
    ] {
        process.session().is(code, expected);
    }
}

#[test]
fn a_function_in_a_map_under_the_name_of_one_that_reads_may_change_the_map() {
    let s = Harness::new().session();
    s.run("let cnt = #{n: 0, round: || { this.n += 1; this.n }};");
    s.is("cnt.round()", "1");
    s.is("cnt.round()", "2");
    s.is("cnt.n", "2");
    s.is("fn find(f) { this.push(1); 0 } let l = [1]; l.find(|| 1); l", "[1, 1]");
}

#[test]
fn a_function_that_reads_a_variable_in_use_is_refused_by_its_name() {
    let s = Harness::new().session();
    s.has("let l = [1, 2]; fn n() { l.len() } let c = || l.len(); l.for_each(|i| this += n())", "'l' is in use");
}

#[test]
fn a_function_sees_what_a_closure_wrote_that_left_its_statement() {
    let s = Harness::new().session();
    s.is("let n = 0; fn see() { n } let a = atom(|| n += 1); a.get().call(); a.get().call(); [see(), n]", "[2, 2]");
    s.is("let n = 0; { n = 5; a = atom(|| n += 1); } a.get().call(); [see(), n]", "[6, 6]");
    s.is("let n = 0; let e = bg(|| { n += 1; }); e.value(); [see(), n]", "[1, 1]");
    s.is("let n = 0; bg(|| { n += 1; see() }).value()", "1");
    s.is("let n = 0; let l = [bg(|| n = 3)]; l[0].value(); let r = see(); n = 4; [r, see(), n]", "[3, 4, 4]");
    s.is("let n = 0; let a = atom(|| n += 1); a.get().call(); let n = 7; a.get().call(); [see(), n]", "[7, 7]");
    s.is(
        "let n = []; let a = atom(|x| n.push(x)); for i in 0..2 { a.get().call(i); } a.get().call(5); see()",
        "[0, 1, 5]",
    );
    s.is("see()", "[0, 1, 5]");
}

#[test]
fn what_the_eval_holds_for_reading_can_be_read_by_its_functions_and_closures() {
    for code in [
        "let l = [1, 2]; let c = || l; fn n() { l.len() } l.map(|x| n())",
        "let l = [1, 2]; let c = || l.len(); l.map(|x| c.call())",
        "let l = [1, 2]; let f = |x| l.len(); l.map(f)",
        "let l = [1, 2]; let c = || l; fn n() { l.len() } fn m() { n() } let f = |x| m(); l.map(f)",
        "let l = [1, 2]; let c = || l; fn n(x) { l.len() } l.map(n)",
        "let l = [1, 2]; let c = || l; fn n(x) { l.len() } l.map(Fn(\"n\"))",
        "let l = [1, 2]; let c = || l; fn n() { l.len() } fn m() { l.map(|x| n()) } m()",
        "let m = #{l: [1, 2]}; let c = || m; fn n() { m.l.len() } m.l.map(|x| n())",
        "let m = #{l: [1, 2]}; let c = || m; fn n() { m.l.len() } fn f() { m.l.map(|x| n()) } f()",
        "let m = #{a: 1, b: 2}; let c = || m; fn n() { m.len() } m.keys().map(|k| n())",
        "let l = [1, 2]; let c = || l; fn n() { l.len() } let g = || l.map(|x| n()); g.call()",
        "let l = [1, 2]; let c = || l; let d = || c.call().len(); let r = []; for x in l { r += d.call(); } r",
        "let l = [1, 2]; let cs = [|| l.len()]; l.map(|x| cs[0].call())",
        "fn inner() { let l = [1, 2]; let c = || l.len(); l.map(|x| c.call()) } inner()",
    ] {
        let s = Harness::new().session();
        s.is(code, "[2, 2]");
    }
    // In a later eval the variable is a cell of the space.
    let s = Harness::new().session();
    s.run("let l = [1, 2]; fn n() { l.len() } fn m() { l.map(|x| n()) }");
    s.run("let c = || l;");
    s.is("l.map(|x| n())", "[2, 2]");
    s.is("m()", "[2, 2]");
    s.is("l.map(|x| c.call().len())", "[2, 2]");
    // Whoever writes it holds it alone.
    s.has("l.for_each(|i| this += n())", "!DataRace: 'l' is in use");
}
