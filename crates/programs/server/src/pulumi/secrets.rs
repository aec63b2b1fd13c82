//! Secrets: encrypted and decrypted by the data key of a stack.

use std::collections::BTreeMap;

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::access::{Access, Client, no_stack, problem};
use super::answer::{done, json};
use super::body::Incoming;
use super::route::Path;
use crate::auth::Role;
use crate::problem::{Problem, ProblemType};

#[derive(Deserialize, Serialize)]
struct Plain {
    #[serde(default)]
    plaintext: Zeroizing<String>,
}

#[derive(Deserialize, Serialize)]
struct Sealed {
    #[serde(default)]
    ciphertext: String,
}

#[derive(Deserialize)]
struct Plains {
    #[serde(default)]
    plaintexts: Option<Vec<Zeroizing<String>>>,
}

#[derive(Deserialize, Serialize)]
struct AllSealed {
    #[serde(default)]
    ciphertexts: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Opened {
    plaintexts: BTreeMap<String, Zeroizing<String>>,
}

/// The stack, by the name that it has or had: states and configurations keep old names.
async fn access(client: &Client, path: &Path, action: &'static str, role: Role) -> Result<Access, Problem> {
    let name = path.name().ok_or_else(|| no_stack(path))?;
    let stack = client.app.stacks().stack_of_any_name(&name).await.map_err(|error| problem(&error))?;
    client.check(action, role, stack.path())?;
    Ok(Access { client: client.clone(), stack })
}

fn decode(text: &str) -> Result<Zeroizing<Vec<u8>>, Problem> {
    let detail = "Bad Request: a value is not base64";
    STANDARD.decode(text).map(Zeroizing::new).map_err(|_| Problem::new(ProblemType::BadRequest, detail))
}

/// `POST …/encrypt`.
pub(super) async fn encrypt(
    client: &Client,
    path: &Path,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    let access = access(client, path, "secrets.encrypt", Role::Lock).await?;
    let asked: Plain = incoming.small().await?;
    let secrets = access.stack.secrets(client.name()).await.map_err(|error| problem(&error))?;
    let sealed = secrets.encrypt(&decode(&asked.plaintext)?).map_err(|error| problem(&error))?;
    json(&Sealed { ciphertext: STANDARD.encode(sealed) })
}

/// `POST …/decrypt`.
pub(super) async fn decrypt(
    client: &Client,
    path: &Path,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    const ACTION: &str = "secrets.decrypt";
    let access = access(client, path, ACTION, Role::Read).await?;
    let asked: Sealed = incoming.small().await?;
    let secrets = access.stack.secrets(client.name()).await.map_err(|error| problem(&error))?;
    access.record_first(ACTION, "1 value".to_owned()).await?;
    let opened = secrets.decrypt(&decode(&asked.ciphertext)?).map_err(|error| problem(&error))?;
    json(&Plain { plaintext: Zeroizing::new(STANDARD.encode(&*opened)) })
}

/// `POST …/batch-encrypt`.
pub(super) async fn batch_encrypt(
    client: &Client,
    path: &Path,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    let access = access(client, path, "secrets.encrypt", Role::Lock).await?;
    let asked: Plains = incoming.large().await?;
    let secrets = access.stack.secrets(client.name()).await.map_err(|error| problem(&error))?;
    let mut ciphertexts = Vec::new();
    for plaintext in asked.plaintexts.unwrap_or_default() {
        let sealed = secrets.encrypt(&decode(&plaintext)?).map_err(|error| problem(&error))?;
        ciphertexts.push(STANDARD.encode(sealed));
    }
    json(&AllSealed { ciphertexts: Some(ciphertexts) })
}

/// `POST …/batch-decrypt`. The answer has every value that was asked for: the CLI crashes without one.
pub(super) async fn batch_decrypt(
    client: &Client,
    path: &Path,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    const ACTION: &str = "secrets.decrypt";
    let access = access(client, path, ACTION, Role::Read).await?;
    let asked: AllSealed = incoming.large().await?;
    let ciphertexts = asked.ciphertexts.unwrap_or_default();
    let secrets = access.stack.secrets(client.name()).await.map_err(|error| problem(&error))?;
    access.record_first(ACTION, format!("{} values", ciphertexts.len())).await?;
    let mut plaintexts = BTreeMap::new();
    for ciphertext in ciphertexts {
        let opened = secrets.decrypt(&decode(&ciphertext)?).map_err(|error| problem(&error))?;
        plaintexts.insert(ciphertext, Zeroizing::new(STANDARD.encode(&*opened)));
    }
    json(&Opened { plaintexts })
}

/// `POST …/decrypt/log-decryption`: that a client shows secrets, which the audit log has already.
pub(super) async fn log_decryption(
    client: &Client,
    path: &Path,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    access(client, path, "secrets.decrypt", Role::Read).await?;
    incoming.small::<serde::de::IgnoredAny>().await?;
    Ok(done())
}
