//! `url`: addresses taken apart and put together, read as browsers read them.

use crate::engine::{Api, Fallible, fail};
use crate::toolkit::arguments::bad;
use rhai::{Dynamic, EvalAltResult, Map, Module};
use url::{ParseError, Url};

pub(super) fn module() -> Module {
    let mut api = Api::new();
    api.about("Addresses: taken apart, joined, and with a query put to them.");
    const PARSE: &str = "
The parts of an address: `#{scheme, user, host, port, path, query, fragment}`. `query` is a map of texts (of a name that stands there
twice, the last); `port` is the scheme's own where none is written; what is not there is `()`. A host that is not ASCII must be written
as punycode.

```rhai
url::parse(\"https://h:8443/a?x=1\").query.x //=> \"1\"
url::parse(\"https://example.com/\").port //=> 443
```";
    api.function("parse", &["text: string", "map"], PARSE, parse);
    const JOIN: &str = "
The address that a link leads to from the page `base`.

```rhai
url::join(\"http://h/a/b\", \"../c\") //=> \"http://h/c\"
```";
    api.function("join", &["base: string", "link: string", "string"], JOIN, |base: &str, link: &str| {
        let joined = read(base)?.join(link).map_err(|problem| broken(link, problem))?;
        Ok::<_, Box<EvalAltResult>>(joined.to_string())
    });
    const BUILD: &str = "
An address with the entries of a map as its query, behind those it has.

```rhai
url::build(\"http://h/p?a=1\", #{q: \"a b&c\"}) //=> \"http://h/p?a=1&q=a+b%26c\"
```";
    api.function("build", &["base: string", "query: map", "string"], BUILD, |base: &str, query: Map| {
        let mut address = read(base)?;
        for (key, value) in &query {
            if value.is_map() || value.is_array() || value.is_fnptr() {
                return Err(bad("url::build", format!("the value of `{key}` is not a text or a number")));
            }
            let text = if value.is_unit() { String::new() } else { value.to_string() };
            address.query_pairs_mut().append_pair(key, &text);
        }
        Ok::<_, Box<EvalAltResult>>(address.to_string())
    });
    api.build()
}

fn broken(text: &str, problem: ParseError) -> Box<EvalAltResult> {
    let shown: String = text.chars().take(100).collect();
    let next = match problem {
        ParseError::RelativeUrlWithoutBase => "; an address begins with its scheme, such as https://",
        ParseError::IdnaError => "; write a host that is not ASCII as punycode, xn--…",
        _ => "",
    };
    fail("BadUrl", format!("`{shown}` is not an address: {problem}{next}"))
}

fn read(text: &str) -> Fallible<Url> {
    Url::parse(text).map_err(|problem| broken(text, problem))
}

fn parse(text: &str) -> Fallible<Map> {
    let address = read(text)?;
    let or_unit = |text: Option<&str>| text.map_or(Dynamic::UNIT, Into::into);
    let mut map = Map::new();
    map.insert("scheme".into(), address.scheme().into());
    map.insert("user".into(), or_unit(Some(address.username()).filter(|user| !user.is_empty())));
    map.insert("host".into(), or_unit(address.host_str()));
    map.insert("port".into(), address.port_or_known_default().map_or(Dynamic::UNIT, |port| i64::from(port).into()));
    map.insert("path".into(), address.path().into());
    let query: Map = address.query_pairs().map(|(key, value)| (key.as_ref().into(), value.as_ref().into())).collect();
    map.insert("query".into(), Dynamic::from_map(query));
    map.insert("fragment".into(), or_unit(address.fragment()));
    Ok(map)
}
