//! The gate in front of imports: states that no Pulumi can load are refused, and readable secrets are encrypted or refused.
//!
//! `pulumi stack import --force` stores a state whose references are broken, so those pass. A state that it cannot load it never sends.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use groundstate_pulumi_deployment::{
    DecodeOptions, DeploymentFile, ReadError, condense, decode, readable_values, seal_snapshot,
};
use groundstate_pulumi_integrity::{Rule, VerifyOptions, verify};
use groundstate_pulumi_secrets::{Ciphertext, CryptError, Encrypter, Plaintext};
use groundstate_pulumi_snapshot::{SecretsProvider, Snapshot};
use serde::Deserialize;

use crate::deployment;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::StackSecrets;
use crate::op::Op;
use crate::path::StackPath;
use crate::stack::Stack;

/// Signature of a secret in a state.
const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";

/// Secrets of a state that are readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readable {
    None,
    /// The service can encrypt them: the state names the stack's own key.
    Own,
}

/// Refuses what no Pulumi can load, and readable secrets that only another key could encrypt.
pub(crate) fn check(op: Op, path: &StackPath, state: &[u8]) -> Result<Readable> {
    let Some(file) = read(op, path, state)? else { return unknown(op, path, state) };
    let Some(snapshot) = &file.snapshot else { return Ok(Readable::None) };
    let report = verify(snapshot, &VerifyOptions::default().loading(true));
    if let Some(found) = report.findings.iter().find(|finding| finding.rule.is_of_loading()) {
        return Err(Error::new(ErrorKind::Invalid, op, path)
            .because(format!("pulumi cannot load the state: {found}")));
    }
    check_readable(op, path, snapshot)
}

/// Refuses readable secrets that only another key could encrypt.
pub(crate) fn check_readable(op: Op, path: &StackPath, snapshot: &Snapshot) -> Result<Readable> {
    let readable = readable_values(snapshot);
    if readable == 0 {
        return Ok(Readable::None);
    }
    if snapshot.secrets_provider.as_ref().is_some_and(|provider| names(provider, path)) {
        return Ok(Readable::Own);
    }
    Err(refused(op, path, &format!("{readable} secrets")))
}

/// Admits a version of a history, which is kept even where it cannot be read.
pub(crate) fn readable(op: Op, path: &StackPath, state: &[u8]) -> Result<Readable> {
    match read(op, path, state) {
        Ok(Some(DeploymentFile { snapshot: Some(snapshot), .. })) => check_readable(op, path, &snapshot),
        Ok(Some(_)) => Ok(Readable::None),
        Ok(None) | Err(_) => unknown(op, path, state),
    }
}

/// Refuses a state of a later release, or one that is damaged, if it may have readable secrets. It is kept otherwise.
fn unknown(op: Op, path: &StackPath, state: &[u8]) -> Result<Readable> {
    let has = |text: &[u8]| state.windows(text.len()).any(|found| found == text);
    match has(SECRET.as_bytes()) && has(br#""plaintext""#) {
        true => Err(refused(op, path, "secrets")),
        false => Ok(Readable::None),
    }
}

fn refused(op: Op, path: &StackPath, what: &str) -> Error {
    let reason = format!(
        "{what} of the state stand readable ({}), and the service has not the key that its secrets provider names",
        Rule::SecretReadable
    );
    let failure = Error::new(ErrorKind::Invalid, op, path).because(reason);
    failure.next_step("encrypt them before, as `pulumi stack import` does")
}

/// Reads a state without the values that are known to be sound, where nothing else is to be said of it. Returns `None` for a state of a
/// later release.
fn read(op: Op, path: &StackPath, state: &[u8]) -> Result<Option<DeploymentFile>> {
    if let Ok(Some(condensed)) = condense(state) {
        return Ok(Some(condensed.file));
    }
    match decode(state, &DecodeOptions::default()) {
        Ok(file) => Ok(Some(file)),
        Err(ReadError::Features { .. } | ReadError::TooNew { .. }) => Ok(None),
        Err(error) => {
            let failure = Error::new(ErrorKind::Invalid, op, path);
            Err(failure.because("the state cannot be read").with_source(error))
        }
    }
}

/// Returns `true` if a provider is that of the service, for the stack of this name.
fn names(provider: &SecretsProvider, path: &StackPath) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct State {
        owner: String,
        project: String,
        stack: String,
    }
    let state = provider.state.as_ref().and_then(|state| serde_json::from_str::<State>(state.as_str()).ok());
    *provider.kind == *"service"
        && state.is_some_and(|state| {
            (&*state.owner, &*state.project, &*state.stack) == (path.owner(), path.project(), path.stack())
        })
}

impl Stack {
    /// A state with its readable secrets under the key of the stack.
    pub(crate) async fn sealed(&self, op: Op, state: Bytes, readable: Readable, by: &str) -> Result<Bytes> {
        if readable == Readable::None {
            return Ok(state);
        }
        let secrets = self.secrets(by).await?;
        let mut file = deployment::read(op, self.path(), &state)?;
        if let Some(snapshot) = &mut file.snapshot {
            seal_snapshot(snapshot, &StackEncrypter(secrets)).map_err(|error| {
                self.error(ErrorKind::Invalid, op)
                    .because("its secrets cannot be encrypted")
                    .with_source(error)
            })?;
        }
        deployment::write(op, self.path(), file)
    }
}

/// Encrypts values of states.
struct StackEncrypter(StackSecrets);

impl fmt::Debug for StackEncrypter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Encrypter for StackEncrypter {
    fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, CryptError> {
        let sealed = self.0.encrypt(plaintext.expose().as_bytes()).map_err(CryptError::other)?;
        Ok(Ciphertext::new(STANDARD.encode(sealed)))
    }

    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        plaintexts.iter().map(|plaintext| self.encrypt(plaintext)).collect()
    }
}
