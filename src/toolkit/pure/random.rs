//! `random`: chance, and sequences that a seed repeats.

use super::codecs::hex;
use crate::base::lock;
use crate::engine::{Api, Fallible, fail, shared_by_identity};
use crate::toolkit::arguments::{bad, size};
use fastrand::Rng;
use rhai::{Array, Blob, Dynamic, Module};
use std::sync::{Arc, Mutex};

/// The most bytes of one call.
const MOST_BYTES: usize = 1 << 20;

/// A sequence that begins anew for the same seed.
#[derive(Clone, Debug)]
pub(super) struct Generator(Arc<Mutex<Rng>>);

impl PartialEq for Generator {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

pub(super) fn module() -> Module {
    let mut api = Api::new();
    api.about("Chance: numbers, picks, shuffles, bytes, tokens, uuids; and generators that a seed repeats.");
    api.custom_type::<Generator>("Generator");
    shared_by_identity::<Generator>();
    const INT: &str = "
A whole number from `a` to `b`, both included.

```rhai
[1, 2, 3].contains(random::int(1, 3)) //=> true
```";
    api.function("int", &["a: int", "b: int", "int"], INT, |a: i64, b: i64| int(&mut Rng::new(), a, b));
    api.own_method("int", &["g: Generator", "a: int", "b: int", "int"], INT, |g: &mut Generator, a: i64, b: i64| {
        int(&mut lock(&g.0), a, b)
    });
    const FLOAT: &str = "
A number from 0 to 1, without 1.

```rhai
random::float() < 1.0 //=> true
```";
    api.function("float", &["float"], FLOAT, fastrand::f64);
    api.own_method("float", &["g: Generator", "float"], FLOAT, |g: &mut Generator| lock(&g.0).f64());
    const BOOL: &str = "
True or false.

```rhai
type_of(random::bool()) //=> \"bool\"
```";
    api.function("bool", &["bool"], BOOL, fastrand::bool);
    api.own_method("bool", &["g: Generator", "bool"], BOOL, |g: &mut Generator| lock(&g.0).bool());
    const PICK: &str = "
One element of a list; `()` of an empty one.

```rhai
random::pick([7, 7]) //=> 7
```";
    api.function("pick", &["list: array", "?"], PICK, |list: Array| pick(&mut Rng::new(), &list));
    api.own_method("pick", &["g: Generator", "list: array", "?"], PICK, |g: &mut Generator, list: Array| {
        pick(&mut lock(&g.0), &list)
    });
    const SHUFFLE: &str = "
The elements of a list in a new order, as another list.

```rhai
random::shuffle([1, 2, 3]).len() //=> 3
```";
    api.function("shuffle", &["list: array", "array"], SHUFFLE, |list: Array| shuffled(&mut Rng::new(), list));
    api.own_method("shuffle", &["g: Generator", "list: array", "array"], SHUFFLE, |g: &mut Generator, list: Array| {
        shuffled(&mut lock(&g.0), list)
    });
    const SAMPLE: &str = "
`n` elements of a list at different places, or all when it has fewer.

```rhai
random::sample([1, 2, 3], 2).len() //=> 2
```";
    api.function("sample", &["list: array", "n: int", "array"], SAMPLE, |list: Array, n: i64| {
        sample(&mut Rng::new(), list, n)
    });
    api.own_method(
        "sample",
        &["g: Generator", "list: array", "n: int", "array"],
        SAMPLE,
        |g: &mut Generator, list: Array, n: i64| sample(&mut lock(&g.0), list, n),
    );
    const BYTES: &str = "
`n` bytes of the system's own source, fit for secrets; at most 1 MiB.

```rhai
random::bytes(16).len() //=> 16
```";
    api.function("bytes", &["n: int", "blob"], BYTES, |n: i64| bytes("random::bytes", n));
    const TOKEN: &str = "
A text of `n` digits of hex from the same source: a key, a password, a name nobody guesses.

```rhai
random::token(24).len() //=> 24
```";
    api.function("token", &["n: int", "string"], TOKEN, |n: i64| -> Fallible<String> {
        let length = size("random::token", "a length", n)?;
        let mut text = hex(&bytes("random::token", n / 2 + n % 2)?);
        text.truncate(length);
        Ok(text)
    });
    const UUID: &str = "
A random uuid, of version 4.

```rhai
random::uuid().len() //=> 36
```";
    api.function("uuid", &["string"], UUID, || uuid::Uuid::new_v4().to_string());
    const SEED: &str = "
A generator with the methods `int float bool pick shuffle sample`, whose results are the same for the same seed, within one version of
the program.

```rhai
random::seed(7).int(1, 1000) == random::seed(7).int(1, 1000) //=> true
```";
    api.function("seed", &["n: int", "Generator"], SEED, |n: i64| {
        Generator(Arc::new(Mutex::new(Rng::with_seed(n.cast_unsigned()))))
    });
    api.build()
}

fn int(rng: &mut Rng, a: i64, b: i64) -> Fallible<i64> {
    if a > b {
        return Err(bad("random::int", format!("the lower bound, {a}, is above the upper, {b}")));
    }
    Ok(rng.i64(a..=b))
}

fn pick(rng: &mut Rng, list: &Array) -> Dynamic {
    if list.is_empty() { Dynamic::UNIT } else { list[rng.usize(0..list.len())].clone() }
}

fn shuffled(rng: &mut Rng, mut list: Array) -> Array {
    rng.shuffle(&mut list);
    list
}

fn sample(rng: &mut Rng, list: Array, n: i64) -> Fallible<Array> {
    let wanted = size("random::sample", "a number of elements", n)?;
    let mut list = shuffled(rng, list);
    list.truncate(wanted);
    Ok(list)
}

fn bytes(call: &str, n: i64) -> Fallible<Blob> {
    let length = size(call, "a length", n)?;
    if length > MOST_BYTES {
        return Err(bad(call, format!("gives at most 1 MiB at once, not {length} bytes")));
    }
    let mut blob = vec![0; length];
    getrandom::fill(&mut blob)
        .map_err(|problem| fail("Unavailable", format!("{call}: the system has no random bytes: {problem}")))?;
    Ok(blob)
}
