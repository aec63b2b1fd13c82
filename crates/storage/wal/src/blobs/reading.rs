//! Finding and reading objects.

use std::fmt;
use std::future::poll_fn;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::task::Poll;

use crate::{Error, ErrorKind, Op, Result};
use groundstate_blobs::{BlobStore, DeleteOptions, GetOptions, Key, ListOptions};

use super::failure::failed;
use super::object::{Object, Tip, decode};

/// How many objects are read at the same time.
const AT_ONCE: usize = 16;
/// How often to look again when a writer removes objects while they are looked at.
const ATTEMPTS: usize = 16;

/// The objects of a journal.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    pub(crate) store: Arc<dyn BlobStore>,
    pub(crate) prefix: Arc<str>,
}

impl fmt::Display for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.store, self.prefix)
    }
}

impl Objects {
    /// The key of an object.
    pub(crate) fn key(&self, op: Op, number: u64) -> Result<Key> {
        Key::parse(&format!("{}{number:016x}", self.prefix)).map_err(|error| failed(op, self, error))
    }

    /// The numbers of all objects, in order.
    pub(crate) async fn numbers(&self, op: Op) -> Result<Vec<u64>> {
        let (mut numbers, mut options) = (Vec::new(), ListOptions::default());
        loop {
            let page =
                self.store.list(&self.prefix, &options).await.map_err(|error| failed(op, self, error))?;
            numbers.extend(page.blobs.iter().filter_map(|blob| {
                let digits = blob.name.strip_prefix(&*self.prefix).filter(|digits| digits.len() == 16)?;
                u64::from_str_radix(digits, 16).ok()
            }));
            match page.next {
                Some(token) => options.page = Some(token),
                None => return Ok(numbers),
            }
        }
    }

    /// An object, if it is there.
    pub(crate) async fn get(&self, op: Op, number: u64) -> Result<Option<Object>> {
        let key = self.key(op, number)?;
        let found = self.store.get(&key, &GetOptions::default()).await;
        let Some(blob) = found.map_err(|error| failed(op, self, error))? else { return Ok(None) };
        let corrupt = || Error::new(ErrorKind::Corrupt, op, self).at(format!("the object {key}"));
        decode(&blob.bytes, number).map(Some).ok_or_else(corrupt)
    }

    /// Removes an object, if that works: what stays counts for nothing.
    pub(crate) async fn remove(&self, op: Op, number: u64) {
        let Ok(key) = self.key(op, number) else { return };
        drop(self.store.delete(&key, &DeleteOptions::default()).await);
    }

    /// The first of these objects, up to one that is not there.
    pub(crate) async fn get_some(&self, op: Op, numbers: RangeInclusive<u64>) -> Result<Vec<Object>> {
        let numbers = numbers.take(AT_ONCE);
        let mut running: Vec<_> = numbers.map(|number| (Box::pin(self.get(op, number)), None)).collect();
        poll_fn(|context| {
            let mut is_done = true;
            for (future, output) in running.iter_mut().filter(|(_, output)| output.is_none()) {
                match future.as_mut().poll(context) {
                    Poll::Ready(value) => *output = Some(value),
                    Poll::Pending => is_done = false,
                }
            }
            if is_done { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        let mut objects = Vec::new();
        for (_, output) in running {
            match output.transpose()?.flatten() {
                Some(object) => objects.push(object),
                None => break,
            }
        }
        Ok(objects)
    }

    /// Where the journal stands; nothing before the first writer.
    pub(crate) async fn tip(&self, op: Op) -> Result<Option<Tip>> {
        for _ in 0..ATTEMPTS {
            let Some(last) = self.numbers(op).await?.last().copied() else { return Ok(None) };
            if let Some(object) = self.get(op, last).await? {
                return Ok(Some(object.tip));
            }
        }
        let message = "its objects are replaced faster than they can be read";
        Err(Error::new(ErrorKind::Unavailable, op, self).because(message))
    }

    /// The error of an object that is not there although later ones are.
    pub(crate) fn missing(&self, op: Op, number: u64) -> Error {
        let place = format!("the object {}{number:016x}", self.prefix);
        Error::new(ErrorKind::Corrupt, op, self).because("an object is missing").at(place)
    }

    /// The error of an object whose records are not those that come next.
    pub(crate) fn out_of_order(&self, op: Op, number: u64) -> Error {
        let place = format!("the object {}{number:016x}", self.prefix);
        Error::new(ErrorKind::Corrupt, op, self)
            .because("its records do not follow those before it")
            .at(place)
    }
}
