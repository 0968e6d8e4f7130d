//! `encode` and `decode`: base64, hex, percent and HTML, and bytes as text.

use crate::base::LibraryError;
use crate::engine::{Api, Fallible, Task, value_type};
use crate::toolkit::arguments::{bad, raise};
use base64::DecodeError;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};
use rhai::{Blob, Dynamic, EvalAltResult, ImmutableString, NativeCallContext};

type Context<'c> = NativeCallContext<'c>;

/// Padding may be there or not.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT.with_encode_padding(false));

/// Characters that HTML writes by name, and the names.
const NAMED: [(&str, char); 6] =
    [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("nbsp", '\u{a0}')];

/// The bytes of a text or a blob, for as long as there is room for what becomes of them.
pub(super) fn with_bytes<T>(
    context: &Context<'_>,
    call: &'static str,
    value: &Dynamic,
    grows: usize,
    f: impl FnOnce(&[u8]) -> T,
) -> Fallible<T> {
    let task = Task::of(context);
    if let Some(text) = value.read_lock::<ImmutableString>() {
        task.afford(text.len().saturating_mul(grows))?;
        Ok(f(text.as_bytes()))
    } else if let Some(blob) = value.read_lock::<Blob>() {
        task.afford(blob.len().saturating_mul(grows))?;
        Ok(f(&blob))
    } else {
        Err(bad(call, format!("it takes a text or a blob, not {}", value_type(value))))
    }
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |n: u8| char::from_digit(n.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

pub(super) fn register_encode(api: &mut Api) {
    api.about("Text and bytes as base64, hex, percent-encoding for addresses, and HTML.");
    const BASE64_DOC: &str = "
A text or blob as base64, with padding.

```rhai
encode::base64(\"hé\") //=> \"aMOp\"
```";
    api.function("base64", &["x: Dynamic", "String"], BASE64_DOC, |context: Context<'_>, x: &mut Dynamic| {
        with_bytes(&context, "encode::base64", x, 2, |bytes| BASE64.encode(bytes))
    });
    const URL_DOC: &str = "
A text or blob as base64 for addresses and file names: `-` and `_`, no padding.

```rhai
encode::base64_url(\"??>\") //=> \"Pz8-\"
```";
    api.function("base64_url", &["x: Dynamic", "String"], URL_DOC, |context: Context<'_>, x: &mut Dynamic| {
        with_bytes(&context, "encode::base64_url", x, 2, |bytes| BASE64_URL.encode(bytes))
    });
    const HEX: &str = "
A text or blob as hexadecimal digits.

```rhai
encode::hex(\"AZ\") //=> \"415a\"
```";
    api.function("hex", &["x: Dynamic", "String"], HEX, |context: Context<'_>, x: &mut Dynamic| {
        with_bytes(&context, "encode::hex", x, 2, hex)
    });
    const PERCENT: &str = "
A text or blob for a part of an address: all but letters, digits and `-._~` as `%` with two digits.

```rhai
encode::percent(\"a b/ü\") //=> \"a%20b%2F%C3%BC\"
```";
    api.function("percent", &["x: Dynamic", "String"], PERCENT, |context: Context<'_>, x: &mut Dynamic| {
        with_bytes(&context, "encode::percent", x, 3, percent)
    });
    const HTML: &str = "
A text for HTML, also inside quotes: `& < > \" '` by their names.

```rhai
encode::html(\"<a & b>\") //=> \"&lt;a &amp; b&gt;\"
```";
    api.function("html", &["text: String", "String"], HTML, |context: Context<'_>, text: &str| {
        Task::of(&context).afford(text.len().saturating_mul(2))?;
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match NAMED.iter().find(|(_, named)| *named == c && c != '\u{a0}') {
                Some(("apos", _)) => out.push_str("&#39;"),
                Some((name, _)) => out.extend(["&", name, ";"]),
                None => out.push(c),
            }
        }
        Ok::<_, Box<EvalAltResult>>(out)
    });
}

fn percent(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            out.push((*byte).into());
        } else {
            out.push('%');
            out.push_str(&hex(&[*byte]).to_uppercase());
        }
    }
    out
}

pub(super) fn register_decode(api: &mut Api) {
    api.about(
        "What encode makes, the other way: base64 and hex to bytes, percent-encoding and HTML to text, bytes to text.",
    );
    const BASE64_DOC: &str = "
The bytes of a base64 text, with or without padding. `BadText` says where it is none.

```rhai
decode::utf8(decode::base64(\"aMOp\")) //=> \"hé\"
```";
    api.function("base64", &["text: String", "Blob"], BASE64_DOC, |context: Context<'_>, text: &str| {
        base64(&context, &BASE64, "base64", text)
    });
    const URL_DOC: &str = "
The bytes of a base64 text with `-` and `_`, with or without padding.

```rhai
decode::utf8(decode::base64_url(\"Pz8-\")) //=> \"??>\"
```";
    api.function("base64_url", &["text: String", "Blob"], URL_DOC, |context: Context<'_>, text: &str| {
        base64(&context, &BASE64_URL, "base64 for addresses", text)
    });
    const HEX: &str = "
The bytes of hexadecimal digits, in upper or lower case.

```rhai
decode::hex(\"415a\") == \"AZ\".to_blob() //=> true
```";
    api.function("hex", &["text: String", "Blob"], HEX, |text: &str| {
        let wrong = |at, reason: &str| raise(&LibraryError::BadText { what: "hex", at, reason: reason.to_owned() });
        if !text.len().is_multiple_of(2) {
            return Err(wrong(text.len(), "half a byte is missing"));
        }
        let pairs = text.as_bytes().chunks_exact(2).enumerate();
        pairs
            .map(|(at, pair)| pair_of(pair[0], pair[1]).ok_or_else(|| wrong(2 * at, "there is no hexadecimal digit")))
            .collect::<Fallible<Blob>>()
    });
    const PERCENT: &str = "
The text of a percent-encoded one; `+` stays as it is.

```rhai
decode::percent(\"a%20b\") //=> \"a b\"
```";
    api.function("percent", &["text: String", "String"], PERCENT, |context: Context<'_>, text: &str| {
        Task::of(&context).afford(text.len())?;
        let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
        while let Some(byte) = bytes.get(at) {
            if *byte != b'%' {
                out.push(*byte);
                at += 1;
                continue;
            }
            let pair = bytes.get(at + 1).zip(bytes.get(at + 2)).and_then(|(high, low)| pair_of(*high, *low));
            let reason = || "after `%` there are no two hexadecimal digits".to_owned();
            let what = "percent-encoded text";
            out.push(pair.ok_or_else(|| raise(&LibraryError::BadText { what, at, reason: reason() }))?);
            at += 3;
        }
        utf8(out)
    });
    const HTML: &str = "
The text of HTML with `&amp;`, `&#39;`, `&#x27;` and their like as the characters they stand for: the names that `encode::html` uses, and
`&nbsp;`. Tags, and names it does not know, stay.

```rhai
decode::html(\"&lt;a &amp; b&gt;\") //=> \"<a & b>\"
```";
    api.function("html", &["text: String", "String"], HTML, |context: Context<'_>, text: &str| {
        Task::of(&context).afford(text.len())?;
        Ok::<_, Box<EvalAltResult>>(html(text))
    });
    const UTF8: &str = "
The text of bytes that are UTF-8; `BadText` says where they are not.

```rhai
decode::utf8(\"hé\".to_blob()) //=> \"hé\"
```";
    api.function("utf8", &["blob: Blob", "String"], UTF8, |blob: Blob| utf8(blob));
}

fn base64(context: &Context<'_>, engine: &GeneralPurpose, what: &'static str, text: &str) -> Fallible<Blob> {
    Task::of(context).afford(text.len())?;
    engine.decode(text).map_err(|error| {
        let (at, reason) = match error {
            DecodeError::InvalidByte(at, byte) => (at, format!("{:?} does not belong there,", char::from(byte))),
            DecodeError::InvalidLastSymbol { offset, .. } => {
                (offset, "the last character has bits of no byte".to_owned())
            }
            DecodeError::InvalidLength(_) => (text.len(), "a character is missing".to_owned()),
            DecodeError::InvalidPadding => (text.len(), "the padding is wrong".to_owned()),
        };
        raise(&LibraryError::BadText { what, at, reason })
    })
}

fn pair_of(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|n| u8::try_from(n).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

fn utf8(bytes: Vec<u8>) -> Fallible<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        raise(&LibraryError::BadText { what: "UTF-8 text", at, reason: "the bytes are no character".to_owned() })
    })
}

fn html(text: &str) -> String {
    /// No name or number that is known is longer.
    const LONGEST: usize = 10;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.as_bytes().iter().take(LONGEST).position(|byte| *byte == b';');
        match end.and_then(|end| Some((end, character(&rest[1..end])?))) {
            Some((end, c)) => {
                out.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The character that a name or number of HTML stands for.
fn character(name: &str) -> Option<char> {
    if let Some((_, c)) = NAMED.iter().find(|(named, _)| *named == name) {
        return Some(*c);
    }
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    code.ok().and_then(char::from_u32).filter(|c| *c != '\0')
}
