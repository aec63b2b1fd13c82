//! The backend `azurerm`: states in containers of Azure Blob Storage.

use std::sync::Arc;

use groundstate_blobs::Retry;
use groundstate_blobs_cloud::{AzureBlobs, AzureSettings};
use groundstate_statemgr::WorkspaceName;
use groundstate_statemgr_object::AzureBackend;

use crate::cloud::{Options, blobs, refused, service_settings};
use crate::error::BackendsError;
use crate::outputs::Ranged;
use crate::registry::{Context, Factory, Opened};
use crate::settings::Settings;
use crate::url::PlaceUrl;

/// Makes backends of the type `azurerm`, with the options of Terraform's and OpenTofu's.
///
/// Addresses are `az://CONTAINER/KEY?storage_account_name=ACCOUNT`. Beside the originals' options there are `endpoint`,
/// `history`, `history_keep` and `history_max_age`.
#[derive(Clone, Copy, Debug, Default)]
pub struct AzureFactory;

impl Factory for AzureFactory {
    fn kind(&self) -> &'static str {
        "azurerm"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["az", "azurerm"]
    }

    fn settings(&self, url: &PlaceUrl) -> Result<(Settings, Option<WorkspaceName>), BackendsError> {
        if url.authority().is_empty() || url.path().is_empty() {
            return Err(url.wrong("write it as az://CONTAINER/KEY?storage_account_name=ACCOUNT"));
        }
        let settings = Settings::new(self.kind());
        let settings = settings.with("container_name", url.authority()).with("key", url.path());
        crate::query::apply(settings, url)
    }

    fn open(&self, settings: &Settings, context: &Context) -> Result<Opened, BackendsError> {
        let mut options = Options::of(settings, &[])?;
        let key = options.needed("key")?;
        let variable = |name: &str| context.variables.get(name).map(str::to_owned);
        let snapshot = match options.flag("snapshot")? {
            Some(snapshot) => snapshot,
            None => {
                variable("ARM_SNAPSHOT").is_some_and(|snapshot| matches!(snapshot.as_str(), "true" | "1"))
            }
        };
        let keeping = options.keeping(context)?;
        let keeps = keeping.is_some();
        let azure: AzureSettings = service_settings(settings, options)?;
        let container =
            azure.or_from(&variable).and_then(|azure| AzureBlobs::open(&azure)).map_err(refused(settings))?;
        let (name, retries) = (container.container().to_owned(), container.retry_policy());
        let warnings = container.warnings().to_vec();
        let container = Arc::new(Retry::new(container, retries, blobs(context)));
        let backend = AzureBackend::new(container, &name, &key)?.snapshot(snapshot).keep_history(keeping);
        let outputs = Arc::new(Ranged(backend.clone()));
        Ok(Opened::new(Arc::new(backend)).outputs(outputs).keeps_history(keeps).warnings(&warnings))
    }
}
