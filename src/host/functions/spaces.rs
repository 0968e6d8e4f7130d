//! Spaces: where code is evaluated, moving, listing, ending.

use super::call::{Call, Table};
use crate::engine::{Fallible, fail, refuse};
use crate::render::lists::SpaceRow;
use rhai::{Array, Dynamic, Map, NativeCallContext};

pub(super) fn register(table: &mut Table) {
    const NS: &str = "The space (or module) this eval takes place in.";
    table.doc("ns", &["ns()"], NS);
    table.api.function("ns", &["string"], NS, |context: NativeCallContext<'_>| {
        Ok::<_, Box<rhai::EvalAltResult>>(Call::of(&context)?.task.space().name().to_owned())
    });

    const IN_NS: &str = "
Moves your session to a space from its next eval on: a shared one (made when it is not there), a script module, or back to your
scratch. The move happens when this eval ends `ok` inside its call.";
    table.doc("in_ns", &["in_ns(\"name\")"], IN_NS);
    table.api.function("in_ns", &["name: string", "string"], IN_NS, |context: NativeCallContext<'_>, name: &str| {
        let call = Call::of(&context)?;
        if let Some(module) = call.host.library.find(name) {
            call.active.effects().move_to = Some(module.to_string());
            return Ok(module.to_string());
        }
        // The next eval makes the space, when it is new, and announces it.
        call.host.registry().may_enter(call.owner(), name).map_err(|refusal| refuse(&refusal))?;
        call.active.effects().move_to = Some(name.to_owned());
        Ok::<_, Box<rhai::EvalAltResult>>(name.to_owned())
    });

    const SPACES: &str = "
All spaces, as rows `name kind variables functions bytes owner here`: `kind` is `scratch`, `shared` or `module`, `here` how many
sessions are there. Read another space with `import \"@name\" as n;`.

```rhai
spaces().some(|row| row.name == ns()) //=> true
```";
    table.doc("spaces", &["spaces()"], SPACES);
    table.api.function("spaces", &["array"], SPACES, |context: NativeCallContext<'_>| spaces(&context));

    const DROP: &str = "
Ends a shared space: its variables and functions are gone, and what still runs there fails at its next publish.";
    table.doc("drop_space", &["drop_space(\"name\")"], DROP);
    table.api.function("drop_space", &["name: string"], DROP, |context: NativeCallContext<'_>, name: &str| {
        let call = Call::of(&context)?;
        let dropped = call.host.registry().drop_shared(name);
        let id = match dropped {
            Ok(id) => id,
            Err(_) if call.host.library.find(name).is_some() => {
                return Err(fail(
                    "BadArgument",
                    format!(
                        "{name:.80} is a script module; reload(\"{name:.80}\") takes back what evals changed in it"
                    ),
                ));
            }
            Err(refusal) => return Err(refuse(&refusal)),
        };
        call.host.drop_space(id);
        Ok(())
    });
}

fn spaces(context: &NativeCallContext<'_>) -> Fallible<Array> {
    let count = |n: usize| Dynamic::from(i64::try_from(n).unwrap_or(i64::MAX));
    let row = |row: SpaceRow| {
        let mut map = Map::new();
        let mut set = |name: &str, value: Dynamic| drop(map.insert(name.into(), value));
        set("name", row.name.into());
        set("kind", row.kind.into());
        set("variables", count(row.variables));
        set("functions", count(row.functions));
        set("bytes", count(row.bytes));
        set("owner", row.owner.map_or(Dynamic::UNIT, |label| label.to_string().into()));
        set("here", count(row.sessions));
        Dynamic::from_map(map)
    };
    Ok(Call::of(context)?.host.space_rows().into_iter().map(row).collect())
}
