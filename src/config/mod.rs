//! The operator's choices: options of the command line and their twins in the environment, checked all at once.
//!
//! One table (`settings`) names every setting; the parser, the help, the defaults shown there and the checks come from it.
//! Knows how to parse; does not open, bind or start anything.
//!
//! ```text
//! values      the values that were chosen
//! units       numbers with units
//! settings    the table
//! options     the table as options of the parser
//! ```

mod options;
mod settings;
mod units;
mod values;

pub(crate) use options::Options;
pub(crate) use values::Config;

#[cfg(test)]
mod tests;
