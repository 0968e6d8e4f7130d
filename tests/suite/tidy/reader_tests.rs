//! The reader on small trees: what it follows, and what it does not take for a loop.

use super::inside::{held_by_faces, imports_upwards, internals_named, named_through_own_face};
use super::loops::loops;
use super::paths::arrows;
use super::reader::Tree;

fn read(files: &[(&str, &str)]) -> Tree {
    Tree::read(&files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
}

/// Arrows of a tree as `from -> to`, each once, in order.
fn arrows_of(files: &[(&str, &str)]) -> Vec<String> {
    let mut found: Vec<_> =
        arrows(&read(files)).iter().map(|arrow| format!("{} -> {}", arrow.from, arrow.to)).collect();
    found.sort();
    found.dedup();
    found
}

fn files_in_loops(files: &[(&str, &str)]) -> Vec<String> {
    loops(&arrows(&read(files))).into_keys().collect()
}

#[test]
fn two_files_that_import_each_other_are_a_loop_and_its_arrows_are_shown() {
    let tree = read(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "use crate::b::B;\npub struct A(B);"),
        ("b.rs", "\n\npub struct B(Option<Box<crate::a::A>>);"),
    ]);
    let found = loops(&arrows(&tree));
    assert_eq!(found.keys().collect::<Vec<_>>(), ["a.rs", "b.rs"]);
    assert_eq!(found["a.rs"], "\n    a.rs -> b.rs (crate::b::B, line 1)\n    b.rs -> a.rs (crate::a::A, line 3)");
}

#[test]
fn three_files_in_a_ring_are_a_loop_and_one_that_only_looks_on_is_not_in_it() {
    let ring = [
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b.rs", "use crate::c::C; pub struct B;"),
        ("c.rs", "use crate::a::A; pub struct C;"),
        ("d.rs", "use crate::a::A;"),
    ];
    assert_eq!(files_in_loops(&ring), ["a.rs", "b.rs", "c.rs"]);
}

#[test]
fn a_loop_through_a_face_is_found_and_the_face_is_not_in_it() {
    let through = [
        ("lib.rs", "mod room;"),
        ("room/mod.rs", "mod a; mod b; pub use b::B;"),
        ("room/a.rs", "use super::B; pub struct A;"),
        ("room/b.rs", "use super::a::A; pub struct B;"),
    ];
    assert_eq!(files_in_loops(&through), ["room/a.rs", "room/b.rs"]);
    assert_eq!(
        named_through_own_face(&read(&through)).into_keys().collect::<Vec<_>>(),
        ["room/a.rs: B of room/mod.rs"]
    );
}

#[test]
fn handing_a_name_on_is_no_arrow() {
    let faces = [
        ("lib.rs", "mod room; pub use room::A;"),
        ("room/mod.rs", "mod a; mod value; pub use a::A; pub use value::Shown;"),
        ("room/a.rs", "pub struct A;"),
        // A file with children shows what they hold, as a face does.
        ("room/value.rs", "mod walk; pub use walk::Shown; pub struct Budget;"),
        ("room/value/walk.rs", "use super::Budget; pub struct Shown(Budget);"),
    ];
    assert_eq!(arrows_of(&faces), ["room/value/walk.rs -> room/value.rs"]);
    let held = held_by_faces(&read(&faces));
    assert!(held.is_empty(), "{held:?}");
}

#[test]
fn an_item_of_a_face_is_an_arrow_like_any_other() {
    let holding = [
        ("lib.rs", "mod room;"),
        (
            "room/mod.rs",
            "mod a; pub use a::A; pub struct Owner; impl Owner { fn a(&self) -> A { A } } const X: u8 = 1;",
        ),
        ("room/a.rs", "use super::Owner; pub struct A;"),
    ];
    assert_eq!(files_in_loops(&holding), ["room/a.rs", "room/mod.rs"]);
    let held: Vec<_> = held_by_faces(&read(&holding)).into_keys().collect();
    assert_eq!(held, ["room/mod.rs: Owner", "room/mod.rs: X", "room/mod.rs: impl"]);
}

#[test]
fn tests_are_left_out() {
    let tested = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B; pub struct A; #[cfg(test)] mod tests { use super::*; use crate::b::for_tests; }"),
        (
            "b.rs",
            "pub struct B; #[cfg(test)] mod tests; #[cfg(test)] use crate::a::A; #[cfg(all(test, unix))] fn f(_: crate::a::A) {}
             impl B { #[cfg(test)] fn a() -> crate::a::A { crate::a::A } }",
        ),
        ("b/tests.rs", "use crate::a::A; mod deeper;"),
        ("b/tests/deeper.rs", "use crate::a::A;"),
    ];
    assert_eq!(arrows_of(&tested), ["a.rs -> b.rs"]);
    let live = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub struct A;"),
        ("b.rs", "#[cfg(not(test))] use crate::a::A; #[cfg(any(test, unix))] use crate::a::A as B;"),
    ];
    assert_eq!(arrows_of(&live), ["b.rs -> a.rs"]);
}

#[test]
fn self_and_super_are_counted_from_the_module_of_the_file() {
    let deep = [
        ("lib.rs", "mod room;"),
        ("room/mod.rs", "mod a; mod b;"),
        ("room/a.rs", "pub mod inner; pub struct A; fn f() { self::inner::run(); }"),
        ("room/a/inner.rs", "pub fn run() { super::super::b::go(); } pub mod here { pub fn x(_: super::super::A) {} }"),
        ("room/b.rs", "pub fn go() {}"),
    ];
    assert_eq!(
        arrows_of(&deep),
        ["room/a.rs -> room/a/inner.rs", "room/a/inner.rs -> room/a.rs", "room/a/inner.rs -> room/b.rs"]
    );
}

#[test]
fn paths_in_macros_and_attributes_are_seen() {
    let hidden = [
        ("lib.rs", "mod a; mod b; mod c; mod d; mod e;"),
        ("a.rs", "fn f() { println!(\"{}\", [crate::b::text(), x.y(super::c::Text::new())]); }"),
        ("b.rs", "pub fn text() {} macro_rules! m { () => { use $crate::{d::D, e::E}; } } "),
        ("c.rs", "pub struct Text; #[derive(crate::d::D)] struct Derived;"),
        ("d.rs", "pub use core::fmt::Debug as D; pub struct D;"),
        ("e.rs", "pub struct E;"),
    ];
    assert_eq!(arrows_of(&hidden), ["a.rs -> b.rs", "a.rs -> c.rs", "b.rs -> d.rs", "b.rs -> e.rs", "c.rs -> d.rs"]);
}

#[test]
fn names_are_followed_through_globs_renames_groups_and_many_faces() {
    let far = [
        ("lib.rs", "mod base; mod room; mod user;"),
        ("base/mod.rs", "mod ids; mod clock; pub use ids::*; pub use self::clock::{Clock as Time, Wake};"),
        ("base/ids.rs", "pub struct Id; pub enum Kind { One }"),
        ("base/clock.rs", "pub struct Clock; pub struct Wake;"),
        ("room/mod.rs", "mod deep; pub use crate::base as ground; pub use deep::{inner::{self, Low}};"),
        ("room/deep.rs", "pub mod inner { pub struct Low; pub struct Lower; }"),
        (
            "user.rs",
            "use crate::base::{Id, Time}; use crate::room::{inner, ground};
             fn f(_: inner::Lower) { match k { ground::Kind::One => {} } }",
        ),
    ];
    assert_eq!(arrows_of(&far), ["user.rs -> base/clock.rs", "user.rs -> base/ids.rs", "user.rs -> room/deep.rs"]);
}

#[test]
fn a_module_that_is_imported_leads_to_what_is_named_of_it() {
    let by_module = [
        ("lib.rs", "mod room;"),
        ("room/mod.rs", "mod volatile; mod a; mod b;"),
        ("room/volatile/mod.rs", "mod calls; mod pass; pub use calls::State; pub use pass::{pass, Pass};"),
        ("room/volatile/calls.rs", "pub struct State;"),
        ("room/volatile/pass.rs", "pub fn pass() {} pub struct Pass;"),
        ("room/a.rs", "use super::volatile; fn f(_: volatile::State) { volatile::made_by_a_macro(); }"),
        // A module and a function of one name.
        ("room/b.rs", "use super::volatile::pass; fn f() { pass() }"),
    ];
    assert_eq!(
        arrows_of(&by_module),
        [
            "room/a.rs -> room/volatile/calls.rs",
            "room/a.rs -> room/volatile/mod.rs",
            "room/b.rs -> room/volatile/pass.rs"
        ]
    );
}

#[test]
fn names_that_come_in_by_a_glob_or_in_a_block_are_followed() {
    let loose = [
        ("lib.rs", "mod room; mod kinds; mod a; mod b; mod c; mod d;"),
        ("room/mod.rs", "mod x; pub use x::X;"),
        ("room/x.rs", "pub struct X;"),
        ("kinds.rs", "pub enum Kind { One } pub mod more { pub fn go() {} }"),
        ("a.rs", "use crate::room::*; fn f(_: X) {}"),
        ("b.rs", "fn f() { use crate::kinds::Kind::*; One; }"),
        ("c.rs", "fn f() { use crate::kinds::more; more::go(); }"),
        // Names of this file, of a block, of other crates and of variables lead nowhere.
        (
            "d.rs",
            "use std::fmt; mod kinds { pub fn g() {} } fn f(room: fmt::Result) { struct a; a::b(); kinds::g(); room; ::a::b(); }",
        ),
    ];
    assert_eq!(arrows_of(&loose), ["a.rs -> room/x.rs", "b.rs -> kinds.rs", "c.rs -> kinds.rs"]);
}

#[test]
fn circles_of_imports_end() {
    let circle = [
        ("lib.rs", "mod a; mod b; pub use rhai; pub use a::rhai as again;"),
        ("a.rs", "pub use crate::b::*; pub use crate::rhai; use rhai::Engine; fn f() { gone(); }"),
        ("b.rs", "pub use crate::a::*; fn f(_: crate::again::Map) {}"),
    ];
    assert_eq!(arrows_of(&circle), [] as [&str; 0]);
}

#[test]
fn imports_inside_a_room_go_down() {
    let floors = [
        ("lib.rs", "mod engine; mod base;"),
        ("base.rs", "pub struct Id;"),
        ("engine/mod.rs", "mod error; mod native; mod value; mod run;"),
        ("engine/error.rs", "use super::native::Api; pub struct Error; use crate::base::Id;"),
        ("engine/native.rs", "use super::error::Error; pub struct Api;"),
        ("engine/value/mod.rs", "mod atom; mod text; pub use atom::Atom;"),
        ("engine/value/atom.rs", "use crate::engine::run::go; use super::text::Text; pub struct Atom;"),
        ("engine/value/text.rs", "pub struct Text;"),
        ("engine/run/mod.rs", "mod start; pub use start::go;"),
        ("engine/run/start.rs", "use crate::engine::value::Atom; pub fn go() {}"),
    ];
    let found: Vec<_> = imports_upwards(&arrows(&read(&floors))).into_keys().collect();
    assert_eq!(found, ["engine/error.rs -> engine/native.rs", "engine/value/atom.rs -> engine/run/start.rs"]);
}

#[test]
fn internals_of_the_language_are_seen_however_they_are_named() {
    let named = [
        ("lib.rs", "mod engine; mod a; mod b; mod c; mod d;"),
        ("engine/mod.rs", "mod rhai_internals; pub use rhai; pub use rhai_internals::Definition;"),
        (
            "engine/rhai_internals/mod.rs",
            "pub use rhai::ScriptFuncDef as Definition; fn f(e: rhai::Engine) { e.on_var(|| {}); }",
        ),
        ("a.rs", "use crate::engine::rhai::{Stmt as S, Engine}; use crate::engine::Definition; fn f(_: S) {}"),
        ("b.rs", "use rhai::{self, FnPtr}; fn f(e: E) { FnPtr::from_fn(x); e.on_parse_token(|_| rhai::Token::EOF); }"),
        (
            "c.rs",
            "use rhai::*; pub struct Token; fn f(_: Expr, _: Token) { m!(e.eval_statements_raw(), rhai::Caches::new()) }",
        ),
        ("d.rs", "use crate::c::Token; struct Stmt; fn on_var(_: Stmt) {}"),
    ];
    let found: Vec<_> = internals_named(&read(&named)).into_keys().collect();
    assert_eq!(
        found,
        [
            "a.rs: Stmt",
            "b.rs: FnPtr::from_fn",
            "b.rs: Token",
            "b.rs: on_parse_token",
            "c.rs: Caches",
            "c.rs: Expr",
            "c.rs: eval_statements_raw",
        ]
    );
}
