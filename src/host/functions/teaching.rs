//! Teaching: the manual, and the docs of all that has a name.

use super::call::{Call, Table};
use super::lookup::{Lookup, too_long};
use crate::base::Owner;
use crate::engine::{Fallible, fail};
use crate::host::core::host_core::HostCore;
use crate::render::teach::{self, Instance, Variant};
use crate::render::value::whole;
use rhai::{Dynamic, NativeCallContext};
use std::sync::Arc;

pub(super) fn register(table: &mut Table) {
    const MANUAL: &str = "
How to work here: the model, the rules that surprise, and what there is by name. Read it once before real work. With the name of a page,
that page; `manual()` lists them.

```rhai
manual(\"channels\").contains(\"recv\") //=> true
```";
    table.doc("manual", &["manual()", "manual(\"page\")"], MANUAL);
    table.api.function("manual", &["string"], MANUAL, |context: NativeCallContext<'_>| {
        let call = Call::of(&context)?;
        call.host.registry().manual_read(call.owner());
        Ok::<_, Box<rhai::EvalAltResult>>(whole(teach::manual(&call.host.instance(), variant(&call))))
    });
    table.api.function("manual", &["page: string", "string"], MANUAL, |context: NativeCallContext<'_>, page: &str| {
        let call = Call::of(&context)?;
        if let Some(problem) = too_long(page) {
            return Err(fail("BadArgument", problem));
        }
        let text = teach::manual_page(page, &call.host.instance(), variant(&call));
        text.map(whole).map_err(|problem| fail("NotFound", problem))
    });

    const DOC: &str = "
All there is to say about a name, as a text: a function of this host, of the language (`doc(\"push\")`, or of one type,
`doc(\"array.push\")`), of a module (`doc(\"stats::mean\")`), of the space you are in or of another (`doc(\"@workshop::mean\")`); a
keyword or operator (`doc(\"for\")`, `doc(\"??\")`), a type (`doc(\"array\")`), a variable, a module, a page of the manual. Words that are
no name are searched for in names and docs of all that can be called, and the best ten are listed.

```rhai
doc(\"sleep\").contains(\"sleep(secs)\") //=> true
doc(\"wait for all children\").contains(\"await_all\") //=> true
```";
    table.doc("doc", &["doc(\"name\")", "doc(\"some words\")"], DOC);
    table.api.function("doc", &["name: string", "string"], DOC, |context: NativeCallContext<'_>, name: &str| {
        let call = Call::of(&context)?;
        if let Some(problem) = too_long(name) {
            return Err(fail("BadArgument", problem));
        }
        let check = || call.task.check();
        let lookup = Lookup { host: &call.host, place: call.task.space().name(), check: &check };
        match lookup.text(name)? {
            Ok(text) => Ok(whole(text)),
            Err(nothing) => Err::<Dynamic, _>(fail("NotFound", nothing)),
        }
    });
}

/// The way of waiting that the caller's client has.
fn variant(call: &Call) -> Variant {
    let tasks = match call.owner() {
        Owner::Session(session) => call.host.registry().client_of(session).is_some_and(|client| client.tasks),
        Owner::Local => false,
    };
    if tasks { Variant::Tasks } else { Variant::Await }
}

impl HostCore {
    /// What the manual says about this host.
    fn instance(&self) -> Instance<'_> {
        Instance {
            describe: &self.describe,
            limits: &self.limits,
            functions: &self.docs,
            modules: &self.native.program,
            along: &self.native.along,
        }
    }

    /// The docs of a name, for the prompt; or why there is nothing to say.
    pub(in crate::host) fn documentation(self: &Arc<Self>, name: &str) -> Result<String, String> {
        if let Some(problem) = too_long(name) {
            return Err(problem);
        }
        let place = self.registry().current(Owner::Local).unwrap_or_default();
        let found: Fallible<_> = Lookup { host: self, place: &place, check: &|| Ok(()) }.text(name);
        found.unwrap_or_else(|error| Err(error.to_string()))
    }
}
