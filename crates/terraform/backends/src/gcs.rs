//! The backend `gcs`: states in buckets of Google Cloud Storage.

use std::sync::Arc;

use groundstate_blobs::Retry;
use groundstate_blobs_cloud::{GcsBlobs, GcsSettings};
use groundstate_statemgr::WorkspaceName;
use groundstate_statemgr_object::{FolderLayout, GenerationLocks, ObjectBackend};

use crate::cloud::{Options, blobs, refused, service_settings};
use crate::error::BackendsError;
use crate::outputs::Ranged;
use crate::registry::{Context, Factory, Opened};
use crate::settings::Settings;
use crate::url::PlaceUrl;

/// What follows the names of workspaces.
const SUFFIX: &str = ".tfstate";

/// Makes backends of the type `gcs`, with the options of Terraform's and OpenTofu's.
///
/// Addresses are `gs://BUCKET/PREFIX`; `gs://BUCKET/PREFIX/NAME.tfstate` is the workspace `NAME`. Beside the originals'
/// options there are `verify_lock`, `history`, `history_keep` and `history_max_age`.
#[derive(Clone, Copy, Debug, Default)]
pub struct GcsFactory;

impl Factory for GcsFactory {
    fn kind(&self) -> &'static str {
        "gcs"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["gs"]
    }

    fn settings(&self, url: &PlaceUrl) -> Result<(Settings, Option<WorkspaceName>), BackendsError> {
        if url.authority().is_empty() {
            return Err(url.wrong("write it as gs://BUCKET/PREFIX"));
        }
        let settings = Settings::new(self.kind()).with("bucket", url.authority());
        let Some(path) = url.path().strip_suffix(SUFFIX) else {
            return crate::query::apply(settings.with("prefix", url.path()), url);
        };
        let (prefix, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (settings, workspace) = crate::query::apply(settings.with("prefix", prefix), url)?;
        Ok((settings, Some(workspace.map_or_else(|| WorkspaceName::parse(name), Ok)?)))
    }

    fn open(&self, settings: &Settings, context: &Context) -> Result<Opened, BackendsError> {
        let mut options = Options::of(settings, &["verify_lock"])?;
        let layout = FolderLayout::new(&options.text("prefix")?.unwrap_or_default());
        let verify = options.flag("verify_lock")?.unwrap_or(false);
        let keeping = options.keeping(context)?;
        let gcs: GcsSettings = service_settings(settings, options)?;
        let variable = |name: &str| context.variables.get(name).map(str::to_owned);
        let bucket =
            gcs.or_from(&variable).and_then(|gcs| GcsBlobs::open(&gcs)).map_err(refused(settings))?;
        let locks = GenerationLocks::new(bucket.bucket(), Arc::clone(&context.sleeper)).verify_lock(verify);
        let (retries, warnings) = (bucket.retry_policy(), bucket.warnings().to_vec());
        let bucket = Arc::new(Retry::new(bucket, retries, blobs(context)));
        let keeps = keeping.is_some();
        let backend =
            ObjectBackend::new(bucket, Arc::new(layout)).equip(Arc::new(locks)).keep_history(keeping);
        let outputs = Arc::new(Ranged(backend.clone()));
        Ok(Opened::new(Arc::new(backend)).outputs(outputs).keeps_history(keeps).warnings(&warnings))
    }
}
