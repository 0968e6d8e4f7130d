//! The reader of a text, and the few colours of the terminal.

/// The reader of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A program that reads text: never a colour.
    Agent,
    /// A person at a terminal.
    Terminal {
        /// The terminal shows colours (it is one, and `NO_COLOR` is unset).
        colour: bool,
    },
}

/// The kinds of text the palette tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A failure's first line, a caret, a broken module.
    Bad,
    /// Something that still goes on, or was stopped.
    Busy,
    /// Something that went well.
    Good,
    /// Footers, elisions, places: there when looked for.
    Quiet,
    /// Names in lists.
    Name,
}

impl Style {
    /// The text as this style shows it. Without colour it is the text itself.
    pub(crate) fn paint(self, role: Role, text: &str) -> String {
        if !matches!(self, Self::Terminal { colour: true }) || text.is_empty() {
            return text.to_owned();
        }
        let code = match role {
            Role::Bad => "31",
            Role::Busy => "33",
            Role::Good => "32",
            Role::Quiet => "2",
            Role::Name => "36",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// True when a person reads this.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Terminal { .. })
    }
}

/// A text whose colours can be seen in a snapshot.
#[cfg(test)]
pub(crate) fn visible(text: &str) -> String {
    text.replace('\u{1b}', "␛")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        let all = [Role::Bad, Role::Busy, Role::Good, Role::Quiet, Role::Name];
        for style in [Style::Agent, Style::Terminal { colour: false }] {
            assert!(all.iter().all(|role| style.paint(*role, "text") == "text"), "{style:?}");
        }
        let colour = Style::Terminal { colour: true };
        assert_eq!(
            visible(&all.map(|role| colour.paint(role, "x")).concat()),
            "␛[31mx␛[0m␛[33mx␛[0m␛[32mx␛[0m␛[2mx␛[0m␛[36mx␛[0m"
        );
        assert_eq!(colour.paint(Role::Bad, ""), "");
    }
}
