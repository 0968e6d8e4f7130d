//! The headers the protocol reads: values trimmed, doubled ones refused, the base64 form decoded, compared with the body.
//! Host, Origin and the token are checked before.

use crate::base::HeaderKey;
use crate::mcp::rpc::fault::RpcError;
use crate::mcp::rpc::revision::Revision;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use std::borrow::Cow;

/// A header that may stand once: its trimmed value, or what is wrong with it.
pub(super) fn single<'h>(headers: &'h HeaderMap, name: &'static str) -> Result<Option<&'h str>, String> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(format!("{} stands twice", shown(name)));
    }
    match value.to_str() {
        Ok(text) => Ok(Some(text.trim_matches([' ', '\t']))),
        Err(_) => Err(format!("{} is not visible ASCII", shown(name))),
    }
}

/// Header names as people write them.
fn shown(name: &str) -> &str {
    match name {
        "mcp-protocol-version" => "MCP-Protocol-Version",
        "mcp-method" => "Mcp-Method",
        "mcp-name" => "Mcp-Name",
        "mcp-session-id" => "Mcp-Session-Id",
        other => other,
    }
}

/// A value as it was meant: text in the wrapper `=?base64?…?=` is decoded, everything else is literal.
fn decoded(value: &str) -> Result<Cow<'_, str>, String> {
    let Some(encoded) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Ok(Cow::Borrowed(value));
    };
    let bytes = STANDARD.decode(encoded).map_err(|_| "its base64 cannot be decoded".to_owned())?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| "its base64 is not UTF-8".to_owned())
}

/// `MCP-Protocol-Version` must be there and equal what the body says.
pub(super) fn check_version(headers: &HeaderMap, body: &str) -> Result<(), RpcError> {
    check(headers, "mcp-protocol-version", body, Absent::Refused, |value| Ok(Cow::Borrowed(value)))
}

/// `Mcp-Method` must be there and equal the method.
pub(super) fn check_method(headers: &HeaderMap, method: &str) -> Result<(), RpcError> {
    check(headers, "mcp-method", method, Absent::Refused, |value| Ok(Cow::Borrowed(value)))
}

/// `Mcp-Name` must equal what the body names, after decoding.
pub(super) fn check_name(headers: &HeaderMap, name: &str, absent: Absent) -> Result<(), RpcError> {
    check(headers, "mcp-name", name, absent, decoded)
}

/// The verdict on a header that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// It may not.
    Refused,
    /// Widely used clients leave it out.
    Tolerated,
}

fn check(
    headers: &HeaderMap,
    name: &'static str,
    body: &str,
    absent: Absent,
    decode: impl Fn(&str) -> Result<Cow<'_, str>, String>,
) -> Result<(), RpcError> {
    match single(headers, name).map_err(RpcError::HeaderMismatch)? {
        None if absent == Absent::Tolerated => Ok(()),
        None => Err(RpcError::HeaderMismatch(format!("{} is missing; the body says `{body:.80}`", shown(name)))),
        Some(value) => match decode(value) {
            Ok(value) if value == body => Ok(()),
            Ok(value) => Err(RpcError::HeaderMismatch(format!(
                "{} says `{value:.80}` and the body says `{body:.80}`",
                shown(name)
            ))),
            Err(why) => Err(RpcError::HeaderMismatch(format!("{}: {why}", shown(name)))),
        },
    }
}

/// The revision the version header names in the legacy era; `None` when it is absent.
pub(super) fn legacy_revision(headers: &HeaderMap) -> Result<Option<Revision>, RpcError> {
    let Some(name) = single(headers, "mcp-protocol-version").map_err(RpcError::BadVersionHeader)? else {
        return Ok(None);
    };
    Revision::from_name(name).map(Some).ok_or_else(|| {
        let what = format!("MCP-Protocol-Version `{name:.40}` is not a revision that header sessions speak");
        RpcError::BadVersionHeader(what)
    })
}

/// The header session a request belongs to.
pub(super) fn session_key(headers: &HeaderMap) -> Result<HeaderKey, RpcError> {
    match single(headers, "mcp-session-id").map_err(RpcError::BadSessionHeader)? {
        None | Some("") => Err(RpcError::BadSessionHeader("it is absent".to_owned())),
        Some(text) => text.parse().map_err(RpcError::BadSessionHeader),
    }
}

/// Checks that the body claims to be JSON; parameters such as a charset are fine. An error is what it claims to be, if anything.
pub(super) fn check_json(headers: &HeaderMap) -> Result<(), Option<String>> {
    let value = headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let given = value.as_deref().map(media_type).filter(|given| !given.is_empty());
    match given {
        Some(given) if given.eq_ignore_ascii_case("application/json") => Ok(()),
        other => Err(other.map(str::to_owned)),
    }
}

/// The coding of the body, when it has one. `identity` is none.
pub(super) fn content_coding(headers: &HeaderMap) -> Option<String> {
    let codings = headers.get_all(CONTENT_ENCODING).into_iter();
    let named = codings.map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned());
    let coded: Vec<_> = named
        .filter(|value| {
            value.split(',').any(|one| !matches!(one.trim().to_ascii_lowercase().as_str(), "" | "identity"))
        })
        .collect();
    (!coded.is_empty()).then(|| coded.join(", "))
}

/// Tells whether the client takes an event stream. Clients that do not say take everything.
pub(super) fn accepts_events(headers: &HeaderMap) -> bool {
    let mut said = false;
    for value in headers.get_all(ACCEPT) {
        said = true;
        let Ok(value) = value.to_str() else { continue };
        if value
            .split(',')
            .map(media_type)
            .any(|kind| ["text/event-stream", "text/*", "*/*"].iter().any(|wanted| kind.eq_ignore_ascii_case(wanted)))
        {
            return true;
        }
    }
    !said
}

fn media_type(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())).fold(
            HeaderMap::new(),
            |mut map, (name, value)| {
                map.append(name, value);
                map
            },
        )
    }

    fn name(value: &str) -> Result<(), RpcError> {
        check_name(&headers(&[("mcp-name", value)]), "eval", Absent::Refused)
    }

    #[test]
    fn names_are_trimmed_decoded_and_compared() {
        let wrapped = |text: &str| format!("=?base64?{}?=", STANDARD.encode(text));
        for good in ["eval", "  eval  ", &wrapped("eval")] {
            assert_eq!(name(good), Ok(()), "{good}");
        }
        let bad_utf8 = format!("=?base64?{}?=", STANDARD.encode([0xff, 0xfe]));
        for bad in ["await", "Eval", "", "=?base64?%%%?=", "=?BASE64?ZXZhbA==?=", &wrapped("await"), &bad_utf8] {
            assert!(matches!(name(bad), Err(RpcError::HeaderMismatch(_))), "{bad}");
        }
        let uncommon = headers(&[("mcp-name", &wrapped("größe"))]);
        assert_eq!(check_name(&uncommon, "größe", Absent::Refused), Ok(()));
    }

    #[test]
    fn absent_and_doubled_headers() {
        assert!(check_name(&headers(&[]), "bfw-1", Absent::Tolerated).is_ok());
        assert!(check_name(&headers(&[]), "eval", Absent::Refused).is_err());
        let doubled = headers(&[("mcp-method", "tools/list"), ("mcp-method", "tools/list")]);
        assert!(check_method(&doubled, "tools/list").is_err());
        assert!(check_method(&headers(&[("mcp-method", "TOOLS/LIST")]), "tools/list").is_err());
        assert!(check_version(&headers(&[("mcp-protocol-version", " 2026-07-28")]), "2026-07-28").is_ok());
    }

    #[test]
    fn a_version_header_that_is_refused_says_why() {
        let version = |values: &[&str]| {
            let pairs: Vec<_> = values.iter().map(|value| ("mcp-protocol-version", *value)).collect();
            legacy_revision(&headers(&pairs)).map_err(|fault| fault.to_string())
        };
        assert_eq!(version(&[]), Ok(None));
        assert_eq!(version(&["2025-06-18"]), Ok(Some(Revision::June2025)));
        let unknown = "MCP-Protocol-Version `1999-01-01` is not a revision that header sessions speak";
        assert_eq!(version(&["1999-01-01"]), Err(unknown.to_owned()));
        let twice = "MCP-Protocol-Version stands twice";
        assert_eq!(version(&["2025-06-18", "2025-06-18"]), Err(twice.to_owned()));
    }

    #[test]
    fn session_keys_are_visible_ascii_up_to_128() {
        let key = |value: &str| session_key(&headers(&[("mcp-session-id", value)]));
        assert!(key(&"x".repeat(128)).is_ok());
        for bad in [&"x".repeat(129), "a b", "", "  "] {
            assert!(key(bad).is_err(), "{bad}");
        }
        assert!(session_key(&headers(&[])).is_err());
        assert!(session_key(&headers(&[("mcp-session-id", "a"), ("mcp-session-id", "a")])).is_err());
    }

    #[test]
    fn a_coding_other_than_identity_is_named() {
        for (values, coding) in [
            (&[][..], None),
            (&["identity"], None),
            (&["", "Identity, identity"], None),
            (&["gzip"], Some("gzip")),
            (&["identity", "br"], Some("br")),
            (&["deflate, gzip", "zstd"], Some("deflate, gzip, zstd")),
        ] {
            let pairs: Vec<_> = values.iter().map(|value| ("content-encoding", *value)).collect();
            assert_eq!(content_coding(&headers(&pairs)).as_deref(), coding, "{values:?}");
        }
    }

    #[test]
    fn content_type_and_accept() {
        for (kind, json) in
            [("application/json", true), ("APPLICATION/JSON; charset=utf-8", true), ("text/plain", false), ("", false)]
        {
            assert_eq!(check_json(&headers(&[("content-type", kind)])).is_ok(), json, "{kind}");
        }
        assert_eq!(check_json(&headers(&[])), Err(None));
        for (accept, events) in [
            ("application/json, text/event-stream", true),
            ("*/*;q=0.1", true),
            ("text/*", true),
            ("application/json", false),
        ] {
            assert_eq!(accepts_events(&headers(&[("accept", accept)])), events, "{accept}");
        }
        assert!(accepts_events(&headers(&[])));
        assert!(accepts_events(&headers(&[("accept", "application/json"), ("accept", "text/event-stream")])));
    }
}
