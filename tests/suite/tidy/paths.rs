//! Every path that a source file writes, and the arrows between files that follow from them.

use super::reader::{Binding, Found, Place, Tree, attributes, defined, folder_of, is_face, leaves, tests_only, text};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};
use syn::{Item, Stmt, Visibility};

/// A path as it is written.
pub(super) struct Mention {
    /// The module it is written in.
    pub(super) module: usize,
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    pub(super) how: How,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum How {
    /// By a `use` line; `open` when it hands the name on.
    Import { open: bool, glob: bool },
    /// In code, in a type, in a pattern, in the body of a macro.
    Path,
    /// As a method of something.
    Method,
}

/// One file uses a name that another one defines.
pub(super) struct Arrow {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) name: String,
    pub(super) line: usize,
}

/// Everything that the modules of a tree mention.
pub(super) fn mentions(tree: &Tree) -> Vec<Mention> {
    let mut reader = Reader { module: 0, scopes: Vec::new(), found: Vec::new() };
    for (index, module) in tree.modules.iter().enumerate() {
        reader.module = index;
        module.items.iter().for_each(|item| reader.visit_item(item));
    }
    reader.found
}

/// The arrows between different files of a tree.
pub(super) fn arrows(tree: &Tree) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for mention in mentions(tree) {
        let from = &tree.modules[mention.module].file;
        for found in leads(tree, &mention) {
            let Some(to) = target(tree, &mention, &found) else { continue };
            let to = tree.modules[to].file.clone();
            if to != *from {
                let name = mention.path.join("::");
                arrows.push(Arrow { from: from.clone(), to, name, line: mention.line });
            }
        }
    }
    arrows
}

/// Where a mention leads to, unless another mention says the same.
pub(super) fn leads(tree: &Tree, mention: &Mention) -> Vec<Found> {
    let module = &tree.modules[mention.module];
    let said_already = match (mention.how, mention.path.as_slice()) {
        (How::Method, _) => true,
        // The line that imports a single name says where it comes from, unless it is a glob or hands the name on.
        (How::Path, [name]) => match module.names.get(name) {
            Some(bindings) => !bindings.iter().any(|binding| matches!(binding, Binding::Import { open: true, .. })),
            None => module.globs.is_empty(),
        },
        _ => false,
    };
    if said_already { Vec::new() } else { tree.resolve(mention.module, &mention.path) }
}

/// The module on which a mention depends.
fn target(tree: &Tree, mention: &Mention, found: &Found) -> Option<usize> {
    let from = &tree.modules[mention.module].file;
    match (&found.place, mention.how) {
        (Place::Outside(_), _) => None,
        (Place::Item(to) | Place::Unknown(to), How::Import { open: true, .. }) => {
            let shown = is_face(from) || tree.modules[*to].file.starts_with(&folder_of(from));
            (!shown).then_some(*to)
        }
        (Place::Item(to) | Place::Unknown(to), _) => Some(*to),
        // Methods of traits come in with a glob and are not seen where they are used.
        (Place::Module(to), How::Import { open: false, glob: true }) => {
            let holds = |binding: &Binding| matches!(binding, Binding::Item { .. });
            tree.modules[*to].names.values().flatten().any(holds).then_some(*to)
        }
        // A module that is imported is followed where something of it is named.
        (Place::Module(_), _) => None,
    }
}

struct Reader {
    module: usize,
    /// What the blocks around bring in: the path of an import, or nothing for an item of their own.
    scopes: Vec<BTreeMap<String, Option<Vec<String>>>>,
    found: Vec<Mention>,
}

impl Reader {
    fn mention(&mut self, path: Vec<String>, line: usize, how: How) {
        let Some(path) = self.widened(path, how) else { return };
        self.found.push(Mention { module: self.module, path, line, how });
    }

    /// The path as seen from the module; none when it names an item of a block.
    fn widened(&self, path: Vec<String>, how: How) -> Option<Vec<String>> {
        if how == How::Method {
            return Some(path);
        }
        let known = self.scopes.iter().rev().find_map(|scope| scope.get(&path[0]));
        match known {
            Some(Some(import)) if how == How::Path => Some([import, &path[1..]].concat()),
            Some(None) => None,
            _ => Some(path),
        }
    }

    fn path(&mut self, path: &syn::Path) {
        let mut names: Vec<String> = path.segments.iter().map(|segment| text(&segment.ident)).collect();
        if path.leading_colon.is_some() {
            names.insert(0, String::new());
        }
        let line = path.segments.first().map_or(0, |first| first.ident.span().start().line);
        self.mention(names, line, How::Path);
    }

    /// The body of a macro is not parsed: runs of names joined by `::` are taken for paths.
    fn tokens(&mut self, stream: &TokenStream, before: &[String]) {
        let tokens: Vec<TokenTree> = stream.clone().into_iter().collect();
        let punct = |at: usize| match tokens.get(at) {
            Some(TokenTree::Punct(punct)) => punct.as_char(),
            _ => ' ',
        };
        let joined = |at: usize| punct(at) == ':' && punct(at + 1) == ':';
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Group(group) => self.tokens(&group.stream(), &[]),
                TokenTree::Ident(first) => {
                    let called = at > 0 && punct(at - 1) == '.' && !(at > 1 && punct(at - 2) == '.');
                    let lifetime = at > 0 && punct(at - 1) == '\'';
                    let absolute = at > 1 && joined(at - 2);
                    let line = first.span().start().line;
                    let mut path = before.to_vec();
                    if absolute {
                        path.push(String::new());
                    }
                    path.push(text(first));
                    while joined(at + 1)
                        && let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                    {
                        path.push(text(next));
                        at += 3;
                    }
                    match tokens.get(at + 3) {
                        Some(TokenTree::Group(group)) if joined(at + 1) && group.delimiter() == Delimiter::Brace => {
                            self.tokens(&group.stream(), &path);
                            at += 3;
                        }
                        _ if lifetime => {}
                        _ if called => self.mention(path, line, How::Method),
                        _ => self.mention(path, line, How::Path),
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        if !tests_only(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    /// Modules are read on their own.
    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        let open = !matches!(import.vis, Visibility::Inherited);
        for leaf in leaves(import) {
            self.mention(leaf.path, leaf.line, How::Import { open, glob: leaf.glob });
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attrs = match item {
            syn::ImplItem::Const(item) => &item.attrs,
            syn::ImplItem::Fn(item) => &item.attrs,
            syn::ImplItem::Type(item) => &item.attrs,
            syn::ImplItem::Macro(item) => &item.attrs,
            _ => return,
        };
        if !tests_only(attrs) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let mut scope = BTreeMap::new();
        for statement in &block.stmts {
            match statement {
                Stmt::Item(Item::Use(import)) => {
                    let named = leaves(import).into_iter().filter_map(|leaf| Some((leaf.name?, Some(leaf.path))));
                    // An import of a name by itself, as in `use rhai;`, would lead in a circle and changes nothing.
                    scope.extend(named.filter(|(name, path)| path.as_deref() != Some(std::slice::from_ref(name))));
                }
                Stmt::Item(item) => scope.extend(defined(item).map(|(name, _)| (text(name), None))),
                _ => {}
            }
        }
        self.scopes.push(scope);
        visit::visit_block(self, block);
        self.scopes.pop();
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.path(path);
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.mention(vec![text(&call.method)], call.method.span().start().line, How::Method);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        visit::visit_macro(self, call);
        self.tokens(&call.tokens, &[]);
    }

    fn visit_meta_list(&mut self, list: &'ast syn::MetaList) {
        visit::visit_meta_list(self, list);
        self.tokens(&list.tokens, &[]);
    }

    /// `pub(in path)` uses nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}
