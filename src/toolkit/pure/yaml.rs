//! `yaml`: reading and writing YAML 1.2, with bounds on what anchors can make of a short text.

use super::data::write;
use super::reader::Reader;
use crate::base::{Format, LibraryError};
use crate::engine::{Api, Fallible, Task, terminated};
use crate::toolkit::arguments::raise;
use crate::toolkit::limits::{CONFIG_DEPTH, YAML_NODES};
use rhai::{Dynamic, EvalAltResult, NativeCallContext};
use serde::de::DeserializeSeed;
use serde_saphyr::{Error, Options};
use std::cell::Cell;

type Context<'c> = NativeCallContext<'c>;

pub(super) fn register(api: &mut Api) {
    api.about("YAML: read settings as a value, write a value as YAML. Only `true` and `false` are booleans.");
    const PARSE: &str = "
The value of a YAML text. Only `true` and `false` are booleans, so that `no` is a text; keys become texts. `BadYaml` says line and column. 64
levels and 100,000 values at most, those that anchors repeat counted each time.

```rhai
yaml::parse(\"a:\\n  - 1\\n  - no\\nb: ~\\n\") //=> #{a: [1, \"no\"], b: ()}
```";
    api.function("parse", &["text: string", "?"], PARSE, |context: Context<'_>, text: &str| {
        parse(&Task::of(&context), text)
    });

    const TEXT: &str = "
A value as YAML; texts that would be read as something else are quoted. A function is `BadArgument`.

```rhai
yaml::parse(yaml::text(#{a: [1, \"no\", ()]})) //=> #{a: [1, \"no\", ()]}
```";
    api.function("text", &["value: ?", "string"], TEXT, |context: Context<'_>, value: &mut Dynamic| {
        write(&Task::of(&context), "yaml::text", value, CONFIG_DEPTH, |writer| {
            serde_saphyr::to_string(writer).map_err(|error| error.to_string())
        })
    });
}

fn parse(task: &Task, text: &str) -> Fallible<Dynamic> {
    task.check()?;
    let parts = Cell::new(0);
    let reader = Reader::new(task, &parts, CONFIG_DEPTH, YAML_NODES);
    let read =
        serde_saphyr::with_deserializer_from_str_with_options(text, options(), |source| reader.deserialize(source));
    read.map_err(|error| if task.must_end() { terminated() } else { broken(&error) })
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: CONFIG_DEPTH,
            flow_nesting_limit: CONFIG_DEPTH,
            max_nodes: YAML_NODES,
            max_documents: 1,
        },
        strict_booleans: true,
        with_snippet: false,
    }
}

fn broken(error: &Error) -> Box<EvalAltResult> {
    let place = error.location().map_or((0, 0), |place| (index(place.line()), index(place.column())));
    let whole = error.without_snippet().to_string();
    // The place stands behind the reason as well.
    let reason = whole.split(" at line ").next().unwrap_or(&whole).lines().collect::<Vec<_>>().join("; ");
    raise(&LibraryError::BadFormat { format: Format::Yaml, place, reason })
}

fn index(n: impl TryInto<usize>) -> usize {
    n.try_into().unwrap_or(usize::MAX)
}
