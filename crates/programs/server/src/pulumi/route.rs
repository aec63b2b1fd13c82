//! The paths of the protocol.

use groundstate_pulumi_service::StackPath;
use percent_encoding::percent_decode_str;

/// The name of a stack as it stands in a path, not yet checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) owner: String,
    pub(super) project: String,
    pub(super) stack: String,
}

impl Path {
    /// The name, if it is one; stacks of other names do not exist.
    pub(super) fn name(&self) -> Option<StackPath> {
        StackPath::new(&self.owner, &self.project, &self.stack).ok()
    }
}

/// What a path is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    User,
    DefaultOrganization,
    UserStacks,
    Capabilities,
    CliVersion,
    Project { owner: String, project: String },
    Stack { path: Path, of: OfStack },
    Update { path: Path, update: String, of: OfUpdate },
}

/// What of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfStack {
    Itself,
    Rename,
    Tags,
    Config,
    Export(Option<u64>),
    Import,
    Create(&'static str),
    Updates,
    LatestUpdate,
    LatestPreviews,
    Version(u64),
    Encrypt,
    Decrypt,
    BatchEncrypt,
    BatchDecrypt,
    LogDecryption,
}

/// What of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfUpdate {
    Itself,
    RenewLease,
    Complete,
    Cancel,
    Events,
    EventsBatch,
    JournalEntries,
    Checkpoint,
    CheckpointVerbatim,
    CheckpointDelta,
}

/// The words by which updates are created. Later calls use any of them.
const KINDS: [&str; 4] = ["update", "preview", "refresh", "destroy"];

impl Route {
    /// What a path is about. It is split before it is decoded, so that no part can reach out of its place.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.strip_prefix("/api/")?.split('/').collect();
        match parts[..] {
            ["user"] => Some(Self::User),
            ["user", "organizations", "default"] => Some(Self::DefaultOrganization),
            ["user", "stacks"] => Some(Self::UserStacks),
            ["capabilities"] => Some(Self::Capabilities),
            ["cli", "version"] => Some(Self::CliVersion),
            ["stacks", owner, project] => {
                Some(Self::Project { owner: decoded(owner)?, project: decoded(project)? })
            }
            ["stacks", owner, project, stack, ref rest @ ..] => {
                let path =
                    Path { owner: decoded(owner)?, project: decoded(project)?, stack: decoded(stack)? };
                if let [kind, update, ref rest @ ..] = *rest
                    && KINDS.contains(&kind)
                {
                    return Some(Self::Update { path, update: decoded(update)?, of: of_update(rest)? });
                }
                Some(Self::Stack { path, of: of_stack(rest)? })
            }
            _ => None,
        }
    }
}

fn of_stack(rest: &[&str]) -> Option<OfStack> {
    Some(match *rest {
        [] => OfStack::Itself,
        ["rename"] => OfStack::Rename,
        ["tags"] => OfStack::Tags,
        ["config"] => OfStack::Config,
        ["export"] => OfStack::Export(None),
        ["export", version] => OfStack::Export(Some(version.parse().ok()?)),
        ["import"] => OfStack::Import,
        ["updates"] => OfStack::Updates,
        ["updates", "latest"] => OfStack::LatestUpdate,
        ["updates", "latest", "previews"] => OfStack::LatestPreviews,
        ["updates", version] => OfStack::Version(version.parse().ok()?),
        ["encrypt"] => OfStack::Encrypt,
        ["decrypt"] => OfStack::Decrypt,
        ["batch-encrypt"] => OfStack::BatchEncrypt,
        ["batch-decrypt"] => OfStack::BatchDecrypt,
        ["decrypt", "log-decryption" | "log-batch-decryption"] => OfStack::LogDecryption,
        [kind] => OfStack::Create(KINDS.into_iter().find(|known| *known == kind)?),
        _ => return None,
    })
}

fn of_update(rest: &[&str]) -> Option<OfUpdate> {
    Some(match *rest {
        [] => OfUpdate::Itself,
        ["renew_lease"] => OfUpdate::RenewLease,
        ["complete"] => OfUpdate::Complete,
        ["cancel"] => OfUpdate::Cancel,
        ["events"] => OfUpdate::Events,
        ["events", "batch"] => OfUpdate::EventsBatch,
        ["journalentries"] => OfUpdate::JournalEntries,
        ["checkpoint"] => OfUpdate::Checkpoint,
        ["checkpointverbatim"] => OfUpdate::CheckpointVerbatim,
        ["checkpointdelta"] => OfUpdate::CheckpointDelta,
        _ => return None,
    })
}

fn decoded(part: &str) -> Option<String> {
    let text = percent_decode_str(part).decode_utf8().ok()?;
    (!text.is_empty()).then(|| text.into_owned())
}
