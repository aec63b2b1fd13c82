//! Notes in any store, as a small JSON document.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_ordering::effects::Intent;
use groundstate_ordering::{ApplyKind, OpKind};
use groundstate_statemgr::{Error, ErrorKind, Op, Result, StateStore, WriteOptions};
use groundstate_states::DeposedKey;
use groundstate_states::addr::{AbsResourceInstance, ProviderInstance};
use serde::{Deserialize, Serialize};

use crate::intents::IntentLog;

const VERSION: u32 = 1;
/// No provider address that is written here lacks its host, so this one is never used.
const NO_HOST: &str = "registry.opentofu.org";

/// Notes in a store of their own, best beside the state: a file `terraform.tfstate.intents`, another object of the bucket.
///
/// The holder of the state's lock writes them, so the store needs no lock. Each write is as durable as the store's.
#[derive(Clone, Debug)]
pub struct StoredIntents {
    store: Arc<dyn StateStore>,
}

#[derive(Deserialize, Serialize)]
struct Document {
    version: u32,
    intents: Vec<Note>,
}

#[derive(Deserialize, Serialize)]
struct Note {
    address: String,
    operation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deposed: Option<String>,
    provider: String,
}

impl StoredIntents {
    /// Notes in this store, which holds nothing else.
    #[must_use]
    pub fn new(store: Arc<dyn StateStore>) -> Self {
        Self { store }
    }

    fn corrupt(&self, why: String) -> Error {
        let message = format!("the notes of an interrupted run cannot be understood: {why}");
        Error::new(ErrorKind::Corrupt, Op::Read, &self.store).because(message)
    }
}

#[async_trait]
impl IntentLog for StoredIntents {
    async fn read(&self) -> Result<Vec<Intent>> {
        let Some(stored) = self.store.read().await? else { return Ok(Vec::new()) };
        let document: Document =
            serde_json::from_slice(&stored.bytes).map_err(|error| self.corrupt(error.to_string()))?;
        if document.version != VERSION {
            let why = format!("they are of version {}, this release knows {VERSION}", document.version);
            return Err(self.corrupt(why));
        }
        let intents = document.intents.iter().map(Note::to_intent);
        intents.collect::<Result<_, String>>().map_err(|why| self.corrupt(why))
    }

    async fn replace(&self, open: &[Intent]) -> Result<()> {
        let document = Document { version: VERSION, intents: open.iter().map(Note::of).collect() };
        let mut bytes = serde_json::to_vec_pretty(&document)
            .map_err(|error| Error::new(ErrorKind::Internal, Op::Write, &self.store).with_source(error))?;
        bytes.push(b'\n');
        self.store.write(bytes.into(), &WriteOptions::any()).await?;
        Ok(())
    }
}

impl Note {
    fn of(intent: &Intent) -> Self {
        let deposed = match intent.kind {
            OpKind::DestroyDeposed(key) | OpKind::ForgetDeposed(key) => Some(key),
            _ => intent.deposes_to,
        };
        Self {
            address: intent.addr.to_string(),
            operation: intent.kind.name().to_owned(),
            deposed: deposed.map(|key| key.to_string()),
            provider: intent.provider.to_string(),
        }
    }

    fn to_intent(&self) -> Result<Intent, String> {
        let addr = AbsResourceInstance::parse(&self.address).map_err(|error| error.to_string())?;
        let provider = ProviderInstance::parse(&self.provider, NO_HOST).map_err(|error| error.to_string())?;
        let deposed = self.deposed.as_deref().map(DeposedKey::parse).transpose();
        let deposed = deposed.map_err(|error| error.to_string())?;
        let need = || deposed.ok_or_else(|| format!("{} of {addr} names no deposed object", self.operation));
        let kinds = [
            OpKind::Apply(ApplyKind::Check),
            OpKind::Apply(ApplyKind::Create),
            OpKind::Apply(ApplyKind::Read),
            OpKind::Apply(ApplyKind::Update),
            OpKind::Apply(ApplyKind::ReplaceCreate),
            OpKind::Apply(ApplyKind::ForgetCreate),
            OpKind::Destroy,
            OpKind::Forget,
        ];
        let kind = match self.operation.as_str() {
            "destroy-deposed" => OpKind::DestroyDeposed(need()?),
            "forget-deposed" => OpKind::ForgetDeposed(need()?),
            name => {
                let known = kinds.into_iter().find(|kind| kind.name() == name);
                known.ok_or_else(|| format!("there is no operation {name:?}"))?
            }
        };
        let deposes_to = deposed.filter(|_| kind == OpKind::Apply(ApplyKind::ReplaceCreate));
        Ok(Intent::new(addr, kind, provider, deposes_to))
    }
}
