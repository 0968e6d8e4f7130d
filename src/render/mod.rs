//! Every sentence that leaves the program: values, output, failures, answers, lists, and the texts that teach.
//!
//! Pure: views in, text out. Knows no lock, no clock, no wire and no terminal; callers say which [`Style`] they want.
//! (Refusals and limits are the one exception: their sentences are their `Display`, since scripts may catch them.)

pub mod answer;
pub mod failure;
pub mod lists;
pub mod notice;
pub mod outline;
pub mod output;
pub mod plain;
pub mod prompt;
pub mod style;
mod summary;
pub mod teach;
pub mod value;

pub use answer::{Block, Tail};
pub use output::Output;
pub use style::Style;
pub use summary::{EndText, Summary};
pub use value::{Budget, Elided, EntryEnd, EntryShown, Rendered, Shown, whole};
