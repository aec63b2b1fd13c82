//! The contract of blob stores, clause by clause.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::blob::{Blob, BlobMeta, Page};
use crate::capabilities::BlobCapabilities;
use crate::error::Result;
use crate::key::Key;
use crate::lease::Leases;
use crate::options::{DeleteOptions, GetOptions, ListOptions, PutOptions};
use crate::version::BlobVersion;

/// The blobs of one container: a bucket, a container of Azure, a directory.
///
/// A value of this type is a *client*: several may be open on one container, in one process or many, and what one
/// writes the others read. `Display` names the container, without credentials; neither does `Debug` show any.
///
/// # The contract
///
/// A clause that begins with a capability
/// in brackets holds for stores that have it.
///
/// - **`absent_is_none`**: where nothing was written and where it was deleted, `get` and `head` give `None`, and `delete`
///   gives `false` \[tells_deletions\]. A missing container is `NotFound`, where the service tells the two apart.
/// - **`reads_what_was_written`**: after `put` has returned, `get` and `head` of every client give those bytes, any bytes,
///   also none at all, and the version that `put` returned, until the next write.
/// - **`put_is_whole`**: during a write, and after one that failed, readers get the old bytes or the new ones.
/// - **`create_once`** \[conditional_put\]: of any number of writes with `Absent`, one succeeds; the others are
///   `PreconditionFailed` and change nothing.
/// - **`compare_and_swap`** \[conditional_put\]: with `Version`, `PreconditionFailed` unless that is what is stored; absence
///   is not. Check and write are one.
/// - **`conditional_delete`** \[conditional_delete\]: the same for deletions, where absence gives `false`. `Absent` is
///   `Invalid`.
/// - **`own_writes_are_known`**: two writers that put *equal* bytes and metadata under one condition may both be told that
///   they succeeded. Retries recognise a write of their own by these, so a client that needs one winner puts something of its own
///   into them, or says that the write is [`contended`](PutOptions::contended).
/// - **`ambiguity_is_said`**: when it is not known whether a write happened, the error is `Ambiguous`. Every other kind means that
///   it did not.
/// - **`ranges`**: a range gives the bytes of it that there are, with the size of the whole; one that begins at or behind the end
///   gives no bytes. `if_match` and `if_none_match` compare with what is stored at the time.
/// - **`lists_by_raw_prefix`**: a list has exactly the blobs whose names begin with the prefix, which need not end at a slash, in
///   the order of bytes, each once, over however many pages.
/// - **`keys_are_kept`**: every [`Key`] names a blob of its own, or is `InvalidKey` where a service would take it for another; lists
///   give the name as it was written.
/// - **`attributes`** \[attributes\]: content type and metadata are those of the last write, all replaced.
/// - **`leases`** \[leases\]: as [`Leases`] says. Writing and deleting without the lease in force is `LeaseHeld`, with another
///   `LeaseLost`.
/// - **`lacking_means_unsupported`**: what needs a capability that the store lacks is `Unsupported` and changes nothing.
#[async_trait]
pub trait BlobStore: fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// What this store can do. The answer is the same for the life of the client.
    fn capabilities(&self) -> BlobCapabilities;

    /// The content, or the range of it that was asked for; `None` where there is none.
    ///
    /// # Errors
    ///
    /// `NotFound` for a missing container, `PreconditionFailed`, `NotModified`, `LeaseLost`, and those of every call:
    /// `Denied`, `Unauthenticated`, `WrongRegion`, `ClockSkew`, `Throttled`, `Unavailable`, `Unsupported`.
    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>>;

    /// What is known of the blob without its content; `None` where there is none.
    ///
    /// # Errors
    ///
    /// `NotFound` for a missing container, where the service says, and those of every call.
    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>>;

    /// Replaces the content if the options allow it, and says which it is now.
    ///
    /// # Errors
    ///
    /// `NotFound` for a missing container, `PreconditionFailed`, `LeaseHeld`, `LeaseLost`, `Ambiguous`, and those of every
    /// call.
    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion>;

    /// Removes the blob if the options allow it; `false` if there was none.
    ///
    /// # Errors
    ///
    /// Those of [`put`](Self::put).
    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool>;

    /// A page of the blobs whose names begin with `prefix`, which is any text.
    ///
    /// # Errors
    ///
    /// `NotFound` for a missing container, and those of every call.
    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page>;

    /// The leases, if the store has any.
    fn leases(&self) -> Option<&dyn Leases>;
}

/// Forwards every method to what a pointer points to.
macro_rules! forward {
    ($pointer:ident) => {
        #[async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl<T: BlobStore + ?Sized> BlobStore for $pointer<T> {
            fn capabilities(&self) -> BlobCapabilities {
                (**self).capabilities()
            }

            async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
                (**self).get(key, options).await
            }

            async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
                (**self).head(key).await
            }

            async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
                (**self).put(key, bytes, options).await
            }

            async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
                (**self).delete(key, options).await
            }

            async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
                (**self).list(prefix, options).await
            }

            fn leases(&self) -> Option<&dyn Leases> {
                (**self).leases()
            }
        }
    };
}

forward!(Arc);
forward!(Box);
