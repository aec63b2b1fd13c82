//! Whether what `init` recorded is what the configuration says.

use std::collections::BTreeMap;
use std::fmt;

use groundstate_common::Origin;
use serde_json::{Map, Value};

use super::configuration::{Block, Blocks};
use super::hash;
use super::literal::{Leaves, Literal};

/// What `init` recorded of a backend.
#[derive(Clone)]
pub(super) struct Recorded {
    pub(super) kind: String,
    pub(super) options: Map<String, Value>,
    pub(super) hash: Option<u64>,
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("kind", &self.kind).finish_non_exhaustive()
    }
}

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
        let uninitialised = blocks.0.first().map(|block| Disagreement::NeverInitialised(block.kind.clone()));
        return (uninitialised, BTreeMap::new());
    };
    let leaves = recorded_leaves(&recorded.options);
    let directory =
        || recorded.options.keys().map(|name| (name.clone(), Origin::Directory)).collect::<BTreeMap<_, _>>();
    let mut found = Disagreement::NoBlock(recorded.kind.clone());
    for block in &blocks.0 {
        match differs(recorded, &leaves, block) {
            None => return (None, origins(directory(), &leaves, block)),
            Some(disagreement) => found = disagreement,
        }
    }
    (Some(found), directory())
}

fn differs(recorded: &Recorded, leaves: &Leaves, block: &Block) -> Option<Disagreement> {
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
            Some(Some(known)) if Some(known) == value.as_ref() => None,
            Some(Some(_)) if is_same && is_harmless => None,
            Some(Some(_)) if is_same => alone(path),
            Some(Some(_)) => changed(path),
            None if is_all && !is_same => changed(path),
            Some(None) | None if is_harmless => None,
            Some(None) | None => alone(path),
        };
        if verdict.is_some() {
            return verdict;
        }
    }
    let new = says.iter().find(|(path, value)| value.is_some() && !leaves.contains_key(*path));
    new.and_then(|(path, _)| changed(path))
}

/// What the block says of a path: nothing, or a value, which may not be known.
fn says_of<'l>(says: &'l Leaves, path: &str) -> Option<&'l Option<String>> {
    let mut path = path;
    loop {
        if let Some(found) = says.get(path) {
            return Some(found);
        }
        // What is not known may have any members.
        path = path.rsplit_once('.')?.0;
        if let Some(Some(_)) = says.get(path) {
            return None;
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

fn recorded_leaves(options: &Map<String, Value>) -> Leaves {
    literal(&Value::Object(options.clone())).leaves()
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
