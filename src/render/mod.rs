//! Every sentence that leaves the program: values, output, failures, answers, lists, and the texts that teach.
//!
//! Pure: views in, text out. Knows no lock, no clock, no wire and no terminal; callers say which [`Style`] they want.
//! (Refusals and limits are the one exception: their sentences are their `Display`, since scripts may catch them.)

pub(crate) mod answer;
pub(crate) mod failure;
pub(crate) mod lists;
mod notes;
pub(crate) mod notice;
pub(crate) mod outline;
pub(crate) mod output;
pub(crate) mod plain;
pub(crate) mod prompt;
pub(crate) mod style;
mod summary;
pub mod teach;
pub(crate) mod value;

pub(crate) use answer::{Block, News, Tail};
pub use style::Style;
pub(crate) use summary::{EndText, Summary};
pub(crate) use value::{Budget, Rendered, Shown};
