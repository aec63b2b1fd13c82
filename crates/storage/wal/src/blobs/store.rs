//! The journal under a prefix of a container.

use std::fmt;
use std::sync::Arc;

use crate::frame::FrameKind;
use crate::{
    Cursor, Epoch, Error, ErrorKind, Head, JournalStore, JournalWriter, Op, OpenOptions, Page, Position,
    Result, traced,
};
use async_trait::async_trait;
use groundstate_blobs::{BlobStore, Key};
use groundstate_common::IdSource;

use super::failure::failed;
use super::object::Tip;
use super::reading::Objects;
use super::writer::BlobWriter;

const PAGE_BYTES: usize = 1 << 20;

/// A journal under a prefix of a container, where nothing else is. Clones are clients of the same journal.
#[derive(Clone, Debug)]
pub struct BlobJournal {
    objects: Objects,
    ids: Arc<dyn IdSource>,
}

impl BlobJournal {
    /// The journal under this prefix, such as `prod.tfstate.changes/`. The ids tell writers apart.
    ///
    /// # Errors
    ///
    /// `Invalid` for a prefix that no key can have, and for a store that cannot create under the condition that nothing is
    /// there.
    pub fn new(store: Arc<dyn BlobStore>, prefix: &str, ids: Arc<dyn IdSource>) -> Result<Self> {
        let objects = Objects { store, prefix: prefix.into() };
        if !objects.store.capabilities().conditional_put {
            let message = "its service has no conditional writes, so two writers could not be told apart";
            return Err(Error::new(ErrorKind::Invalid, Op::Use, &objects).because(message));
        }
        Key::parse(&format!("{prefix}{:016x}", 0)).map_err(|error| failed(Op::Use, &objects, error))?;
        Ok(Self { objects, ids })
    }

    /// Reads the part that no reader of entries needs: the floor, by which writers find out that they were overtaken.
    ///
    /// # Errors
    ///
    /// `Corrupt` if it is damaged, and those of the store.
    pub async fn check_floor(&self) -> Result<()> {
        self.objects.floor(Op::Read).await.map(drop)
    }

    fn is_over<T>(&self) -> Result<T> {
        Err(Error::new(ErrorKind::NoEpoch, Op::Read, &self.objects))
    }

    /// The position is behind the end, or it is the end.
    fn end(&self, end: Position, asked: Position) -> Result<Page> {
        if asked <= end {
            return Ok(Page::new(Vec::new(), None));
        }
        let message = format!("it has {end} records, and was asked for number {asked}");
        Err(Error::new(ErrorKind::Invalid, Op::Read, &self.objects).because(message))
    }
}

impl fmt::Display for BlobJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.objects.fmt(f)
    }
}

#[async_trait]
impl JournalStore for BlobJournal {
    async fn open(&self, options: &OpenOptions) -> Result<Arc<dyn JournalWriter>> {
        traced::open(self, options, self.writer(options)).await
    }

    async fn head(&self) -> Result<Option<Head>> {
        traced::head(self, self.current()).await
    }

    async fn read(&self, from: &Cursor) -> Result<Page> {
        traced::read(self, from, self.page_at(from)).await
    }
}

impl BlobJournal {
    async fn writer(&self, options: &OpenOptions) -> Result<Arc<dyn JournalWriter>> {
        let id = self.ids.uuid().map_err(|error| {
            let message = "there is no id for a new writer";
            Error::new(ErrorKind::Internal, Op::Open, self).because(message).with_source(error)
        })?;
        Ok(Arc::new(BlobWriter::open(self.objects.clone(), id, options).await?))
    }

    async fn current(&self) -> Result<Option<Head>> {
        // A writer may end the epoch between the two requests.
        for _ in 0..16 {
            let Some(tip) = self.objects.tip(Op::Read).await? else { return Ok(None) };
            let Some(epoch) = tip.stored() else { return Ok(None) };
            if let Some(object) = self.objects.get(Op::Read, tip.base).await? {
                let base = object.records.into_iter().next().unwrap_or_default();
                return Ok(Some(Head::new(epoch, base)));
            }
            if self.is_stored(tip).await? {
                return Err(self.objects.missing(Op::Read, tip.base));
            }
        }
        let message = "its epochs end faster than they can be read";
        Err(Error::new(ErrorKind::Unavailable, Op::Read, self).because(message))
    }

    /// Whether the epoch that this tip is in still counts.
    async fn is_stored(&self, tip: Tip) -> Result<bool> {
        Ok(self.objects.tip(Op::Read).await?.is_some_and(|now| now.base == tip.base))
    }

    /// The error of an object, unless the epoch ended while it was read: then there is nothing wrong with it.
    async fn over_or(&self, tip: Tip, error: Error) -> Result<Page> {
        if self.is_stored(tip).await? { Err(error) } else { self.is_over() }
    }

    async fn page_at(&self, from: &Cursor) -> Result<Page> {
        let (asked, (hint, _)) = (from.position(), from.hint());
        let Some(tip) = self.objects.tip(Op::Read).await? else { return self.is_over() };
        if tip.stored() != Some(from.epoch()) {
            return self.is_over();
        }
        if asked >= tip.next {
            return self.end(tip.next, asked);
        }
        // Without a hint the objects behind the base lead there.
        let (mut number, mut place) =
            if hint > tip.base { (hint, asked) } else { (tip.base + 1, Position::START) };
        let (mut records, mut size) = (Vec::new(), 0_usize);
        while size < PAGE_BYTES && number <= tip.number {
            let objects = self.objects.get_some(Op::Read, number..=tip.number).await?;
            if objects.is_empty() {
                return self.over_or(tip, self.objects.missing(Op::Read, number)).await;
            }
            for object in objects {
                if Epoch::new(object.tip.epoch) != from.epoch() {
                    return self.is_over();
                }
                number = object.tip.number + 1;
                if object.kind != FrameKind::Batch {
                    continue;
                }
                if object.first != place {
                    let error = self.objects.out_of_order(Op::Read, object.tip.number);
                    return self.over_or(tip, error).await;
                }
                place = object.tip.next;
                let skip =
                    usize::try_from(asked.get().saturating_sub(object.first.get())).unwrap_or(usize::MAX);
                for record in object.records.into_iter().skip(skip) {
                    size = size.saturating_add(record.as_bytes().len() + 16);
                    records.push(record);
                }
            }
        }
        let next = (place < tip.next).then(|| Cursor::new(from.epoch(), place).with_hint((number, 0)));
        Ok(Page::new(records, next))
    }
}
