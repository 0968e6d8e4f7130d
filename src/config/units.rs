//! Numbers with units, as people write them.

use std::time::Duration;

/// Longest time that can be asked for: a hundred years, which is as good as for ever.
const LONGEST: f64 = 100.0 * 365.25 * 86_400.0;

/// A number of at least `least`.
pub(super) fn count(text: &str, least: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number >= least => Ok(number),
        Ok(_) => Err(format!("at least {least}")),
        Err(_) => Err(format!("not a whole number of at least {least}")),
    }
}

/// Bytes: a whole number, alone or with `KiB`, `MiB`, `GiB` (powers of 1,024) or `KB`, `MB`, `GB` (powers of 1,000).
pub(super) fn size(text: &str) -> Result<usize, String> {
    let unknown = || "not a size; one looks like 64MiB".to_owned();
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(at);
    let factor: usize = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err(unknown()),
    };
    let number: usize = digits.parse().map_err(|_| unknown())?;
    match number.checked_mul(factor) {
        Some(0) => Err("at least 1 byte".to_owned()),
        Some(bytes) => Ok(bytes),
        None => Err("more than this machine can count".to_owned()),
    }
}

/// The shortest time that makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Least {
    Zero,
    AboveZero,
}

/// Seconds, fractions allowed.
pub(super) fn seconds(text: &str, least: Least) -> Result<Duration, String> {
    match (text.parse::<f64>(), least) {
        (Ok(0.0), Least::Zero) => Ok(Duration::ZERO),
        (Ok(seconds), _) if seconds > 0.0 => Ok(Duration::from_secs_f64(seconds.min(LONGEST))),
        (_, Least::Zero) => Err("not a number of seconds".to_owned()),
        (_, Least::AboveZero) => Err("not a number of seconds above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("1", 1),
            ("4096", 4_096),
            ("64MiB", 64 << 20),
            ("64 mib", 64 << 20),
            ("2G", 2 << 30),
            ("5kb", 5_000),
            ("3MB", 3_000_000),
            ("7b", 7),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MiB", "-1", "1.5GiB", "64 parsecs", "0", "0MiB", "99999999999999999999", "99999999999GiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_seconds() {
        assert_eq!(seconds("1.5", Least::AboveZero), Ok(Duration::from_millis(1_500)));
        assert_eq!(seconds("0", Least::Zero), Ok(Duration::ZERO));
        for text in ["0", "-1", "", "soon", "NaN", "10s", "-0"] {
            assert!(seconds(text, Least::AboveZero).is_err(), "{text}");
        }
        assert!(seconds("inf", Least::AboveZero).is_ok_and(|time| time > Duration::from_secs(86_400 * 365)));
    }

    #[test]
    fn counts_have_a_least_value() {
        assert_eq!((count("0", 0), count("7", 1)), (Ok(0), Ok(7)));
        for text in ["0", "-1", "", "many", "1.0"] {
            assert!(count(text, 1).is_err(), "{text}");
        }
    }
}
