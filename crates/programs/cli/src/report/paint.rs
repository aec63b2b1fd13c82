//! Colours, where the reader is a terminal that shows them.

use anstyle::{AnsiColor, Style};

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    pub(crate) fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    pub(crate) fn colour(self, colour: AnsiColor, text: &str) -> String {
        self.with(Style::new().fg_color(Some(colour.into())), text)
    }

    /// A word that has to be seen first.
    pub(crate) fn strong(self, colour: AnsiColor, text: &str) -> String {
        self.with(Style::new().fg_color(Some(colour.into())).bold(), text)
    }

    /// What frames a piece of source text.
    pub(crate) fn frame(self, text: &str) -> String {
        self.strong(AnsiColor::Blue, text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.0 { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
