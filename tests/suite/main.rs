//! All integration tests, one binary.

mod tidy; // the source tree keeps its own rules: floors, crate owners, module docs, no sleeping
