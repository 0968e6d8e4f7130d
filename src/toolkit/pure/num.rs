//! `num`: figures about lists of numbers, in one pass.

use crate::engine::{Api, Fallible, Task, value_type};
use crate::toolkit::arguments::{Options, STRIDE, bad, count, number};
use rhai::{Array, Dynamic, Map, Module, NativeCallContext};

type Context<'c> = NativeCallContext<'c>;

pub(super) fn module() -> Module {
    let mut api = Api::new();
    api.about("Figures about lists of numbers: sum, mean, median, quantile, variance, histogram and more, natively.");
    const SUM: &str = "
The sum; whole as long as all numbers are. 0 for an empty list.

```rhai
num::sum([1, 2, 3]) //=> 6
```";
    api.function("sum", &["list: array", "?"], SUM, |context: Context<'_>, list: Array| sum(&context, &list));
    figure(&mut api, "mean", "num::mean", "The mean.\n\n```rhai\nnum::mean([1, 2, 6]) //=> 3.0\n```", mean);
    figure(
        &mut api,
        "median",
        "num::median",
        "The middle value in order of size; between two of them, their mean.\n\n```rhai\nnum::median([1, 9, 2]) //=> 2.0\n```",
        |l| quantile(&mut l.to_vec(), 0.5),
    );
    figure(
        &mut api,
        "low",
        "num::low",
        "The smallest number, as a float.\n\n```rhai\nnum::low([3, 1, 2]) //=> 1.0\n```",
        |l| l.iter().copied().fold(f64::INFINITY, f64::min),
    );
    figure(
        &mut api,
        "high",
        "num::high",
        "The largest number, as a float.\n\n```rhai\nnum::high([3, 1, 2]) //=> 3.0\n```",
        |l| l.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    );
    const RANGE: &str = "
The smallest and the largest number, as `[low, high]`.

```rhai
num::range_of([3, 1, 2]) //=> [1.0, 3.0]
```";
    api.function(
        "range_of",
        &["list: array", "array"],
        RANGE,
        |context: Context<'_>, list: Array| -> Fallible<Array> {
            let list = some(&context, "num::range_of", &list)?;
            let low = list.iter().copied().fold(f64::INFINITY, f64::min);
            Ok(vec![low.into(), list.iter().copied().fold(f64::NEG_INFINITY, f64::max).into()])
        },
    );
    const VARIANCE: &str = "
The mean squared distance from the mean: of a sample (divided by one less than there are numbers), or with `#{population: true}` of all.

```rhai
num::variance([1, 3]) //=> 2.0
num::variance([1, 3], #{population: true}) //=> 1.0
```";
    api.function("variance", &["list: array", "float"], VARIANCE, |context: Context<'_>, list: Array| {
        variance(&context, &list, Map::new())
    });
    api.function(
        "variance",
        &["list: array", "options: map", "float"],
        VARIANCE,
        |context: Context<'_>, list: Array, options: Map| variance(&context, &list, options),
    );
    const QUANTILE: &str = "
The number below which the share `q` (0 to 1) of the list lies, interpolated between neighbours.

```rhai
num::quantile([10, 20, 30, 40, 50], 0.25) //=> 20.0
```";
    api.function(
        "quantile",
        &["list: array", "q: float", "float"],
        QUANTILE,
        |context: Context<'_>, list: Array, q: Dynamic| -> Fallible<f64> {
            const CALL: &str = "num::quantile";
            let share = number(&q).filter(|q| (0.0..=1.0).contains(q));
            let share = share.ok_or_else(|| bad(CALL, format!("a share is a number from 0 to 1, not {q}")))?;
            Ok(quantile(&mut some(&context, CALL, &list)?, share))
        },
    );
    const HISTOGRAM: &str = "
How many numbers lie in each of `n` ranges of the same width: rows `#{from, to, count}`. The last `to` belongs to its range.

```rhai
num::histogram([1, 2, 3, 4], 2).map(|row| row.count) //=> [2, 2]
```";
    api.function(
        "histogram",
        &["list: array", "n: int", "array"],
        HISTOGRAM,
        |context: Context<'_>, list: Array, n: i64| histogram(&context, &list, n),
    );
    const ROUND: &str = "
The number with so many places behind the point, as a float; halves away from 0.

```rhai
num::round(2.345, 2) //=> 2.35
```";
    api.function("round", &["x: float", "places: int", "float"], ROUND, |x: Dynamic, places: i64| -> Fallible<f64> {
        let n = a_number("num::round", &x)?;
        let places = usize::try_from(places).ok().filter(|places| *places <= 15);
        let places = places.ok_or_else(|| bad("num::round", "places are 0 to 15"))?;
        // The decimal that is written is what people round.
        let written = format!("{n:.*}", places + 3);
        let exact: f64 = written.parse().unwrap_or(n);
        let factor = 10_f64.powi(i32::try_from(places).unwrap_or(0));
        let rounded = ((exact * factor).abs() + 1e-9).round().copysign(exact) / factor;
        Ok(if rounded.is_finite() { rounded } else { n })
    });
    const CLAMP: &str = "
The number, or the bound it is beyond.

```rhai
num::clamp(12, 0, 10) //=> 10
```";
    api.function("clamp", &["x: ?", "low: ?", "high: ?", "?"], CLAMP, |x: Dynamic, low: Dynamic, high: Dynamic| {
        const CALL: &str = "num::clamp";
        let (n, least, most) = (a_number(CALL, &x)?, a_number(CALL, &low)?, a_number(CALL, &high)?);
        if least > most {
            return Err(bad(CALL, format!("the lower bound, {low}, is above the upper, {high}")));
        }
        Ok::<_, Box<rhai::EvalAltResult>>(if n < least {
            low
        } else if n > most {
            high
        } else {
            x
        })
    });
    const GCD: &str = "
The greatest common divisor of two whole numbers.

```rhai
num::gcd(12, 18) //=> 6
```";
    api.function("gcd", &["a: int", "b: int", "int"], GCD, |a: i64, b: i64| -> Fallible<i64> {
        let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
        while b > 0 {
            (a, b) = (b, a % b);
        }
        i64::try_from(a).map_err(|_| bad("num::gcd", "the divisor is larger than a whole number can be"))
    });
    api.build()
}

/// A function from a list that is not empty to a float.
fn figure(api: &mut Api, name: &str, call: &'static str, doc: &str, of: fn(&[f64]) -> f64) {
    api.function(name, &["list: array", "float"], doc, move |context: Context<'_>, list: Array| {
        some(&context, call, &list).map(|list| of(&list))
    });
}

fn a_number(call: &str, value: &Dynamic) -> Fallible<f64> {
    number(value).ok_or_else(|| bad(call, format!("wants a number, not {}", value_type(value))))
}

/// The numbers of a list that has some.
fn some(context: &Context<'_>, call: &str, list: &Array) -> Fallible<Vec<f64>> {
    if list.is_empty() {
        return Err(bad(call, "an empty list has none"));
    }
    let task = Task::of(context);
    let mut numbers = Vec::with_capacity(list.len());
    for (index, value) in list.iter().enumerate() {
        if index.is_multiple_of(STRIDE) {
            task.check()?;
        }
        numbers.push(number(value).ok_or_else(|| no_number(call, index, value))?);
    }
    Ok(numbers)
}

fn no_number(call: &str, index: usize, value: &Dynamic) -> Box<rhai::EvalAltResult> {
    bad(call, format!("element {index} of the list is no number but {}", value_type(value)))
}

fn sum(context: &Context<'_>, list: &Array) -> Fallible<Dynamic> {
    let task = Task::of(context);
    let (mut whole, mut broken) = (Some(0_i64), 0.0);
    for (index, value) in list.iter().enumerate() {
        if index.is_multiple_of(STRIDE) {
            task.check()?;
        }
        broken += number(value).ok_or_else(|| no_number("num::sum", index, value))?;
        whole = match value.as_int() {
            Ok(n) => match whole.map(|sum| sum.checked_add(n)) {
                Some(None) => return Err(bad("num::sum", "the sum is larger than a whole number can be")),
                sum => sum.flatten(),
            },
            Err(_) => None,
        };
    }
    Ok(whole.map_or_else(|| broken.into(), Into::into))
}

#[expect(clippy::cast_precision_loss, reason = "figures are floats")]
fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len() as f64
}

#[expect(clippy::cast_precision_loss, reason = "figures are floats")]
fn variance(context: &Context<'_>, list: &Array, options: Map) -> Fallible<f64> {
    const CALL: &str = "num::variance";
    let population = Options::new(CALL, options, &["population"])?.flag("population", false)?;
    let list = some(context, CALL, list)?;
    let of = if population { list.len() } else { list.len() - 1 };
    if of == 0 {
        return Err(bad(CALL, "a sample has at least two numbers; #{population: true} takes the list as all there is"));
    }
    let middle = mean(&list);
    Ok(list.iter().map(|n| (n - middle).powi(2)).sum::<f64>() / of as f64)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list"
)]
fn quantile(list: &mut [f64], share: f64) -> f64 {
    let place = share * (list.len() - 1) as f64;
    let below = place.floor() as usize;
    let (_, low, above) = list.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    let high = above.iter().copied().fold(f64::INFINITY, f64::min);
    if place > below as f64 { low + (high - low) * (place - below as f64) } else { low }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places of ranges"
)]
fn histogram(context: &Context<'_>, list: &Array, n: i64) -> Fallible<Array> {
    const CALL: &str = "num::histogram";
    let ranges = usize::try_from(n).ok().filter(|n| (1..=10_000).contains(n));
    let ranges = ranges.ok_or_else(|| bad(CALL, format!("a histogram has 1 to 10,000 ranges, not {n}")))?;
    let list = some(context, CALL, list)?;
    let low = list.iter().copied().fold(f64::INFINITY, f64::min);
    let high = list.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !(low.is_finite() && high.is_finite()) {
        return Err(bad(CALL, "the numbers must be finite"));
    }
    let width = (high - low) / ranges as f64;
    let mut counts = vec![0_usize; ranges];
    for n in &list {
        let place = if width > 0.0 { ((n - low) / width) as usize } else { 0 };
        counts[place.min(ranges - 1)] += 1;
    }
    let row = |(place, counted): (usize, usize)| {
        let mut row = Map::new();
        row.insert("from".into(), (low + width * place as f64).into());
        row.insert("to".into(), if place + 1 == ranges { high } else { low + width * (place + 1) as f64 }.into());
        row.insert("count".into(), count(counted).into());
        Dynamic::from_map(row)
    };
    Ok(counts.into_iter().enumerate().map(row).collect())
}
