//! The live library: script modules in a folder, as they are now, and below them those that come with the program.
//!
//! [`Library`] owns which version of each module is in force and answers what scripts and people ask about modules.
//! [`ScriptModules`] is how evals import them; [`ModuleSpace`] is how an eval works inside one. Texts alone can be looked at
//! without a library: [`ModuleOutline::of_text`] and [`check()`]. Knows no registry and no host: spaces that are imported with
//! `@` come from a [`SpaceModules`].
//!
//! | file | owns |
//! | --- | --- |
//! | `built_in` | the modules that come with the program |
//! | `name` | names of modules, and names near a mistyped one |
//! | `folder` | reading files, staying inside |
//! | `import_trace` | the imports of imports of one eval: circles, and who needed which version |
//! | `module_store` | versions: edits, what was defined inside, the last good version |
//! | `outline` | texts, native modules and spaces as data |
//! | `store` | [`Library`]: the parts above, nothing else |
//! | `live` | loading on behalf of a real eval |
//! | `module_space` | evaluating inside a module |
//! | `check` | finding what is wrong in a folder |
//! | `describe`, `rows` | answers to questions about modules, and those answers as script values |
//!
//! Positions in texts come from `engine::module_text`, where Rhai's syntax tree is read.

mod built_in;
mod check;
mod describe;
mod folder;
mod import_trace;
mod live;
mod module_space;
mod module_store;
mod name;
mod outline;
mod rows;
mod store;

#[cfg(test)]
mod built_in_tests;
#[cfg(test)]
mod scripts_tests;
#[cfg(test)]
mod testing;

pub(crate) use crate::engine::{FunctionOutline, ModuleOutline};
pub(crate) use built_in::{BUILT_IN, text_of};
pub(crate) use check::check;
pub(crate) use describe::Documented;
pub(crate) use live::{ScriptModules, SpaceModules};
pub(crate) use module_space::ModuleSpace;
pub(crate) use name::ModuleName;
pub(crate) use outline::{OutlineOptions, first_sentence};
pub(crate) use rows::{modules_value, outline_value, reloaded_value};
pub(crate) use store::Library;
