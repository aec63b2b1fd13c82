//! The conformance cases of journals, with large and with tiny segments and pages.

use std::fs::OpenOptions as FileOptions;
use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_conformance::journals::{JournalHarness, TestJournal};
use groundstate_wal::fs::FsJournalOptions;
use groundstate_wal::{Error, ErrorKind, JournalStore, Op, OpenOptions, Record, Result};

use super::support::Folder;

struct Folders(FsJournalOptions);

#[async_trait]
impl JournalHarness for Folders {
    async fn journal(&self) -> Result<Arc<dyn TestJournal>> {
        Ok(Arc::new(OneFolder(Folder::with(self.0.clone()))))
    }
}

struct OneFolder(Folder);

fn failed(error: io::Error) -> Error {
    Error::new(ErrorKind::Internal, Op::Other("prepare"), "the folder").with_source(error)
}

#[async_trait]
impl TestJournal for OneFolder {
    async fn open(&self) -> Result<Arc<dyn JournalStore>> {
        Ok(Arc::new(self.0.journal()))
    }

    async fn tear(&self, keep: u32) -> Result<bool> {
        let writer = self.0.journal().open(&OpenOptions::new("dying").take_over(true)).await?;
        let before = std::fs::metadata(self.0.last_segment()).map_err(failed)?.len();
        writer.append(&[Record::from(vec![b'x'; 3000]), Record::default()]).await?;
        drop(writer);
        let file = FileOptions::new().write(true).open(self.0.last_segment()).map_err(failed)?;
        let batch = file.metadata().map_err(failed)?.len() - before;
        file.set_len(before + (batch * u64::from(keep)).div_ceil(1000)).map_err(failed)?;
        Ok(true)
    }

    async fn damage(&self) -> Result<bool> {
        let first = self.0.names().into_iter().find(|name| name.ends_with(".log"));
        let path = self.0.path().join(first.expect("batches were written"));
        let mut bytes = std::fs::read(&path).map_err(failed)?;
        let at =
            bytes.windows(7).position(|window| window == b"batch 0").expect("it is in the first segment");
        bytes[at] ^= 1;
        std::fs::write(&path, bytes).map_err(failed)?;
        Ok(true)
    }
}

mod large {
    use super::{Folders, FsJournalOptions};

    groundstate_conformance::journal_suite!(Folders(FsJournalOptions::default()));
}

mod tiny {
    use super::{Folders, FsJournalOptions};

    groundstate_conformance::journal_suite!(Folders(
        FsJournalOptions::default().segment_bytes(1).page_bytes(1)
    ));
}
