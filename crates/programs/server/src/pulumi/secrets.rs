//! Secrets: encrypted and decrypted by the data key of a stack.

use axum::response::Response;
use groundstate_pulumi_protocol::{
    BatchDecrypt, BatchDecrypted, BatchEncrypt, BatchEncrypted, CipherBytes, DecryptValue, DecryptedValue,
    EncryptValue, EncryptedValue, PlainBytes, StackPath,
};
use groundstate_pulumi_service::{StackOpener, StackSecrets};

use super::access::{Access, Client, name, no_stack, problem};
use super::answer::{done, json};
use super::body::{Cost, Incoming};
use crate::auth::Role;
use crate::problem::Problem;

const DECRYPT: &str = "secrets.decrypt";

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

/// Keys of the stacks that have or had a name, as far as the client may read them.
struct Openers {
    openers: Vec<OpenerKind>,
}

/// Stack that is there, or the key that is left of one.
enum OpenerKind {
    Present(Box<Access>),
    Former(Box<StackOpener>),
}

impl Openers {
    /// # Errors
    ///
    /// Returns an error if no stack has or had the name, or the client may read none of them.
    async fn of(client: &Client, path: &StackPath) -> Result<Self, Problem> {
        let name = name(path)?;
        let present = access(client, path, DECRYPT, Role::Read).await;
        let former = client.app.stacks().openers(&name).await.map_err(|error| problem(&error))?;
        let known = present.as_ref().ok().map(|access| access.stack.id().to_owned());
        let former = former
            .into_iter()
            .filter(|opener| Some(opener.id()) != known.as_deref() && client.may(Role::Read, opener.path()));
        let former: Vec<_> = former.map(|opener| OpenerKind::Former(Box::new(opener))).collect();
        let mut openers = Vec::new();
        match present {
            Ok(access) => openers.push(OpenerKind::Present(Box::new(access))),
            Err(refused) if former.is_empty() => return Err(refused),
            Err(_) => {}
        }
        openers.extend(former);
        Ok(Self { openers })
    }

    /// Decrypts values, each by the key that has encrypted it. The audit log has that before the client gets them.
    async fn open(self, client: &Client, ciphertexts: &[CipherBytes]) -> Result<Vec<PlainBytes>, Problem> {
        let mut opened: Vec<Option<PlainBytes>> = ciphertexts.iter().map(|_| None).collect();
        let mut failed = None;
        for opener in self.openers {
            if !ciphertexts.is_empty() && opened.iter().all(Option::is_some) {
                break;
            }
            let (secrets, path) = match &opener {
                OpenerKind::Present(access) => (secrets(access).await, access.stack.path().clone()),
                OpenerKind::Former(opener) => {
                    (opener.secrets().await.map_err(|error| problem(&error)), opener.path().clone())
                }
            };
            let secrets = match secrets {
                Ok(secrets) => secrets,
                Err(error) => {
                    failed.get_or_insert(error);
                    continue;
                }
            };
            let mut count = 0;
            for (ciphertext, place) in
                ciphertexts.iter().zip(&mut opened).filter(|(_, place)| place.is_none())
            {
                match secrets.decrypt(ciphertext.as_bytes()) {
                    Ok(mut text) => {
                        *place = Some(PlainBytes::new(std::mem::take(&mut *text)));
                        count += 1;
                    }
                    Err(error) => {
                        failed.get_or_insert(problem(&error));
                    }
                }
            }
            let reason = if count == 1 { "1 value".to_owned() } else { format!("{count} values") };
            client.record_first(DECRYPT, &path, reason).await?;
        }
        let opened: Option<Vec<PlainBytes>> = opened.into_iter().collect();
        opened.ok_or_else(|| failed.unwrap_or_else(|| no_stack("of these secrets")))
    }
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
    let openers = Openers::of(client, path).await?;
    let asked: DecryptValue = incoming.small().await?;
    let mut opened = openers.open(client, std::slice::from_ref(&asked.ciphertext)).await?;
    let plaintext = opened.pop().ok_or_else(|| no_stack(path))?;
    json(&DecryptedValue { plaintext })
}

/// `POST …/batch-encrypt`.
pub(super) async fn batch_encrypt(
    client: &Client,
    path: &StackPath,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    let access = access(client, path, "secrets.encrypt", Role::Lock).await?;
    let app = incoming.app;
    let asked: BatchEncrypt = incoming.large(Cost::VALUES).await?;
    let secrets = secrets(&access).await?;
    let work = || {
        let ciphertexts = asked.plaintexts.iter().map(|plaintext| encrypted(&secrets, plaintext));
        json(&BatchEncrypted { ciphertexts: ciphertexts.collect::<Result<_, _>>()? })
    };
    app.apart(work).await?
}

/// `POST …/batch-decrypt`. The answer has every value that was asked for: the CLI crashes without one.
pub(super) async fn batch_decrypt(
    client: &Client,
    path: &StackPath,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    let openers = Openers::of(client, path).await?;
    let app = incoming.app;
    let BatchDecrypt { ciphertexts } = incoming.large(Cost::VALUES).await?;
    let plaintexts = app.carry_out(openers.open(client, &ciphertexts)).await??;
    app.apart(|| json(&BatchDecrypted { plaintexts: ciphertexts.into_iter().zip(plaintexts).collect() }))
        .await?
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
