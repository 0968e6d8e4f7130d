//! The source tree as the compiler sees its names: modules, what each of them binds, and which file a path leads to.
//!
//! A path is followed through `use` lines, also renamed ones and globs, until it comes to an item, a module, or another crate.
//! What only tests see is left out. There is no inference of types: methods and fields lead nowhere.

use std::collections::{BTreeMap, BTreeSet};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, Item, Lit, Meta, Token, UseTree, Visibility};

/// All modules that are part of the crate outside tests. The first one is the root.
pub(super) struct Tree {
    pub(super) modules: Vec<Module>,
}

/// One module: a file, or a `mod x { … }` inside one.
pub(super) struct Module {
    /// Path of its file below the root, such as `engine/task.rs`.
    pub(super) file: String,
    pub(super) parent: Option<usize>,
    /// Whether it is the whole file.
    pub(super) whole: bool,
    pub(super) items: Vec<Item>,
    pub(super) names: BTreeMap<String, Vec<Binding>>,
    /// What it imports by `use path::*`.
    pub(super) globs: Vec<Vec<String>>,
}

/// What a name stands for in a module. One name may stand for several things: a function and a module.
pub(super) enum Binding {
    /// Defined here; `holds` says that paths may go on behind it, as in `Type::new`.
    Item {
        holds: bool,
    },
    Module(usize),
    Import {
        path: Vec<String>,
        open: bool,
    },
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// To an item of this module.
    Item(usize),
    /// To a module itself.
    Module(usize),
    /// To nothing that the reader knows of in this module, such as what a macro makes.
    Unknown(usize),
    /// Out of this crate.
    Outside(Vec<String>),
}

/// Where a path leads, and how it went there.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) place: Place,
    /// The imports of other modules that it went through: the module and the name there.
    pub(super) through: Vec<(usize, String)>,
    /// The module in which the last name is written out.
    pub(super) spelled: usize,
}

/// One name that a `use` line imports.
pub(super) struct Leaf {
    pub(super) path: Vec<String>,
    /// The name it has from there on; none for `*` and for `as _`.
    pub(super) name: Option<String>,
    pub(super) glob: bool,
    pub(super) line: usize,
}

impl Tree {
    /// Reads a tree from the texts of its files, beginning with `lib.rs`.
    pub(super) fn read(texts: &BTreeMap<String, String>) -> Self {
        let mut tree = Self { modules: Vec::new() };
        tree.add_file("lib.rs", None, texts);
        tree
    }

    fn add_file(&mut self, file: &str, parent: Option<usize>, texts: &BTreeMap<String, String>) -> usize {
        let parsed = syn::parse_file(&texts[file]).unwrap_or_else(|error| panic!("{file}: {error}"));
        let here = self.add(parsed.items, file, &folder_of(file), parent, texts);
        self.modules[here].whole = true;
        here
    }

    fn add(
        &mut self,
        items: Vec<Item>,
        file: &str,
        folder: &str,
        parent: Option<usize>,
        texts: &BTreeMap<String, String>,
    ) -> usize {
        let mut items: Vec<Item> = items.into_iter().filter(|item| !tests_only(attributes(item))).collect();
        let here = self.modules.len();
        let (names, globs) = (BTreeMap::new(), Vec::new());
        self.modules.push(Module { file: file.to_owned(), parent, whole: false, items: Vec::new(), names, globs });
        for item in &mut items {
            match item {
                Item::Mod(inner) => {
                    let name = text(&inner.ident);
                    let child = if let Some((_, content)) = &mut inner.content {
                        self.add(std::mem::take(content), file, &format!("{folder}{name}/"), Some(here), texts)
                    } else {
                        let file = file_of(&name, &inner.attrs, file, folder, texts);
                        self.add_file(&file, Some(here), texts)
                    };
                    self.bind(here, name, Binding::Module(child));
                }
                Item::Use(import) => {
                    let open = !matches!(import.vis, Visibility::Inherited);
                    for leaf in leaves(import) {
                        if leaf.glob {
                            self.modules[here].globs.push(leaf.path);
                        } else if let Some(name) = leaf.name {
                            self.bind(here, name, Binding::Import { path: leaf.path, open });
                        }
                    }
                }
                _ => {
                    if let Some((name, holds)) = defined(item) {
                        self.bind(here, text(name), Binding::Item { holds });
                    }
                }
            }
        }
        self.modules[here].items = items;
        here
    }

    fn bind(&mut self, module: usize, name: String, binding: Binding) {
        self.modules[module].names.entry(name).or_default().push(binding);
    }

    /// Where a path leads that is written in a module.
    pub(super) fn resolve(&self, from: usize, path: &[String]) -> Vec<Found> {
        let trail = Trail { start: from, spelled: from, through: Vec::new(), seen: BTreeSet::new() };
        let mut found = self.follow(from, path, &trail);
        if found.iter().any(|found| !matches!(found.place, Place::Unknown(_))) {
            found.retain(|found| !matches!(found.place, Place::Unknown(_)));
        }
        found
    }

    fn follow(&self, from: usize, path: &[String], trail: &Trail) -> Vec<Found> {
        let mut at = from;
        let mut rest = path;
        let mut anchored = false;
        while let Some((first, more)) = rest.split_first() {
            match first.as_str() {
                "crate" if !anchored => at = 0,
                "self" if !anchored => {}
                "super" => match self.modules[at].parent {
                    Some(parent) => at = parent,
                    None => return vec![trail.found(Place::Outside(path.to_vec()))],
                },
                _ => break,
            }
            anchored = true;
            rest = more;
        }
        let found = if !anchored && rest.first().is_some_and(|first| first.is_empty() || first == "Self") {
            Vec::new()
        } else {
            self.walk(at, rest, trail)
        };
        match () {
            () if !found.is_empty() => found,
            () if anchored => vec![trail.found(Place::Unknown(at))],
            () => vec![trail.found(Place::Outside(path.to_vec()))],
        }
    }

    /// Looks the rest of a path up in a module; nothing when its first name is not known there.
    fn walk(&self, at: usize, rest: &[String], trail: &Trail) -> Vec<Found> {
        let Some((name, more)) = rest.split_first() else { return vec![trail.found(Place::Module(at))] };
        let module = &self.modules[at];
        let mut found = Vec::new();
        for binding in module.names.get(name).into_iter().flatten() {
            match binding {
                Binding::Item { holds } if *holds || more.is_empty() => found.push(trail.found(Place::Item(at))),
                Binding::Item { .. } => {}
                Binding::Module(child) => {
                    let below = self.walk(*child, more, trail);
                    if below.is_empty() {
                        found.push(trail.found(Place::Unknown(*child)));
                    }
                    found.extend(below);
                }
                Binding::Import { path, .. } => {
                    let Some(trail) = trail.on(at, name) else { continue };
                    let spelled = if more.is_empty() { at } else { trail.spelled };
                    let whole = [path, more].concat();
                    found.extend(self.follow(at, &whole, &trail.through(at, name, spelled)));
                }
            }
        }
        if found.is_empty()
            && let Some(trail) = trail.on(at, &format!("*{name}"))
        {
            let trail = trail.through(at, name, trail.spelled);
            for glob in &module.globs {
                for target in self.follow(at, glob, &trail) {
                    match target.place {
                        Place::Module(target) => found.extend(self.walk(target, rest, &trail)),
                        Place::Outside(path) => found.push(trail.found(Place::Outside([&path, rest].concat()))),
                        Place::Item(_) | Place::Unknown(_) => {}
                    }
                }
            }
        }
        found
    }

    /// The files of the tree, each with its own module.
    pub(super) fn files(&self) -> impl Iterator<Item = (usize, &Module)> {
        self.modules.iter().enumerate().filter(|(_, module)| module.whole)
    }
}

/// How far a path has come.
#[derive(Clone)]
struct Trail {
    start: usize,
    spelled: usize,
    through: Vec<(usize, String)>,
    /// Imports that were followed already: `use rhai;` names the crate, not itself, and two globs may name each other.
    seen: BTreeSet<(usize, String)>,
}

impl Trail {
    fn found(&self, place: Place) -> Found {
        Found { place, through: self.through.clone(), spelled: self.spelled }
    }

    /// The trail with this import followed; none when it was followed before.
    fn on(&self, at: usize, name: &str) -> Option<Self> {
        let mut next = self.clone();
        next.seen.insert((at, name.to_owned())).then_some(next)
    }

    fn through(&self, at: usize, name: &str, spelled: usize) -> Self {
        let mut next = self.clone();
        if at != self.start {
            next.through.push((at, name.to_owned()));
        }
        next.spelled = spelled;
        next
    }
}

/// The folder in which the children of a file stand.
pub(super) fn folder_of(file: &str) -> String {
    let (folder, name) = file.rsplit_once('/').map_or(("", file), |(folder, name)| (folder, name));
    let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder,
        _ => format!("{folder}{}/", name.trim_end_matches(".rs")),
    }
}

/// Whether a file only shows what others hold.
pub(super) fn is_face(file: &str) -> bool {
    file == "lib.rs" || file == "mod.rs" || file.ends_with("/mod.rs")
}

/// The file that a `mod name;` stands for.
fn file_of(name: &str, attrs: &[Attribute], parent: &str, folder: &str, texts: &BTreeMap<String, String>) -> String {
    let beside = parent.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let named = attrs.iter().find_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(format!("{beside}{}", text.value())),
            _ => None,
        },
        _ => None,
    });
    let candidates = [named.unwrap_or_else(|| format!("{folder}{name}.rs")), format!("{folder}{name}/mod.rs")];
    let found = candidates.iter().find(|file| texts.contains_key(*file));
    found.unwrap_or_else(|| panic!("{parent}: no file for `mod {name}`")).clone()
}

pub(super) fn text(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// Whether attributes say that something is there for tests only.
pub(super) fn tests_only(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        Meta::List(list) if list.path.is_ident("cfg") => attr.parse_args::<Meta>().is_ok_and(|meta| needs_test(&meta)),
        _ => false,
    })
}

fn needs_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => {
            let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
            (list.path.is_ident("all") && parts.iter().any(needs_test))
                || (list.path.is_ident("any") && !parts.is_empty() && parts.iter().all(needs_test))
        }
        Meta::NameValue(_) => false,
    }
}

pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The name that an item gives, and whether paths may go on behind it. Modules and imports are no items here.
pub(super) fn defined(item: &Item) -> Option<(&Ident, bool)> {
    match item {
        Item::Const(item) => Some((&item.ident, false)),
        Item::Enum(item) => Some((&item.ident, true)),
        Item::Fn(item) => Some((&item.sig.ident, false)),
        Item::Macro(item) => item.ident.as_ref().map(|ident| (ident, false)),
        Item::Static(item) => Some((&item.ident, false)),
        Item::Struct(item) => Some((&item.ident, true)),
        Item::Trait(item) => Some((&item.ident, true)),
        Item::TraitAlias(item) => Some((&item.ident, true)),
        Item::Type(item) => Some((&item.ident, true)),
        Item::Union(item) => Some((&item.ident, true)),
        _ => None,
    }
}

/// The single names that a `use` line imports.
pub(super) fn leaves(import: &syn::ItemUse) -> Vec<Leaf> {
    let mut found = Vec::new();
    // A leading `::` is kept as an empty first name: such a path always leaves the crate.
    let start = if import.leading_colon.is_some() { vec![String::new()] } else { Vec::new() };
    spread(&import.tree, &start, &mut found);
    found
}

fn spread(tree: &UseTree, before: &[String], found: &mut Vec<Leaf>) {
    let with = |ident: &Ident| [before, &[text(ident)]].concat();
    // `{self}` stands for the module whose group it is in.
    let whole = |ident: &Ident| if ident == "self" && !before.is_empty() { before.to_vec() } else { with(ident) };
    match tree {
        UseTree::Path(inner) => spread(&inner.tree, &with(&inner.ident), found),
        UseTree::Name(inner) => {
            let (path, line) = (whole(&inner.ident), inner.ident.span().start().line);
            found.push(Leaf { name: path.last().cloned(), path, glob: false, line });
        }
        UseTree::Rename(inner) => {
            let name = (inner.rename != "_").then(|| text(&inner.rename));
            found.push(Leaf { path: whole(&inner.ident), name, glob: false, line: inner.ident.span().start().line });
        }
        UseTree::Glob(inner) => {
            let line = inner.star_token.spans[0].start().line;
            found.push(Leaf { path: before.to_vec(), name: None, glob: true, line });
        }
        UseTree::Group(inner) => inner.items.iter().for_each(|tree| spread(tree, before, found)),
    }
}
