//! `groundstate diff`: what differs in meaning between two states.

use std::io::{self, Write};

use anstyle::AnsiColor;
use groundstate_common::one_line;
use groundstate_state_edit::{ChangeKind, Diff, DiffValue, Entry, FieldChange, Subject, diff};

use crate::args::DiffArgs;
use crate::input::family::Family;
use crate::input::source::{Source, is_standard};
use crate::input::terraform::load;
use crate::pulumi;
use crate::report::error::{self, Failure, Outcome, Result};
use crate::report::json::{self, Json};
use crate::report::output::Output;

/// Characters of a value that are shown, at most.
const MAX_VALUE: usize = 200;

/// One thing that differs, whatever family it belongs to.
#[derive(Debug)]
pub(crate) struct Difference {
    /// What it is, for people.
    pub(crate) subject: String,
    /// What sort of thing it is, for programs.
    pub(crate) kind: &'static str,
    /// What names it, for programs: members and their JSON.
    pub(crate) members: Vec<(&'static str, String)>,
    pub(crate) sign: Kind,
    pub(crate) fields: Vec<Field>,
}

/// On which side something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Added,
    Removed,
    Changed,
}

/// A member that differs: its values as JSON, which are absent on a side that has none, and empty where they are hidden.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) path: String,
    pub(crate) before: Option<Option<String>>,
    pub(crate) after: Option<Option<String>>,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Added, Self::Removed, Self::Changed];

    fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

pub(super) fn run(args: &DiffArgs) -> Result {
    let (before, after) = sources(args)?;
    let found = match (before.family, after.family) {
        (Family::Pulumi, Family::Pulumi) => pulumi::diff(args, &before, &after)?,
        (Family::Terraform, Family::Terraform) => {
            // The texts are gone before the models are compared.
            let (before, after) = (load(&before)?.file, load(&after)?.file);
            differences(&diff(&before, &after), args.reveal)
        }
        (one, _) => return Err(mixed(&before, &after, one)),
    };
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::object(|json| {
            json.text("format_version", "1.0");
            members(json, &found);
        }))?
    } else {
        text(&found, &mut out)?
    }
    out.finish()?;
    Ok(if found.is_empty() { Outcome::Clean } else { Outcome::Found(error::Kind::Findings) })
}

/// The two states, or the snapshots of one.
fn sources(args: &DiffArgs) -> Result<(Source, Source)> {
    match (&args.after, args.at.as_slice()) {
        (Some(after), _) if is_standard(&args.before) && is_standard(after) => {
            Err(Failure::new(error::Kind::Usage, "standard input can be only one of the two states"))
        }
        (Some(after), _) => {
            let both = [args.before.as_path(), after.as_path()];
            Ok((Source::among(&args.before, &both)?, Source::among(after, &both)?))
        }
        (None, [from]) => Ok((Source::at(&args.before, Some(from))?, Source::find(&args.before)?)),
        (None, [from, to]) => {
            Ok((Source::at(&args.before, Some(from))?, Source::at(&args.before, Some(to))?))
        }
        (None, _) => Err(Failure::new(error::Kind::Usage, "give `--at` once for each state to compare")),
    }
}

fn mixed(before: &Source, after: &Source, first: Family) -> Failure {
    // An empty or unknown file gets an error of its own.
    for source in [before, after].into_iter().filter(|source| source.family == Family::Terraform) {
        if let Err(failure) = load(source) {
            return failure;
        }
    }
    let (pulumi, other) = if first == Family::Pulumi { (before, after) } else { (after, before) };
    let message =
        format!("{} is Pulumi's, and {} is not: they have nothing to compare", pulumi.name, other.name);
    Failure::new(error::Kind::Usage, message)
}

/// The differences of two states of Terraform.
pub(crate) fn differences(diff: &Diff, reveal: bool) -> Vec<Difference> {
    diff.entries.iter().map(|entry| difference(entry, reveal)).collect()
}

pub(crate) fn text(found: &[Difference], out: &mut Output) -> io::Result<()> {
    for entry in found {
        let (sign, colour) = match entry.sign {
            Kind::Added => ("+", AnsiColor::Green),
            Kind::Removed => ("-", AnsiColor::Red),
            Kind::Changed => ("~", AnsiColor::Yellow),
        };
        let heading = format!("{sign} {}", one_line(&entry.subject));
        writeln!(out, "{}", out.paint().colour(colour, &heading))?;
        for field in &entry.fields {
            out.line(&format!("    {}", line(field, entry.sign)))?;
        }
    }
    if found.is_empty() {
        return out.line("the states mean the same");
    }
    let counts = Kind::ALL.map(|kind| format!("{} {}", count(found, kind), kind.word()));
    out.line(&counts.join(", "))
}

fn count(found: &[Difference], kind: Kind) -> usize {
    found.iter().filter(|entry| entry.sign == kind).count()
}

/// A field on one line: its value, or both of them.
fn line(field: &Field, kind: Kind) -> String {
    let value = |value: &Option<Option<String>>| value.as_ref().map_or_else(|| "(absent)".to_owned(), shown);
    let (before, after) = (value(&field.before), value(&field.after));
    match kind {
        Kind::Added => format!("{}: {after}", field.path),
        Kind::Removed => format!("{}: {before}", field.path),
        Kind::Changed => format!("{}: {before} -> {after}", field.path),
    }
}

fn shown(value: &Option<String>) -> String {
    let Some(text) = value else { return "(sensitive value)".to_owned() };
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.clone(),
    }
}

/// Adds the differences to a document.
pub(crate) fn members(json: &mut Json, found: &[Difference]) {
    json.inner("summary", |json| {
        for kind in Kind::ALL {
            json.raw(kind.word(), count(found, kind));
        }
    });
    json.objects("changes", found, |json, entry| {
        json.text("kind", entry.kind);
        for (name, value) in &entry.members {
            json.raw(name, value);
        }
        json.text("change", entry.sign.word());
        json.objects("fields", &entry.fields, |json, field| {
            json.text("path", &field.path);
            side(json, "before", &field.before);
            side(json, "after", &field.after);
        });
    });
}

/// Adds the value of one side; a hidden one is null, and a member of its own says so.
fn side(json: &mut Json, name: &str, value: &Option<Option<String>>) {
    let Some(value) = value else { return };
    json.raw(name, value.as_deref().unwrap_or("null"));
    if value.is_none() {
        json.raw(&format!("{name}_sensitive"), true);
    }
}

fn difference(entry: &Entry, reveal: bool) -> Difference {
    let kind = match &entry.subject {
        Subject::Document => "document",
        Subject::Output(_) => "output",
        Subject::Resource(_) => "resource",
        Subject::Instance(_) => "instance",
        Subject::Current(_) => "object",
        Subject::Deposed(..) => "deposed_object",
        _ => "check",
    };
    let members: Vec<(&'static str, String)> = match &entry.subject {
        Subject::Document => Vec::new(),
        Subject::Output(name) => vec![("name", name.to_string())],
        Subject::Deposed(address, key) => {
            vec![("address", address.to_string()), ("deposed_key", key.as_str().to_owned())]
        }
        Subject::Check { address, .. } => vec![("address", address.clone())],
        other => vec![("address", other.to_string())],
    };
    let sign = match entry.kind {
        ChangeKind::Added => Kind::Added,
        ChangeKind::Removed => Kind::Removed,
        _ => Kind::Changed,
    };
    Difference {
        subject: entry.subject.to_string(),
        kind,
        members: members.into_iter().map(|(name, text)| (name, json::string(&text))).collect(),
        sign,
        fields: entry.fields.iter().map(|change| field(change, reveal)).collect(),
    }
}

fn field(change: &FieldChange, reveal: bool) -> Field {
    let value = |value: &DiffValue| match reveal {
        true => Some(value.reveal().to_owned()),
        false => value.plain().map(str::to_owned),
    };
    Field {
        path: change.path.clone(),
        before: change.before.as_ref().map(value),
        after: change.after.as_ref().map(value),
    }
}
