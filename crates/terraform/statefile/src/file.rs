//! A state file as a model: metadata, state, and how the file was written.

use groundstate_states::{Extra, Lineage, Serial, State};

use crate::dialect::{Dialect, Traces};
use crate::note::Note;
use crate::writer_version::WriterVersion;

/// A snapshot of state with its metadata.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct File {
    /// The release that wrote it, if it says so.
    pub terraform_version: Option<WriterVersion>,
    /// Position of the snapshot in its lineage.
    pub serial: Serial,
    /// The chain of snapshots it belongs to.
    pub lineage: Lineage,
    /// The state.
    pub state: State,
    /// Whose rules the file follows.
    pub dialect: Dialect,
    /// How the file was laid out, so that it is written the same way again.
    pub style: Style,
    /// Members of the document that no known release writes.
    pub extra: Extra,
    /// What reading changed, left out or could not keep.
    pub notes: Vec<Note>,
}

/// What differs between releases in the layout of the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Style {
    /// Format version the file was read from.
    pub source_version: u64,
    /// Two blanks a level and a line for each member; otherwise no white space at all.
    pub indented: bool,
    /// `sensitive_attributes` is written even when it is empty.
    pub empty_sensitive: bool,
    /// `check_results` is written even when there are none.
    pub empty_checks: bool,
    /// An empty line ends the file: OpenTofu 1.12 ends local files so, and both products what `state pull` prints.
    pub second_line_break: bool,
}

impl File {
    /// A new file: serial 0, no writer, an empty state.
    pub fn new(dialect: Dialect, lineage: Lineage) -> Self {
        Self {
            terraform_version: None,
            serial: Serial::default(),
            lineage,
            state: State::new(),
            dialect,
            style: Style::of(dialect, None),
            extra: Extra::default(),
            notes: Vec::new(),
        }
    }
}

impl Style {
    /// The style of a release, as far as its version tells.
    ///
    /// Empty lists of sensitive attributes are written since Terraform 0.14 and in every OpenTofu, check results since
    /// Terraform 1.3 and in every OpenTofu. OpenTofu 1.8 to 1.11 does not indent. A release before 0.12 never wrote
    /// format 4: such a file is an upgraded one and has the style of the program that upgraded it.
    pub fn of(dialect: Dialect, writer: Option<&WriterVersion>) -> Self {
        let style = Self {
            source_version: 4,
            indented: true,
            empty_sensitive: true,
            empty_checks: true,
            second_line_break: false,
        };
        let Some(v) = writer.filter(|v| v.at_least(0, 12)) else { return style };
        match dialect {
            Dialect::Terraform => {
                Self { empty_sensitive: v.at_least(0, 14), empty_checks: v.at_least(1, 3), ..style }
            }
            Dialect::OpenTofu => Self { indented: !v.at_least(1, 8) || v.at_least(1, 12), ..style },
        }
    }

    /// The style of a release as far as the document does not show another one.
    pub(crate) fn shown(dialect: Dialect, writer: Option<&WriterVersion>, traces: &Traces) -> Self {
        let style = Self::of(dialect, writer);
        // Later releases of Terraform leave empty lists out; 1.13 still writes them. Which one begins is not known, so
        // from 1.12 on the objects of the file decide.
        let undecided = dialect == Dialect::Terraform && writer.is_some_and(|v| v.at_least(1, 12));
        let by_release = style.empty_sensitive && !(undecided && traces.no_sensitive);
        Self {
            empty_sensitive: by_release || traces.empty_sensitive,
            empty_checks: style.empty_checks || traces.check_results,
            ..style
        }
    }
}

/// How a document is laid out, read off its first and last bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The first member stands on a line of its own.
    pub(crate) indented: bool,
    /// There is no white space in front of the first value.
    pub(crate) compact: bool,
    pub(crate) second_line_break: bool,
}

impl Layout {
    pub(crate) fn of(text: &[u8]) -> Self {
        let first = text.iter().find(|b| !matches!(b, b'{' | b' '));
        let blank = |b: &u8| matches!(b, b' ' | b'\n' | b'\r' | b'\t');
        let to_value = memchr::memchr(b':', text).map_or(0, |colon| colon + 2);
        Self {
            indented: matches!(first, Some(b'\n' | b'\r')),
            compact: !text.iter().take(to_value).any(blank),
            second_line_break: text.ends_with(b"\n\n"),
        }
    }
}
