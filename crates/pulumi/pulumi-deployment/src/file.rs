//! A file as a model: the envelope, the snapshot, and how the file was written.

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_json::{Escapes, Layout};
use groundstate_pulumi_snapshot::{Extra, Feature, RawJson, Snapshot};

use crate::note::Note;

/// A deployment with its envelope.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeploymentFile {
    /// What stands around the deployment.
    pub envelope: Envelope,
    /// The deployment; nothing for a stack that has never been updated.
    pub snapshot: Option<Snapshot>,
    /// The features that the file names. Writing works them out anew.
    pub features: BTreeSet<Feature>,
    /// How the file was laid out, so that it is written the same way again.
    pub style: Style,
    /// Members of the envelope that are not understood.
    pub extra: Extra,
    /// What reading changed, left out or could not keep.
    pub notes: Vec<Note>,
}

/// What stands around a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Envelope {
    /// What `stack export` prints, and services transfer: `version`, `features`, `deployment`.
    Deployment,
    /// What backends of their own store for each stack: `version`, `features`, `checkpoint`.
    Checkpoint(Checkpoint),
}

/// What a checkpoint says beside its deployment. `Debug` shows no configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// The full name of the stack, `organization/<project>/<stack>`.
    pub stack: Option<Arc<str>>,
    /// The configuration of the stack.
    pub config: Option<RawJson>,
    /// Members that are not understood.
    pub extra: Extra,
}

/// What differs in the layout of the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Style {
    /// Version the file was read from.
    pub source_version: i64,
    /// White space and escapes.
    pub layout: Layout,
    /// A line break ends the file.
    pub line_break: bool,
    /// `metadata` is written even when it says nothing, as all current writers do.
    pub empty_metadata: bool,
}

impl DeploymentFile {
    /// A new file, in the layout that its envelope has by custom.
    pub fn new(envelope: Envelope, snapshot: Option<Snapshot>) -> Self {
        let style = Style::of(&envelope);
        let (features, extra, notes) = (BTreeSet::new(), Extra::new(), Vec::new());
        Self { envelope, snapshot, features, style, extra, notes }
    }

    /// The name of the stack, if the envelope has one.
    pub fn stack(&self) -> Option<&str> {
        match &self.envelope {
            Envelope::Checkpoint(checkpoint) => checkpoint.stack.as_deref(),
            Envelope::Deployment => None,
        }
    }
}

impl Envelope {
    /// The envelope that backends of their own use, for a stack of this full name.
    pub fn checkpoint(stack: impl Into<Arc<str>>) -> Self {
        Self::Checkpoint(Checkpoint { stack: Some(stack.into()), ..Checkpoint::default() })
    }
}

impl Style {
    /// The layout that an envelope has by custom: exports have lines with four blanks a level, checkpoints no white space.
    pub fn of(envelope: &Envelope) -> Self {
        let export = *envelope == Envelope::Deployment;
        let layout = if export { Layout::indented(4) } else { Layout::COMPACT };
        Self {
            source_version: 3,
            layout: layout.with_escapes(Escapes::Plain),
            line_break: export,
            empty_metadata: true,
        }
    }

    /// The layout of a text.
    pub(crate) fn found_in(text: &[u8]) -> Self {
        Self {
            source_version: 3,
            layout: Layout { indent: indent_of(text), escapes: escapes_of(text) },
            line_break: text.ends_with(b"\n"),
            empty_metadata: true,
        }
    }
}

/// Blanks at the beginning of the line behind the first brace; 0 if no line begins there.
fn indent_of(text: &[u8]) -> u8 {
    /// Wider than anybody writes, and narrow enough to bound what a deep document grows to.
    const WIDEST: usize = 8;
    let inside = text.trim_ascii_start().strip_prefix(b"{").unwrap_or_default();
    let Some(line) = inside.strip_prefix(b"\r\n").or_else(|| inside.strip_prefix(b"\n")) else { return 0 };
    let blanks = line.iter().take_while(|b| **b == b' ').count();
    // A line that does not begin with blanks is still a line: give it the usual ones.
    if blanks == 0 { 4 } else { u8::try_from(blanks.min(WIDEST)).unwrap_or(4) }
}

/// How the text spells the three characters that only some writers escape.
fn escapes_of(text: &[u8]) -> Escapes {
    let plain = memchr::memchr3(b'<', b'>', b'&', text).is_some();
    let escaped = || {
        let behind = |at: usize| text.get(at + 4..at + 6);
        memchr::memmem::find_iter(text, b"\\u00").any(|at| matches!(behind(at), Some(b"3c" | b"3e" | b"26")))
    };
    // Where one stands as it is, nothing was escaped on writing; escapes there come from inside of secrets, or from texts
    // that were taken over as they were.
    if !plain && escaped() { Escapes::Html } else { Escapes::Plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_of_a_text_is_found() {
        for (text, indent, html, line_break) in [
            ("{}", 0, false, false),
            ("{\"a\": 1}\n", 0, false, true),
            ("{\n    \"a\": 1\n}\n", 4, false, true),
            (" {\r\n  \"a\": 1}", 2, false, false),
            ("{\n\t\"a\": \"<\"\n}", 4, false, false),
            ("{\n                                \"a\": 1}", 8, false, false),
            ("{\"a\":\"\\u003c\"}", 0, true, false),
            ("{\"a\":\"\\u0026\"}", 0, true, false),
            ("{\"a\":\"\\u003c>\"}", 0, false, false),
            ("", 0, false, false),
        ] {
            let style = Style::found_in(text.as_bytes());
            let found = (style.layout.indent, style.layout.escapes == Escapes::Html, style.line_break);
            assert_eq!(found, (indent, html, line_break), "{text:?}");
        }
    }
}
