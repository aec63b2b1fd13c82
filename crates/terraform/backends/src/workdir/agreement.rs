//! Compares the record of `init` with the configuration.

use std::collections::BTreeMap;
use std::fmt;

use groundstate_common::{Origin, one_line};
use serde_json::{Map, Value};

use super::Purpose;
use super::configuration::{Block, Blocks};
use super::hash;
use super::literal::{Leaf, Leaves, Literal};
use super::record::Recorded;

/// Why the backend that a directory records is not the one that its configuration says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Disagreement {
    /// The configuration has a block of this type, and `init` never ran.
    NeverInitialised(String),
    /// `init` recorded a backend of this type, and no configuration says so.
    NoBlock(String),
    /// The block has changed since `init`: its type, or this option.
    Changed(Option<String>),
    /// Only what `init` recorded has this option, which decides about credentials or addresses.
    OnlyRecorded(String),
    /// An expression of the block cannot be evaluated, so the block may mean another state than the recorded one.
    NotEvaluated {
        /// The option.
        option: String,
        /// Expression that is not evaluated; no value.
        why: String,
        /// If `true`, the option decides about credentials or addresses.
        leads_elsewhere: bool,
    },
    /// The state is kept by a provider, in a state store of this type.
    StateStore(String),
    /// The record has a member that is not known, so the state may be anywhere.
    UnknownRecord(String),
}

impl Disagreement {
    /// Returns `true` if the recorded backend can be used nevertheless.
    pub(super) fn permits(&self, purpose: Purpose, trust: bool) -> bool {
        let is_read = purpose == Purpose::Read;
        match self {
            Self::NoBlock(_) | Self::OnlyRecorded(_) => trust,
            Self::NeverInitialised(_) | Self::Changed(_) => trust && is_read,
            Self::NotEvaluated { leads_elsewhere, .. } => is_read && (trust || !leads_elsewhere),
            Self::StateStore(_) | Self::UnknownRecord(_) => false,
        }
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverInitialised(kind) if kind == "cloud" => {
                f.write_str("its configuration has a cloud block, and it was never initialised")
            }
            Self::NeverInitialised(kind) => {
                write!(
                    f,
                    "its configuration has a backend block of the type {kind:?}, and it was never initialised"
                )
            }
            Self::NoBlock(kind) => write!(
                f,
                "`.terraform` records a backend of the type {kind:?}, and the configuration has no such block"
            ),
            Self::Changed(None) => f.write_str(
                "the type of the backend in the configuration has changed since it was initialised",
            ),
            Self::Changed(Some(option)) => {
                write!(f, "the option {option:?} of the backend has changed since it was initialised")
            }
            Self::OnlyRecorded(option) => write!(
                f,
                "only `.terraform` has the option {option:?} of the backend, which decides about credentials or addresses"
            ),
            Self::NotEvaluated { option, why, .. } => {
                let why = one_line(why);
                write!(f, "the option {option:?} of the backend block cannot be evaluated: {why}")
            }
            Self::StateStore(kind) => {
                write!(
                    f,
                    "a provider keeps its state, in the state store {kind:?}, which cannot be opened here"
                )
            }
            Self::UnknownRecord(member) => write!(
                f,
                "what `init` recorded in `.terraform` has the member {member:?}, which may say where its state is, and is not known"
            ),
        }
    }
}

/// Options that lead nowhere else than to the product's own service, and to no file: these a directory may record although its
/// configuration does not have them, as `-backend-config` leaves them. Literal credentials are among them: who gives them away
/// is the directory.
fn is_harmless(kind: &str, path: &str) -> bool {
    const S3: &[&str] = &[
        "access_key",
        "acl",
        "allowed_account_ids",
        "bucket",
        "dynamodb_table",
        "encrypt",
        "force_path_style",
        "forbidden_account_ids",
        "key",
        "kms_key_id",
        "lock_tags",
        "max_retries",
        "region",
        "retry_mode",
        "secret_key",
        "skip_credentials_validation",
        "skip_metadata_api_check",
        "skip_region_validation",
        "skip_requesting_account_id",
        "skip_s3_checksum",
        "sse_customer_key",
        "state_tags",
        "sts_region",
        "token",
        "use_dualstack_endpoint",
        "use_fips_endpoint",
        "use_lockfile",
        "use_path_style",
        "workspace_key_prefix",
    ];
    const GCS: &[&str] = &["access_token", "bucket", "kms_encryption_key", "prefix"];
    const AZURERM: &[&str] = &[
        "access_key",
        "client_id",
        "client_secret",
        "container_name",
        "customer_provided_key",
        "encryption_scope",
        "environment",
        "key",
        "resource_group_name",
        "sas_token",
        "snapshot",
        "storage_account_name",
        "subscription_id",
        "tenant_id",
        "timeout_seconds",
        "use_azuread_auth",
    ];
    // The connection string leads to any address, and to files.
    const PG: &[&str] = &[
        "index_name",
        "schema_name",
        "skip_index_creation",
        "skip_schema_creation",
        "skip_table_creation",
        "table_name",
    ];
    // Which authorities count, and whether any does, is no more harmless than an address.
    const HTTP: &[&str] = &[
        "client_certificate_pem",
        "client_private_key_pem",
        "headers",
        "lock_method",
        "password",
        "retry_max",
        "retry_wait_max",
        "retry_wait_min",
        "unlock_method",
        "update_method",
        "username",
    ];
    let options = match kind {
        "local" => &["path", "workspace_dir"][..],
        "s3" => S3,
        "gcs" => GCS,
        "azurerm" => AZURERM,
        "pg" => PG,
        "http" => HTTP,
        // What nothing here opens decides nothing.
        _ => return false,
    };
    options.contains(&path.split('.').next().unwrap_or(path))
}

/// Compares, and tells where each recorded option comes from.
pub(super) fn compare(
    recorded: Option<&Recorded>,
    blocks: &Blocks,
) -> (Option<Disagreement>, BTreeMap<String, Origin>) {
    let Some(recorded) = recorded else {
        let uninitialised = blocks.0.first().map(|block| match block.is_store {
            true => Disagreement::StateStore(block.kind.clone()),
            false => Disagreement::NeverInitialised(block.kind.clone()),
        });
        return (uninitialised, BTreeMap::new());
    };
    let leaves = recorded_leaves(&recorded.options);
    let directory =
        || recorded.options.keys().map(|name| (name.clone(), Origin::Directory)).collect::<BTreeMap<_, _>>();
    let mut found = (Disagreement::NoBlock(recorded.kind.clone()), directory());
    for block in &blocks.0 {
        let disagreement = differs(recorded, &leaves, block);
        let is_of_block = match &disagreement {
            None => return (None, origins(directory(), &leaves, block)),
            Some(disagreement) => disagreement.permits(Purpose::Read, false),
        };
        // Reading is permitted if the block of one product permits it.
        if !found.0.permits(Purpose::Read, false) {
            let origins = if is_of_block { origins(directory(), &leaves, block) } else { directory() };
            found = (disagreement.unwrap_or(found.0), origins);
        }
    }
    (Some(found.0), found.1)
}

fn differs(recorded: &Recorded, leaves: &Leaves, block: &Block) -> Option<Disagreement> {
    if block.is_store {
        return Some(Disagreement::StateStore(block.kind.clone()));
    }
    if block.kind != recorded.kind {
        return Some(Disagreement::Changed(None));
    }
    let says = block.options.leaves();
    let is_hash = |sum: Option<u32>| sum.is_some() && sum.map(u64::from) == recorded.hash;
    // Nothing was added to the block then.
    let is_all = is_hash(hash::of_recorded(&recorded.kind, &recorded.options));
    // The block is what it was, so what differs was added to it.
    let is_same = is_hash(hash::of_block(&recorded.kind, &recorded.options, &block.options));
    let changed = |path: &str| Some(Disagreement::Changed(Some(path.to_owned())));
    let alone = |path: &str| Some(Disagreement::OnlyRecorded(path.to_owned()));
    for (path, value) in leaves {
        let is_harmless = is_harmless(&recorded.kind, path);
        let verdict = match says_of(&says, path) {
            Some(says) if says == value => None,
            // The caller looks at these last.
            Some(Leaf::Unknown(_)) => None,
            Some(_) if is_same && is_harmless => None,
            Some(_) if is_same => alone(path),
            Some(_) => changed(path),
            None if is_all && !is_same => changed(path),
            None if is_harmless => None,
            None => alone(path),
        };
        if verdict.is_some() {
            return verdict;
        }
    }
    let is_new = |path: &String, says: &Leaf| matches!(says, Leaf::Known(_)) && !leaves.contains_key(path);
    match says.iter().find(|(path, says)| is_new(path, says)) {
        Some((path, _)) => changed(path),
        None => not_evaluated(recorded, &says),
    }
}

/// The option of a block that cannot be evaluated; first of all one that decides about credentials or addresses.
fn not_evaluated(recorded: &Recorded, says: &Leaves) -> Option<Disagreement> {
    let options = says.iter().filter_map(|(path, says)| match says {
        Leaf::Unknown(why) => {
            let leads_elsewhere = !is_harmless(&recorded.kind, path);
            Some(Disagreement::NotEvaluated { option: path.clone(), why: why.clone(), leads_elsewhere })
        }
        _ => None,
    });
    options.reduce(|found, next| match found.permits(Purpose::Read, false) {
        true => next,
        false => found,
    })
}

/// The value of a path in the block; `None` if the block does not have it. What is below a value that is not known is not known.
fn says_of<'l>(says: &'l Leaves, path: &str) -> Option<&'l Leaf> {
    let mut path = path;
    if let Some(found) = says.get(path) {
        return Some(found);
    }
    loop {
        path = path.rsplit_once('.')?.0;
        if let Some(found) = says.get(path) {
            return matches!(found, Leaf::Unknown(_)).then_some(found);
        }
    }
}

fn origins(
    mut origins: BTreeMap<String, Origin>,
    leaves: &Leaves,
    block: &Block,
) -> BTreeMap<String, Origin> {
    let says = block.options.leaves();
    for (name, origin) in &mut origins {
        let is_of = |path: &String| path.split('.').next() == Some(name.as_str());
        // All of its members have to be in the block.
        if leaves.keys().filter(|path| is_of(path)).all(|path| says_of(&says, path).is_some()) {
            *origin = Origin::Block;
        }
    }
    origins
}

/// The recorded values; a null counts as not given.
fn recorded_leaves(options: &Map<String, Value>) -> Leaves {
    let mut leaves = literal(&Value::Object(options.clone())).leaves();
    leaves.retain(|_, leaf| *leaf != Leaf::Null);
    leaves
}

fn literal(value: &Value) -> Literal {
    match value {
        Value::Null => Literal::Null,
        Value::Bool(flag) => Literal::Bool(*flag),
        Value::Number(number) => Literal::Number(number.to_string()),
        Value::String(text) => Literal::Text(text.clone()),
        Value::Array(items) => Literal::List(items.iter().map(literal).collect()),
        Value::Object(members) => {
            Literal::Map(members.iter().map(|(name, value)| (name.clone(), literal(value))).collect())
        }
    }
}
