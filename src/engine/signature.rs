//! Signatures of native functions in the words of script authors: the types of the program itself have other names.

/// A signature such as `push(array: array, item: any)`, from Rhai's `push(array: &mut Array, item: Dynamic)`.
pub(crate) fn for_scripts(signature: &str) -> String {
    let Some((name, rest)) = signature.split_once('(') else { return signature.to_owned() };
    let (inside, returned) = match rest.split_once(") -> ") {
        Some((inside, returned)) => (inside, type_name(returned)),
        None => (rest.strip_suffix(')').unwrap_or(rest), "()".to_owned()),
    };
    let params: Vec<_> = inside
        .split(", ")
        .map(|param| match param.split_once(": ") {
            Some((name, of)) => format!("{name}: {}", type_name(of)),
            None => param.to_owned(),
        })
        .collect();
    let returned = if returned == "()" { String::new() } else { format!(" -> {returned}") };
    format!("{name}({}){returned}", params.join(", "))
}

/// A doc with the types it names as scripts know them.
pub(crate) fn doc_for_scripts(doc: &str) -> String {
    let pieces: Vec<_> = doc.split('`').map(|piece| known(piece).unwrap_or(piece)).collect();
    pieces.join("`")
}

/// Types as an error of Rhai lists them, such as `&str | ImmutableString | String, i64`, as scripts know them.
pub(crate) fn type_words(types: &str) -> String {
    let words: Vec<_> = types.replace("&str | ImmutableString | String", "string").split(", ").map(type_name).collect();
    words.join(", ")
}

/// The type of a value as scripts know it.
pub(crate) fn value_type(value: &rhai::Dynamic) -> String {
    type_name(value.type_name())
}

/// The type of the first parameter of a signature as [`for_scripts`] gives it; `None` without parameters.
pub(crate) fn first_parameter(signature: &str) -> Option<&str> {
    let params = signature.split_once('(')?.1.split([',', ')']).next()?;
    if params.is_empty() { None } else { Some(params.split_once(": ").map_or("any", |(_, of)| of)) }
}

/// Whether a signature names a type of number that scripts have none of.
pub(crate) fn names_foreign_numbers(signature: &str) -> bool {
    const FOREIGN: [&str; 11] = ["i8", "u8", "i16", "u16", "i32", "u32", "u64", "i128", "u128", "f32", "usize"];
    signature.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| FOREIGN.contains(&word))
}

/// The type as scripts know it. What nothing is known of keeps its name, without its path.
fn type_name(written: &str) -> String {
    let bare = written.trim().trim_start_matches('&').trim_start_matches("mut ").trim();
    if let Some(inner) = bare.strip_prefix("Result<") {
        return type_name(inner.split(',').next().unwrap_or(inner).trim_end_matches('>'));
    }
    let outer = bare.split('<').next().unwrap_or(bare);
    let name = outer.rsplit("::").next().unwrap_or(outer);
    known(name).unwrap_or(name).to_owned()
}

fn known(name: &str) -> Option<&'static str> {
    Some(match name {
        "ImmutableString" | "String" | "str" => "string",
        "Array" => "array",
        "Map" => "map",
        "Blob" => "blob",
        "INT" | "i64" => "int",
        "FLOAT" | "f64" => "float",
        "Dynamic" | "?" => "any",
        "FnPtr" => "Fn",
        "Instant" => "timestamp",
        "EntryHandle" => "Entry",
        "Steps" => "range",
        "Chars" => "chars",
        "Bits" => "bits",
        "Channel" => "Chan",
        "Range" | "RangeInclusive" | "ExclusiveRange" | "InclusiveRange" | "StepRange" | "BitRange" | "CharsStream" => {
            "range"
        }
        "range=" => "range",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_that_scripts_know() {
        let shown = [
            "push(array: &mut Array, item: Dynamic)",
            "print(unit: ()) -> ImmutableString",
            "print(_)",
            "f() -> Result<(), Box<EvalAltResult>>",
            "g(s: &str, f: FnPtr) -> Result<Range<i64>, Box<EvalAltResult>>",
            "h(n: i64, x: FLOAT, b: bool, c: &mut my::Chan, k: u8) -> ?",
        ]
        .map(for_scripts);
        assert_eq!(
            shown,
            [
                "push(array: array, item: any)",
                "print(unit: ()) -> string",
                "print(_)",
                "f()",
                "g(s: string, f: Fn) -> range",
                "h(n: int, x: float, b: bool, c: Chan, k: u8) -> any"
            ]
        );
        assert_eq!(
            doc_for_scripts("If `item` is `Array`:\n```rhai\nlet Array = 1;\n```"),
            "If `item` is `array`:\n```rhai\nlet Array = 1;\n```"
        );
    }
}
