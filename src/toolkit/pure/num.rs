//! `num`: figures about lists of numbers, in one pass each, and a few of single numbers. Needs no crate, so that it is in every build.

use crate::engine::{Api, Fallible, Task, value_type};
use crate::toolkit::arguments::{Options, as_number, bad, int, number, within};
use crate::toolkit::limits::PIECE;
use rhai::{Array, Dynamic, INT, Map, NativeCallContext};

type Context<'c> = NativeCallContext<'c>;
type List<'l> = &'l mut Array;

pub(super) fn register(api: &mut Api) {
    api.about("Figures about lists of numbers: sum, mean, median, quantiles, spread; rounding and common divisors.");
    sums(api);
    order(api);
    singles(api);
}

fn sums(api: &mut Api) {
    const SUM: &str = "
The sum of the numbers: an int when all of them are, else a float; 0 for an empty list. A sum beyond the largest int is an error.

```rhai
[num::sum([1, 2, 3]), num::sum([0.5, 1]), num::sum([])] //=> [6, 1.5, 0]
```";
    api.function("sum", &["list: Array", "Dynamic"], SUM, |context: Context<'_>, list: List<'_>| {
        let mut whole = Some(0_i128);
        let mut total = 0.0;
        each(&Task::of(&context), "num::sum", list, |value, n| {
            total += n;
            whole = whole.zip(value.as_int().ok()).map(|(sum, n)| sum + i128::from(n));
        })?;
        match whole.map(INT::try_from) {
            Some(Ok(sum)) => Ok(Dynamic::from_int(sum)),
            Some(Err(_)) => Err(bad("num::sum", "the sum is beyond the range of int; make one of the numbers a float")),
            None => Ok(Dynamic::from_float(total)),
        }
    });

    const MEAN: &str = "
The arithmetic mean. An empty list has none.

```rhai
num::mean([1, 2, 6]) //=> 3.0
```";
    api.function("mean", &["list: Array", "float"], MEAN, |context: Context<'_>, list: List<'_>| {
        some("num::mean", list)?;
        let mut total = 0.0;
        each(&Task::of(&context), "num::mean", list, |_, n| total += n)?;
        Ok::<_, Box<rhai::EvalAltResult>>(total / count(list.len()))
    });

    const VARIANCE: &str = "
The mean squared distance from the mean, of a sample: divided by one less than the count. With `#{population: true}` of all there
are: divided by the count.

```rhai
[num::variance([1, 3]), num::variance([1, 3], #{population: true})] //=> [2.0, 1.0]
```";
    api.function("variance", &["list: Array", "float"], VARIANCE, |context: Context<'_>, list: List<'_>| {
        variance(&Task::of(&context), list, false)
    });
    api.function(
        "variance",
        &["list: Array", "options: Map", "float"],
        VARIANCE,
        |context: Context<'_>, list: List<'_>, options: Map| {
            let options = Options::new("num::variance", &options, &["population"])?;
            variance(&Task::of(&context), list, options.flag("population", false)?)
        },
    );
}

/// By the way of Welford, which loses little to rounding.
fn variance(task: &Task, list: &Array, population: bool) -> Fallible<f64> {
    let less = if population { 0 } else { 1 };
    if list.len() <= less {
        return Err(bad("num::variance", format!("the list has {} numbers and needs {}", list.len(), less + 1)));
    }
    let (mut seen, mut mean, mut total) = (0.0, 0.0, 0.0);
    each(task, "num::variance", list, |_, n| {
        seen += 1.0;
        let away = n - mean;
        mean += away / seen;
        total += away * (n - mean);
    })?;
    Ok(total / count(list.len() - less))
}

fn order(api: &mut Api) {
    const MEDIAN: &str = "
The middle number in order of size; between two of them, their mean.

```rhai
[num::median([5, 1, 3]), num::median([4, 1, 3, 2])] //=> [3.0, 2.5]
```";
    api.function("median", &["list: Array", "float"], MEDIAN, |context: Context<'_>, list: List<'_>| {
        quantile(&Task::of(&context), "num::median", list, 0.5)
    });

    const QUANTILE: &str = "
The number below which the part `q` of the list lies, 0 to 1, interpolated between neighbours.

```rhai
[num::quantile([10, 20, 30, 40, 50], 0.25), num::quantile([1, 2], 0.75)] //=> [20.0, 1.75]
```";
    api.function(
        "quantile",
        &["list: Array", "q: float", "float"],
        QUANTILE,
        |context: Context<'_>, list: List<'_>, q: Dynamic| {
            let part = number("num::quantile", "the part", &q)?;
            if !(0.0..=1.0).contains(&part) {
                return Err(bad("num::quantile", format!("the part is 0 to 1, not {part}")));
            }
            quantile(&Task::of(&context), "num::quantile", list, part)
        },
    );

    const LOW: &str = "
The smallest number, as it stands in the list.

```rhai
num::low([3, 1, 2.5]) //=> 1
```";
    api.function("low", &["list: Array", "Dynamic"], LOW, |context: Context<'_>, list: List<'_>| {
        ends(&Task::of(&context), "num::low", list).map(|(low, _)| low)
    });

    const HIGH: &str = "
The largest number, as it stands in the list.

```rhai
num::high([3, 1, 2.5]) //=> 3
```";
    api.function("high", &["list: Array", "Dynamic"], HIGH, |context: Context<'_>, list: List<'_>| {
        ends(&Task::of(&context), "num::high", list).map(|(_, high)| high)
    });

    const RANGE_OF: &str = "
The smallest and the largest number: `[low, high]`.

```rhai
num::range_of([3, 1, 2]) //=> [1, 3]
```";
    api.function("range_of", &["list: Array", "Array"], RANGE_OF, |context: Context<'_>, list: List<'_>| {
        ends(&Task::of(&context), "num::range_of", list).map(|(low, high)| vec![low, high])
    });

    const HISTOGRAM: &str = "
How the numbers spread over `bins` equal ranges: rows `#{from, to, count}`. The largest number is in the last one.

```rhai
num::histogram([0, 1, 2, 3, 4], 2).map(|bin| [bin.from, bin.to, bin.count]) //=> [[0.0, 2.0, 2], [2.0, 4.0, 3]]
```";
    api.function(
        "histogram",
        &["list: Array", "bins: int", "Array"],
        HISTOGRAM,
        |context: Context<'_>, list: List<'_>, bins: INT| histogram(&Task::of(&context), list, bins),
    );
}

fn quantile(task: &Task, call: &'static str, list: &Array, part: f64) -> Fallible<f64> {
    some(call, list)?;
    task.afford(size_of_val(list.as_slice()) / 2)?;
    let mut numbers = Vec::with_capacity(list.len());
    each_ordered(task, call, list, |_, n| numbers.push(n))?;
    let place = part * count(numbers.len() - 1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the list")]
    let below = place.floor() as usize;
    let (_, low, above) = numbers.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    let rest = place - place.floor();
    Ok(if rest == 0.0 { low } else { low + (next - low) * rest })
}

fn ends(task: &Task, call: &'static str, list: &Array) -> Fallible<(Dynamic, Dynamic)> {
    some(call, list)?;
    let (mut low, mut high) = ((f64::INFINITY, &list[0]), (f64::NEG_INFINITY, &list[0]));
    let mut at = 0;
    each_ordered(task, call, list, |_, n| {
        if n < low.0 {
            low = (n, &list[at]);
        }
        if n > high.0 {
            high = (n, &list[at]);
        }
        at += 1;
    })?;
    Ok((low.1.clone(), high.1.clone()))
}

fn histogram(task: &Task, list: &Array, bins: INT) -> Fallible<Array> {
    const CALL: &str = "num::histogram";
    let bins = within(CALL, "the number of ranges", bins, 1..=100_000)?;
    some(CALL, list)?;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    each_ordered(task, CALL, list, |_, n| (low, high) = (low.min(n), high.max(n)))?;
    let width = (high - low) / count(bins);
    if !width.is_finite() {
        return Err(bad(CALL, format!("the numbers from {low} to {high} cannot be parted into ranges")));
    }
    let mut counts = vec![0_usize; bins];
    each(task, CALL, list, |_, n| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below 0, cut to the last")]
        let bin = if width == 0.0 { 0 } else { ((n - low) / width) as usize };
        counts[bin.min(bins - 1)] += 1;
    })?;
    let rows = counts.into_iter().enumerate().map(|(at, counted)| {
        let to = if at + 1 == bins { high } else { low + count(at + 1) * width };
        let parts =
            [("from", Dynamic::from(low + count(at) * width)), ("to", to.into()), ("count", int(counted).into())];
        Dynamic::from_map(parts.into_iter().map(|(name, value)| (name.into(), value)).collect())
    });
    Ok(rows.collect())
}

fn singles(api: &mut Api) {
    const ROUND: &str = "
A number rounded to so many decimals, 0 to 15; an int stays as it is.

```rhai
[num::round(3.14159, 2), num::round(2.5, 0), num::round(7, 2)] //=> [3.14, 3.0, 7]
```";
    api.function("round", &["x: float", "decimals: int", "Dynamic"], ROUND, |x: Dynamic, decimals: INT| {
        let decimals = within("num::round", "the number of decimals", decimals, 0..=15)?;
        let n = number("num::round", "what is rounded", &x)?;
        if x.is_int() {
            return Ok(x);
        }
        // Halves away from zero, as the language rounds; what is closer is found in decimal.
        let rounded = if decimals == 0 { n.round() } else { format!("{n:.decimals$}").parse().unwrap_or(n) };
        Ok::<_, Box<rhai::EvalAltResult>>(Dynamic::from_float(rounded))
    });

    const CLAMP: &str = "
A number held within bounds: `low` or `high` when it is beyond.

```rhai
[num::clamp(12, 0, 10), num::clamp(-0.5, 0, 1), num::clamp(5, 0, 10)] //=> [10, 0, 5]
```";
    api.function(
        "clamp",
        &["x: float", "low: float", "high: float", "Dynamic"],
        CLAMP,
        |x: Dynamic, low: Dynamic, high: Dynamic| {
            let named = |what, value| number("num::clamp", what, value);
            let (n, least, most) =
                (named("what is held", &x)?, named("the lower bound", &low)?, named("the upper bound", &high)?);
            if least > most || least.is_nan() || most.is_nan() {
                return Err(bad("num::clamp", format!("the bounds {least} and {most} hold nothing")));
            }
            Ok(if n < least {
                low
            } else if n > most {
                high
            } else {
                x
            })
        },
    );

    const GCD: &str = "
The greatest common divisor of two ints; of a number and 0 the number itself.

```rhai
[num::gcd(12, 18), num::gcd(-4, 6), num::gcd(0, 5)] //=> [6, 2, 5]
```";
    api.function("gcd", &["a: int", "b: int", "int"], GCD, |a: INT, b: INT| {
        let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        INT::try_from(a).map_err(|_| bad("num::gcd", "the divisor is beyond the range of int"))
    });
}

#[expect(clippy::cast_precision_loss, reason = "lists are shorter than 2^53")]
fn count(n: usize) -> f64 {
    n as f64
}

fn some(call: &'static str, list: &Array) -> Fallible<()> {
    if list.is_empty() { Err(bad(call, "the list is empty")) } else { Ok(()) }
}

/// Goes through the numbers of a list, for as long as the eval may go on.
fn each<'l>(task: &Task, call: &'static str, list: &'l Array, mut f: impl FnMut(&'l Dynamic, f64)) -> Fallible<()> {
    for (at, value) in list.iter().enumerate() {
        if at.is_multiple_of(PIECE) {
            task.check()?;
        }
        let Some(n) = as_number(value) else {
            return Err(bad(call, format!("element {at} of the list is {}, not a number", value_type(value))));
        };
        f(value, n);
    }
    Ok(())
}

/// The same where numbers are compared: NaN has no place among them.
fn each_ordered<'l>(
    task: &Task,
    call: &'static str,
    list: &'l Array,
    mut f: impl FnMut(&'l Dynamic, f64),
) -> Fallible<()> {
    let mut nan = None;
    let mut at = 0;
    each(task, call, list, |value, n| {
        if n.is_nan() {
            nan.get_or_insert(at);
        }
        at += 1;
        f(value, n);
    })?;
    nan.map_or(Ok(()), |at| Err(bad(call, format!("element {at} of the list is NaN, which has no place in an order"))))
}
