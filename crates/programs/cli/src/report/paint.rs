//! Colours, where the reader is a terminal that shows them.

use annotate_snippets::Renderer;
use anstyle::{AnsiColor, Style};

/// A width at which the renderer cuts nothing: lines and messages are shorter.
const WIDTH: usize = 1 << 20;

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

    /// What draws source text with its marks, in the same colours. What is too long has been cut before.
    pub(crate) fn renderer(self) -> Renderer {
        let strong = |colour: AnsiColor| Style::new().fg_color(Some(colour.into())).bold();
        let renderer = if self.0 { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.term_width(WIDTH);
        if !self.0 {
            return renderer;
        }
        renderer
            .error(strong(AnsiColor::Red))
            .warning(strong(AnsiColor::Yellow))
            .info(strong(AnsiColor::Cyan))
            .note(strong(AnsiColor::Cyan))
            .line_num(strong(AnsiColor::Blue))
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.0 { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
