//! Exports and imports of deployments.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use groundstate_blobs::Precondition;
use groundstate_pulumi_deployment::{DecodeOptions, DeploymentFile, RawDeployment, ReadError, decode};
use groundstate_pulumi_integrity::{Accepted, clear_pending};

use crate::{Error, ErrorKind, Guard, Op, Result, Saved, Stack};

/// Findings that an import accepts. The default refuses what `pulumi stack import` refuses without `--force`, and readable secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportOptions {
    /// If `true`, accepts resources of another stack.
    pub force: bool,
    /// Rules that the deployment may break.
    pub accepted: Accepted,
}

/// What an import would store.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Importable {
    /// The checkpoint.
    pub document: Bytes,
    /// What is left out or accepted, a sentence each.
    pub warnings: Vec<String>,
}

/// What an import did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// Where the state is stored now.
    pub saved: Saved,
    /// What was left out or accepted, a sentence each.
    pub warnings: Vec<String>,
}

impl fmt::Debug for Importable {
    /// Shows the size of the checkpoint only: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Importable")
            .field("document", &self.document.len())
            .field("warnings", &self.warnings)
            .finish()
    }
}

impl ImportOptions {
    /// Accepts resources of another stack, and every error of the deployment. Readable secrets are still refused.
    #[must_use]
    pub fn force(mut self) -> Self {
        self.force = true;
        self.accepted = Accepted::all();
        self
    }

    /// Sets the rules that the deployment may break.
    #[must_use]
    pub fn accepting(mut self, accepted: Accepted) -> Self {
        self.accepted = accepted;
        self
    }
}

impl Stack {
    /// The deployment as `pulumi stack export` prints it, from the text that is stored: what is not understood is in it.
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound) for a stack that does not exist, and those of [`read`](Self::read).
    pub async fn export(&self) -> Result<Vec<u8>> {
        let read = self.read().await?.ok_or_else(|| self.failed(ErrorKind::NotFound, Op::Read))?;
        let raw = RawDeployment::read(&read.bytes).map_err(|error| {
            let place = self.backend().place(read.key.as_str());
            let failure = Error::new(ErrorKind::Corrupt, Op::Read, place).because(error.to_string());
            failure.next_step(format!("restore a copy of it, such as {}.bak", read.key)).with_source(error)
        })?;
        Ok(raw.to_deployment())
    }

    /// What an import of an exported deployment would store. Members that are not understood stay; pending operations are removed,
    /// and each is a warning. Asks nothing of the store.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) for a text that is not a deployment; [`Unsupported`](ErrorKind::Unsupported) for a version or a
    /// feature that is not known; [`Broken`](ErrorKind::Broken) for resources of another
    /// stack, for broken integrity and for readable secrets, unless accepted; the [`source`](std::error::Error::source) is the
    /// [`GateError`](groundstate_pulumi_integrity::GateError) then.
    pub fn importable(&self, text: &[u8], options: &ImportOptions) -> Result<Importable> {
        let invalid = |error: ReadError| {
            let kind = match error {
                ReadError::TooNew { .. } | ReadError::Features { .. } => ErrorKind::Unsupported,
                _ => ErrorKind::Invalid,
            };
            let reason = format!("the file cannot be imported: {error}");
            self.failed(kind, Op::Import).because(reason).with_source(error)
        };
        let raw = RawDeployment::read(text).map_err(invalid)?;
        let mut file = decode(text, &DecodeOptions::default()).map_err(invalid)?;
        let mut warnings = Vec::new();
        if let Some(why) = foreign(self, &file) {
            if !options.force {
                let failure = self.failed(ErrorKind::Broken, Op::Import).because(why);
                return Err(failure.next_step("import it into its own stack, or force the import"));
            }
            warnings.push(why);
        }
        let document = match &mut file.snapshot {
            Some(snapshot) if !snapshot.pending_operations.is_empty() => {
                let all = 0..snapshot.pending_operations.len();
                for operation in clear_pending(snapshot, all) {
                    warnings.push(format!(
                        "removing pending operation '{}' on '{}' from snapshot",
                        operation.kind.as_str(),
                        operation.resource.urn
                    ));
                }
                self.document(&file)?
            }
            _ => Bytes::from(raw.to_checkpoint(&self.reference().to_string())),
        };
        self.check_gate(&document, &options.accepted)?;
        Ok(Importable { document, warnings })
    }

    /// Replaces the deployment by an exported one, as [`importable`](Self::importable) says.
    ///
    /// # Errors
    ///
    /// Those of [`importable`](Self::importable); [`NotFound`](ErrorKind::NotFound) for a stack that does not exist, and those
    /// of [`Writer::save`](crate::Writer::save). Nothing is written then, unless it is [`Ambiguous`](ErrorKind::Ambiguous): what is
    /// stored is not known then.
    pub async fn import(
        &self,
        text: &[u8],
        options: &ImportOptions,
        guard: Arc<dyn Guard>,
    ) -> Result<Imported> {
        let Importable { document, warnings } = self.importable(text, options)?;
        let selected = self.select().await?.active;
        let active = selected.ok_or_else(|| {
            let failure = self.failed(ErrorKind::NotFound, Op::Import);
            failure.next_step("create the stack, then import into it")
        })?;
        let present = self.read_object_version(&active.key).await?;
        // It was checked above, unless it is forced.
        let mut writer = self.writer(guard).expecting(Precondition::Version(present)).unchecked();
        let saved = writer.save(document).await?;
        Ok(Imported { saved, warnings })
    }

    /// Which content is stored, whether or not it can be read.
    async fn read_object_version(
        &self,
        key: &groundstate_blobs::Key,
    ) -> Result<groundstate_blobs::BlobVersion> {
        let place = self.backend().place(key.as_str());
        let head = self.backend().store().head(key).await;
        let head = head.map_err(|error| Error::from_store(Op::Import, place, error))?;
        head.map(|head| head.version).ok_or_else(|| self.failed(ErrorKind::Changed, Op::Import))
    }
}

/// The first resource that is of another stack, in the words of `pulumi`. Projects are not compared, as there.
pub(super) fn foreign(stack: &Stack, file: &DeploymentFile) -> Option<String> {
    let own = stack.reference().stack().as_str();
    let resources = &file.snapshot.as_ref()?.resources;
    let found = resources.iter().find(|resource| resource.urn.stack() != own)?;
    let (urn, other) = (&found.urn, found.urn.stack());
    Some(format!("resource '{urn}' is from a different stack ({other} != {own})"))
}
