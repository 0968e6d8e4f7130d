//! `time`: the calendar. Moments are seconds since 1970, or RFC 3339 texts; a text without a zone is of UTC.

use crate::engine::{Api, Fallible, Task, fail, value_type};
use crate::toolkit::arguments::bad;
use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ZonedDateTime};
use rhai::{Dynamic, EvalAltResult, ImmutableString, Map, Module, NativeCallContext};
use std::time::SystemTime;

pub(super) fn module() -> Module {
    let mut api = Api::new();
    api.about("The calendar: the present time, parsing, formatting in a zone, adding months and days.");
    const NOW: &str = "
The present time, in seconds since 1970.

```rhai
time::now() > 946000000.0 //=> true
```";
    api.function("now", &["float"], NOW, |context: NativeCallContext<'_>| {
        let clock = Task::of(&context).clock().clone();
        clock.wall(clock.now()).duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
    });
    const PARSE: &str = "
The moment that a text names, in seconds since 1970: RFC 3339, with or without a time of day, or as `format` says (`%Y-%m-%d %H:%M`).
Without a zone it is of UTC. `BadTime` says why it is none.

```rhai
time::parse(\"1970-01-02T00:00:00Z\") //=> 86400.0
time::parse(\"02.01.1970\", \"%d.%m.%Y\") //=> 86400.0
```";
    api.function("parse", &["text: string", "float"], PARSE, |text: &str| read(text).map(seconds));
    api.function("parse", &["text: string", "format: string", "float"], PARSE, |text: &str, format: &str| {
        let parsed = BrokenDownTime::parse(format, text).map_err(|problem| broken(text, &problem))?;
        let moment = parsed.to_timestamp().or_else(|_| {
            let civil = parsed.to_datetime().or_else(|_| parsed.to_date().map(|date| date.at(0, 0, 0, 0)))?;
            TimeZone::UTC.to_timestamp(civil)
        });
        moment.map(seconds).map_err(|problem| broken(text, &problem))
    });
    const TEXT: &str = "
A moment as RFC 3339, in UTC.

```rhai
time::text(86400) //=> \"1970-01-02T00:00:00Z\"
```";
    api.function("text", &["time: ?", "string"], TEXT, |time: Dynamic| moment(&time).map(|moment| moment.to_string()));
    const FORMAT: &str = "
A moment as `format` says (`%Y-%m-%d %H:%M:%S`, `%A`, `%j` …), in a zone such as `\"Europe/Berlin\"`; in UTC without.

```rhai
time::format(time::parse(\"2026-02-28T23:30:00Z\"), \"%d.%m. %H:%M\", \"Europe/Berlin\") //=> \"01.03. 00:30\"
```";
    api.function("format", &["time: ?", "format: string", "string"], FORMAT, |time: Dynamic, format: &str| {
        shown(&time, format, TimeZone::UTC)
    });
    api.function(
        "format",
        &["time: ?", "format: string", "zone: string", "string"],
        FORMAT,
        |time: Dynamic, format: &str, zone: &str| shown(&time, format, named(zone)?),
    );
    const PARTS: &str = "
A moment taken apart, in a zone or in UTC: `#{year, month, day, hour, minute, second, weekday, yearday, offset}`. `weekday` is a name,
`yearday` counts from 1, `offset` is the zone's distance from UTC in seconds.

```rhai
time::parts(\"2026-11-30T10:20:30Z\").weekday //=> \"Monday\"
```";
    api.function("parts", &["time: ?", "map"], PARTS, |time: Dynamic| parts(&time, TimeZone::UTC));
    api.function("parts", &["time: ?", "zone: string", "map"], PARTS, |time: Dynamic, zone: &str| {
        parts(&time, named(zone)?)
    });
    const FROM_PARTS: &str = "
The moment of parts as `time::parts` gives them: `year` is needed, the rest is the first or 0. In a zone or in UTC.

```rhai
time::from_parts(#{year: 1970, day: 2}) //=> 86400.0
```";
    api.function("from_parts", &["parts: map", "float"], FROM_PARTS, |parts: Map| from_parts(&parts, &TimeZone::UTC));
    api.function("from_parts", &["parts: map", "zone: string", "float"], FROM_PARTS, |parts: Map, zone: &str| {
        from_parts(&parts, &named(zone)?)
    });
    const ADD: &str = "
A moment some time later, by the calendar: `#{years, months, weeks, days, hours, minutes, seconds}`, each with its own sign, in this
order. Days that a month does not have become its last. Gives a number for a number and a text for a text.

```rhai
time::add(\"2026-01-31T12:00:00Z\", #{months: 1}) //=> \"2026-02-28T12:00:00Z\"
time::add(0, #{days: 1}) //=> 86400.0
```";
    api.function("add", &["time: ?", "span: map", "?"], ADD, |time: Dynamic, span: Map| {
        add(&time, &span, TimeZone::UTC)
    });
    api.function("add", &["time: ?", "span: map", "zone: string", "?"], ADD, |time: Dynamic, span: Map, zone: &str| {
        add(&time, &span, named(zone)?)
    });
    const BETWEEN: &str = "
The seconds from one moment to another.

```rhai
time::seconds_between(\"2026-01-01\", \"2026-01-02\") //=> 86400.0
```";
    api.function("seconds_between", &["a: ?", "b: ?", "float"], BETWEEN, |a: Dynamic, b: Dynamic| {
        let (a, b) = (moment(&a)?, moment(&b)?);
        Ok::<_, Box<EvalAltResult>>(seconds(b) - seconds(a))
    });
    const ZONE: &str = "
The name of the machine's time zone, or `\"UTC\"` where it has none.

```rhai
type_of(time::zone()) //=> \"string\"
```";
    api.function("zone", &["string"], ZONE, || TimeZone::system().iana_name().unwrap_or("UTC").to_owned());
    api.build()
}

fn broken(text: &str, problem: &jiff::Error) -> Box<EvalAltResult> {
    let shown: String = text.chars().take(100).collect();
    fail("BadTime", format!("`{shown}` is no time: {problem}"))
}

fn named(zone: &str) -> Fallible<TimeZone> {
    let problem = || fail("BadTime", format!("there is no time zone `{zone}`; one is called Europe/Berlin"));
    TimeZone::get(zone).map_err(|_| problem())
}

#[expect(clippy::cast_precision_loss, reason = "seconds are floats, to the microsecond")]
fn seconds(moment: Timestamp) -> f64 {
    moment.as_microsecond() as f64 / 1e6
}

/// The moment that a text names.
fn read(text: &str) -> Fallible<Timestamp> {
    text.parse::<Timestamp>()
        .or_else(|problem| {
            let civil = text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(|date| date.at(0, 0, 0, 0)));
            // What is wrong with the calendar says more than that a zone is missing.
            match civil {
                Ok(civil) => TimeZone::UTC.to_timestamp(civil),
                Err(other) => Err(if text.ends_with(['Z', 'z']) { problem } else { other }),
            }
        })
        .map_err(|problem| broken(text, &problem))
}

/// The moment that a number or a text stands for.
#[expect(clippy::cast_possible_truncation, reason = "bounds are asked for")]
fn moment(time: &Dynamic) -> Fallible<Timestamp> {
    if let Some(text) = time.read_lock::<ImmutableString>() {
        return read(&text);
    }
    let far = |shown: String| fail("BadTime", format!("{shown} seconds are beyond the calendar"));
    if let Ok(seconds) = time.as_int() {
        return Timestamp::from_second(seconds).map_err(|_| far(seconds.to_string()));
    }
    let seconds = time
        .as_float()
        .map_err(|_| bad("time", format!("a time is a number of seconds or a text, not {}", value_type(time))))?;
    let micros = seconds * 1e6;
    if !micros.is_finite() || micros.abs() > 9e18 {
        return Err(far(seconds.to_string()));
    }
    Timestamp::from_microsecond(micros.round() as i64).map_err(|_| far(seconds.to_string()))
}

fn shown(time: &Dynamic, format: &str, zone: TimeZone) -> Fallible<String> {
    let at = moment(time)?.to_zoned_datetime(zone);
    jiff::fmt::strtime::format(format, &at)
        .map_err(|problem| fail("BadTime", format!("the format `{format}` cannot be used: {problem}")))
}

fn parts(time: &Dynamic, zone: TimeZone) -> Fallible<Map> {
    let at = moment(time)?.to_zoned_datetime(zone);
    let mut map = Map::new();
    for (name, n) in [
        ("year", i64::from(at.year())),
        ("month", at.month().into()),
        ("day", at.day().into()),
        ("hour", at.hour().into()),
        ("minute", at.minute().into()),
        ("second", at.second().into()),
        ("yearday", at.day_of_year().into()),
        ("offset", at.offset().seconds().into()),
    ] {
        map.insert(name.into(), n.into());
    }
    map.insert("weekday".into(), at.strftime("%A").to_string().into());
    Ok(map)
}

fn from_parts(parts: &Map, zone: &TimeZone) -> Fallible<f64> {
    const CALL: &str = "time::from_parts";
    const KNOWN: [&str; 9] = ["year", "month", "day", "hour", "minute", "second", "weekday", "yearday", "offset"];
    if let Some(key) = parts.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(bad(CALL, format!("has no part `{key}`; they are year, month, day, hour, minute, second")));
    }
    let part = |name: &str, unless: i64| match parts.get(name) {
        Some(value) => value.as_int().map_err(|_| bad(CALL, format!("`{name}` is a whole number"))),
        None => Ok(unless),
    };
    if !parts.contains_key("year") {
        return Err(bad(CALL, "needs the year"));
    }
    let numbers = [
        part("year", 0)?,
        part("month", 1)?,
        part("day", 1)?,
        part("hour", 0)?,
        part("minute", 0)?,
        part("second", 0)?,
    ];
    let problem = || {
        let [year, month, day, hour, minute, second] = numbers;
        fail("BadTime", format!("{year}-{month}-{day} {hour}:{minute}:{second} is not in the calendar"))
    };
    let [year, rest @ ..] = numbers;
    let [month, day, hour, minute, second] = rest.map(|n| i8::try_from(n).unwrap_or(-1));
    let year = i16::try_from(year).map_err(|_| problem())?;
    let civil = DateTime::new(year, month, day, hour, minute, second, 0).map_err(|_| problem())?;
    zone.to_timestamp(civil).map(seconds).map_err(|_| problem())
}

/// The units of a span, the largest first, and how a span has so many of one.
type Unit = (&'static str, fn(i64) -> Result<Span, jiff::Error>);
const UNITS: [Unit; 7] = [
    ("years", |n| Span::new().try_years(n)),
    ("months", |n| Span::new().try_months(n)),
    ("weeks", |n| Span::new().try_weeks(n)),
    ("days", |n| Span::new().try_days(n)),
    ("hours", |n| Span::new().try_hours(n)),
    ("minutes", |n| Span::new().try_minutes(n)),
    ("seconds", |n| Span::new().try_seconds(n)),
];

fn add(time: &Dynamic, span: &Map, zone: TimeZone) -> Fallible<Dynamic> {
    const CALL: &str = "time::add";
    if let Some(key) = span.keys().find(|key| !UNITS.iter().any(|(unit, _)| unit == key)) {
        return Err(bad(
            CALL,
            format!("has no unit `{key}`; they are years, months, weeks, days, hours, minutes, seconds"),
        ));
    }
    let mut at: ZonedDateTime = moment(time)?.to_zoned_datetime(zone);
    for (unit, of) in UNITS {
        let Some(n) = span.get(unit) else { continue };
        let n = n.as_int().map_err(|_| bad(CALL, format!("`{unit}` is a whole number, not {}", value_type(n))))?;
        let later = of(n).and_then(|span| at.checked_add(span));
        at = later.map_err(|problem| fail("BadTime", format!("{n} {unit} later is beyond the calendar: {problem}")))?;
    }
    let moment = at.timestamp();
    Ok(if time.is_string() { moment.to_string().into() } else { seconds(moment).into() })
}
