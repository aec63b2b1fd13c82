//! Why a command ends: the kind decides the exit code, hints say the next step.

use std::fmt;
use std::io;
use std::path::Path;

use groundstate_common::shell_command;

use crate::report::diagnostic::Diagnostic;

/// Replacement for options of a shown address that may be secrets.
pub(crate) const HIDDEN_OPTIONS: &str = "?…";

/// How a command becomes complete in which options are not shown.
const COMPLETE_OPTIONS: &str =
    "replace `…` in the address by the options that you gave, which may be secrets";

/// What a caller can tell apart by the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Findings of `check`, differences of `diff`.
    Findings,
    /// The command line asks for something that cannot be.
    Usage,
    /// There is no state, or no such file.
    NoState,
    /// Credentials are missing, or do not suffice.
    Denied,
    /// A place does not answer, or cannot be read or written at the moment.
    Unreachable,
    /// The input is not a state file.
    NotState,
    /// The input is a state file that cannot be used.
    Unusable,
    /// Refused, because something would be lost.
    Loss,
    /// An address or output that is not in the state.
    NotFound,
    /// Another process holds the lock.
    Locked,
    /// What is stored does not go with the change, or was changed by another process.
    Conflict,
    /// What was asked for is done, but its lock was lost meanwhile or could not be released.
    LockNotKept,
    /// A command that was to be run cannot be.
    CommandNotRun,
    /// A command that was to be run is not there.
    CommandNotFound,
    /// A signal asked the command to end.
    Signal(i32),
}

impl Kind {
    /// The name in documents.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Findings => "findings",
            Self::Usage => "usage",
            Self::NoState => "no_state",
            Self::Denied => "denied",
            Self::Unreachable => "unreachable",
            Self::NotState => "not_state",
            Self::Unusable => "unusable",
            Self::Loss => "loss",
            Self::NotFound => "not_found",
            Self::Locked => "locked",
            Self::Conflict => "conflict",
            Self::LockNotKept => "lock_not_kept",
            Self::CommandNotRun => "command_not_run",
            Self::CommandNotFound => "command_not_found",
            Self::Signal(_) => "signal",
        }
    }

    /// The kind of a failure of the system.
    pub(crate) fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NoState,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::Denied,
            _ => Self::Unreachable,
        }
    }

    /// The kind of the first cause that says whether a place is not there, denies access, or cannot be reached.
    pub(crate) fn of_cause(error: &(dyn std::error::Error + 'static)) -> Option<Self> {
        std::iter::successors(Some(error), |error| error.source()).find_map(|cause| {
            if let Some(error) = cause.downcast_ref::<groundstate_blobs::Error>() {
                return Self::of_blobs(error.kind());
            }
            cause.downcast_ref().map(Self::of_io)
        })
    }

    /// The kind of what a store of blobs says about its place; `None` for what is wrong with a request or an object.
    pub(crate) fn of_blobs(kind: groundstate_blobs::ErrorKind) -> Option<Self> {
        use groundstate_blobs::ErrorKind as Blob;
        match kind {
            Blob::NotFound => Some(Self::NoState),
            Blob::Denied | Blob::Unauthenticated | Blob::ClockSkew => Some(Self::Denied),
            Blob::Throttled | Blob::Unavailable | Blob::Ambiguous => Some(Self::Unreachable),
            _ => None,
        }
    }

    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Findings => 1,
            Self::Usage => 2,
            Self::NoState => 3,
            Self::NotState => 4,
            Self::Unusable => 5,
            Self::Loss => 6,
            Self::NotFound => 7,
            Self::Locked => 8,
            Self::Conflict => 9,
            Self::LockNotKept => 10,
            Self::Denied => 11,
            Self::Unreachable => 12,
            Self::CommandNotRun => 126,
            Self::CommandNotFound => 127,
            Self::Signal(signal) => u8::try_from(signal).unwrap_or(0).saturating_add(128),
        }
    }
}

/// A command that could not do what it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    /// The error, lower case and without full stop. Empty if the diagnostics say everything.
    pub(crate) message: String,
    /// What belongs to the message, a line each.
    pub(crate) details: Vec<String>,
    /// What to do next, one sentence each.
    pub(crate) hints: Vec<String>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The reader of standard output has closed it.
    pub(crate) quiet: bool,
    /// The input is empty: no snapshot has been stored there yet, which some commands are content with.
    pub(crate) no_snapshot: bool,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            details: Vec::new(),
            hints: Vec::new(),
            diagnostics: Vec::new(),
            quiet: false,
            no_snapshot: false,
        }
    }

    #[must_use]
    pub(crate) fn details(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(lines);
        self
    }

    /// A failure that diagnostics describe.
    pub(crate) fn of(kind: Kind, diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics, ..Self::new(kind, String::new()) }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        let leaves_out = [HIDDEN_OPTIONS, "&…"].iter().any(|mark| hint.contains(mark));
        self.hints.push(hint);
        if leaves_out && self.hints.iter().all(|known| known != COMPLETE_OPTIONS) {
            self.hints.push(COMPLETE_OPTIONS.to_owned());
        }
        self
    }

    /// A file or directory that cannot be read.
    pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Self {
        let shown = path.display();
        match error.kind() {
            io::ErrorKind::NotFound => Self::new(Kind::NoState, format!("{shown} does not exist")),
            _ => Self::new(Kind::of_io(error), format!("cannot read {shown}: {error}")),
        }
    }

    /// A file that cannot be written.
    pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Self {
        let shown = path.display();
        let folder =
            path.parent().filter(|folder| error.kind() == io::ErrorKind::NotFound && !folder.is_dir());
        match folder {
            Some(folder) => {
                let message = format!("cannot write {shown}: the folder {} does not exist", folder.display());
                let command = shell_command("mkdir -p", &[&folder.to_string_lossy()]);
                Self::new(Kind::NoState, message).hint(format!("`{command}` creates it"))
            }
            None => Self::new(Kind::of_io(error), format!("cannot write {shown}: {error}")),
        }
    }

    /// The message, or those of the diagnostics, on one line.
    pub(crate) fn text(&self) -> String {
        let told = self.diagnostics.iter().map(|diagnostic| match diagnostic.detail.is_empty() {
            true => diagnostic.title.clone(),
            false => format!("{}: {}", diagnostic.title, diagnostic.detail),
        });
        let message = Some(self.message.clone()).filter(|message| !message.is_empty());
        told.chain(message).collect::<Vec<_>>().join("; ")
    }

    pub(crate) fn exit_code(&self) -> u8 {
        if self.quiet { 0 } else { self.kind.code() }
    }
}

/// Errors of this type come from standard output only; files have their own constructors.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let quiet = error.kind() == io::ErrorKind::BrokenPipe;
        Self { quiet, ..Self::new(Kind::Unreachable, format!("cannot write to standard output: {error}")) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What a command that ran to its end reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing to report.
    Clean,
    /// Something was found, and this is how bad it is.
    Found(Kind),
    /// A command that was run has ended with this code.
    Ran(u8),
}

impl Outcome {
    /// The worse one of this and another report.
    #[must_use]
    pub(crate) fn and(self, kind: Kind) -> Self {
        match self {
            Self::Found(known) => Self::Found(known.max(kind)),
            Self::Clean | Self::Ran(_) => Self::Found(kind),
        }
    }

    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Found(kind) => kind.code(),
            Self::Ran(code) => code,
        }
    }
}

pub(crate) type Result<T = Outcome, E = Failure> = std::result::Result<T, E>;

/// An error and its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let told = cause.to_string();
        // Some errors end with the text of their cause, others with its reason: then its advice is all that is new.
        if let Some(advice) = only_adds_advice(&text, &told) {
            text.push_str(advice);
        } else if !text.ends_with(&told) {
            // The advice of a cause need not be given twice.
            let known =
                text.rsplit_once("; ").filter(|(_, step)| told.contains(step)).map(|(head, _)| head.len());
            known.into_iter().for_each(|end| text.truncate(end));
            text.push_str(": ");
            text.push_str(&told);
        }
        next = cause.source();
    }
    text
}

/// The advice of a cause with the separator before it, which may be empty, if the text ends with the reason of the cause already.
fn only_adds_advice<'t>(text: &str, told: &'t str) -> Option<&'t str> {
    let (said, advice) = told.split_at(told.rfind("; ").unwrap_or(told.len()));
    let (_, reason) = said.split_once(": ")?;
    text.strip_suffix(reason)?.ends_with(": ").then_some(advice)
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::chain;

    #[derive(Debug)]
    struct Told(&'static str, Option<Box<Self>>);

    impl fmt::Display for Told {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl std::error::Error for Told {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn advice_that_a_cause_repeats_is_given_once() {
        let cause = |text| Some(Box::new(Told(text, None)));
        let error = Told("cannot read; set a key", cause("no role; set a key"));
        assert_eq!(chain(&error), "cannot read: no role; set a key");
        let error = Told("cannot read; set a key", cause("no role"));
        assert_eq!(chain(&error), "cannot read; set a key: no role");
    }

    #[test]
    fn the_reason_of_a_cause_is_given_once() {
        let cause = |text| Some(Box::new(Told(text, None)));
        let error = Told("cannot read a: no project", cause("cannot use a: no project; name one"));
        assert_eq!(chain(&error), "cannot read a: no project; name one");
        let error = Told("cannot read a: no project", cause("cannot use a: no project"));
        assert_eq!(chain(&error), "cannot read a: no project");
        let error = Told("cannot read a: no project", cause("cannot use a: some project"));
        assert_eq!(chain(&error), "cannot read a: no project: cannot use a: some project");
    }
}
