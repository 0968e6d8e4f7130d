//! The functions of `fs` with their docs.

use super::{reading, walking, writing};
use crate::engine::Api;
use rhai::{Dynamic, FnPtr, Map, Module, NativeCallContext};

type Context<'c> = NativeCallContext<'c>;

pub(in crate::toolkit::machine) fn module() -> Module {
    let mut api = Api::new();
    api.about("Files and folders that are allowed: --allow-read=PATH, --allow-write=PATH. Read, list, find, search, write, edit.");
    read(&mut api);
    look(&mut api);
    write(&mut api);
    change(&mut api);
    api.build()
}

fn read(api: &mut Api) {
    const READ: &str = "
The text of a file. Needs `--allow-read`. `NotText` names the first byte that is not UTF-8; `TooLarge` the size, above 64 MiB or a third of
the memory that the eval has left.

```rhai
fs::read(\"README.md\").starts_with(\"# Remontoire\") //=> true
```";
    api.function("read", &["path: string", "string"], READ, |context: Context<'_>, path: &str| {
        reading::read(&context, path)
    });
    const BYTES: &str = "
The bytes of a file; with `from` and `n` at most `n` of them from that one on.

```rhai
fs::bytes(\"README.md\", 2, 10) == \"Remontoire\".to_blob() //=> true
```";
    api.function("bytes", &["path: string", "blob"], BYTES, |context: Context<'_>, path: &str| {
        reading::bytes(&context, path, 0, None)
    });
    api.function(
        "bytes",
        &["path: string", "from: int", "n: int", "blob"],
        BYTES,
        |context: Context<'_>, path: &str, from: i64, n: i64| reading::bytes(&context, path, from, Some(n)),
    );
    const LINES: &str = "
The lines of a file, without their ends; with `from` and `n` at most `n` of them from that number on, which counts from 0.

```rhai
fs::lines(\"README.md\", 0, 1) //=> [\"# Remontoire\"]
```";
    api.function("lines", &["path: string", "array"], LINES, |context: Context<'_>, path: &str| {
        reading::lines(&context, path, 0, i64::MAX)
    });
    api.function(
        "lines",
        &["path: string", "from: int", "n: int", "array"],
        LINES,
        |context: Context<'_>, path: &str, from: i64, n: i64| reading::lines(&context, path, from, n),
    );
    const TAIL: &str = "
The last `n` lines of a file.

```rhai
fs::tail(\"README.md\", 2).len() //=> 2
```";
    api.function("tail", &["path: string", "n: int", "array"], TAIL, |context: Context<'_>, path: &str, n: i64| {
        reading::tail(&context, path, n)
    });
    const EACH_LINE: &str = "
Calls `f(line)` for each line of a file of any size, until it gives `false`. Returns how many lines it was given.

```rhai
fs::each_line(\"README.md\", |line| false) //=> 1
```";
    api.function(
        "each_line",
        &["path: string", "f: Fn", "int"],
        EACH_LINE,
        |context: Context<'_>, path: &str, f: FnPtr| reading::each_line(&context, path, &f),
    );
}

fn look(api: &mut Api) {
    const LIST: &str = "
What is in a folder: rows `#{name, kind, bytes, modified}`, by name. `kind` is `file`, `folder`, `link` or `other`; `modified` seconds since 1970.

```rhai
fs::list(\".\").some(|row| row.name == \"README.md\" && row.kind == \"file\") //=> true
```";
    api.function("list", &["path: string", "array"], LIST, |context: Context<'_>, path: &str| {
        walking::list(&context, path)
    });
    const FIND: &str = "
The paths of all files below a folder that a pattern names: `*` stands for what is between slashes, `**` for folders. Links are not followed;
`.git`, `target` and `node_modules` are passed over unless `#{all: true}`.

```rhai
fs::find(\"scripts\", \"**/*.rhai\").contains(\"scripts/stats.rhai\") //=> true
```";
    api.function(
        "find",
        &["path: string", "glob: string", "array"],
        FIND,
        |context: Context<'_>, path: &str, glob: &str| walking::find(&context, path, glob, &Map::new()),
    );
    api.function(
        "find",
        &["path: string", "glob: string", "options: map", "array"],
        FIND,
        |context: Context<'_>, path: &str, glob: &str, options: Map| walking::find(&context, path, glob, &options),
    );
    const SEARCH: &str = "
The lines of a file, or of all files below a folder, that a regular expression is found in: rows `#{path, line, text}`, `line` from 1. Options:
`glob` (which files), `max` (1,000 hits), `all`. Files that are no text are passed over. What was cut off is said in the output.

```rhai
fs::search(\"scripts\", \"^fn median\", #{glob: \"*.rhai\"}).map(|hit| hit.path) //=> [\"scripts/stats.rhai\"]
```";
    api.function(
        "search",
        &["path: string", "pattern: string", "array"],
        SEARCH,
        |context: Context<'_>, path: &str, pattern: &str| walking::search(&context, path, pattern, &Map::new()),
    );
    api.function(
        "search",
        &["path: string", "pattern: string", "options: map", "array"],
        SEARCH,
        |context: Context<'_>, path: &str, pattern: &str, options: Map| {
            walking::search(&context, path, pattern, &options)
        },
    );
    const STAT: &str = "
One file or folder as a row of `fs::list`, or `()` where there is none. Of a link it is the link's own, with `to`.

```rhai
fs::stat(\"README.md\").kind //=> \"file\"
```";
    api.function("stat", &["path: string", "map"], STAT, |context: Context<'_>, path: &str| {
        walking::stat(&context, path)
    });
    const EXISTS: &str = "
Whether there is a file, a folder or a link of this name.

```rhai
fs::exists(\"no/such/file\") //=> false
```";
    api.function("exists", &["path: string", "bool"], EXISTS, |context: Context<'_>, path: &str| {
        walking::exists(&context, path)
    });
}

fn write(api: &mut Api) {
    const WRITE: &str = "
Writes a text or a blob as a whole file, in one step: what is broken off leaves the old file. A link is replaced, not followed. Needs
`--allow-write`.

```rhai compile
fs::write(\"out/report.md\", \"# Report\");
```";
    api.function("write", &["path: string", "data: ?"], WRITE, |context: Context<'_>, path: &str, data: Dynamic| {
        writing::write(&context, path, &data)
    });
    const APPEND: &str = "
Adds a text or a blob at the end of a file, which is made when it is not there.

```rhai compile
fs::append(\"out/log.txt\", \"one line\\n\");
```";
    api.function("append", &["path: string", "data: ?"], APPEND, |context: Context<'_>, path: &str, data: Dynamic| {
        writing::append(&context, path, &data)
    });
    const EDIT: &str = "
Replaces a text that is in a file exactly once; else `BadEdit` says how often it is. Needs `--allow-read` and `--allow-write`.

```rhai compile
fs::edit(\"src/lib.rs\", \"let limit = 3;\", \"let limit = 4;\");
```";
    api.function(
        "edit",
        &["path: string", "old: string", "new: string"],
        EDIT,
        |context: Context<'_>, path: &str, old: &str, new: &str| writing::edit(&context, path, old, new),
    );
}

fn change(api: &mut Api) {
    const COPY: &str = "
Copies a file over another name, in one step. Needs `--allow-read` and `--allow-write`.

```rhai compile
fs::copy(\"a.txt\", \"b.txt\");
```";
    api.function("copy", &["from: string", "to: string"], COPY, |context: Context<'_>, from: &str, to: &str| {
        writing::copy(&context, from, to)
    });
    const RENAME: &str = "
Gives a file or folder another name, on the same file system.

```rhai compile
fs::rename(\"a.txt\", \"old/a.txt\");
```";
    api.function("rename", &["from: string", "to: string"], RENAME, |context: Context<'_>, from: &str, to: &str| {
        writing::rename(&context, from, to)
    });
    const MAKE_FOLDER: &str = "
Makes a folder and those it is in; one that is there already is left as it is.

```rhai compile
fs::make_folder(\"out/today\");
```";
    api.function("make_folder", &["path: string"], MAKE_FOLDER, |context: Context<'_>, path: &str| {
        writing::make_folder(&context, path)
    });
    const REMOVE: &str = "
Removes a file, a link or an empty folder.

```rhai compile
fs::remove(\"out/report.md\");
```";
    api.function("remove", &["path: string"], REMOVE, |context: Context<'_>, path: &str| {
        writing::remove(&context, path)
    });
    const REMOVE_ALL: &str = "
Removes a file, or a folder with all that is in it. Links in it are removed, and what they lead to stays.

```rhai compile
fs::remove_all(\"out/today\");
```";
    api.function("remove_all", &["path: string"], REMOVE_ALL, |context: Context<'_>, path: &str| {
        writing::remove_all(&context, path)
    });
}
