//! `encode` and `decode`: texts and blobs in the spellings of the web, and back.

use crate::engine::{Api, Fallible, fail};
use crate::toolkit::arguments::with_bytes;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use base64::{DecodeError, Engine};
use rhai::{Blob, Dynamic, EvalAltResult, Module};
use std::fmt::Write;

pub(super) fn encode() -> Module {
    let mut api = Api::new();
    api.about("Texts and blobs in other spellings: base64, base64_url, hex, percent, html.");
    let mut one = |name: &str, doc: &str, call: &'static str, spell: fn(&[u8]) -> String| {
        api.function(name, &["data: ?", "string"], doc, move |data: Dynamic| {
            with_bytes(call, &data, |bytes| Ok(spell(bytes)))
        });
    };
    one(
        "base64",
        "A text or a blob in base64.\n\n```rhai\nencode::base64(\"hé\") //=> \"aMOp\"\n```",
        "encode::base64",
        |bytes| STANDARD.encode(bytes),
    );
    one(
        "base64_url",
        "The same with the characters that may stand in an address, and without padding.\n\n```rhai\nencode::base64_url(\"??>\") //=> \"Pz8-\"\n```",
        "encode::base64_url",
        |bytes| URL_SAFE_NO_PAD.encode(bytes),
    );
    one("hex", "A text or a blob in hex.\n\n```rhai\nencode::hex(\"AZ\") //=> \"415a\"\n```", "encode::hex", hex);
    one(
        "percent",
        "A text or a blob as a part of an address: all but letters, digits and `-._~` as `%20`.\n\n```rhai\nencode::percent(\"a b/ü\") //=> \"a%20b%2F%C3%BC\"\n```",
        "encode::percent",
        percent,
    );
    const HTML: &str = "
A text that shows as itself in HTML.

```rhai
encode::html(\"<a & b>\") //=> \"&lt;a &amp; b&gt;\"
```";
    api.function("html", &["text: string", "string"], HTML, html);
    api.build()
}

pub(super) fn decode() -> Module {
    let mut api = Api::new();
    api.about("What `encode` made, back; and utf8 of a blob.");
    const BASE64: &str = "
The blob that base64 stands for. `BadText` says the place.

```rhai
decode::utf8(decode::base64(\"aMOp\")) //=> \"hé\"
```";
    api.function("base64", &["text: string", "blob"], BASE64, |text: &str| from_base64(&STANDARD, text));
    const BASE64_URL: &str = "
The same of base64 as it stands in addresses, without padding.

```rhai
decode::base64_url(\"Pz8-\").len() //=> 3
```";
    api.function("base64_url", &["text: string", "blob"], BASE64_URL, |text: &str| {
        from_base64(&URL_SAFE_NO_PAD, text.trim_end_matches('='))
    });
    const HEX: &str = "
The blob that hex stands for. `BadText` says the place.

```rhai
decode::utf8(decode::hex(\"415a\")) //=> \"AZ\"
```";
    api.function("hex", &["text: string", "blob"], HEX, from_hex);
    const PERCENT: &str = "
The text that a part of an address stands for.

```rhai
decode::percent(\"a%20b\") //=> \"a b\"
```";
    api.function("percent", &["text: string", "string"], PERCENT, |text: &str| utf8(&from_percent(text)?));
    const FROM_HTML: &str = "
The text that HTML shows: `&lt; &gt; &amp; &quot; &apos; &nbsp;` and characters by number; what is none of these stays.

```rhai
decode::html(\"a &lt; b &#233;\") //=> \"a < b é\"
```";
    api.function("html", &["text: string", "string"], FROM_HTML, from_html);
    const UTF8: &str = "
The text that a blob holds. `BadText` names the first byte that is not UTF-8, from 0.

```rhai
decode::utf8(\"hé\".to_blob()) //=> \"hé\"
```";
    api.function("utf8", &["blob: blob", "string"], UTF8, |blob: Blob| utf8(&blob));
    api.build()
}

fn broken(message: impl Into<String>) -> Box<EvalAltResult> {
    fail("BadText", message)
}

/// Bytes in hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a text does not fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

fn percent(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            text.push(char::from(*byte));
        } else {
            let _written = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn html(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\'' => shown.push_str("&#39;"),
            c => shown.push(c),
        }
    }
    shown
}

fn from_base64(engine: &impl Engine, text: &str) -> Fallible<Blob> {
    engine.decode(text.trim()).map_err(|problem| {
        broken(match problem {
            DecodeError::InvalidByte(place, byte) => {
                format!("character {place} of the text, {:?}, is none of base64", char::from(byte))
            }
            problem => format!("this is not base64: {problem}"),
        })
    })
}

fn from_hex(text: &str) -> Fallible<Blob> {
    let digits: Vec<u8> = text
        .trim()
        .chars()
        .enumerate()
        .map(|(place, c)| {
            let digit = c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            digit.ok_or_else(|| broken(format!("character {place} of the text, {c:?}, is no digit of hex")))
        })
        .collect::<Fallible<_>>()?;
    if !digits.len().is_multiple_of(2) {
        return Err(broken(format!("hex has two digits a byte; the text has {}", digits.len())));
    }
    Ok(digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}

fn from_percent(text: &str) -> Fallible<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'%' {
            decoded.push(byte);
            at += 1;
            continue;
        }
        let digits = text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(
            digits.ok_or_else(|| broken(format!("two digits of hex follow a %, which those at byte {at} are not")))?,
        );
        at += 3;
    }
    Ok(decoded)
}

fn utf8(bytes: &[u8]) -> Fallible<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(problem) => Err(broken(format!("byte {} is not UTF-8", problem.valid_up_to()))),
    }
}

fn from_html(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = rest.find(';').filter(|end| *end <= 10).map(|end| &rest[1..end]);
        match entity.and_then(|name| Some((entity_char(name)?, name.len()))) {
            Some((c, length)) => {
                shown.push(c);
                rest = &rest[length + 2..];
            }
            None => {
                shown.push('&');
                rest = &rest[1..];
            }
        }
    }
    shown + rest
}

fn entity_char(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        _ => {
            let number = name.strip_prefix('#')?;
            let hex = number.strip_prefix(['x', 'X']);
            let code = hex.map_or_else(|| number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok());
            code.and_then(char::from_u32)
        }
    }
}
