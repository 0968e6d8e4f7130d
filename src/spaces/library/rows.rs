//! Modules as script values: arrays of maps, for the functions that scripts call.

use super::describe::{ModuleRow, ModuleStatus};
use super::folder::Origin;
use super::outline::OutlineRow;
use crate::base::ModuleNotice;
use rhai::{Array, Dynamic, Map};

/// Rows of [`Library::modules`](super::Library::modules): `#{name, doc, functions, status, from}`, where `status` is `ok`, `broken` or
/// `native`, and `from` the path of the file, or `built-in`, or `program` for a native one; `problem` on broken ones; `defined`
/// (signatures) where evals defined functions inside.
pub(crate) fn modules_value(rows: &[ModuleRow]) -> Array {
    let value = |row: &ModuleRow| {
        let mut map = Map::new();
        map.insert("name".into(), row.name.clone().into());
        map.insert("doc".into(), row.doc.clone().into());
        map.insert("functions".into(), integer(row.functions));
        let status = match &row.status {
            ModuleStatus::Fine => "ok",
            ModuleStatus::Native => "native",
            ModuleStatus::Broken(problem) => {
                map.insert("problem".into(), problem.to_string().into());
                "broken"
            }
        };
        map.insert("status".into(), status.into());
        let from = match &row.from {
            Some(Origin::File(path)) => path.display().to_string(),
            Some(Origin::BuiltIn) => "built-in".to_owned(),
            None => "program".to_owned(),
        };
        map.insert("from".into(), from.into());
        if !row.defined.is_empty() {
            map.insert("defined".into(), strings(&row.defined));
        }
        Dynamic::from_map(map)
    };
    rows.iter().map(value).collect()
}

/// Rows of an outline: `#{name, signature, params, line, doc}` for a function, `#{name, value, line}` for a constant (`value` is
/// the text of the expression, where it is short); `matched` (lines) after a search; `by` (`eval 12`) on what an eval defined.
pub(crate) fn outline_value(rows: &[OutlineRow]) -> Array {
    let value = |row: &OutlineRow| {
        let mut map = Map::new();
        map.insert("name".into(), row.name.clone().into());
        map.insert("line".into(), integer(row.line));
        if let Some(signature) = &row.signature {
            map.insert("signature".into(), signature.clone().into());
            map.insert("params".into(), strings(&row.params));
            map.insert("doc".into(), row.doc.clone().into());
        }
        if let Some(value) = &row.value {
            map.insert("value".into(), value.clone().into());
        }
        if !row.matched.is_empty() {
            map.insert("matched".into(), strings(&row.matched));
        }
        if let Some(by) = &row.defined_by {
            map.insert("by".into(), by.clone().into());
        }
        Dynamic::from_map(map)
    };
    rows.iter().map(value).collect()
}

/// The result of `reload`: `#{reloaded: [the module, those that import it ..], undefined: [signatures]}`. Empty for other notices.
pub(crate) fn reloaded_value(notice: &ModuleNotice) -> Map {
    let mut map = Map::new();
    if let ModuleNotice::Reloaded { module, importers, undefined } = notice {
        let reloaded: Vec<_> = std::iter::once(module).chain(importers).cloned().collect();
        map.insert("reloaded".into(), strings(&reloaded));
        map.insert("undefined".into(), strings(undefined));
    }
    map
}

fn integer(n: usize) -> Dynamic {
    i64::try_from(n).unwrap_or(i64::MAX).into()
}

fn strings(all: &[String]) -> Dynamic {
    Dynamic::from_array(all.iter().map(|text| text.clone().into()).collect())
}
