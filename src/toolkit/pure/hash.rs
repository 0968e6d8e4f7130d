//! `hash`: digests of texts and blobs, in hexadecimal digits. Long ones are worked on in pieces, so that the eval can be stopped.

use super::codecs::{hex, with_bytes};
use crate::base::limits::MIB;
use crate::engine::{Api, Fallible, Task};
use crate::toolkit::arguments::bad;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use rhai::{Dynamic, NativeCallContext};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

type Context<'c> = NativeCallContext<'c>;

pub(super) fn register(api: &mut Api) {
    api.about("Digests of texts and blobs: SHA-2, SHA-1, MD5, and HMAC with a key.");
    const SHA256: &str = "
The SHA-256 of a text or blob, in hexadecimal digits.

```rhai
hash::sha256(\"abc\").sub_string(0, 16) //=> \"ba7816bf8f01cfea\"
```";
    const SHA512: &str = "
The SHA-512 of a text or blob, in hexadecimal digits.

```rhai
hash::sha512(\"abc\").sub_string(0, 16) //=> \"ddaf35a193617aba\"
```";
    const SHA1: &str = "
The SHA-1 of a text or blob, in hexadecimal digits: for what asks for it. Who wants to can make two texts that have the same.

```rhai
hash::sha1(\"abc\") //=> \"a9993e364706816aba3e25717850c26c9cd0d89d\"
```";
    const MD5: &str = "
The MD5 of a text or blob, in hexadecimal digits: for what asks for it. Anybody can make two texts that have the same.

```rhai
hash::md5(\"\") //=> \"d41d8cd98f00b204e9800998ecf8427e\"
```";
    digest::<Sha256>(api, "sha256", "hash::sha256", SHA256);
    digest::<Sha512>(api, "sha512", "hash::sha512", SHA512);
    digest::<Sha1>(api, "sha1", "hash::sha1", SHA1);
    digest::<Md5>(api, "md5", "hash::md5", MD5);

    const HMAC: &str = "
The HMAC-SHA-256 of a text or blob with a key, which is a text or blob too, in hexadecimal digits.

```rhai
hash::hmac_sha256(\"key\", \"message\").len() //=> 64
```";
    api.function(
        "hmac_sha256",
        &["key: Dynamic", "x: Dynamic", "String"],
        HMAC,
        |context: Context<'_>, key: Dynamic, x: Dynamic| {
            const CALL: &str = "hash::hmac_sha256";
            let made = with_bytes(&context, CALL, &key, 0, Hmac::<Sha256>::new_from_slice)?;
            let mut mac = made.map_err(|error| bad(CALL, error.to_string()))?;
            let task = Task::of(&context);
            with_bytes(&context, CALL, &x, 0, |bytes| in_pieces(&task, bytes, |piece| mac.update(piece)))??;
            Ok::<_, Box<rhai::EvalAltResult>>(hex(&mac.finalize().into_bytes()))
        },
    );
}

fn digest<D: Digest>(api: &mut Api, name: &str, call: &'static str, doc: &str) {
    api.function(name, &["x: Dynamic", "String"], doc, move |context: Context<'_>, x: &mut Dynamic| {
        let mut digest = D::new();
        let task = Task::of(&context);
        with_bytes(&context, call, x, 0, |bytes| in_pieces(&task, bytes, |piece| digest.update(piece)))??;
        Ok::<_, Box<rhai::EvalAltResult>>(hex(&digest.finalize()))
    });
}

/// Hands bytes over in pieces, for as long as the eval may go on.
fn in_pieces(task: &Task, bytes: &[u8], mut f: impl FnMut(&[u8])) -> Fallible<()> {
    for piece in bytes.chunks(MIB) {
        task.check()?;
        f(piece);
    }
    Ok(())
}
