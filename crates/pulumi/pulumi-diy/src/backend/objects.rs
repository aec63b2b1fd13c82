//! Lists of objects, without what is none of a stack's.

use std::collections::BTreeSet;

use groundstate_blobs::{BlobStore, Key, ListOptions, Listed};

use crate::{Error, Op, Result};

/// What a folder holds: objects, and folders with the slash at their ends.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    pub(crate) objects: Vec<Listed>,
    pub(crate) folders: BTreeSet<String>,
}

/// Every object whose name begins with `prefix`, in the order of names. The markers that consoles make for folders, the
/// descriptions that directories keep beside objects, and what a killed write left are not among them.
pub(crate) async fn objects(store: &dyn BlobStore, prefix: &str) -> Result<Vec<Listed>> {
    Ok(list(store, prefix, ListOptions::default()).await?.objects)
}

/// What is directly in a folder, whose name ends with a slash.
pub(crate) async fn folder(store: &dyn BlobStore, prefix: &str) -> Result<Folder> {
    list(store, prefix, ListOptions::default().delimited()).await
}

/// Every object whose name begins with `prefix`, what belongs to no stack among them.
pub(crate) async fn all_objects(store: &dyn BlobStore, prefix: &str) -> Result<Vec<Listed>> {
    Ok(list_all(store, prefix, ListOptions::default()).await?.objects)
}

/// What is directly in a folder, what belongs to no stack among it.
pub(crate) async fn all_in_folder(store: &dyn BlobStore, prefix: &str) -> Result<Folder> {
    list_all(store, prefix, ListOptions::default().delimited()).await
}

async fn list(store: &dyn BlobStore, prefix: &str, options: ListOptions) -> Result<Folder> {
    let mut all = list_all(store, prefix, options).await?;
    all.objects.retain(|listed| is_object(&listed.name));
    Ok(all)
}

async fn list_all(store: &dyn BlobStore, prefix: &str, mut options: ListOptions) -> Result<Folder> {
    let mut all = Folder::default();
    loop {
        let page = store.list(prefix, &options).await;
        let page = page.map_err(|error| Error::from_store(Op::List, format!("{store}/{prefix}"), error))?;
        all.objects.extend(page.blobs);
        all.folders.extend(page.prefixes);
        match page.next {
            Some(next) => options = options.page(Some(next)),
            None => return Ok(all),
        }
    }
}

/// A name that is no key is that of nothing that could be read or removed.
fn is_object(name: &str) -> bool {
    Key::parse(name).is_ok() && !name.ends_with(".attrs") && !name.ends_with(".tmp")
}
