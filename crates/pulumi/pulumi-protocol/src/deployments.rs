//! States: exports, imports, checkpoints and entries of journals, each inner text as it came.

use serde::{Deserialize, Serialize};

use crate::lenient::or_default;
use crate::{DeltaError, Edit, JsonText, apply_delta, sha256, verify_sha256};

/// A deployment with its version: the answer of `GET …/export`, the body of `POST …/import`, the first state of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntypedDeployment {
    /// The version of the format, 1 to 4.
    #[serde(default, deserialize_with = "or_default")]
    pub version: u64,
    /// What a reader has to understand, from version 4 on.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// The inner deployment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<JsonText>,
}

/// Why a document is not a deployment that can be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeploymentError {
    /// The version is not one of the format.
    #[error("deployments have the versions 1 to 4, not {0}")]
    Version(u64),
    /// The inner deployment is missing, or not an object.
    #[error("the member `deployment` is not an object")]
    NoObject,
}

impl UntypedDeployment {
    /// The versions of the format.
    pub const VERSIONS: std::ops::RangeInclusive<u64> = 1..=4;

    /// The inner deployment of a stack without resources.
    pub const EMPTY: &str =
        r#"{"manifest":{"time":"0001-01-01T00:00:00Z","magic":"","version":""},"metadata":{}}"#;

    /// The inner deployment, if the version is one of the format and the deployment is an object.
    ///
    /// # Errors
    ///
    /// [`DeploymentError`]
    pub fn checked(&self) -> Result<&JsonText, DeploymentError> {
        if !Self::VERSIONS.contains(&self.version) {
            return Err(DeploymentError::Version(self.version));
        }
        self.deployment.as_ref().filter(|text| text.is_object()).ok_or(DeploymentError::NoObject)
    }
}

/// The answer of `POST …/import`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedStack {
    /// The id of the update that the client polls.
    #[serde(default, deserialize_with = "or_default")]
    pub update_id: String,
    /// The SHA-256 of what `GET …/export` answers now, in lower-case hexadecimal digits. Only servers of this project say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// The body of `PATCH …/checkpoint`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// Whether there is no valid state any more; old CLIs say so.
    #[serde(default, deserialize_with = "or_default")]
    pub is_invalid: bool,
    /// The version of the format of deployments.
    #[serde(default, deserialize_with = "or_default")]
    pub version: u64,
    /// What a reader has to understand.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// The inner deployment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<JsonText>,
}

/// The body of `PATCH …/checkpointverbatim`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointVerbatim {
    /// The version of the format of deployments.
    #[serde(default, deserialize_with = "or_default")]
    pub version: u64,
    /// An [`UntypedDeployment`] as the text that later differences refer to.
    pub untyped_deployment: JsonText,
    /// The number of the save within its update, from 1.
    #[serde(default, deserialize_with = "or_default")]
    pub sequence_number: u64,
}

impl CheckpointVerbatim {
    /// The SHA-256 of the text, to compare with another upload of the same number.
    pub fn hash(&self) -> String {
        sha256(self.untyped_deployment.as_bytes())
    }
}

/// The body of `PATCH …/checkpointdelta`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointDelta {
    /// The version of the format of deployments.
    #[serde(default, deserialize_with = "or_default")]
    pub version: u64,
    /// The SHA-256 of the new text, in lower-case hexadecimal digits.
    #[serde(default, deserialize_with = "or_default")]
    pub checkpoint_hash: String,
    /// The number of the save within its update. The edits refer to the text of the number before it.
    #[serde(default, deserialize_with = "or_default")]
    pub sequence_number: u64,
    /// The edits.
    #[serde(default, deserialize_with = "or_default")]
    pub deployment_delta: Vec<Edit>,
}

impl CheckpointDelta {
    /// The new text: the edits applied to the text before, and the hash verified.
    ///
    /// # Errors
    ///
    /// [`DeltaError`]; the client sends the whole text then.
    pub fn apply(&self, old: &[u8], limit: usize) -> Result<Vec<u8>, DeltaError> {
        let new = apply_delta(old, &self.deployment_delta, limit)?;
        verify_sha256(&new, &self.checkpoint_hash)?;
        Ok(new)
    }
}

/// The body of `PATCH …/journalentries`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntries {
    /// The entries, each as its text. `groundstate-pulumi-journal` reads them.
    #[serde(default, deserialize_with = "or_default")]
    pub entries: Vec<JsonText>,
}
