# What must hold before a change lands.
ci:
    .ci/run

# Format, lints, documentation.
check:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items

test *ARGS:
    cargo test {{ARGS}}

# Accepts changed snapshots and transcripts; read the diff.
accept:
    UPDATE_EXPECT=1 cargo test

serve *ARGS:
    cargo run --release -- serve {{ARGS}}

# The prompt, and the server on the same state.
repl *ARGS:
    cargo run --release -- {{ARGS}}

# Figures for doc/logbook.md; some of them with a part of their group's name: eval publish growth sleepers cancel http resident.
bench *ARGS:
    cargo bench --bench figures -- {{ARGS}}

# The official conformance suite against this build (installs Node 22 and the suite from npm).
conformance:
    tests/conformance/run.sh
