//! The access check of a request: names in `Host`, pages in `Origin`, the bearer token. Knows no path and no protocol.
//!
//! A page that a browser loaded from anywhere can make requests to a loopback address, and a name of its own can be made to
//! resolve to one. Neither may reach a runtime that executes code, so both headers are checked on every request.

use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::net::IpAddr;
use subtle::ConstantTimeEq;

/// A bearer token. Never shown.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// The token with this text, if it can stand in a header: visible ASCII without spaces, at least one character.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())).then_some(Self(text))
    }

    /// The header value that carries it. Marked as sensitive, so that it is not shown either.
    #[cfg(feature = "cli")]
    pub(crate) fn bearer(&self) -> HeaderValue {
        let mut value =
            HeaderValue::from_str(&format!("Bearer {}", self.0)).expect("visible ASCII can stand in a header");
        value.set_sensitive(true);
        value
    }

    /// Tells whether a request carries it. Takes the same time wherever a wrong token differs.
    fn is_in(&self, headers: &HeaderMap) -> bool {
        let Ok(Some(value)) = only(headers, AUTHORIZATION) else { return false };
        let Some((scheme, given)) = value.split_once(' ') else { return false };
        scheme.eq_ignore_ascii_case("bearer") && bool::from(given.trim().as_bytes().ct_eq(self.0.as_bytes()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The reason why a request is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// Not exactly one `Host`.
    NoHost,
    /// A name that is not served.
    Host(String),
    /// A page that may not call.
    Origin(String),
    /// A page that may call and asks whether it may read the answers too, which a page may only when it was allowed by name.
    Reading(String),
    /// No token, or a wrong one.
    Token {
        /// Says that one was given.
        given: bool,
    },
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHost => f.write_str("the request needs exactly one Host header"),
            Self::Host(given) => {
                write!(f, "the host `{given:.100}` is not served here; the operator can add it with --allow-host")
            }
            Self::Origin(given) => {
                write!(f, "pages of `{given:.100}` may not call; the operator can add the origin with --allow-origin")
            }
            Self::Reading(given) => write!(
                f,
                "pages of `{given:.100}` may not read the answers; the operator can allow it with --allow-origin {given:.100}"
            ),
            Self::Token { given: false } => f.write_str(
                "this needs the token that the operator chose with --token: send it as `Authorization: Bearer …`",
            ),
            Self::Token { given: true } => f.write_str(
                "what `Authorization` says is not `Bearer` and the token that the operator chose with --token",
            ),
        }
    }
}

impl Denied {
    /// The refusal of a page that asks beforehand whether it may read.
    pub(super) fn reading(parts: &Parts) -> Self {
        let origin = parts.headers.get(ORIGIN).and_then(|value| value.to_str().ok());
        Self::Reading(origin.unwrap_or_default().to_owned())
    }
}

/// The host part of an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HostName {
    Address(IpAddr),
    /// In lower case.
    Name(String),
}

impl HostName {
    fn is_loopback(&self) -> bool {
        match self {
            Self::Address(address) => address.to_canonical().is_loopback(),
            Self::Name(name) => name == "localhost",
        }
    }
}

/// Splits `host`, `host:port`, `[address]` or `[address]:port`.
pub(super) fn authority(text: &str) -> Option<(HostName, Option<u16>)> {
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, rest) = rest.split_once(']')?;
        (HostName::Address(IpAddr::V6(address.parse().ok()?)), rest)
    } else {
        let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        if name.is_empty() || !name.bytes().all(legal) {
            return None;
        }
        let host = match name.parse() {
            Ok(address) => HostName::Address(IpAddr::V4(address)),
            Err(_) => HostName::Name(name.to_ascii_lowercase()),
        };
        (host, port)
    };
    match port.strip_prefix(':') {
        None if port.is_empty() => Some((host, None)),
        None => None,
        Some("") => Some((host, None)),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some((host, Some(digits.parse().ok()?))),
        Some(_) => None,
    }
}

/// The origin of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageOrigin {
    scheme: String,
    host: HostName,
    port: Option<u16>,
}

impl PageOrigin {
    /// Parses `scheme://host[:port]`. `null` and anything with a path are no origins.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        if scheme.is_empty()
            || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        {
            return None;
        }
        let scheme = scheme.to_ascii_lowercase();
        let (host, port) = authority(rest)?;
        let port = port.or(match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Some(Self { scheme, host, port })
    }

    fn is_local_page(&self) -> bool {
        matches!(self.scheme.as_str(), "http" | "https") && self.host.is_loopback()
    }
}

/// Tells whether `text` can be given to `--allow-host`: a name or an address, with or without a port, which is ignored.
#[cfg(feature = "cli")]
pub(crate) fn is_host(text: &str) -> bool {
    authority(text).is_some()
}

/// Tells whether `text` can be given to `--allow-origin`.
#[cfg(feature = "cli")]
pub(crate) fn is_origin(text: &str) -> bool {
    PageOrigin::parse(text).is_some()
}

/// The checks of one server.
#[derive(Clone, Debug, Default)]
pub(super) struct Access {
    hosts: Vec<HostName>,
    origins: Vec<PageOrigin>,
    token: Option<Token>,
}

impl Access {
    /// Grants requests to the loopback names and to `hosts`, of local pages and of `origins`, with the token if there is one.
    pub(super) fn new(hosts: Vec<HostName>, origins: Vec<PageOrigin>, token: Option<Token>) -> Self {
        Self { hosts, origins, token }
    }

    /// Checks where a request goes and where it comes from. Answers the origin when it is one that was allowed by name: its
    /// pages may read the answers.
    pub(super) fn names(&self, parts: &Parts) -> Result<Option<HeaderValue>, Denied> {
        let host = only(&parts.headers, HOST)?.ok_or(Denied::NoHost)?;
        // A target in absolute form names the host a second time, and that name counts.
        for name in [Some(host), parts.uri.authority().map(http::uri::Authority::as_str)].into_iter().flatten() {
            let served = authority(name).is_some_and(|(host, _)| host.is_loopback() || self.hosts.contains(&host));
            if !served {
                return Err(Denied::Host(name.to_owned()));
            }
        }
        let Some(value) = only(&parts.headers, ORIGIN)? else { return Ok(None) };
        match PageOrigin::parse(value) {
            Some(origin) if self.origins.contains(&origin) => Ok(parts.headers.get(ORIGIN).cloned()),
            Some(origin) if origin.is_local_page() => Ok(None),
            _ => Err(Denied::Origin(value.to_owned())),
        }
    }

    /// Tells whether a token is needed.
    pub(super) fn needs_token(&self) -> bool {
        self.token.is_some()
    }

    /// Checks the token, when one is needed.
    pub(super) fn token(&self, parts: &Parts) -> Result<(), Denied> {
        match &self.token {
            Some(token) if !token.is_in(&parts.headers) => {
                Err(Denied::Token { given: parts.headers.contains_key(AUTHORIZATION) })
            }
            _ => Ok(()),
        }
    }
}

/// The value of a header that may stand once. Several of them, or one that is no text, are as good as a foreign one.
fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Denied> {
    let denied = |given: &str| match name {
        ORIGIN => Denied::Origin(given.to_owned()),
        HOST => Denied::NoHost,
        _ => Denied::Token { given: true },
    };
    let mut values = headers.get_all(&name).into_iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| denied("…")),
        (Some(_), Some(_)) => Err(denied("several")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(uri: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = http::Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn access() -> Access {
        let host = |text| authority(text).unwrap().0;
        let origins = vec![PageOrigin::parse("https://desk.example").unwrap()];
        Access::new(vec![host("tools.example"), host("10.1.2.3")], origins, Token::new("secret-one"))
    }

    fn host(value: &str) -> Result<Option<HeaderValue>, Denied> {
        access().names(&parts("/mcp", &[("host", value)]))
    }

    fn origin(value: &str) -> Result<Option<HeaderValue>, Denied> {
        access().names(&parts("/mcp", &[("host", "localhost"), ("origin", value)]))
    }

    #[test]
    fn loopback_names_and_allowed_ones_are_served_with_any_port() {
        for name in [
            "localhost",
            "LOCALHOST:7766",
            "127.0.0.1",
            "127.0.0.1:1",
            "[::1]:7766",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "localhost:",
            "[::ffff:127.0.0.1]:80",
            "tools.example",
            "Tools.Example:8080",
            "10.1.2.3:7766",
        ] {
            assert_eq!(host(name), Ok(None), "{name}");
        }
    }

    #[test]
    fn other_names_are_not_served() {
        for name in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil.example:80",
            "localhost@evil.example",
            "localhost:80:80",
            "localhost:x",
            "localhost:99999",
            "[::1",
            "[::1]x",
            "[::2]",
            "::1",
            "0.0.0.0",
            "[::]",
            "127.1",
            "10.1.2.4",
            "tools.example.",
            "user@localhost",
            "localhost/",
            "xtools.example",
        ] {
            assert_eq!(host(name), Err(Denied::Host(name.to_owned())), "{name}");
        }
    }

    #[test]
    fn the_host_stands_once_and_the_target_may_not_name_another() {
        assert_eq!(access().names(&parts("/mcp", &[])), Err(Denied::NoHost));
        assert_eq!(
            access().names(&parts("/mcp", &[("host", "localhost"), ("host", "localhost")])),
            Err(Denied::NoHost)
        );
        let local = [("host", "localhost")];
        assert_eq!(access().names(&parts("http://localhost:1/mcp", &local)), Ok(None));
        let foreign = access().names(&parts("http://evil.example/mcp", &local));
        assert_eq!(foreign, Err(Denied::Host("evil.example".into())));
    }

    #[test]
    fn local_pages_may_call_and_foreign_ones_may_not() {
        for page in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5173", "HTTP://LOCALHOST"] {
            assert_eq!(origin(page), Ok(None), "{page}");
        }
        for page in [
            "null",
            "",
            "http://evil.example",
            "http://localhost.evil.example",
            "file://",
            "localhost",
            "ftp://localhost",
            "http://localhost/path",
            "http://desk.example",
            "https://desk.example:444",
            "https://x.desk.example",
            "http://tools.example",
        ] {
            assert_eq!(origin(page), Err(Denied::Origin(page.to_owned())), "{page}");
        }
        let twice =
            parts("/", &[("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://localhost")]);
        assert!(access().names(&twice).is_err());
    }

    #[test]
    fn an_origin_allowed_by_name_is_answered_so_that_its_pages_may_read() {
        for page in ["https://desk.example", "https://DESK.example:443"] {
            assert_eq!(origin(page), Ok(Some(HeaderValue::from_str(page).unwrap())), "{page}");
        }
    }

    #[test]
    fn the_token_is_needed_whole() {
        let with = |value: &str| access().token(&parts("/", &[("authorization", value)]));
        for good in ["Bearer secret-one", "bearer secret-one", "BEARER  secret-one"] {
            assert_eq!(with(good), Ok(()), "{good}");
        }
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer wrong",
            "secret-one",
            "Bearer secret-one-more",
            "Bearer secret-on",
            "Basic secret-one",
        ] {
            assert_eq!(with(wrong), Err(Denied::Token { given: true }), "{wrong}");
        }
        assert_eq!(access().token(&parts("/", &[])), Err(Denied::Token { given: false }));
        assert_eq!(Access::default().token(&parts("/", &[])), Ok(()));
    }

    #[test]
    fn a_token_can_stand_in_a_header_and_is_never_shown() {
        for bad in ["", "two words", "tab\t", "umläut", "line\n"] {
            assert!(Token::new(bad).is_none(), "{bad:?}");
        }
        assert_eq!(format!("{:?}", Token::new("secret")), "Some(Token(…))");
    }
}
