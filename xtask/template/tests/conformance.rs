//! The conformance suite: a test for each case, under each of the conditions.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_conformance::{Harness, TestStore};
use groundstate_statemgr::{Result, StateStore};
use CRATE_NAME::{Service, TemplateStore};

struct TemplateHarness;

#[async_trait]
impl Harness for TemplateHarness {
    fn name(&self) -> String {
        "template".to_owned()
    }

    /// A place that is empty and used by no other test: a service of its own, a folder of its own, a fresh key.
    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        Ok(Arc::new(Fresh(Service::default())))
    }
}

struct Fresh(Service);

#[async_trait]
impl TestStore for Fresh {
    /// One more client of the place, as another process would open it.
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(TemplateStore::new(self.0.clone(), "prod")))
    }
}

groundstate_conformance::suite!(TemplateHarness);
