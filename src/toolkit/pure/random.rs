//! `random`: sequences that nobody has to foretell, and bytes, tokens and ids that nobody can.
//!
//! Sequences come from a small generator, one for the process, seeded by the system; a script may have generators of its own,
//! which repeat for a seed. Bytes come from the system.

use crate::base::lock;
use crate::engine::{Api, Fallible, fail, shared_by_identity};
use crate::toolkit::arguments::{bad, within};
use crate::toolkit::limits::RANDOM_BYTES;
use fastrand::Rng;
use rhai::{Array, Blob, Dynamic, INT};
use std::sync::{Arc, Mutex};

/// A generator of sequences. Whoever has it draws from the same sequence.
#[derive(Clone, Debug)]
pub(super) struct Generator(Arc<Mutex<Rng>>);

impl PartialEq for Generator {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Generator {
    fn seeded(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Rng::with_seed(seed))))
    }

    fn int(&self, low: INT, high: INT) -> Fallible<INT> {
        if low > high {
            return Err(bad("random::int", format!("the lower bound comes first: {low} is larger than {high}")));
        }
        Ok(lock(&self.0).i64(low..=high))
    }

    fn float(&self) -> f64 {
        lock(&self.0).f64()
    }

    fn bool(&self) -> bool {
        lock(&self.0).bool()
    }

    fn pick(&self, list: &Array) -> Fallible<Dynamic> {
        let picked = lock(&self.0).choice(list);
        picked.cloned().ok_or_else(|| bad("random::pick", "the list is empty"))
    }

    fn shuffle(&self, list: &Array) -> Array {
        let mut shuffled = list.clone();
        lock(&self.0).shuffle(&mut shuffled);
        shuffled
    }

    fn sample(&self, list: &Array, n: INT) -> Fallible<Array> {
        let n = within("random::sample", "the number of items", n, 0..=INT::try_from(list.len()).unwrap_or(INT::MAX))?;
        let mut places: Vec<usize> = (0..list.len()).collect();
        let mut rng = lock(&self.0);
        for at in 0..n {
            places.swap(at, rng.usize(at..list.len()));
        }
        Ok(places[..n].iter().map(|place| list[*place].clone()).collect())
    }

    fn bytes(&self, n: INT) -> Fallible<Blob> {
        let mut bytes = vec![0; within("random::bytes", "the number of bytes", n, 0..=RANDOM_BYTES)?];
        lock(&self.0).fill(&mut bytes);
        Ok(bytes)
    }
}

pub(super) fn register(api: &mut Api) {
    api.about("Random numbers, choices and orders; bytes, tokens and ids that nobody can guess; generators that repeat for a seed.");
    shared_by_identity::<Generator>();
    api.custom_type::<Generator>("Generator");
    let common = Generator::seeded(getrandom::u64().unwrap_or_default());
    numbers(api, &common);
    lists(api, &common);
    secrets(api);

    const SEED: &str = "
A generator with the functions of this module as methods. The same seed gives the same sequence, within one version of the program. A
copy draws from the same sequence; what it gives can be foretold, so it is for tests and simulations.

```rhai
let a = random::seed(7);
let b = random::seed(7);
[a.int(1, 6), a.float(), a.uuid()] == [b.int(1, 6), b.float(), b.uuid()] //=> true
```";
    api.function("seed", &["seed: int", "Generator"], SEED, |seed: INT| Generator::seeded(seed.cast_unsigned()));
}

/// A function of the module and the method of a generator, which do the same.
macro_rules! both {
    ($api:ident, $common:ident, $name:literal, [$($param:literal),*], $returns:literal, $doc:ident,
     |$generator:ident $(, $argument:ident: $of:ty)*| $body:expr) => {
        let common = $common.clone();
        $api.function($name, &[$($param,)* $returns], $doc, move |$($argument: $of),*| {
            let $generator = &common;
            $body
        });
        $api.own_method($name, &["generator: Generator", $($param,)* $returns], $doc,
            |$generator: &mut Generator $(, $argument: $of)*| $body);
    };
}

fn numbers(api: &mut Api, common: &Generator) {
    const NUMBER: &str = "
A whole number from `a` to `b`, both included.

```rhai
let n = random::int(1, 6);
n >= 1 && n <= 6 //=> true
```";
    both!(api, common, "int", ["a: int", "b: int"], "int", NUMBER, |generator, a: INT, b: INT| generator.int(a, b));

    const FLOAT: &str = "
A float from 0 up to 1, which is not reached.

```rhai
let x = random::float();
x >= 0.0 && x < 1.0 //=> true
```";
    both!(api, common, "float", [], "float", FLOAT, |generator| generator.float());

    const BOOL: &str = "
True or false, equally often.

```rhai
type_of(random::bool()) //=> \"bool\"
```";
    both!(api, common, "bool", [], "bool", BOOL, |generator| generator.bool());
}

fn lists(api: &mut Api, common: &Generator) {
    const PICK: &str = "
One item of a list. An empty list has none.

```rhai
random::pick([\"a\", \"b\"]) in [\"a\", \"b\"] //=> true
```";
    both!(api, common, "pick", ["list: Array"], "Dynamic", PICK, |generator, list: Array| generator.pick(&list));

    const SHUFFLE: &str = "
The items of a list in another order; the list stays as it is.

```rhai
random::shuffle([3, 1, 2]).order() //=> [1, 2, 3]
```";
    both!(api, common, "shuffle", ["list: Array"], "Array", SHUFFLE, |generator, list: Array| generator.shuffle(&list));

    const SAMPLE: &str = "
So many items of a list from different places, in any order.

```rhai
random::sample([1, 2, 3, 4], 2).len() //=> 2
```";
    both!(api, common, "sample", ["list: Array", "n: int"], "Array", SAMPLE, |generator, list: Array, n: INT| {
        generator.sample(&list, n)
    });
}

fn secrets(api: &mut Api) {
    const BYTES: &str = "
So many bytes that nobody can foretell, 1 MiB at most. Those of a generator repeat for its seed.

```rhai
random::bytes(16).len() //=> 16
```";
    api.function("bytes", &["n: int", "Blob"], BYTES, system_bytes);
    api.own_method("bytes", &["generator: Generator", "n: int", "Blob"], BYTES, |generator: &mut Generator, n: INT| {
        generator.bytes(n)
    });

    const TOKEN: &str = "
A text of `n` letters, digits, `-` and `_` that nobody can guess: 6 bits each. That of a generator repeats for its seed.

```rhai
random::token(24).len() //=> 24
```";
    api.function("token", &["n: int", "String"], TOKEN, |n: INT| system_bytes(n).map(|bytes| token(&bytes)));
    api.own_method(
        "token",
        &["generator: Generator", "n: int", "String"],
        TOKEN,
        |generator: &mut Generator, n: INT| generator.bytes(n).map(|bytes| token(&bytes)),
    );

    const UUID: &str = "
A new id of 122 random bits, a UUID of version 4. That of a generator repeats for its seed.

```rhai
random::uuid().len() //=> 36
```";
    api.function("uuid", &["String"], UUID, || uuid::Uuid::new_v4().to_string());
    api.own_method("uuid", &["generator: Generator", "String"], UUID, |generator: &mut Generator| {
        let bytes = lock(&generator.0).u128(..).to_be_bytes();
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    });
}

fn system_bytes(n: INT) -> Fallible<Blob> {
    let mut bytes = vec![0; within("random::bytes", "the number of bytes", n, 0..=RANDOM_BYTES)?];
    getrandom::fill(&mut bytes)
        .map_err(|error| fail("NoRandomness", format!("the system gives no random bytes: {error}")))?;
    Ok(bytes)
}

fn token(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 64)])).collect()
}
