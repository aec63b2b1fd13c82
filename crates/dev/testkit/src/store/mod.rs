//! What all faces keep: buckets of objects, under one lock, with generations that grow.

mod object;
mod page;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;

pub use object::Stored;
pub(crate) use object::{Found, Object, http_date, rfc3339, same};
pub(crate) use page::{After, Page, page};

use crate::digest::hex;

/// The buckets of a server.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) buckets: BTreeMap<String, Bucket>,
    last: u64,
}

/// A bucket, or a container.
#[derive(Default)]
pub(crate) struct Bucket {
    pub(crate) objects: BTreeMap<String, Object>,
    /// Whether writes keep what they replace.
    pub(crate) versioned: bool,
    /// Versions that are not current, with their keys, the oldest first.
    pub(crate) old: Vec<(String, Object)>,
}

impl Store {
    /// The next generation, which no object had.
    pub(crate) fn generation(&mut self) -> u64 {
        // Like the original's, they are microseconds: a client that takes them for small numbers fails here too.
        let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_micros());
        self.last = u64::try_from(now).unwrap_or(u64::MAX).max(self.last + 1);
        self.last
    }

    /// Name for something that lives for a while, such as an upload.
    pub(crate) fn fresh_name(&mut self) -> String {
        let generation = self.generation();
        hex(&generation.to_be_bytes())
    }

    pub(crate) fn create(&mut self, bucket: &str) {
        self.buckets.entry(bucket.to_owned()).or_default();
    }

    pub(crate) fn object(&self, bucket: &str, key: &str) -> Option<&Object> {
        self.buckets.get(bucket)?.objects.get(key)
    }

    /// Stores a new object in place of any older one. The bucket has to exist; without it nothing happens.
    pub(crate) fn put(&mut self, bucket: &str, key: &str, mut object: Object) -> Option<&Object> {
        object.generation = self.generation();
        object.modified = SystemTime::now();
        let bucket = self.buckets.get_mut(bucket)?;
        if bucket.versioned {
            object.version = Some(format!("v{}", object.generation));
            bucket.retire(key);
        }
        bucket.objects.insert(key.to_owned(), object);
        bucket.objects.get(key)
    }

    /// Removes an object, and keeps it as an old version where the bucket keeps versions.
    pub(crate) fn remove(&mut self, bucket: &str, key: &str) -> Option<Object> {
        let bucket = self.buckets.get_mut(bucket)?;
        if !bucket.versioned {
            return bucket.objects.remove(key);
        }
        let current = bucket.objects.get(key).cloned();
        bucket.retire(key);
        current
    }
}

impl Bucket {
    /// Makes the current version an old one.
    fn retire(&mut self, key: &str) {
        if let Some(old) = self.objects.remove(key) {
            self.old.push((key.to_owned(), old));
        }
    }

    /// Removes one version for good.
    pub(crate) fn forget(&mut self, key: &str, version: &str) {
        let is_it = |object: &Object| object.version.as_deref() == Some(version);
        if self.objects.get(key).is_some_and(is_it) {
            self.objects.remove(key);
        }
        self.old.retain(|(of, old)| of != key || !is_it(old));
    }

    /// A version of an object, current or old.
    pub(crate) fn version(&self, key: &str, version: &str) -> Option<&Object> {
        let is_it = |object: &Object| object.version.as_deref() == Some(version);
        let current = self.objects.get(key).filter(|object| is_it(object));
        current.or_else(|| self.old.iter().find(|(of, old)| of == key && is_it(old)).map(|(_, old)| old))
    }
}

/// Something behind a lock that survives a panic of its holder.
#[derive(Default)]
pub(crate) struct Shared<T>(Mutex<T>);

impl<T> Shared<T> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What tests may look at and do behind the back of all clients.
pub(crate) trait Backdoor {
    fn with_store<R>(&self, act: impl FnOnce(&mut Store) -> R) -> R;

    fn create_bucket(&self, bucket: &str) {
        self.with_store(|store| store.create(bucket));
    }

    fn keys(&self, bucket: &str) -> Vec<String> {
        self.with_store(|store| {
            store.buckets.get(bucket).map_or_else(Vec::new, |bucket| bucket.objects.keys().cloned().collect())
        })
    }

    fn stored(&self, bucket: &str, key: &str) -> Option<Stored> {
        self.with_store(|store| store.object(bucket, key).map(Stored::from))
    }

    fn place(&self, bucket: &str, key: &str, bytes: impl Into<Bytes>) {
        let bytes = bytes.into();
        self.with_store(|store| {
            store.create(bucket);
            store.put(bucket, key, Object::new(bytes));
        });
    }

    fn take(&self, bucket: &str, key: &str) -> bool {
        self.with_store(|store| store.remove(bucket, key).is_some())
    }
}
