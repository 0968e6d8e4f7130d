//! The public face of the library: every name that `lib.rs` exports, and the public methods of the types that a program embeds it
//! by. It is a snapshot, so that it changes knowingly.

use super::texts;
use expect_test::expect;
use std::collections::BTreeMap;
use syn::{ImplItem, Item, UseTree, Visibility};

/// The names that a tree of `use` brings in, as they are called from outside.
fn names(tree: &UseTree, found: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => names(&path.tree, found),
        UseTree::Group(group) => group.items.iter().for_each(|item| names(item, found)),
        UseTree::Name(name) => found.push(name.ident.to_string()),
        UseTree::Rename(rename) => found.push(rename.rename.to_string()),
        UseTree::Glob(_) => found.push("*".to_owned()),
    }
}

/// The exported names with the public methods of each, sorted.
fn face() -> BTreeMap<String, Vec<String>> {
    let texts = texts();
    let mut exported = Vec::new();
    for item in syn::parse_file(&texts["lib.rs"]).unwrap().items {
        match item {
            Item::Use(item) if matches!(item.vis, Visibility::Public(_)) => names(&item.tree, &mut exported),
            Item::Type(item) if matches!(item.vis, Visibility::Public(_)) => exported.push(item.ident.to_string()),
            Item::Mod(item) if matches!(item.vis, Visibility::Public(_)) => exported.push(item.ident.to_string()),
            _ => {}
        }
    }
    let mut face: BTreeMap<String, Vec<String>> = exported.into_iter().map(|name| (name, Vec::new())).collect();
    for text in texts.values() {
        for item in syn::parse_file(text).unwrap().items {
            let Item::Impl(block) = item else { continue };
            let (None, syn::Type::Path(of)) = (&block.trait_, &*block.self_ty) else { continue };
            let Some(methods) = of.path.get_ident().and_then(|name| face.get_mut(&name.to_string())) else { continue };
            for item in block.items {
                if let ImplItem::Fn(function) = item
                    && matches!(function.vis, Visibility::Public(_))
                {
                    methods.push(function.sig.ident.to_string());
                }
            }
        }
    }
    face.values_mut().for_each(|methods| methods.sort());
    face
}

#[test]
fn the_library_exports_this_and_nothing_else() {
    let shown: String = face()
        .into_iter()
        .map(
            |(name, methods)| {
                if methods.is_empty() { format!("{name}\n") } else { format!("{name}: {}\n", methods.join(" ")) }
            },
        )
        .collect();
    expect![[r#"
        Ask
        BuildError
        Clock: advance alarm instant is_manual manual now real wall
        CountingAllocator
        Decision
        EntryId
        EntryLayer
        EvalError
        EvalRequest: new
        Evaluated
        Failure: new
        Frame
        Host: builder cancel clock close describe drained eval eval_job is_closing limits probe started
        HostBuilder: build clock describe limits module permissions permit scripts scripts_if_any without_built_in_modules
        Job
        LimitHit: kind
        Limits: slots_per_session stack_bytes
        PermissionError
        PermissionKind: as_str from_word
        Permissions: all env is_empty none read write
        Probe
        Refusal: kind
        ServeError
        ServeOptions
        Server: addr shutdown url
        Status: as_str from_word is_settled
        StopCause
        Token: new
        internals
        rhai
        serve
        serve_with
        shared_by_identity
        tracing_layer
    "#]]
    .assert_eq(&shown);
}
