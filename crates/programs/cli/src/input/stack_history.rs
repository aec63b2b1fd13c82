//! The copies of the state of a stack, by the ids that commands take.

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;
use groundstate_common::Timestamp;
use groundstate_pulumi_diy::{Compression, CopySource, StateCopy};
use groundstate_statemgr::{Error, ErrorKind, History, HistoryEntry, HistoryId, Op, Result, Stored, Version};

use crate::input::stack_store::{StackBackend, failed};

/// A copy of the state of a stack.
#[derive(Clone, Debug)]
pub(crate) struct NamedCopy {
    /// What commands take: `bak`, with the ending of a compression behind it, or the source and the time of the copy.
    pub(crate) id: String,
    pub(crate) copy: StateCopy,
}

impl NamedCopy {
    /// Gives each copy an id of its own. The order stays.
    pub(crate) fn all(copies: Vec<StateCopy>) -> Vec<Self> {
        let keys: Vec<(CopySource, &str)> =
            copies.iter().map(|copy| (copy.source, copy.key.as_str())).collect();
        let ids = ids(&keys);
        ids.into_iter().zip(copies).map(|(id, copy)| Self { id, copy }).collect()
    }
}

fn ids(copies: &[(CopySource, &str)]) -> Vec<String> {
    let plain: Vec<String> = copies.iter().map(|(source, key)| plain_id(*source, key)).collect();
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for id in &plain {
        *uses.entry(id).or_default() += 1;
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let one = |(plain, (_, key)): (&String, &(CopySource, &str))| {
        // Two copies of one time are told apart by their compression, and else by their number.
        let id = match uses.get(plain.as_str()) {
            Some(2..) => format!("{plain}{}", compression(key).ending()),
            _ => plain.clone(),
        };
        let number = seen.entry(id.clone()).or_default();
        *number += 1;
        if *number > 1 { format!("{id}.{number}") } else { id }
    };
    plain.iter().zip(copies).map(one).collect()
}

fn plain_id(source: CopySource, key: &str) -> String {
    if source == CopySource::Previous {
        let checkpoint = key.strip_suffix(".bak").unwrap_or(key);
        return format!("bak{}", compression(checkpoint).ending());
    }
    let name = key.strip_suffix(compression(key).ending()).unwrap_or(key);
    let endings = [".checkpoint.json", ".json"];
    let name = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let stamp = name.rsplit(['-', '.']).next().unwrap_or(name);
    format!("{source}-{stamp}")
}

/// What the end of a key says.
fn compression(key: &str) -> Compression {
    let packed = [Compression::Gzip, Compression::Zstd];
    packed.into_iter().find(|one| key.ends_with(one.ending())).unwrap_or_default()
}

/// The copies of the state of a stack as the history of a state.
pub(crate) struct StackHistory(StackBackend);

impl StackHistory {
    pub(crate) fn new(backend: StackBackend) -> Self {
        Self(backend)
    }

    async fn copies(&self, op: Op) -> Result<Vec<NamedCopy>> {
        let copies = self.0.stack(op).await?.copies().await;
        Ok(NamedCopy::all(copies.map_err(|error| failed(op, &self.0, error))?))
    }
}

impl fmt::Debug for StackHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StackHistory").field(&self.0).finish()
    }
}

#[async_trait]
impl History for StackHistory {
    async fn list(&self) -> Result<Vec<HistoryEntry>> {
        let entry = |named: NamedCopy| {
            let time = named.copy.time.unwrap_or(Timestamp::UNIX_EPOCH);
            HistoryEntry::new(HistoryId::new(&named.id), time, named.copy.size)
        };
        Ok(self.copies(Op::ListHistory).await?.into_iter().map(entry).collect())
    }

    async fn read(&self, id: &HistoryId) -> Result<Stored> {
        const OP: Op = Op::ReadHistory;
        let found = self.copies(OP).await?.into_iter().find(|named| named.id == id.as_str());
        let named = found.ok_or_else(|| {
            Error::new(ErrorKind::NotFound, OP, &self.0).because(format!("the copy {id} is gone"))
        })?;
        let read = self.0.stack(OP).await?.read_copy(&named.copy).await;
        let read = read.map_err(|error| failed(OP, &self.0, error))?;
        Ok(Stored::new(read.bytes.to_vec(), Version::new(&read.version.to_string())))
    }
}

#[cfg(test)]
mod tests {
    use groundstate_pulumi_diy::CopySource;

    use super::ids;

    #[test]
    fn each_copy_has_an_id_of_its_own() {
        use CopySource::{Backup, History, Previous, Retained};
        assert_eq!(
            ids(&[
                (Previous, ".pulumi/stacks/p/s.json.bak"),
                (Previous, ".pulumi/stacks/p/s.json.gz.bak"),
                (Backup, ".pulumi/backups/p/s/s.15.json.zst"),
                (History, ".pulumi/history/p/a-b/a-b-16.checkpoint.json"),
                (Retained, ".pulumi/stacks/p/s.json.gz.17"),
            ]),
            ["bak", "bak.gz", "backup-15", "history-16", "retained-17"]
        );
        assert_eq!(
            ids(&[
                (History, ".pulumi/history/p/s/s-16.checkpoint.json"),
                (History, ".pulumi/history/p/s/s-16.checkpoint.json.gz"),
                (History, ".pulumi/history/p/s/old-16.checkpoint.json.gz"),
            ]),
            ["history-16", "history-16.gz", "history-16.gz.2"]
        );
    }
}
