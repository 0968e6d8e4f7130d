//! `hash`: published sums of texts and blobs.

use super::codecs::hex;
use crate::engine::{Api, Fallible, Task};
use crate::toolkit::arguments::with_bytes;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use rhai::{Dynamic, Module, NativeCallContext};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

/// The bytes that are worked on between two questions whether to go on.
const PIECE: usize = 1 << 20;

type Context<'c> = NativeCallContext<'c>;

pub(super) fn module() -> Module {
    let mut api = Api::new();
    api.about("Sums of texts and blobs, in hex: sha256, sha512, sha1, md5, and hmac_sha256 with a key.");
    sum::<Sha256>(&mut api, "sha256", "hash::sha256", "hash::sha256(\"abc\").len() //=> 64");
    sum::<Sha512>(&mut api, "sha512", "hash::sha512", "hash::sha512(\"abc\").len() //=> 128");
    sum::<Sha1>(&mut api, "sha1", "hash::sha1", "hash::sha1(\"abc\").sub_string(0, 8) //=> \"a9993e36\"");
    sum::<Md5>(&mut api, "md5", "hash::md5", "hash::md5(\"\").sub_string(0, 8) //=> \"d41d8cd9\"");
    const HMAC: &str = "
The HMAC of `data` with SHA-256 and this key, in hex. Both are texts or blobs.

```rhai
hash::hmac_sha256(\"key\", \"data\").len() //=> 64
```";
    api.function(
        "hmac_sha256",
        &["key: ?", "data: ?", "string"],
        HMAC,
        |context: Context<'_>, key: Dynamic, data: Dynamic| -> Fallible<String> {
            const CALL: &str = "hash::hmac_sha256";
            let task = Task::of(&context);
            let mut sum = with_bytes(CALL, &key, |key| {
                Hmac::<Sha256>::new_from_slice(key)
                    .map_err(|problem| crate::toolkit::arguments::bad(CALL, problem.to_string()))
            })?;
            with_bytes(CALL, &data, |bytes| {
                bytes.chunks(PIECE).try_for_each(|piece| {
                    task.check()?;
                    Mac::update(&mut sum, piece);
                    Ok(())
                })
            })?;
            Ok(hex(&sum.finalize().into_bytes()))
        },
    );
    api.build()
}

fn sum<D: Digest + 'static>(api: &mut Api, name: &'static str, call: &'static str, example: &str) {
    let doc = format!("\nThe {name} sum of a text or a blob, in hex.\n\n```rhai\n{example}\n```");
    api.function(name, &["data: ?", "string"], &doc, move |context: Context<'_>, data: Dynamic| -> Fallible<String> {
        let task = Task::of(&context);
        with_bytes(call, &data, |bytes| {
            let mut sum = D::new();
            for piece in bytes.chunks(PIECE) {
                task.check()?;
                sum.update(piece);
            }
            Ok(hex(&sum.finalize()))
        })
    });
}
