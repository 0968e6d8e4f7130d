//! `url`: addresses taken apart, joined and built, as browsers read them. Reaches nothing.

use crate::base::LibraryError;
use crate::engine::{Api, Fallible};
use crate::toolkit::arguments::{int, raise};
use rhai::{Dynamic, EvalAltResult, ImmutableString, Map};
use url::Url;

pub(super) fn register(api: &mut Api) {
    api.about("Addresses: take one apart, join one with a relative one, add a query. Nothing is reached.");
    const PARSE: &str = "
The parts of an address: `#{scheme, user, password, host, port, path, query, fragment}`, with `()` for what it lacks. Without a port it is
that of the scheme; `query` is a map of decoded texts, with a list where a name comes more than once. A host that is not ASCII must be
given as punycode.

```rhai
let u = url::parse(\"https://u@Example.com:8443/a/b?x=1&y=%20#f\");
[u.scheme, u.user, u.host, u.port, u.path, u.query.y, u.fragment]
//=> [\"https\", \"u\", \"example.com\", 8443, \"/a/b\", \" \", \"f\"]
```";
    api.function("parse", &["text: String", "Map"], PARSE, |text: &str| parsed(text).map(|url| parts(&url)));

    const JOIN: &str = "
The address that a relative one leads to from a base.

```rhai
url::join(\"http://h/a/b\", \"../c\") //=> \"http://h/c\"
```";
    api.function("join", &["base: String", "text: String", "String"], JOIN, |base: &str, text: &str| {
        let joined = parsed(base)?.join(text).map_err(|error| wrong(text, &error))?;
        Ok::<_, Box<EvalAltResult>>(joined.to_string())
    });

    const BUILD: &str = "
An address with a query added: each entry of a map, encoded; a list adds its items under one name, `()` adds nothing.

```rhai
url::build(\"http://h/p\", #{q: \"a b&c\", tag: [\"x\", \"y\"]}) //=> \"http://h/p?q=a+b%26c&tag=x&tag=y\"
```";
    api.function("build", &["base: String", "query: Map", "String"], BUILD, |base: &str, query: Map| {
        let mut url = parsed(base)?;
        for (name, value) in &query {
            let items = match value.as_array_ref() {
                Ok(items) => items.iter().map(ToString::to_string).collect(),
                Err(_) if value.is_unit() => Vec::new(),
                Err(_) => vec![value.to_string()],
            };
            for item in items {
                url.query_pairs_mut().append_pair(name, &item);
            }
        }
        Ok::<_, Box<EvalAltResult>>(url.to_string())
    });
}

fn parsed(text: &str) -> Fallible<Url> {
    Url::parse(text).map_err(|error| wrong(text, &error))
}

fn wrong(given: &str, error: &url::ParseError) -> Box<EvalAltResult> {
    let reason = match error {
        url::ParseError::IdnaError => {
            "the host is no name of ASCII; give it as punycode, such as xn--mnchen-3ya.de".to_owned()
        }
        url::ParseError::RelativeUrlWithoutBase => "it has no scheme, such as https://".to_owned(),
        other => other.to_string(),
    };
    raise(&LibraryError::BadUrl { given: given.to_owned(), reason })
}

fn parts(url: &Url) -> Map {
    let text = |text: &str| Dynamic::from(ImmutableString::from(text));
    let some = |part: Option<&str>| part.filter(|part| !part.is_empty()).map_or(Dynamic::UNIT, text);
    let mut query = Map::new();
    for (name, value) in url.query_pairs() {
        let value = text(&value);
        match query.get_mut(name.as_ref()) {
            None => drop(query.insert(name.as_ref().into(), value)),
            Some(known) => {
                let mut all =
                    if known.is_array() { known.take().into_array().unwrap_or_default() } else { vec![known.take()] };
                all.push(value);
                *known = all.into();
            }
        }
    }
    let port = url.port_or_known_default().map_or(Dynamic::UNIT, |port| int(port.into()).into());
    let parts = [
        ("scheme", text(url.scheme())),
        ("user", some(Some(url.username()))),
        ("password", some(url.password())),
        ("host", some(url.host_str())),
        ("port", port),
        ("path", text(url.path())),
        ("query", query.into()),
        ("fragment", url.fragment().map_or(Dynamic::UNIT, text)),
    ];
    parts.into_iter().map(|(name, value)| (name.into(), value)).collect()
}
