//! What a service can do beyond the oldest protocol.

use serde::{Deserialize, Serialize};

use crate::JsonText;
use crate::lenient::or_default;

/// The answer of `GET /api/capabilities`. A service without any may answer 404.
///
/// Journaling is not among them: it is agreed on when an update starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// The capabilities. The CLI ignores names that it does not know.
    #[serde(default, deserialize_with = "or_default")]
    pub capabilities: Vec<Capability>,
}

/// One capability.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// What clients ask for, such as `batch-encrypt`.
    #[serde(default, deserialize_with = "or_default")]
    pub capability: String,
    /// The version, for capabilities that have several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The options, whose members depend on the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<JsonText>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeltaConfiguration {
    checkpoint_cutoff_size_bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct SchemaConfiguration {
    version: u64,
}

impl Capability {
    /// Many values are encrypted by one call.
    pub const BATCH_ENCRYPT: &str = "batch-encrypt";
    /// The newest version of deployments that is stored. Without it the CLI rewrites version 4 to 3 and drops its features.
    pub const DEPLOYMENT_SCHEMA_VERSION: &str = "deployment-schema-version";
    /// Checkpoints are uploaded as differences.
    pub const DELTA_CHECKPOINTS: &str = "delta-checkpoint-uploads-v2";
    /// Versions of other histories are appended by [`AppendVersion`](crate::AppendVersion). Only servers of this project have it, and the CLI
    /// does not look for it.
    pub const APPEND_VERSIONS: &str = "groundstate-append-versions";
    /// An import with the query [`EXPECTED_SHA256`](Self::EXPECTED_SHA256) is refused with 412 unless the state still has that digest.
    /// Only servers of this project have it.
    pub const CONDITIONAL_IMPORT: &str = "groundstate-conditional-import";
    /// The name in the query of a conditional import: the SHA-256 of what `GET …/export` gave, in lower-case hexadecimal digits.
    pub const EXPECTED_SHA256: &str = "expectedSha256";
    /// A client takes, renews and releases the lock of a stack without an update. Only servers of this project have it.
    pub const STACK_LOCKS: &str = "groundstate-stack-locks";
    /// The name in the query of calls on the lock of a stack: the ID of the lock, which the client chooses.
    pub const LOCK_ID: &str = "id";
}

impl Capabilities {
    /// What a server of this project offers. With `delta_cutoff`, checkpoints of at least so many bytes are uploaded as differences
    /// when the CLI does not journal; those lose pending operations, a defect of the CLI, and are best left off.
    pub fn served(delta_cutoff: Option<u64>) -> Self {
        let named = |name: &str| Capability { capability: name.to_owned(), ..Capability::default() };
        let configured = |name: &str, version, configuration: String| Capability {
            version: Some(version),
            configuration: Some(JsonText::parse(configuration).expect("only the digits of a number vary")),
            ..named(name)
        };
        let mut capabilities = vec![
            named(Capability::BATCH_ENCRYPT),
            configured(Capability::DEPLOYMENT_SCHEMA_VERSION, 1, r#"{"version":4}"#.to_owned()),
            Capability { version: Some(1), ..named(Capability::APPEND_VERSIONS) },
            Capability { version: Some(1), ..named(Capability::CONDITIONAL_IMPORT) },
            Capability { version: Some(1), ..named(Capability::STACK_LOCKS) },
        ];
        capabilities.extend(delta_cutoff.map(|bytes| {
            let configuration = format!(r#"{{"checkpointCutoffSizeBytes":{bytes}}}"#);
            configured(Capability::DELTA_CHECKPOINTS, 2, configuration)
        }));
        Self { capabilities }
    }

    /// The capability of this name.
    pub fn get(&self, name: &str) -> Option<&Capability> {
        self.capabilities.iter().find(|capability| capability.capability == name)
    }

    /// The newest version of deployments that the service stores, if it says so.
    pub fn deployment_schema_version(&self) -> Option<u64> {
        let configuration = self.get(Capability::DEPLOYMENT_SCHEMA_VERSION)?.configuration.as_ref()?;
        configuration.read::<SchemaConfiguration>().ok().map(|configuration| configuration.version)
    }

    /// From how many bytes on the service takes differences of checkpoints, if it does.
    pub fn delta_cutoff(&self) -> Option<u64> {
        let configuration = self.get(Capability::DELTA_CHECKPOINTS)?.configuration.as_ref()?;
        let configuration = configuration.read::<DeltaConfiguration>().ok()?;
        Some(configuration.checkpoint_cutoff_size_bytes)
    }
}
