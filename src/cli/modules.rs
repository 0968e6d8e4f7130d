//! Looking at script modules without running them.

use super::exit::{Exit, NotStarted};
use super::terminal::Terminal;
use crate::base::{Limits, Severity};
use crate::render::outline::{self, Function, Module};
use crate::spaces::library::{self, ModuleOutline};
use std::io::ErrorKind;
use std::path::Path;

/// Compiles every module of a folder and says what is wrong, a line each, and how they stand. Warnings alone are no failure, and
/// neither is a folder that nobody `named` and that is not there.
pub(super) fn check(folder: &Path, named: bool, limits: &Limits, terminal: &Terminal) -> Result<Exit, NotStarted> {
    // As whoever reads it can find it, wherever this was started.
    let place = || std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string();
    if !named && !folder.exists() {
        terminal.say(&outline::no_folder(&place()));
        return Ok(Exit::Fine);
    }
    let mut found = library::check(folder, limits).map_err(|error| NotStarted::because(folder.display(), error))?;
    if found.modules == 0 && found.problems.is_empty() {
        terminal.say(&outline::no_modules(&place()));
        return Ok(Exit::Fine);
    }
    for problem in &mut found.problems {
        // As it can be opened from here.
        problem.file = folder.join(&problem.file).display().to_string();
    }
    terminal.say(&outline::check(&found.problems, found.modules, terminal.out));
    let broken = found.problems.iter().any(|problem| problem.severity() == Severity::Error);
    Ok(if broken { Exit::Failed } else { Exit::Fine })
}

/// Prints what a module offers: one of a file, or, when there is no such file, a built-in one of that name.
pub(super) fn outline(file: &Path, limits: &Limits, terminal: &Terminal) -> Result<Exit, NotStarted> {
    if file.is_dir() {
        return Err(NotStarted(format!(
            "{} is a folder: outline takes one file of it, check takes a folder",
            file.display()
        )));
    }
    let name = file.with_extension("").to_string_lossy().into_owned();
    let built_in = || library::text_of(library::BUILT_IN, name.strip_prefix("scripts/").unwrap_or(&name));
    let (name, text) = match (std::fs::read(file), built_in()) {
        (Ok(bytes), _) => {
            let text =
                String::from_utf8(bytes).map_err(|_| NotStarted(format!("{}: not UTF-8 text", file.display())))?;
            (file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned(), text)
        }
        // No such file: the name of a module that comes with the program.
        (Err(error), Some(text)) if error.kind() == ErrorKind::NotFound => (name, text.to_owned()),
        (Err(error), _) => return Err(NotStarted::because(file.display(), error)),
    };
    match ModuleOutline::of_text(&name, &text, limits) {
        Ok(outline) => {
            terminal.say(outline::text(&shown(outline), terminal.out).trim_end());
            Ok(Exit::Fine)
        }
        Err(error) => {
            terminal.complain(&error.to_string());
            Ok(Exit::Failed)
        }
    }
}

fn shown(outline: ModuleOutline) -> Module {
    let constant = |name: String, value: Option<String>| match value {
        Some(value) => format!("const {name} = {value}"),
        None => format!("const {name}"),
    };
    let function =
        |f: library::FunctionOutline| Function { signature: f.signature, doc: f.doc, line: f.line, private: f.private };
    Module {
        name: outline.name,
        doc: outline.doc,
        constants: outline.constants.into_iter().map(|c| constant(c.name, c.value)).collect(),
        functions: outline.functions.into_iter().map(function).collect(),
    }
}
