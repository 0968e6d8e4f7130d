//! Closures that hold themselves: they are freed when nobody else holds them, and never before.

use super::harness::Harness;

#[test]
fn circles_that_nobody_holds_are_freed_at_the_end_of_their_eval() {
    let s = Harness::new().session();
    for code in [
        "{ let m = #{b: blob(1000)}; let f = || m.b.len(); m.f = f; } 1",
        "{ let f = (); f = || f; } 1",
        "{ let f = (); let n = 1; f = || { n; f }; n += 1; } 1",
        "{ let f = (); let g = (); f = || g; g = || [f, #{f: f}]; } 1",
        "{ let a = #{}; for i in 0..20 { let f = || a; a[\"f\" + i] = f; } } 1",
        "{ let f = (); f = (|a| f).curry(3); } 1",
        "fn made() { let f = (); f = || f; f } made(); 1",
        "bg(|| { let f = (); f = || f; 1 }).value()",
        "try { let f = (); f = || f; throw 1 } catch { } 1",
    ] {
        s.is(code, "1");
        assert_eq!(s.harness.runtime().cells_alive(), 0, "{code}");
    }
    s.has("{ let f = (); f = || f; nosuch() }", "FunctionNotFound");
    assert_eq!(s.harness.runtime().cells_alive(), 0);
}

#[test]
fn circles_that_lose_their_last_name_later_are_freed_when_they_are_looked_for() {
    let s = Harness::new().session();
    s.is("let m = #{b: 7}; let f = || m.b; m.f = f; f.call()", "7");
    s.harness.runtime().free_circles();
    s.is("let h = m.f; h.call()", "7");
    s.is("let f = (); let h = (); 1", "1");
    s.harness.runtime().free_circles();
    s.is("let g = m.f; g.call()", "7");
    s.is("let g = (); let m = (); 1", "1");
    assert_eq!(s.harness.runtime().cells_alive(), 1);
    s.harness.runtime().free_circles();
    assert_eq!(s.harness.runtime().cells_alive(), 0);
}

#[test]
fn circles_that_somebody_holds_work_as_before() {
    let s = Harness::new().session();
    let sweep = || s.harness.runtime().free_circles();
    // By a variable of the space, by the result, by what was thrown.
    s.is("let held = (); { let n = 40; let f = (); f = || { n += 1; [n, f] }; held = f; } 1", "1");
    sweep();
    s.is("let h = held.call()[1]; h.call()[0]", "42");
    let made = s.run("{ let n = 6; let f = (); f = |k| if k == 0 { n } else { f }; f }").id;
    sweep();
    s.is(&format!("let h = res({made}).value(); let i = h.call(1); i.call(0)"), "6");
    let thrown = s.run("{ let n = 8; let f = (); f = |k| if k == 0 { n } else { f }; throw f }").id;
    sweep();
    s.is(
        &format!(
            "let h = (); try {{ res({thrown}).value() }} catch (e) {{ h = e.thrown; }} let i = h.call(1); i.call(0)"
        ),
        "8",
    );
    // By an atom, and by a constant.
    s.is("let a = atom(()); { let n = 9; let f = (); f = |k| if k == 0 { n } else { f }; a.set(f); } 1", "1");
    sweep();
    s.is("let g = a.get(); let i = g.call(1); i.call(0)", "9");
    s.is("const C = { let n = 5; let f = (); f = |k| if k == 0 { n } else { f }; f }; 1", "1");
    sweep();
    s.is("let i = C.call(1); i.call(0)", "5");
    // By a function pointer that a child runs, after its parent has ended.
    let parent = s.run("{ let n = 3; let f = (); f = |k| if k == 0 { n } else { f }; bg(|| { gate(\"go\"); let i = call(f, 1); call(i, 0) }) }");
    s.harness.arrived("go", 1);
    sweep();
    s.harness.open("go");
    let child = parent.newest_child();
    assert!(child.join());
    assert_eq!(child.show(), "3");
}
