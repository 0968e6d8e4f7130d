//! `env`: the environment of the process, and what machine it is.

use crate::base::PermissionKind;
use crate::engine::{Api, Fallible, fail};
use crate::toolkit::arguments::int;
use crate::toolkit::permissions::Capability;
use rhai::{Array, Dynamic, Map, Module, NativeCallContext};

pub(super) fn module() -> Module {
    let mut api = Api::new();
    api.about("Variables of the environment that are allowed (--allow-env=NAME), and what machine this is.");
    const GET: &str = "
The value of a variable of the environment, or `()` where it is not set. Needs `--allow-env=NAME`, or `PREFIX_*`; what sets this process
up (`REMONTOIRE_…`) is never given.

```rhai compile
env::get(\"LANG\")
```";
    api.function(
        "get",
        &["name: string", "?"],
        GET,
        |context: NativeCallContext<'_>, name: &str| -> Fallible<Dynamic> {
            let capability = Capability::of(&context, "env::get")?;
            let granted = capability.ask(PermissionKind::Env, name)?;
            match std::env::var_os(granted.what()) {
                Some(value) => match value.into_string() {
                    Ok(text) => Ok(text.into()),
                    Err(_) => Err(fail("NotText", format!("the value of {name} is not UTF-8"))),
                },
                None => Ok(Dynamic::UNIT),
            }
        },
    );
    const NAMES: &str = "
The names of the variables that are set and allowed.

```rhai
type_of(env::names()) //=> \"array\"
```";
    api.function("names", &["array"], NAMES, |context: NativeCallContext<'_>| -> Fallible<Array> {
        let capability = Capability::of(&context, "env::names")?;
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let mut names = capability.visible(names);
        names.sort();
        Ok(names.into_iter().map(Into::into).collect())
    });
    const PLATFORM: &str = "
What machine this is: `#{os, arch, cores}`. Needs no permission.

```rhai
env::platform().cores >= 1 //=> true
```";
    api.function("platform", &["map"], PLATFORM, || {
        let mut map = Map::new();
        map.insert("os".into(), std::env::consts::OS.into());
        map.insert("arch".into(), std::env::consts::ARCH.into());
        map.insert("cores".into(), int(std::thread::available_parallelism().map_or(1, Into::into)).into());
        map
    });
    api.build()
}
