//! `time`: moments as seconds since 1970 or as texts of RFC 3339, zones, calendars. The present moment is that of the host's clock.

use crate::base::LibraryError;
use crate::engine::{Api, Fallible, Task, value_type};
use crate::toolkit::arguments::{Options, as_number, bad, number, raise};
use jiff::civil::DateTime;
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::fmt::temporal::Pieces;
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp, ZonedDateTime};
use rhai::{Dynamic, EvalAltResult, INT, Map, NativeCallContext};
use std::fmt::Display;
use std::time::SystemTime;

type Context<'c> = NativeCallContext<'c>;

pub(super) fn register(api: &mut Api) {
    api.about("Dates and times: now, parse, format, parts, calendar arithmetic and zones; times are seconds since 1970 or texts.");
    reading(api);
    showing(api);
    parts(api);
    reckoning(api);
}

fn reading(api: &mut Api) {
    const NOW: &str = "
The present moment in seconds since 1970.

```rhai
time::now() > 946684800.0 //=> true
```";
    api.function("now", &["float"], NOW, |context: Context<'_>| {
        let task = Task::of(&context);
        let since = task.clock().wall(task.clock().now()).duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0.0, |since| since.as_secs_f64())
    });

    const PARSE: &str = "
The moment that a text names, in seconds since 1970: RFC 3339 such as `2026-02-28T23:30:00+01:00`, or a date alone. Without a zone it is
UTC. With a format, as `strptime` has it: `%Y %m %d %H %M %S %z %j %b` and so on. `BadTime` says what is wrong.

```rhai
[time::parse(\"1970-01-02T00:00:00Z\"), time::parse(\"28.02.2026 12:30\", \"%d.%m.%Y %H:%M\")] //=> [86400.0, 1772281800.0]
```";
    api.function("parse", &["text: String", "float"], PARSE, |text: &str| {
        moment_of(text, None).map(|(at, _)| seconds(at))
    });
    api.function("parse", &["text: String", "format: String", "float"], PARSE, |text: &str, format: &str| {
        let parsed = BrokenDownTime::parse(format, text).map_err(|error| no_time(text, &error))?;
        let at = match parsed.offset() {
            Some(_) => parsed.to_timestamp(),
            None => parsed
                .to_datetime()
                .or_else(|error| parsed.to_date().map(|date| date.into()).map_err(|_| error))
                .and_then(|local: DateTime| TimeZone::UTC.to_timestamp(local)),
        };
        at.map(seconds).map_err(|error| no_time(text, &error))
    });

    const ZONE: &str = "
The name of the zone of this machine, such as `Europe/Berlin`; `UTC` when it has none.

```rhai
time::zone().len() > 0 //=> true
```";
    api.function("zone", &["String"], ZONE, || {
        let zone = TimeZone::try_system().ok();
        zone.as_ref().and_then(TimeZone::iana_name).unwrap_or("UTC").to_owned()
    });
}

fn showing(api: &mut Api) {
    const TEXT: &str = "
A moment as RFC 3339, in UTC.

```rhai
[time::text(0), time::text(\"2026-02-28T23:30:00+01:00\")] //=> [\"1970-01-01T00:00:00Z\", \"2026-02-28T22:30:00Z\"]
```";
    api.function("text", &["t: Dynamic", "String"], TEXT, |t: Dynamic| {
        Ok::<_, Box<EvalAltResult>>(moment("time::text", &t, None)?.at.to_string())
    });

    const FORMAT: &str = "
A moment in a format, as `strftime` has it, in UTC or in a zone.

```rhai
time::format(\"2026-02-28T23:30:00Z\", \"%d.%m. %H:%M\", \"Europe/Berlin\") //=> \"01.03. 00:30\"
```";
    api.function("format", &["t: Dynamic", "format: String", "String"], FORMAT, |t: Dynamic, format: &str| {
        formatted(&t, format, TimeZone::UTC)
    });
    api.function(
        "format",
        &["t: Dynamic", "format: String", "zone: String", "String"],
        FORMAT,
        |t: Dynamic, format: &str, name: &str| formatted(&t, format, zone(name)?),
    );
}

fn formatted(t: &Dynamic, format: &str, zone: TimeZone) -> Fallible<String> {
    let shown = moment("time::format", t, Some(&zone))?.at.to_zoned_datetime(zone);
    strtime::format(format, &shown).map_err(|error| {
        raise(&LibraryError::BadTime { reason: format!("`{format:.200}` is no format of a time: {error}") })
    })
}

fn parts(api: &mut Api) {
    const PARTS: &str = "
A moment taken apart, in UTC or in a zone: `#{year, month, day, hour, minute, second, weekday, yearday, offset}`. The day of the year counts
from 1, `offset` is in seconds east of UTC, fractions of a second are left out.

```rhai
let p = time::parts(\"2026-11-30T10:20:30Z\", \"Europe/Berlin\");
[p.year, p.hour, p.weekday, p.yearday, p.offset] //=> [2026, 11, \"Monday\", 334, 3600]
```";
    api.function("parts", &["t: Dynamic", "Map"], PARTS, |t: Dynamic| apart(&t, TimeZone::UTC));
    api.function("parts", &["t: Dynamic", "zone: String", "Map"], PARTS, |t: Dynamic, name: &str| {
        apart(&t, zone(name)?)
    });

    const FROM_PARTS: &str = "
The moment of these parts, in UTC or in a zone, in seconds since 1970: the other way round of `time::parts`. It needs `year`; the rest is
the first or 0 when it is left out. Without a zone `offset` counts, `weekday` and `yearday` never.

```rhai
time::text(time::from_parts(#{year: 2026, month: 3, day: 1, hour: 0, minute: 30}, \"Europe/Berlin\")) //=> \"2026-02-28T23:30:00Z\"
```";
    api.function("from_parts", &["parts: Map", "float"], FROM_PARTS, |parts: Map| together(&parts, None));
    api.function("from_parts", &["parts: Map", "zone: String", "float"], FROM_PARTS, |parts: Map, name: &str| {
        together(&parts, Some(zone(name)?))
    });
}

fn apart(t: &Dynamic, zone: TimeZone) -> Fallible<Map> {
    let shown = moment("time::parts", t, Some(&zone))?.at.to_zoned_datetime(zone);
    let numbers: [(&str, INT); 8] = [
        ("year", shown.year().into()),
        ("month", shown.month().into()),
        ("day", shown.day().into()),
        ("hour", shown.hour().into()),
        ("minute", shown.minute().into()),
        ("second", shown.second().into()),
        ("yearday", shown.day_of_year().into()),
        ("offset", shown.offset().seconds().into()),
    ];
    let mut map: Map = numbers.into_iter().map(|(name, n)| (name.into(), n.into())).collect();
    map.insert("weekday".into(), format!("{:?}", shown.weekday()).into());
    Ok(map)
}

fn together(parts: &Map, zone: Option<TimeZone>) -> Fallible<f64> {
    const CALL: &str = "time::from_parts";
    const KNOWN: [&str; 9] = ["year", "month", "day", "hour", "minute", "second", "weekday", "yearday", "offset"];
    let given = Options::new(CALL, parts, &KNOWN)?;
    let part = |name: &str, otherwise: Option<i64>| match (given.get(name), otherwise) {
        (None, None) => Err(bad(CALL, format!("the parts have no `{name}`"))),
        (None, Some(otherwise)) => Ok(otherwise),
        (Some(value), _) => {
            value.as_int().map_err(|_| bad(CALL, format!("`{name}` is an int, not {}", value_type(value))))
        }
    };
    let small = |name: &str, otherwise: Option<i64>| {
        let n = part(name, otherwise)?;
        i16::try_from(n).map_err(|_| out_of_range(name, n))
    };
    let byte = |name: &str, otherwise: i64| {
        let n = part(name, Some(otherwise))?;
        i8::try_from(n).map_err(|_| out_of_range(name, n))
    };
    let second = given.get("second").map_or(Ok(0.0), |value| number(CALL, "`second`", value))?;
    if !(0.0..60.0).contains(&second) {
        return Err(out_of_range("second", second));
    }
    #[expect(clippy::cast_possible_truncation, reason = "0 to 59, and less than a second in nanoseconds")]
    let (whole, nanos) = (second.floor() as i8, ((second - second.floor()) * 1e6).round() as i32 * 1_000);
    let local = DateTime::new(
        small("year", None)?,
        byte("month", 1)?,
        byte("day", 1)?,
        byte("hour", 0)?,
        byte("minute", 0)?,
        whole,
        nanos.min(999_999_000),
    );
    let local =
        local.map_err(|error| raise(&LibraryError::BadTime { reason: format!("these parts are no time: {error}") }))?;
    let zone = match zone {
        Some(zone) => zone,
        None => {
            let offset = part("offset", Some(0))?;
            let offset = i32::try_from(offset).ok().and_then(|offset| Offset::from_seconds(offset).ok());
            TimeZone::fixed(offset.ok_or_else(|| out_of_range("offset", part("offset", Some(0)).unwrap_or_default()))?)
        }
    };
    let at = zone.to_timestamp(local);
    at.map(seconds)
        .map_err(|error| raise(&LibraryError::BadTime { reason: format!("these parts are no time: {error}") }))
}

fn out_of_range(name: &str, value: impl Display) -> Box<EvalAltResult> {
    raise(&LibraryError::BadTime { reason: format!("these parts are no time: `{name}` is {value}") })
}

fn reckoning(api: &mut Api) {
    const ADD: &str = "
A moment so much later, or earlier where units are negative: `years months weeks days hours minutes seconds`. Months end where the month
ends; days are those of the calendar of the zone, UTC unless one is given. A number gives a number, a text a text.

```rhai
[time::add(\"2026-01-31T12:00:00Z\", #{months: 1}), time::add(0, #{days: 1, hours: -1})] //=> [\"2026-02-28T12:00:00Z\", 82800]
```";
    api.function("add", &["t: Dynamic", "span: Map", "Dynamic"], ADD, |t: Dynamic, span: Map| later(&t, &span, None));
    api.function(
        "add",
        &["t: Dynamic", "span: Map", "zone: String", "Dynamic"],
        ADD,
        |t: Dynamic, span: Map, name: &str| later(&t, &span, Some(zone(name)?)),
    );

    const BETWEEN: &str = "
The seconds from one moment to another; negative when the second one is earlier.

```rhai
time::seconds_between(\"2026-01-01T00:00:00Z\", \"2026-01-02\") //=> 86400.0
```";
    api.function(
        "seconds_between",
        &["from: Dynamic", "to: Dynamic", "float"],
        BETWEEN,
        |from: Dynamic, to: Dynamic| {
            const CALL: &str = "time::seconds_between";
            let (from, to) = (moment(CALL, &from, None)?.at, moment(CALL, &to, None)?.at);
            Ok::<_, Box<EvalAltResult>>(to.duration_since(from).as_secs_f64())
        },
    );
}

fn later(t: &Dynamic, span: &Map, zone: Option<TimeZone>) -> Fallible<Dynamic> {
    const CALL: &str = "time::add";
    const UNITS: [&str; 7] = ["years", "months", "weeks", "days", "hours", "minutes", "seconds"];
    let given = Options::new(CALL, span, &UNITS)?;
    let Moment { at, offset } = moment(CALL, t, zone.as_ref())?;
    let zone = zone.or_else(|| offset.map(TimeZone::fixed)).unwrap_or(TimeZone::UTC);
    let mut steps = Vec::new();
    for unit in UNITS {
        let Some(value) = given.get(unit) else { continue };
        steps.push(step(unit, value)?);
    }
    let beyond =
        |error: jiff::Error| raise(&LibraryError::BadTime { reason: format!("the time is out of range: {error}") });
    let mut now = at.to_zoned_datetime(zone);
    if steps.iter().all(|(_, n)| *n >= 0) {
        let whole = steps.iter().try_fold(Span::new(), |span, (unit, n)| grown(span, unit, *n)).map_err(beyond)?;
        now = now.checked_add(whole).map_err(beyond)?;
    } else {
        for (unit, n) in steps {
            let span = grown(Span::new(), unit, n).map_err(beyond)?;
            now = now.checked_add(span).map_err(beyond)?;
        }
    }
    Ok(like(t, &now, offset))
}

/// One unit of a span: a whole number of it, seconds in microseconds.
fn step(unit: &'static str, value: &Dynamic) -> Fallible<(&'static str, i64)> {
    const CALL: &str = "time::add";
    if unit != "seconds" {
        let whole = value.as_int().map_err(|_| bad(CALL, format!("`{unit}` is an int, not {}", value_type(value))));
        return whole.map(|n| (unit, n));
    }
    let secs = number(CALL, "`seconds`", value)?;
    if !(-1e12..=1e12).contains(&secs) {
        return Err(raise(&LibraryError::BadTime { reason: format!("the time is out of range: {secs} seconds") }));
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounded right above")]
    Ok((unit, (secs * 1e6).round() as i64))
}

fn grown(span: Span, unit: &str, n: i64) -> Result<Span, jiff::Error> {
    match unit {
        "years" => span.try_years(n),
        "months" => span.try_months(n),
        "weeks" => span.try_weeks(n),
        "days" => span.try_days(n),
        "hours" => span.try_hours(n),
        "minutes" => span.try_minutes(n),
        _ => span.try_microseconds(n),
    }
}

/// A moment in the form in which another was given.
fn like(given: &Dynamic, now: &ZonedDateTime, offset: Option<Offset>) -> Dynamic {
    let at = now.timestamp();
    if as_number(given).is_none() {
        return match offset.filter(|offset| offset.seconds() != 0) {
            None => at.to_string().into(),
            Some(_) => at.display_with_offset(now.offset()).to_string().into(),
        };
    }
    match (given.is_int(), at.subsec_nanosecond()) {
        (true, 0) => at.as_second().into(),
        _ => seconds(at).into(),
    }
}

/// A moment, and the offset that it was written with.
struct Moment {
    at: Timestamp,
    offset: Option<Offset>,
}

/// The moment that a number or a text stands for. A text without a zone is in `zone`, or in UTC.
fn moment(call: &'static str, given: &Dynamic, zone: Option<&TimeZone>) -> Fallible<Moment> {
    if let Ok(text) = given.as_immutable_string_ref() {
        return moment_of(&text, zone).map(|(at, offset)| Moment { at, offset });
    }
    let at = match (given.as_int(), given.as_float()) {
        (Ok(secs), _) => Timestamp::from_second(secs).ok(),
        #[expect(clippy::cast_possible_truncation, reason = "bounded right here")]
        (_, Ok(secs)) if (-1e12..=1e12).contains(&secs) => {
            Timestamp::from_microsecond((secs * 1e6).round() as i64).ok()
        }
        (_, Ok(_)) => None,
        _ => return Err(bad(call, format!("a time is a number of seconds or a text, not {}", value_type(given)))),
    };
    let at = at.ok_or_else(|| raise(&LibraryError::BadTime { reason: format!("the time {given} is out of range") }))?;
    Ok(Moment { at, offset: None })
}

fn moment_of(text: &str, zone: Option<&TimeZone>) -> Fallible<(Timestamp, Option<Offset>)> {
    let failed = |error: jiff::Error| no_time(text, &error);
    let pieces = Pieces::parse(text).map_err(failed)?;
    let local = pieces.date().to_datetime(pieces.time().unwrap_or_default());
    if let Some(offset) = pieces.to_numeric_offset() {
        return offset.to_timestamp(local).map(|at| (at, Some(offset))).map_err(failed);
    }
    let own = pieces.to_time_zone().map_err(failed)?;
    let zone = own.or_else(|| zone.cloned()).unwrap_or(TimeZone::UTC);
    zone.to_timestamp(local).map(|at| (at, None)).map_err(failed)
}

fn no_time(text: &str, error: &jiff::Error) -> Box<EvalAltResult> {
    raise(&LibraryError::BadTime { reason: format!("`{text:.200}` is no time: {error}") })
}

fn zone(name: &str) -> Fallible<TimeZone> {
    TimeZone::get(name).map_err(|_| {
        let reason =
            format!("there is no zone `{name:.80}`; zones have names such as Europe/Berlin, America/New_York and UTC");
        raise(&LibraryError::BadTime { reason })
    })
}

/// A moment in seconds since 1970.
#[expect(clippy::cast_precision_loss, reason = "to a part of a microsecond in this age")]
fn seconds(at: Timestamp) -> f64 {
    at.as_second() as f64 + f64::from(at.subsec_nanosecond()) / 1e9
}
