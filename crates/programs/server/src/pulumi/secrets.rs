//! Secrets: encrypted and decrypted by the data key of a stack.

use std::collections::BTreeMap;

use axum::response::Response;
use groundstate_pulumi_protocol::{
    BatchDecrypt, BatchDecrypted, BatchEncrypt, BatchEncrypted, CipherBytes, DecryptValue, DecryptedValue,
    EncryptValue, EncryptedValue, PlainBytes, StackPath,
};
use groundstate_pulumi_service::StackSecrets;

use super::access::{Access, Client, name, problem};
use super::answer::{done, json};
use super::body::Incoming;
use crate::auth::Role;
use crate::problem::Problem;

/// The stack, by the name that it has or had: states and configurations keep old names.
async fn access(
    client: &Client,
    path: &StackPath,
    action: &'static str,
    role: Role,
) -> Result<Access, Problem> {
    let name = name(path)?;
    let stack = client.app.stacks().stack_of_any_name(&name).await;
    // Users without the role do not learn whether there is such a stack.
    client.check(action, role, stack.as_ref().map_or(&name, |stack| stack.path()))?;
    Ok(Access { client: client.clone(), stack: stack.map_err(|error| problem(&error))? })
}

async fn secrets(access: &Access) -> Result<StackSecrets, Problem> {
    access.stack.secrets(access.client.name()).await.map_err(|error| problem(&error))
}

fn encrypted(secrets: &StackSecrets, plaintext: &PlainBytes) -> Result<CipherBytes, Problem> {
    secrets.encrypt(plaintext.expose()).map(CipherBytes::new).map_err(|error| problem(&error))
}

fn decrypted(secrets: &StackSecrets, ciphertext: &CipherBytes) -> Result<PlainBytes, Problem> {
    let mut opened = secrets.decrypt(ciphertext.as_bytes()).map_err(|error| problem(&error))?;
    Ok(PlainBytes::new(std::mem::take(&mut *opened)))
}

/// `POST …/encrypt`.
pub(super) async fn encrypt(
    client: &Client,
    path: &StackPath,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    let access = access(client, path, "secrets.encrypt", Role::Lock).await?;
    let asked: EncryptValue = incoming.small().await?;
    let ciphertext = encrypted(&secrets(&access).await?, &asked.plaintext)?;
    json(&EncryptedValue { ciphertext })
}

/// `POST …/decrypt`.
pub(super) async fn decrypt(
    client: &Client,
    path: &StackPath,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    const ACTION: &str = "secrets.decrypt";
    let access = access(client, path, ACTION, Role::Read).await?;
    let asked: DecryptValue = incoming.small().await?;
    let secrets = secrets(&access).await?;
    access.record_first(ACTION, "1 value".to_owned()).await?;
    json(&DecryptedValue { plaintext: decrypted(&secrets, &asked.ciphertext)? })
}

/// `POST …/batch-encrypt`.
pub(super) async fn batch_encrypt(
    client: &Client,
    path: &StackPath,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    let access = access(client, path, "secrets.encrypt", Role::Lock).await?;
    let asked: BatchEncrypt = incoming.large().await?;
    let secrets = secrets(&access).await?;
    let ciphertexts = asked.plaintexts.iter().map(|plaintext| encrypted(&secrets, plaintext));
    json(&BatchEncrypted { ciphertexts: ciphertexts.collect::<Result<_, _>>()? })
}

/// `POST …/batch-decrypt`. The answer has every value that was asked for: the CLI crashes without one.
pub(super) async fn batch_decrypt(
    client: &Client,
    path: &StackPath,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    const ACTION: &str = "secrets.decrypt";
    let access = access(client, path, ACTION, Role::Read).await?;
    let BatchDecrypt { ciphertexts } = incoming.large().await?;
    let secrets = secrets(&access).await?;
    access.record_first(ACTION, format!("{} values", ciphertexts.len())).await?;
    let mut plaintexts = BTreeMap::new();
    for ciphertext in ciphertexts {
        let plaintext = decrypted(&secrets, &ciphertext)?;
        plaintexts.insert(ciphertext, plaintext);
    }
    json(&BatchDecrypted { plaintexts })
}

/// `POST …/decrypt/log-decryption`: that a client shows secrets, which the audit log has already.
pub(super) async fn log_decryption(
    client: &Client,
    path: &StackPath,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    access(client, path, "secrets.decrypt", Role::Read).await?;
    incoming.small::<serde::de::IgnoredAny>().await?;
    Ok(done())
}
