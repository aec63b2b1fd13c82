//! What the commands read: a base, and entries in a text or in a journal of their own.

use std::path::Path;

use groundstate_pulumi_deployment::{DeploymentFile, Envelope};
use groundstate_pulumi_journal::{DecodeOptions, Entry, Problem, Replayer, decode, decode_entry};
use groundstate_pulumi_snapshot::Feature;
use groundstate_wal::{Contents, JournalStore, read_all};

use super::place::{failure, store};
use crate::args::EntriesArgs;
use crate::input::locate::is_standard;
use crate::input::pulumi;
use crate::input::runtime::runtime;
use crate::input::source::Source;
use crate::input::state::State;
use crate::report::diagnostic::{Diagnostic, Severity};
use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Result};
use crate::report::line_span::LineSpan;

/// A journal that has been read.
#[derive(Debug)]
pub(super) struct Journal {
    /// The entries as messages name them.
    pub(super) name: String,
    /// The base, if there is one to be had.
    pub(super) base: Option<DeploymentFile>,
    pub(super) entries: Vec<Entry>,
    /// What a crash has left at the end, in words.
    pub(super) torn: Option<String>,
}

impl Journal {
    /// Reads what the arguments name.
    pub(super) fn read(args: &EntriesArgs) -> Result<Self> {
        let (base, entries) = match args.paths.as_slice() {
            [base, entries] => (Some(base), entries),
            [entries] => (None, entries),
            _ => return Err(Failure::new(Kind::Usage, "name a base and entries")),
        };
        if base.is_some() && args.empty_base {
            let message = "a base is named, and `--empty-base` says that there is none";
            return Err(Failure::new(Kind::Usage, message));
        }
        if base.is_some_and(|base| is_standard(base)) && is_standard(entries) {
            let message = "base and entries cannot both come from standard input";
            return Err(Failure::new(Kind::Usage, message));
        }
        let given = base.map(|base| base_of(base)).transpose()?;
        let mut journal = match store(entries)? {
            Some(store) => Self::stored(&*store, given.is_none() && !args.empty_base)?,
            None => Self::of_text(entries)?,
        };
        if args.empty_base {
            journal.base = Some(DeploymentFile::new(Envelope::Deployment, None));
        } else if given.is_some() {
            journal.base = given;
        }
        Ok(journal)
    }

    fn of_text(path: &Path) -> Result<Self> {
        let source = Source::find(path)?;
        let text = source.text()?;
        let decoded = decode(&text, &DecodeOptions::default().allow_torn(true))
            .map_err(|error| unreadable(error.problems(), &source.name, &text))?;
        let torn = decoded.torn.map(|offset| {
            let line = LineSpan::of_offsets(&text, &[offset]).pop().map_or(0, |span| span.line);
            format!("the entry that begins on line {line} is cut off, and is ignored")
        });
        Ok(Self { name: source.name, base: None, entries: decoded.entries, torn })
    }

    fn stored(store: &dyn JournalStore, with_base: bool) -> Result<Self> {
        let name = store.to_string();
        let contents = contents(store)?;
        let base = match with_base {
            true => Some(base_in(contents.head.base.as_bytes(), &format!("the base in {name}"))?),
            false => None,
        };
        let mut entries = Vec::with_capacity(contents.records.len());
        for (index, record) in contents.records.iter().enumerate() {
            let text = record.as_bytes();
            let entry = decode_entry(text, &DecodeOptions::default());
            let entry = entry
                .map_err(|error| unreadable(error.problems(), &format!("record {index} of {name}"), text))?;
            entries.push(entry);
        }
        let torn = contents.torn.map(|torn| {
            format!("{}: {} bytes of a batch that was never acknowledged are ignored", torn.place, torn.bytes)
        });
        Ok(Self { name, base, entries, torn })
    }

    /// The base, or the advice to name one.
    pub(super) fn needs_base(&self) -> Result<&DeploymentFile> {
        self.base.as_ref().ok_or_else(|| {
            let message = format!("{} has no base by itself", self.name);
            Failure::new(Kind::Usage, message).hint(
                "name the deployment it builds on before it, or say `--empty-base` if the stack was new",
            )
        })
    }

    /// A replayer of the base, before any entry.
    pub(super) fn replayer(&self) -> Result<Replayer> {
        let base = self.needs_base()?;
        let snapshot = base.snapshot.clone().unwrap_or_default();
        Ok(Replayer::new(snapshot).byte_strings(base.features.contains(&Feature::ByteString)))
    }

    /// A replayer that has all entries.
    pub(super) fn applied(&self) -> Result<Replayer> {
        let mut replayer = self.replayer()?;
        for entry in &self.entries {
            replayer.apply(entry.clone()).map_err(|error| self.refused(&error))?;
        }
        Ok(replayer)
    }

    /// Why it cannot be replayed.
    pub(super) fn refused(&self, error: &groundstate_pulumi_journal::ReplayError) -> Failure {
        Failure::new(Kind::Unusable, format!("{} cannot be replayed: {}", self.name, chain(error)))
    }
}

fn base_of(path: &Path) -> Result<DeploymentFile> {
    match State::find(path)? {
        State::Pulumi(state) => Ok(pulumi::load(&state)?.file),
        State::Terraform(state) => {
            let message = format!("{} is not a Pulumi deployment, so nothing builds on it", state.name);
            Err(Failure::new(Kind::NotState, message)
                .hint("the base comes first, then the entries; if the stack was new, say `--empty-base`"))
        }
    }
}

fn base_in(text: &[u8], name: &str) -> Result<DeploymentFile> {
    let decoded =
        groundstate_pulumi_deployment::decode(text, &groundstate_pulumi_deployment::DecodeOptions::default());
    decoded.map_err(|error| pulumi::failure(&error, name, text))
}

/// All that a journal holds.
fn contents(store: &dyn JournalStore) -> Result<Contents> {
    let contents = runtime()?.block_on(read_all(store)).map_err(|error| failure(&error))?;
    contents.ok_or_else(|| {
        let message = format!("no journal is stored in {store}");
        Failure::new(Kind::NoState, message)
            .hint("name a journal's directory or address, or a file with entries, or `-` for standard input")
    })
}

fn unreadable(problems: &[Problem], name: &str, text: &[u8]) -> Failure {
    let spans = LineSpan::of_places(text, problems.iter().map(|problem| &problem.place));
    let diagnostics = problems.iter().zip(spans).map(|(problem, span)| Diagnostic {
        code: Some(problem.code.id()),
        detail: problem.detail.clone(),
        place: Some(span),
        address: problem.urn.clone(),
        ..Diagnostic::new(Severity::Error, problem.code.summary(), name)
    });
    Failure::of(Kind::Unusable, diagnostics.collect())
}
