//! Values that hang in captured cells and atoms: none is nested so deeply that dropping it is a danger, none holds itself.

use super::harness::{Harness, Session};
use crate::base::Clock;
use crate::engine::measure;
use std::time::Duration;

#[test]
fn chains_through_captured_cells_do_not_outlive_the_eval_that_made_them() {
    for (begin, step) in [
        ("let f = || 0; let step = || { let h = f; f = || h; }; 1", "for i in 0..3000 { step.call() } 1"),
        (
            "let f = || 0; let step = || { let h = f; f = || h; }; 1",
            "fn climb() { for i in 0..3000 { step.call() } } climb(); 1",
        ),
        (
            "let f = || 0; let step = || { let h = f; f = || h; }; 1",
            "bg(|| { for i in 0..3000 { step.call() } }).value()",
        ),
        ("let m = #{}; let step = || { let h = m; m = #{x: h}; }; 1", "for i in 0..1200 { step.call() } 1"),
    ] {
        let s = Harness::new().session();
        s.is(begin, "1");
        s.has(step, "nested deeper than 1,000");
        // An unoptimised measuring of what is just allowed takes more stack than tests have.
        let check = move || {
            let value = s.space.snapshot("step");
            assert!(!measure(&value, 1_000).too_deep, "{step}");
            s.is("1 + 1", "2");
        };
        std::thread::Builder::new().stack_size(64 << 20).spawn(check).unwrap().join().unwrap();
    }
}

#[test]
fn atoms_count_as_levels() {
    let s = Harness::new().session();
    s.has("let a = atom(0); for i in 0..3000 { a = atom(a) } 1", "nested deeper than 1,000");
    s.has(
        "let a = atom(0); for i in 0..990 { a = atom(a) } for i in 0..100 { a = [a]; } 1",
        "nested deeper than 1,000",
    );
    s.is("let a = atom(0); for i in 0..900 { a = atom(a) } a.get() == a", "false");
    s.is("let a = atom(0); for i in 0..100 { a = atom([a, a]) } 1", "1");
}

#[test]
fn a_long_chain_of_atoms_is_dropped_on_a_small_stack() {
    let s = Harness::new().session();
    // From the outside in: no value is ever nested when it is put into its atom.
    s.is("let a = atom(0); let top = a; for i in 0..20000 { let b = atom(0); a.set([b]); a = b; } 1", "1");
    let Session { harness, space } = s;
    space.close();
    drop((harness, space));
}

#[test]
fn no_atom_holds_itself() {
    let s = Harness::new().session();
    for code in [
        "let at = atom(()); at.set(at)",
        "let at = atom(()); at.set([at, blob(1000)])",
        "let at = atom(()); at.swap(|v| #{v: v, at: at})",
        "let at = atom(()); let b = atom([at]); at.set(#{b: b})",
        "let at = atom(()); at.set(|| at.get())",
    ] {
        s.has(code, "AtomCycle: an atom cannot hold itself");
    }
    s.is("let at = atom(1); try { at.set(at) } catch { } at.set(2); at.get()", "2");
    s.is("let at = atom(1); let b = atom(at); b.set(at); b.get() == at", "true");
}

#[test]
fn closures_kept_in_what_they_captured_are_committed_without_delay() {
    let s = Harness::new().session();
    let clock = Clock::real();
    s.is("let a = #{}; for i in 0..100 { let f = || a; a[\"f\" + i] = f; } 1", "1");
    // Each lock that was waited for would cost 50 ms, and there are two for each closure.
    let took = clock.now().since_start();
    assert!(took < Duration::from_secs(8), "locks are not waited for: {took:?}");
    s.is("a.len()", "100");
    s.is("let g = a.f7; type_of(g.call())", "map");
    s.is("let n = 2; let b = #{}; let f = || n; b.f = [f]; let g = || b; 1", "1");
    s.is("let l = g.call().f; let h = l[0]; h.call()", "2");
}
