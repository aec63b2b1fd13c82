//! A state file as a model: metadata, state, and how the file was written.

use groundstate_states::{Extra, Lineage, Serial, State};

use crate::dialect::Dialect;
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
}

impl File {
    /// A new file that nobody has written yet: serial 0, no writer, an empty state.
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
    /// Terraform wrote empty lists of sensitive attributes from 0.14 to 1.11 (read off the files of 1.11.4), OpenTofu
    /// always does. Check results are written since Terraform 1.3 and in every OpenTofu. A release before 0.12 never
    /// wrote format 4: such a file is an upgraded one and has the style of whoever upgraded it.
    pub fn of(dialect: Dialect, writer: Option<&WriterVersion>) -> Self {
        let (empty_sensitive, empty_checks) = match (dialect, writer) {
            (Dialect::OpenTofu, _) | (Dialect::Terraform, None) => (true, true),
            (Dialect::Terraform, Some(v)) if !v.at_least(0, 12) => (true, true),
            (Dialect::Terraform, Some(v)) => (v.at_least(0, 14) && !v.at_least(1, 12), v.at_least(1, 3)),
        };
        Self { source_version: 4, indented: true, empty_sensitive, empty_checks }
    }
}
