//! Script modules as data: which there are, what they offer, their text, loading one anew.

use super::call::{Call, Table};
use crate::base::ModuleError;
use crate::engine::{Fallible, fail, value_type};
use crate::host::core::host_core::HostCore;
use crate::render::teach::{self, FunctionDoc};
use crate::render::value::whole;
use crate::spaces::library::{
    Documented, FunctionOutline, OutlineOptions, modules_value, outline_value, reloaded_value,
};
use rhai::{Array, Dynamic, EvalAltResult, Map, NativeCallContext};

pub(super) fn register(table: &mut Table) {
    const MODULES: &str = "
The script modules there are now, as rows `name doc functions status from`; with a filter, those that have it in their name or doc. Use one
with `import \"stats\" as stats;`: an edit of its file is live at the next import.

```rhai
modules().all(|row| row.status != \"lost\") //=> true
```";
    table.doc("modules", &["modules()", "modules(filter)"], MODULES);
    table.api.function("modules", &["array"], MODULES, |context: NativeCallContext<'_>| modules(&context, ""));
    table.api.function(
        "modules",
        &["filter: string", "array"],
        MODULES,
        |context: NativeCallContext<'_>, filter: &str| modules(&context, filter),
    );

    const OUTLINE: &str = "
What a module offers: a row for each public function, `name signature params line doc` (the first sentence), and for each constant.
`#{docs: true}` gives whole docs; `#{like: \"word\"}` only what has the word in its name or doc, with the matching lines. A space
has an outline too, under the name it is imported by: `outline(\"@workshop\")`.

```rhai
let rate = 3;
outline(\"@\" + ns()).some(|row| row.name == \"rate\") //=> true
```";
    table.doc("outline", &["outline(\"m\")", "outline(\"m\", #{docs, like})"], OUTLINE);
    table.api.function(
        "outline",
        &["module: string", "array"],
        OUTLINE,
        |context: NativeCallContext<'_>, name: &str| outline(&context, name, &Map::new()),
    );
    table.api.function(
        "outline",
        &["module: string", "options: map", "array"],
        OUTLINE,
        |context: NativeCallContext<'_>, name: &str, options: Map| outline(&context, name, &options),
    );

    const SOURCE: &str = "The text of a module's file, or of one function in it with its doc comment.";
    table.doc("source", &["source(\"m\")", "source(\"m\", \"f\")"], SOURCE);
    table.api.function(
        "source",
        &["module: string", "string"],
        SOURCE,
        |context: NativeCallContext<'_>, name: &str| {
            let call = Call::of(&context)?;
            let text = call.host.library.source(bare(name)).map_err(|error| refused(&error))?;
            Ok::<_, Box<EvalAltResult>>(whole(text.to_string()))
        },
    );
    table.api.function(
        "source",
        &["module: string", "function: string", "string"],
        SOURCE,
        |context: NativeCallContext<'_>, name: &str, function: &str| {
            let call = Call::of(&context)?;
            let sources = &*call.task.hooks().sources;
            let text =
                call.host.library.function_source(bare(name), function, sources).map_err(|error| refused(&error))?;
            Ok::<_, Box<EvalAltResult>>(whole(text))
        },
    );

    const RELOAD: &str = "
Loads a module from its file anew, and those that import it; functions that evals defined inside it are gone. Says what it reloaded.";
    table.doc("reload", &["reload(\"m\")"], RELOAD);
    table.api.function("reload", &["module: string", "map"], RELOAD, |context: NativeCallContext<'_>, name: &str| {
        let call = Call::of(&context)?;
        let notice = call.host.modules.reload(&call.task, bare(name))?;
        Ok::<_, Box<EvalAltResult>>(reloaded_value(&notice))
    });
}

/// The module's name, also when it was given as a path below the folder.
fn bare(name: &str) -> &str {
    name.strip_prefix("scripts/").unwrap_or(name)
}

fn refused(error: &ModuleError) -> Box<EvalAltResult> {
    fail(error.kind(), error.to_string())
}

fn modules(context: &NativeCallContext<'_>, filter: &str) -> Fallible<Array> {
    Ok(modules_value(&Call::of(context)?.host.library.modules(filter)))
}

fn outline(context: &NativeCallContext<'_>, name: &str, options: &Map) -> Fallible<Dynamic> {
    let call = Call::of(context)?;
    let mut wanted = OutlineOptions::default();
    for (option, value) in options {
        match option.as_str() {
            "docs" => {
                wanted.docs = value
                    .as_bool()
                    .map_err(|_| fail("BadArgument", format!("docs is true or false, not {}", value_type(value))))?;
            }
            "like" => {
                wanted.like = Some(
                    value
                        .clone()
                        .into_string()
                        .map_err(|_| fail("BadArgument", format!("like is a string, not {}", value_type(value))))?,
                );
            }
            other => {
                return Err(fail("BadArgument", format!("`{other:.40}` is no option of outline: docs, like")));
            }
        }
    }
    let outline = call.host.outline(bare(name))?;
    Ok(whole(outline_value(&outline.rows(&wanted))))
}

/// The docs of all functions of one name; `prefix` stands before it in a call.
fn described(prefix: &str, functions: &[FunctionOutline]) -> String {
    let docs: Vec<_> = functions.iter().map(|f| f.doc.as_str()).filter(|doc| !doc.is_empty()).collect();
    teach::doc(&FunctionDoc {
        name: functions.first().map(|f| f.name.clone()).unwrap_or_default(),
        signatures: functions.iter().map(|f| format!("{prefix}{}", f.signature)).collect(),
        doc: docs.join("\n\n"),
    })
}

/// The docs of a function of `place`, the space or module where the caller is, or of one of another space, which
/// is called `@workshop::mean`.
pub(super) fn doc_of_space(host: &HostCore, place: &str, name: &str) -> Option<String> {
    let named = name.rsplit_once("::");
    let outline = match named {
        Some((space, _)) if space.starts_with('@') => host.outline(space),
        Some(_) => return None,
        None if host.library.find(place).is_some() => host.outline(place),
        None => host.outline(&format!("@{place}")),
    };
    let outline = outline.ok()?;
    let (prefix, function) = named.map_or((String::new(), name), |(space, function)| (format!("{space}::"), function));
    let functions: Vec<_> = outline.named(function).filter(|f| named.is_none() || !f.private).cloned().collect();
    (!functions.is_empty()).then(|| described(&prefix, &functions))
}

/// The docs of a module, or of a function of one, for `doc`.
pub(super) fn doc(host: &HostCore, name: &str) -> Fallible<Option<String>> {
    let found = match host.library.documented(bare(name), &*host.hooks.sources) {
        Ok(found) => found,
        Err(ModuleError::NotFound { .. } | ModuleError::BadName { .. }) => return Ok(None),
        Err(error) => return Err(refused(&error)),
    };
    Ok(Some(match found {
        Documented::Functions { module, functions } => described(&format!("{module}::"), &functions),
        Documented::Module(outline) => teach::doc(&FunctionDoc {
            name: outline.name.clone(),
            signatures: outline.public().map(|f| format!("{}::{}", outline.name, f.signature)).collect(),
            doc: outline.doc.clone(),
        }),
    }))
}
