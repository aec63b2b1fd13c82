//! `.pulumi/meta.yaml`: which layout a bucket has.

use bytes::Bytes;
use groundstate_blobs::{BlobStore, ErrorKind as BlobKind, GetOptions, Key, Precondition, PutOptions};
use saphyr::{LoadableYamlNode, Yaml};

use super::Warning;
use super::objects::folder;
use crate::names::stack_of_file;
use crate::{Error, ErrorKind, Layout, Op, Options, Result};

/// What is written, byte for byte.
const CONTENT: &str = "version: 1\n";

/// Finds out which layout the bucket has, and writes it down where nothing is there yet.
pub(super) async fn layout(store: &dyn BlobStore, options: &Options, may_write: bool) -> Result<Layout> {
    let key = Key::parse(Layout::META).map_err(|error| failed(store, error))?;
    if let Some(layout) = read(store, &key).await? {
        return Ok(layout);
    }
    if options.legacy_for_new || !legacy_stacks(store).await?.is_empty() {
        return Ok(Layout::Legacy);
    }
    if !may_write {
        return Ok(Layout::Projects);
    }
    write(store, &key).await
}

async fn read(store: &dyn BlobStore, key: &Key) -> Result<Option<Layout>> {
    let blob = store.get(key, &GetOptions::default()).await.map_err(|error| failed(store, error))?;
    blob.map(|blob| parse(&blob.bytes).map_err(|why| why.at(store))).transpose()
}

/// Another process may write the file at the same time, and what it wrote counts.
async fn write(store: &dyn BlobStore, key: &Key) -> Result<Layout> {
    let conditional = store.capabilities().conditional_put;
    let precondition = if conditional { Precondition::Absent } else { Precondition::Any };
    let options = PutOptions::expecting(precondition);
    match store.put(key, Bytes::from_static(CONTENT.as_bytes()), &options).await {
        Ok(_) => Ok(Layout::Projects),
        Err(error) if error.kind() == BlobKind::PreconditionFailed => {
            read(store, key).await?.ok_or_else(|| failed(store, error))
        }
        Err(error) => Err(failed(store, error)),
    }
}

/// Writes down that the bucket has projects, whatever it said before.
pub(super) async fn write_projects(store: &dyn BlobStore) -> Result<()> {
    let key = Key::parse(Layout::META).map_err(|error| failed(store, error))?;
    match read(store, &key).await? {
        Some(Layout::Projects) => Ok(()),
        None => write(store, &key).await.map(drop),
        Some(Layout::Legacy) => {
            let content = Bytes::from_static(CONTENT.as_bytes());
            let put = store.put(&key, content, &PutOptions::default()).await;
            put.map(drop).map_err(|error| failed(store, error))
        }
    }
}

/// Why a file says nothing.
enum Problem {
    NotYaml(String),
    NoVersion,
    Unknown(String),
}

impl Problem {
    fn at(self, store: &dyn BlobStore) -> Error {
        let (kind, reason) = match self {
            Self::NotYaml(why) => {
                (ErrorKind::Corrupt, format!("corrupt store: unmarshal {:?}: {why}", Layout::META))
            }
            Self::NoVersion => {
                (ErrorKind::Corrupt, format!("corrupt store: missing version in {:?}", Layout::META))
            }
            Self::Unknown(version) => (
                ErrorKind::Unsupported,
                format!("state store unsupported: 'meta.yaml' version ({version}) is not supported"),
            ),
        };
        let step = match kind {
            ErrorKind::Corrupt => {
                "write `version: 1` into it if its stacks are in projects, or remove it if they are not"
            }
            _ => "use a newer version of this program",
        };
        Error::new(kind, Op::Open, store).because(reason).next_step(step)
    }
}

fn parse(bytes: &[u8]) -> Result<Layout, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|error| Problem::NotYaml(error.to_string()))?;
    let documents = Yaml::load_from_str(text).map_err(|error| Problem::NotYaml(error.to_string()))?;
    let Some(document) = documents.first().filter(|document| !document.is_null()) else {
        return Err(Problem::NoVersion);
    };
    if !document.is_mapping() {
        return Err(Problem::NotYaml("it is not a mapping".to_owned()));
    }
    match document.as_mapping_get("version") {
        None => Err(Problem::NoVersion),
        Some(version) if version.is_null() => Err(Problem::NoVersion),
        Some(version) => match version.as_integer() {
            Some(0) => Ok(Layout::Legacy),
            Some(1) => Ok(Layout::Projects),
            Some(other) => Err(Problem::Unknown(other.to_string())),
            None => Err(Problem::NotYaml("its version is not a number".to_owned())),
        },
    }
}

/// The names of stacks of the layout without projects, each once.
async fn legacy_stacks(store: &dyn BlobStore) -> Result<Vec<String>> {
    let folder = folder(store, Layout::STACKS).await?;
    let files = folder.objects.iter().filter_map(|listed| listed.name.strip_prefix(Layout::STACKS));
    let mut names: Vec<String> = files.filter_map(stack_of_file).map(|stack| stack.to_string()).collect();
    names.dedup();
    Ok(names)
}

/// Stacks that were left behind when the bucket got projects.
pub(super) async fn forgotten_stacks(store: &dyn BlobStore) -> Option<Warning> {
    match legacy_stacks(store).await {
        Ok(names) if names.is_empty() => None,
        Ok(names) => Some(Warning::LegacyStacks(names)),
        Err(error) => Some(Warning::LegacyUnknown(error.to_string())),
    }
}

/// The layout is known and not allowed.
pub(super) fn deprecated(store: &dyn BlobStore) -> Error {
    let reason = "its stacks are in no project, which Pulumi 3.257 and newer refuse";
    let step = "upgrade it with `groundstate stacks upgrade` or `pulumi state upgrade`, or set \
                PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR=1 to go on using it as it is";
    Error::new(ErrorKind::Legacy, Op::Open, store).because(reason).next_step(step)
}

fn failed(store: &dyn BlobStore, error: groundstate_blobs::Error) -> Error {
    Error::from_store(Op::Open, format!("{store}/{}", Layout::META), error)
}
