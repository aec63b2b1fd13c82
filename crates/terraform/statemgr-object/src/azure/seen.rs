//! What a client knows of the blob of a state, so that it need not ask again.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundstate_blobs::{Blob, BlobMeta, BlobVersion};
use groundstate_common::hex;
use groundstate_statemgr::{LockInfo, Version};
use sha2::{Digest, Sha256};

/// The entry of metadata that has the lock document. Names of metadata are in lower case here, as services return them.
pub(crate) const LOCK_ENTRY: &str = "terraformlockid";

/// The entry of metadata that has the documents of those who are about to take the lease, the newest last. A lease whose
/// taker was cut off before it wrote its lock document is then known by the id that its taker chose.
pub(crate) const INTENT_ENTRY: &str = "groundstatelocking";

/// How many intents are kept, those of others that were cut off among them. Metadata has room for 8 KiB.
const MOST_INTENTS: usize = 4;

/// The blob as it was when it was last seen.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Changes with the content *and* with the metadata, so with each lock.
    pub(crate) blob: BlobVersion,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) content: Content,
}

/// What the blob has for content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Zero bytes, which locks leave behind: no state.
    Empty,
    /// This state.
    State(Version),
    /// A state, not read yet.
    Unread,
}

impl Seen {
    /// Where there is no blob yet.
    pub(crate) fn nothing() -> Self {
        Self { blob: BlobVersion::default(), metadata: BTreeMap::new(), content: Content::Empty }
    }

    /// After the content was read.
    pub(crate) fn read(blob: &Blob) -> Self {
        let content =
            if blob.bytes.is_empty() { Content::Empty } else { Content::State(version_of(&blob.bytes)) };
        Self { blob: blob.meta.version.clone(), metadata: blob.meta.attributes.metadata.clone(), content }
    }

    /// After the description was read. What was known of the content stays if it is the same blob.
    pub(crate) fn described(meta: &BlobMeta, before: Option<&Self>) -> Self {
        let content = match before {
            _ if meta.size == 0 => Content::Empty,
            Some(before) if before.blob.same_as(&meta.version) => before.content.clone(),
            _ => Content::Unread,
        };
        Self { blob: meta.version.clone(), metadata: meta.attributes.metadata.clone(), content }
    }

    /// The version of the state, if it was read.
    pub(crate) fn version(&self) -> Option<&Version> {
        match &self.content {
            Content::State(version) => Some(version),
            Content::Empty | Content::Unread => None,
        }
    }

    /// The lock document, if there is one that can be read.
    pub(crate) fn document(&self) -> Option<LockInfo> {
        let document = STANDARD.decode(self.metadata.get(LOCK_ENTRY)?).ok()?;
        LockInfo::parse(&document).ok()
    }

    /// The documents of those who were about to take the lease, the newest first.
    pub(crate) fn intents(&self) -> Vec<LockInfo> {
        let lines = self.metadata.get(INTENT_ENTRY).and_then(|text| STANDARD.decode(text).ok());
        let lines = lines.unwrap_or_default();
        let documents = lines.split(|byte| *byte == b'\n').rev();
        documents.filter_map(|document| LockInfo::parse(document).ok()).collect()
    }
}

/// Tells contents apart by themselves: the tags of the service change with every lock, and a lock changes no state.
pub(crate) fn version_of(bytes: &[u8]) -> Version {
    Version::new(&format!("sha256:{}", hex(&Sha256::digest(bytes))))
}

/// The metadata with the intent to take the lease with this document.
pub(crate) fn with_intent(seen: &Seen, info: &LockInfo) -> BTreeMap<String, String> {
    let mut intents = seen.intents();
    intents.retain(|intent| intent.id != info.id);
    intents.truncate(MOST_INTENTS - 1);
    intents.reverse();
    intents.push(info.clone());
    let lines: Vec<String> = intents.iter().map(LockInfo::to_json).collect();
    let mut metadata = seen.metadata.clone();
    metadata.insert(INTENT_ENTRY.to_owned(), STANDARD.encode(lines.join("\n")));
    metadata
}

/// The metadata with this lock document, in place of all intents.
pub(crate) fn with_document(
    metadata: &BTreeMap<String, String>,
    info: &LockInfo,
) -> BTreeMap<String, String> {
    let mut metadata = metadata.clone();
    metadata.remove(INTENT_ENTRY);
    metadata.insert(LOCK_ENTRY.to_owned(), STANDARD.encode(info.to_json()));
    metadata
}

/// The metadata without any lock document.
pub(crate) fn without_document(metadata: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut metadata = metadata.clone();
    metadata.remove(LOCK_ENTRY);
    metadata
}
