//! The conformance suite, on both ways of publishing.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_common::SystemClock;
use groundstate_conformance::{Harness, Place, Workspaces};
use groundstate_statemgr::{Result, StateStore};
use groundstate_statemgr_fs::{FsOptions, FsWorkspaces, WorkspaceName};

use crate::support::Folder;

struct Files(FsOptions);

#[async_trait]
impl Harness for Files {
    fn name(&self) -> String {
        format!("files, published {:?}", self.0.publish)
    }

    async fn place(&self) -> Result<Arc<dyn Place>> {
        Ok(Arc::new(OneFile { folder: Folder::new(), options: self.0.clone() }))
    }
}

struct OneFile {
    folder: Folder,
    options: FsOptions,
}

#[async_trait]
impl Place for OneFile {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.folder.store_with(self.options.clone())))
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        Ok(std::fs::write(self.folder.state(), b"").is_ok())
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Workspaces>>> {
        let all = FsWorkspaces::new(self.folder.path(), Arc::new(SystemClock));
        Ok(Some(Arc::new(Named(all.options(self.options.clone())))))
    }
}

struct Named(FsWorkspaces);

#[async_trait]
impl Workspaces for Named {
    async fn list(&self) -> Result<Vec<String>> {
        Ok(self.0.list().await?.iter().map(ToString::to_string).collect())
    }

    async fn open(&self, name: &str) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.0.store(&WorkspaceName::parse(name).expect("the suite's names are names"))?))
    }

    async fn delete(&self, name: &str) -> Result<()> {
        self.0.delete(&WorkspaceName::parse(name).expect("the suite's names are names"), true).await
    }
}

mod in_place {
    use super::{Files, FsOptions};

    groundstate_conformance::suite!(Files(FsOptions::new()));
}

mod by_renaming {
    use groundstate_statemgr_fs::Publish;

    use super::{Files, FsOptions};

    groundstate_conformance::suite!(Files(FsOptions::new().publish(Publish::Rename)));
}
