//! What differs in meaning between two files: resources, their properties, pending operations, what the files say of themselves.

mod members;
mod values;

use std::collections::HashMap;
use std::fmt;

use groundstate_pulumi_snapshot::{OperationType, RawJson, Resource, Snapshot, Urn};

use crate::encode::EncodeError;
use crate::file::{DeploymentFile, Envelope};

/// The differences between two files: those of the document, of resources in the order of the second file, those that are
/// gone, and of pending operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// One entry for each thing that differs.
    pub changes: Vec<Change>,
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// What differs.
    pub subject: Subject,
    /// Whether it is there on both sides.
    pub kind: ChangeKind,
    /// The members that differ. Of something that is there on one side only, all of them.
    pub fields: Vec<FieldChange>,
}

/// What a change is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// The document: the stack, the writer, the secrets provider, the configuration.
    Document,
    /// A resource.
    Resource {
        /// The URN of the resource.
        urn: Urn,
        /// It waits for its deletion.
        delete: bool,
    },
    /// An operation whose outcome is not known.
    Operation {
        /// The resource.
        urn: Urn,
        /// What was being done to it.
        kind: OperationType,
    },
}

/// On which side something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// Only in the second file.
    Added,
    /// Only in the first file.
    Removed,
    /// In both, but not the same.
    Changed,
}

/// One member that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldChange {
    /// Path of the member, for example `inputs.tags.team`.
    pub path: String,
    /// Value in the first file, if it is there.
    pub before: Option<Side>,
    /// Value in the second file, if it is there.
    pub after: Option<Side>,
}

/// A value on one side. `Debug` shows sizes only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// May be shown.
    Plain(RawJson),
    /// A secret, or a value that stands where the other side has one. There is a text if the secret was opened.
    Secret(Option<RawJson>),
}

impl Side {
    /// The JSON text, unless it is a secret.
    pub fn plain(&self) -> Option<&str> {
        match self {
            Self::Plain(raw) => Some(raw.as_str()),
            Self::Secret(_) => None,
        }
    }

    /// The JSON text, secret or not, if it is known: only for those who asked to see secrets.
    pub fn reveal(&self) -> Option<&str> {
        match self {
            Self::Plain(raw) => Some(raw.as_str()),
            Self::Secret(raw) => raw.as_ref().map(RawJson::as_str),
        }
    }
}

impl Diff {
    /// Whether both files mean the same.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document => f.write_str("document"),
            Self::Resource { urn, delete: false } => urn.fmt(f),
            Self::Resource { urn, delete: true } => write!(f, "{urn} (waits for its deletion)"),
            Self::Operation { urn, kind } => write!(f, "{kind} {urn}"),
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        })
    }
}

/// Compares two files.
///
/// The order of resources, layout, versions and times of the manifest do not matter, and neither does the order of what is a
/// set. Secrets are the same if their ciphertexts are, or if both are opened and their values are.
///
/// # Errors
///
/// Properties cannot be read, or have no form.
pub fn diff(before: &DeploymentFile, after: &DeploymentFile) -> Result<Diff, EncodeError> {
    let mut changes = Vec::new();
    let fields = document(before, after);
    if !fields.is_empty() {
        changes.push(Change { subject: Subject::Document, kind: ChangeKind::Changed, fields });
    }
    let nothing = Snapshot::default();
    let (a, b) = (before.snapshot.as_ref().unwrap_or(&nothing), after.snapshot.as_ref().unwrap_or(&nothing));
    let resources = |snapshot: &Snapshot| -> Vec<(Subject, _)> {
        let subject =
            |resource: &Resource| Subject::Resource { urn: resource.urn.clone(), delete: resource.delete };
        snapshot
            .resources
            .iter()
            .map(|resource| (subject(resource), std::sync::Arc::clone(resource)))
            .collect()
    };
    pairs(&resources(a), &resources(b), &mut changes)?;
    let operations = |snapshot: &Snapshot| -> Vec<(Subject, _)> {
        let operations = snapshot.pending_operations.iter().map(|operation| {
            let urn = operation.resource.urn.clone();
            let subject = Subject::Operation { urn, kind: operation.kind.clone() };
            (subject, std::sync::Arc::clone(&operation.resource))
        });
        operations.collect()
    };
    pairs(&operations(a), &operations(b), &mut changes)?;
    Ok(Diff { changes })
}

type Named = (Subject, std::sync::Arc<Resource>);

/// Compares what has the same name on both sides; of several of one name the first with the first, and so on.
fn pairs(before: &[Named], after: &[Named], out: &mut Vec<Change>) -> Result<(), EncodeError> {
    // The first of each name, and the next of the same name after each.
    let mut known: HashMap<&Subject, usize> = HashMap::with_capacity(before.len());
    let mut next: Vec<Option<usize>> = vec![None; before.len()];
    for (index, (subject, _)) in before.iter().enumerate().rev() {
        next[index] = known.insert(subject, index);
    }
    let mut met = vec![false; before.len()];
    for (subject, resource) in after {
        let other = known.remove(subject);
        if let Some(next) = other.and_then(|index| next.get(index).copied().flatten()) {
            known.insert(subject, next);
        }
        let (kind, fields) = match other.and_then(|index| before.get(index)) {
            Some((_, other)) if std::sync::Arc::ptr_eq(other, resource) => (ChangeKind::Changed, Vec::new()),
            Some((_, other)) => (ChangeKind::Changed, members::compare(Some(other), Some(resource))?),
            None => (ChangeKind::Added, members::compare(None, Some(resource))?),
        };
        if let Some(seen) = other.and_then(|index| met.get_mut(index)) {
            *seen = true;
        }
        if kind != ChangeKind::Changed || !fields.is_empty() {
            out.push(Change { subject: subject.clone(), kind, fields });
        }
    }
    for ((subject, resource), _) in before.iter().zip(met).filter(|(_, met)| !met) {
        let fields = members::compare(Some(resource), None)?;
        out.push(Change { subject: subject.clone(), kind: ChangeKind::Removed, fields });
    }
    Ok(())
}

/// What the files say of themselves.
fn document(before: &DeploymentFile, after: &DeploymentFile) -> Vec<FieldChange> {
    let mut fields = Vec::new();
    let mut text = |path: &str, a: Option<&str>, b: Option<&str>| {
        if a != b {
            let side = |text: Option<&str>| {
                text.filter(|text| !text.is_empty()).map(|text| Side::Plain(values::string(text)))
            };
            fields.push(FieldChange { path: path.to_owned(), before: side(a), after: side(b) });
        }
    };
    let (a, b) = (before.snapshot.as_ref(), after.snapshot.as_ref());
    // An export does not say which stack it is of, so that is no difference.
    if let (Some(a), Some(b)) = (before.stack(), after.stack()) {
        text("stack", Some(a), Some(b));
    }
    let version =
        |snapshot: Option<&Snapshot>| snapshot.map(|snapshot| snapshot.manifest.version.to_string());
    text("manifest.version", version(a).as_deref(), version(b).as_deref());
    let provider = |snapshot: Option<&Snapshot>| {
        snapshot
            .and_then(|snapshot| snapshot.secrets_provider.as_ref())
            .map(|provider| provider.kind.to_string())
    };
    text("secrets_providers.type", provider(a).as_deref(), provider(b).as_deref());
    let state = |snapshot: Option<&Snapshot>| {
        snapshot.and_then(|snapshot| snapshot.secrets_provider.as_ref()?.state.clone())
    };
    hidden("secrets_providers.state", state(a), state(b), &mut fields);
    if let (Envelope::Checkpoint(a), Envelope::Checkpoint(b)) = (&before.envelope, &after.envelope) {
        hidden("config", a.config.clone(), b.config.clone(), &mut fields);
    }
    fields
}

/// A value whose content may not be shown to anybody.
fn hidden(path: &str, before: Option<RawJson>, after: Option<RawJson>, out: &mut Vec<FieldChange>) {
    if before != after {
        let side = |raw: Option<RawJson>| raw.map(|_| Side::Secret(None));
        out.push(FieldChange { path: path.to_owned(), before: side(before), after: side(after) });
    }
}
