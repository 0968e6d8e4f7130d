//! The values that `range` with a step, `chars` and `bits` give: what can be gone through without a list being made of it. Rhai's
//! own types for them cannot be named outside of it.

use crate::engine::error::Fallible;
use rhai::{Dynamic, EvalAltResult, INT, ImmutableString, Position};
use std::fmt;
use std::ops::Range;

/// The number of characters that are shown.
const SHOWN: usize = 60;

/// A value of one of these types as a script would make it; `None` for any other value.
pub(crate) fn sequence_text(value: &Dynamic) -> Option<String> {
    if let Some(steps) = value.read_lock::<Steps<INT>>() {
        Some(steps.to_string())
    } else if let Some(steps) = value.read_lock::<Steps<f64>>() {
        Some(steps.to_string())
    } else if let Some(chars) = value.read_lock::<Chars>() {
        Some(chars.to_string())
    } else {
        value.read_lock::<Bits>().map(|bits| bits.to_string())
    }
}

/// A number that can be counted by.
pub(crate) trait Number: Copy + PartialOrd + Send + Sync {
    /// `self + step`, when there is such a number.
    fn after(self, step: Self) -> Option<Self>;
    /// The number as scripts write it.
    fn written(self) -> String;
    /// Whether steps of this size lead upwards.
    fn leads_up(self) -> bool;
    /// The number of steps from here to `to`, without `to`, where that can be told.
    fn steps(self, to: Self, step: Self) -> Option<usize>;
}

impl Number for INT {
    fn after(self, step: Self) -> Option<Self> {
        self.checked_add(step)
    }

    fn written(self) -> String {
        self.to_string()
    }

    fn leads_up(self) -> bool {
        self > 0
    }

    fn steps(self, to: Self, step: Self) -> Option<usize> {
        let way = (i128::from(to) - i128::from(self)).unsigned_abs();
        usize::try_from(way.div_ceil(i128::from(step).unsigned_abs())).ok()
    }
}

impl Number for f64 {
    fn after(self, step: Self) -> Option<Self> {
        Some(self + step)
    }

    fn written(self) -> String {
        format!("{self:?}")
    }

    fn leads_up(self) -> bool {
        self > 0.0
    }

    fn steps(self, _: Self, _: Self) -> Option<usize> {
        // Each step rounds.
        None
    }
}

/// The numbers from `next` to `to`, without it, in steps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Steps<T> {
    /// Nothing once `to` is reached.
    next: Option<T>,
    to: T,
    step: T,
}

impl<T: Number> Steps<T> {
    /// The numbers from `from` on; an error when `step` leads nowhere.
    pub(crate) fn new(from: T, to: T, step: T) -> Fallible<Self> {
        if from.after(step) == Some(from) {
            let problem = EvalAltResult::ErrorArithmetic("step value cannot be zero".to_owned(), Position::NONE).into();
            let call = EvalAltResult::ErrorInFunctionCall("range".to_owned(), String::new(), problem, Position::NONE);
            return Err(call.into());
        }
        let mut steps = Self { next: None, to, step };
        steps.next = Some(from).filter(|from| steps.has(*from));
        Ok(steps)
    }

    /// The number of items, where that can be told.
    pub(crate) fn length(&self) -> Option<usize> {
        self.next.map_or(Some(0), |next| next.steps(self.to, self.step))
    }

    /// Whether a number lies before the end.
    fn has(&self, number: T) -> bool {
        if self.step.leads_up() { number < self.to } else { number > self.to }
    }
}

impl<T: Number> Iterator for Steps<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let number = self.next?;
        self.next = number.after(self.step).filter(|next| self.has(*next));
        Some(number)
    }
}

/// The characters of a part of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chars {
    text: ImmutableString,
    /// The bytes that are still ahead.
    next: usize,
    end: usize,
}

impl Chars {
    /// All characters of a text.
    pub(crate) fn all(text: ImmutableString) -> Self {
        let end = text.len();
        Self { text, next: 0, end }
    }

    /// The characters at these bytes of a text.
    pub(crate) fn part(text: ImmutableString, bytes: Range<usize>) -> Self {
        Self { text, next: bytes.start, end: bytes.end }
    }

    /// The size of the text behind it, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.text.len()
    }

    fn ahead(&self) -> &str {
        self.text.get(self.next..self.end).unwrap_or_default()
    }
}

impl Iterator for Chars {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let c = self.ahead().chars().next()?;
        self.next += c.len_utf8();
        Some(c)
    }
}

/// Bits of a number, the lowest first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bits {
    bits: INT,
    left: usize,
}

impl Bits {
    /// The `len` bits of `value` from `start`, which counts from the highest when it is below 0; an error when there is no such
    /// bit.
    pub(crate) fn new(value: INT, start: INT, len: INT) -> Fallible<Self> {
        let all = INT::BITS as usize;
        let from = match usize::try_from(start) {
            Ok(from) => Some(from).filter(|from| *from < all),
            Err(_) => all.checked_sub(usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX)),
        };
        let Some(from) = from else {
            return Err(EvalAltResult::ErrorBitFieldBounds(all, start, Position::NONE).into());
        };
        Ok(Self { bits: value >> from, left: usize::try_from(len).unwrap_or(0).min(all - from) })
    }

    /// The number of bits that are still ahead.
    pub(crate) fn length(&self) -> usize {
        self.left
    }
}

impl Iterator for Bits {
    type Item = bool;

    fn next(&mut self) -> Option<bool> {
        self.left = self.left.checked_sub(1)?;
        let bit = self.bits & 1 == 1;
        self.bits >>= 1;
        Some(bit)
    }
}

impl<T: Number> fmt::Display for Steps<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let next = self.next.unwrap_or(self.to);
        write!(f, "range({}, {}, {})", next.written(), self.to.written(), self.step.written())
    }
}

impl fmt::Display for Chars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chars = self.ahead().chars();
        let shown: String = chars.by_ref().take(SHOWN).collect();
        let more = if chars.next().is_some() { "…" } else { "" };
        write!(f, "chars({:?})", shown + more)
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bits({}, 0, {})", self.bits, self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_before_their_end() {
        let steps = |from, to, step| Steps::new(from, to, step).unwrap().collect::<Vec<INT>>();
        assert_eq!(steps(0, 10, 3), [0, 3, 6, 9]);
        assert_eq!(steps(0, 9, 3), [0, 3, 6]);
        assert_eq!(steps(10, 0, -4), [10, 6, 2]);
        assert!(steps(0, 10, -1).is_empty() && steps(10, 0, 1).is_empty() && steps(INT::MIN, 5, -1).is_empty());
        assert_eq!(steps(INT::MAX - 1, INT::MAX, 5), [INT::MAX - 1]);
        assert_eq!(Steps::new(INT::MIN, INT::MAX, 1).unwrap().length(), Some(usize::MAX));
        for (from, to, step) in [(0, 10, 3), (0, 9, 3), (10, 0, -4), (0, 10, -1)] {
            let given = Steps::new(from, to, step).unwrap();
            assert_eq!(given.length(), Some(given.count()));
        }
        assert!(Steps::new(0, 1, 0).is_err() && Steps::new(0.0, 1.0, 0.0).is_err());
        assert_eq!(Steps::new(0.0, 1.0, 0.25).unwrap().to_string(), "range(0.0, 1.0, 0.25)");
    }
}
