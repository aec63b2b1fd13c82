//! The backend `s3`: states in buckets of Amazon S3, and of servers that speak its protocol.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs_cloud::{S3Blobs, S3Settings};
use groundstate_statemgr::{LockId, LockInfo, Result as StoreResult, WorkspaceName};
use groundstate_statemgr_object::{S3Backend, S3Layout, S3Options};

use crate::cloud::{Options, blobs, refused, service_settings};
use crate::error::BackendsError;
use crate::maintenance::{DigestRepair, FoundLock, LockMaintenance, LockMove};
use crate::outputs::Ranged;
use crate::registry::{Context, Factory, Opened};
use crate::settings::Settings;
use crate::url::PlaceUrl;
use crate::workdir::Purpose;

/// The options that say how states are locked. An address without one of them means the first.
const LOCKS: [&str; 2] = ["use_lockfile", "dynamodb_table"];

/// Makes backends of the type `s3`, with the options of Terraform's and OpenTofu's.
///
/// Addresses are `s3://BUCKET/KEY`, and mean `use_lockfile` unless an option says how to lock. Beside the originals' options there are `strict_locks`, `strict_table`, `trust_lock`,
/// `history`, `history_keep` and `history_max_age`.
#[derive(Clone, Copy, Debug, Default)]
pub struct S3Factory;

impl Factory for S3Factory {
    fn kind(&self) -> &'static str {
        "s3"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["s3"]
    }

    fn settings(&self, url: &PlaceUrl) -> Result<(Settings, Option<WorkspaceName>), BackendsError> {
        if url.authority().is_empty() || url.path().is_empty() {
            return Err(url.wrong("write it as s3://BUCKET/KEY, with the key of the default workspace"));
        }
        let settings = Settings::new(self.kind()).with("bucket", url.authority()).with("key", url.path());
        let (settings, workspace) = crate::query::apply(settings, url)?;
        let says_how = LOCKS.iter().any(|name| settings.options().contains_key(*name));
        let settings = if says_how { settings } else { settings.with(LOCKS[0], "true") };
        Ok((settings, workspace))
    }

    fn open(&self, settings: &Settings, context: &Context) -> Result<Opened, BackendsError> {
        let mut options = Options::of(settings, &["strict_locks", "strict_table", "trust_lock"])?;
        let mut layout = S3Layout::new(&options.needed("key")?)?;
        if let Some(prefix) = prefix(&mut options)? {
            layout = layout.workspace_key_prefix(&prefix)?;
        }
        let (locks, locking) = locks(&mut options)?;
        let keeping = options.keeping(context)?;
        let s3: S3Settings = service_settings(settings, options)?;
        let variable = |name: &str| context.variables.get(name).map(str::to_owned);
        let is_change = context.purpose == Purpose::Change;
        let context = blobs(context);
        let bucket =
            s3.or_from(&variable).and_then(|s3| S3Blobs::open(&s3, &context)).map_err(refused(settings))?;
        let (keeps, mut warnings) = (keeping.is_some(), bucket.warnings().to_vec());
        let backend = S3Backend::new(bucket, layout, locks, context).keep_history(keeping);
        if is_change && !locking {
            warnings.push(format!(
                "{backend} has neither use_lockfile nor dynamodb_table, so changes are not kept apart from those of other clients"
            ));
        }
        let maintenance = Arc::new(S3Maintenance(backend.clone()));
        let outputs = Arc::new(Ranged(backend.clone()));
        Ok(Opened::new(Arc::new(backend))
            .outputs(outputs)
            .keeps_history(keeps)
            .maintenance(maintenance)
            .warnings(&warnings))
    }
}

/// The prefix of workspaces, which may be empty; only then it is not the original's.
fn prefix(options: &mut Options<'_>) -> Result<Option<String>, BackendsError> {
    let is_empty = options.is_empty_text("workspace_key_prefix");
    Ok(options.text("workspace_key_prefix")?.or(is_empty.then(String::new)))
}

/// How states are locked, and whether they are at all.
fn locks(options: &mut Options<'_>) -> Result<(S3Options, bool), BackendsError> {
    let [file, table] = LOCKS;
    let has_file = options.flag(file)?.unwrap_or(false);
    let mut locks = S3Options::new()
        .use_lockfile(has_file)
        .look(true)
        .strict(options.flag("strict_locks")?.unwrap_or(false))
        .trust_lock(options.flag("trust_lock")?.unwrap_or(false));
    let table = options.text(table)?;
    let locking = has_file || table.is_some();
    if let Some(table) = table {
        locks = locks.dynamodb_table(&table);
    }
    if let Some(table) = options.text("strict_table")? {
        locks = locks.strict_table(&table);
    }
    Ok((locks, locking))
}

/// Locks and digests of the states in a bucket.
#[derive(Debug)]
struct S3Maintenance(S3Backend);

#[async_trait]
impl LockMaintenance for S3Maintenance {
    async fn locks(&self, workspace: &WorkspaceName) -> StoreResult<Vec<FoundLock>> {
        let found = self.0.locks(workspace).await?;
        Ok(found.into_iter().map(|lock| FoundLock::new(lock.place, lock.holder)).collect())
    }

    async fn force_unlock(&self, workspace: &WorkspaceName, id: &LockId) -> StoreResult<()> {
        self.0.force_unlock(workspace, id).await
    }

    async fn repair_digest(&self, workspace: &WorkspaceName, lock: &LockInfo) -> StoreResult<DigestRepair> {
        let repaired = self.0.repair_digest(workspace, lock).await?;
        Ok(DigestRepair::new(repaired.row, repaired.before, repaired.now))
    }

    async fn migrate_lock(
        &self,
        workspace: &WorkspaceName,
        lock: &LockInfo,
        dry_run: bool,
    ) -> StoreResult<LockMove> {
        let moved = self.0.migrate_lock(workspace, lock, dry_run).await?;
        Ok(LockMove::new(moved.lock, moved.digest))
    }
}
