//! Documents of the Pulumi service protocol, for servers and for clients: requests, answers, paths, names, deltas.
//!
//! ```
//! use groundstate_pulumi_protocol::{
//!     CompleteUpdate, ErrorBody, Route, StackPath, UpdateCall, UpdateState, decode, encode,
//! };
//!
//! // A server reads what a request asks for, and its body.
//! let route = Route::parse("POST", "/api/stacks/acme/shop/prod/update/u-1/complete");
//! let stack = StackPath::new("acme", "shop", "prod");
//! assert_eq!(route, Some(Route::Update { stack, update: "u-1".to_owned(), call: UpdateCall::Complete }));
//! let request: CompleteUpdate = decode(br#"{"status":"succeeded"}"#)?;
//! assert_eq!(request.status, UpdateState::Succeeded);
//!
//! // Without `code` the CLI would not know a 404 from a 500.
//! let answer = encode(&ErrorBody::new(404, "Not Found: stack 'acme/shop/prod' not found"))?;
//! assert_eq!(answer, br#"{"code":404,"message":"Not Found: stack 'acme/shop/prod' not found"}"#);
//! # Ok::<(), groundstate_pulumi_protocol::DocumentError>(())
//! ```
//!
//! # Where to look
//!
//! - [`Route`] is a call of the protocol: [`parse`](Route::parse) reads method and path, [`path`](Route::path) writes them.
//! - [`decode`] and [`encode`] read and write documents. [`User`], [`Capabilities`], [`Stack`], [`CreateUpdate`], [`StartUpdate`],
//!   [`UpdateInfo`], [`EngineEventBatch`], [`JournalEntries`], [`Checkpoint`] and their like are the documents.
//! - [`JsonText`] is a value as the exact text that arrived: deployments, entries of journals, events.
//! - [`apply_delta`] makes the next checkpoint of the last one and the edits of a client; [`CheckpointDelta::apply`] verifies its hash.
//! - [`PlainBytes`] are secrets: redacted in `Debug`, zeroed when they are dropped.
//! - [`stack_name`], [`project_name`], [`OwnerName`] and [`check_tags`] are the rules of names, which the CLI has too.
//!
//! Documents are read as Go does: absent members and `null` are the default, unknown members are ignored, except that names of
//! members are case-sensitive, and that repeated ones are errors. A member without which a document means nothing, such as the
//! status of an update, has to be there. Answers have the members that the CLI expects, in its order.
//!
//! # What is deliberately absent
//!
//! - HTTP: no type of a server or a client, no compression, no limits of bodies.
//! - What a service does: leases, versions, histories, and the order of checkpoints.
//! - What is in deployments and journals: `groundstate-pulumi-deployment` and `groundstate-pulumi-journal` read them.
//! - Parts of the service that no state needs: policies, environments, deployments by the service, registries.
//! - I/O, async, clocks and randomness.
//!
//! # Features
//!
//! None.

mod account;
mod capabilities;
mod delta;
mod deployments;
mod document;
mod error_body;
mod events;
mod history;
mod lenient;
mod names;
mod route;
mod secrets;
mod stacks;
mod updates;
mod views;
mod words;

pub use account::{CliVersion, DefaultOrganization, Message, Organization, TokenInfo, User};
pub use capabilities::{Capabilities, Capability};
pub use delta::{DeltaError, Edit, apply_delta, sha256, verify_sha256};
pub use deployments::{
    Checkpoint, CheckpointDelta, CheckpointVerbatim, DeploymentError, ImportedStack, JournalEntries,
    UntypedDeployment,
};
pub use document::{DocumentError, JsonText, decode, encode};
pub use error_body::ErrorBody;
pub use events::{EngineEvent, EngineEventBatch, EngineEvents, SummaryEvent};
pub use history::{
    AppendVersion, AppendedVersion, LatestUpdate, Preview, Previews, RequestedBy, UpdateInfo, UpdateList,
    VersionSource,
};
pub use names::{OwnerName, check_tags, project_in_path};
pub use route::{Authorization, ProjectPath, Route, StackCall, StackPath, UpdateCall};
pub use secrets::{
    BatchDecrypt, BatchDecrypted, BatchEncrypt, BatchEncrypted, CipherBytes, DecryptValue, DecryptedValue,
    EncryptValue, EncryptedValue, LogBatchDecryption, LogDecryption, PlainBytes,
};
pub use stacks::{
    CreateStack, CreatedStack, CurrentOperation, RenameStack, Stack, StackLinks, StackList, StackSummary,
    Tags,
};
pub use updates::{
    AiSettings, CompleteUpdate, ConfigValue, CreateUpdate, CreatedUpdate, LeaseToken, ProgressFields,
    RenewLease, RenewedLease, StackLock, StartUpdate, StartedUpdate, UpdateMetadata, UpdateOptions,
    UpdateProgress, UpdateStatus,
};
pub use views::{
    EntryTarget, EntryView, JournalView, OutputView, OutputsView, PendingView, ResourceView, ResourcesView,
};
pub use words::{CreateKind, MessageSeverity, UpdateKind, UpdateResult, UpdateState};

/// Why a name is not one.
pub use groundstate_common::InvalidId;
/// Names of stacks and projects, and the rules of names and tags.
pub use groundstate_pulumi_snapshot::{ProjectName, StackName, check_tag, project_name, stack_name};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
