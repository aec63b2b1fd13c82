//! Keys that outlive the name of their stack: those of stacks that were removed, and of stacks whose former name another one took.
//!
//! A state names the stack whose key opens its secrets, and states are copied, kept as versions and stored in other stacks. So a key is
//! kept when its stack is removed, and a name leads to all stacks that it was the name of.

use std::collections::BTreeSet;

use groundstate_versioned::{Document, Expect, ListFilter, Name};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::keys::StackSecrets;
use crate::op::Op;
use crate::path::StackPath;
use crate::record::{NameRecord, StackRecord, WrappedDataKey};
use crate::small::{read_json, write_json};
use crate::stacks::{RECORDS, Stacks};

/// Prefix of documents with the data keys of removed stacks, by their ids.
const KEYS: &str = "pulumi/keys/";
/// Prefix of documents that say which stacks had a name before.
const FORMER: &str = "pulumi/former/";
/// Document that says which keys have wrapped data keys.
const WRAPPING: &str = "pulumi/wrapping-keys";
/// How often a document is written when other nodes are faster.
const ATTEMPTS: usize = 8;

/// Data key of a removed stack.
#[derive(Debug, Serialize, Deserialize)]
struct RetiredKey {
    path: StackPath,
    key: WrappedDataKey,
}

/// Stacks that had a name before, the oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Former {
    stacks: Vec<String>,
}

/// Names of keys that have wrapped data keys.
#[derive(Debug, Default, Serialize, Deserialize)]
struct WrappingKeys {
    names: BTreeSet<String>,
}

/// Data key by which secrets may have been encrypted under a name.
#[derive(Clone, Debug)]
pub struct StackOpener {
    stacks: Stacks,
    path: StackPath,
    id: String,
    key: WrappedDataKey,
}

impl StackOpener {
    /// Returns the name that the stack has, or had when it was removed.
    pub fn path(&self) -> &StackPath {
        &self.path
    }

    /// Returns the id of the stack.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns what decrypts the secrets of the stack.
    ///
    /// # Errors
    ///
    /// `NoKey` if the service has no key, `Unavailable` if it cannot unwrap the data key.
    pub async fn secrets(&self) -> Result<StackSecrets> {
        self.stacks.unwrapped(&self.path, &self.id, &self.key).await
    }
}

impl Stacks {
    /// Returns the data keys by which secrets may have been encrypted under a name: that of the stack that the name leads to, then those
    /// of stacks that had it before, the newest first.
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub async fn openers(&self, path: &StackPath) -> Result<Vec<StackOpener>> {
        const OP: Op = Op::Decrypt;
        let named = read_json::<NameRecord>(OP, path, &self.name(path)).await?;
        let former = read_json::<Former>(OP, path, &self.former(OP, path)?).await?;
        let former = former.map(|(former, _)| former.stacks).unwrap_or_default();
        let ids = named.into_iter().map(|(name, _)| name.stack).chain(former.into_iter().rev());
        let (mut seen, mut openers) = (BTreeSet::new(), Vec::new());
        for id in ids {
            if !seen.insert(id.clone()) {
                continue;
            }
            let record = read_json::<StackRecord>(OP, &id, &self.record(&id)).await?;
            let found = match record {
                Some((record, _)) => record.key.map(|key| (record.path, key)),
                None => {
                    let retired = read_json::<RetiredKey>(OP, &id, &self.retired(OP, &id)?).await?;
                    retired.map(|(retired, _)| (retired.path, retired.key))
                }
            };
            if let Some((path, key)) = found {
                openers.push(StackOpener { stacks: self.clone(), path, id, key });
            }
        }
        Ok(openers)
    }

    /// Keeps the data key of a stack that is about to be removed.
    pub(crate) async fn retire(&self, op: Op, id: &str, record: &StackRecord, by: &str) -> Result<()> {
        let Some(key) = record.key.clone() else { return Ok(()) };
        let retired = RetiredKey { path: record.path.clone(), key };
        write_json(op, &record.path, &self.retired(op, id)?, &retired, by, Expect::Any).await?;
        self.note_former(op, &record.path, id, by).await
    }

    /// Notes that a name was that of a stack, before the name leads elsewhere.
    pub(crate) async fn note_former(&self, op: Op, path: &StackPath, id: &str, by: &str) -> Result<()> {
        let document = self.former(op, path)?;
        for _ in 0..ATTEMPTS {
            let (mut former, expect) = match read_json::<Former>(op, path, &document).await? {
                Some((former, number)) => (former, Expect::Number(number)),
                None => (Former::default(), Expect::Absent),
            };
            if former.stacks.iter().any(|known| known == id) {
                return Ok(());
            }
            former.stacks.push(id.to_owned());
            if write_json(op, path, &document, &former, by, expect).await?.is_some() {
                return Ok(());
            }
        }
        Err(Error::new(ErrorKind::Unavailable, op, path).because("too many concurrent changes of its name"))
    }

    /// Returns the names of the keys that have wrapped data keys of this store. The first call in a store of an earlier release looks at
    /// every stack.
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub async fn wrapping_keys(&self) -> Result<BTreeSet<String>> {
        const OP: Op = Op::Decrypt;
        let document = self.wrapping_document(OP)?;
        if let Some((known, _)) = read_json::<WrappingKeys>(OP, WRAPPING, &document).await? {
            return Ok(known.names);
        }
        let mut found = WrappingKeys::default();
        let mut page = None;
        loop {
            let listed = self.documents().names(&ListFilter::prefix(RECORDS).page(page)).await;
            let listed = listed.map_err(|error| Error::of_document(OP, "stacks", error))?;
            for name in &listed.names {
                let document = self.documents().document(name);
                // A damaged record is told where its stack is used.
                if let Ok(Some((record, _))) = read_json::<StackRecord>(OP, name, &document).await {
                    found.names.extend(record.key.map(|key| key.by));
                }
            }
            page = listed.next;
            if page.is_none() {
                break;
            }
        }
        // Another node that was faster has found the same.
        write_json(OP, WRAPPING, &document, &found, "the service", Expect::Absent).await?;
        Ok(found.names)
    }

    /// Notes that a key is about to wrap data keys, unless that is known.
    pub(crate) async fn note_wrapping_key(&self, op: Op, name: &str, by: &str) -> Result<()> {
        let document = self.wrapping_document(op)?;
        for _ in 0..ATTEMPTS {
            let (mut known, expect) = match read_json::<WrappingKeys>(op, WRAPPING, &document).await? {
                Some((known, number)) => (known, Expect::Number(number)),
                None => (WrappingKeys { names: self.wrapping_keys().await? }, Expect::Any),
            };
            if !known.names.insert(name.to_owned()) {
                return Ok(());
            }
            if write_json(op, WRAPPING, &document, &known, by, expect).await?.is_some() {
                return Ok(());
            }
        }
        Err(Error::new(ErrorKind::Unavailable, op, WRAPPING).because("too many concurrent changes of it"))
    }

    fn retired(&self, op: Op, id: &str) -> Result<Document> {
        self.small(op, &format!("{KEYS}{id}"))
    }

    fn former(&self, op: Op, path: &StackPath) -> Result<Document> {
        self.small(op, &format!("{FORMER}{path}"))
    }

    fn wrapping_document(&self, op: Op) -> Result<Document> {
        self.small(op, WRAPPING)
    }

    fn small(&self, op: Op, name: &str) -> Result<Document> {
        let name = Name::parse(name).map_err(|error| {
            Error::new(ErrorKind::Corrupt, op, name)
                .because("it is not the name of a document")
                .with_source(error)
        })?;
        Ok(self.documents().document(&name))
    }
}
