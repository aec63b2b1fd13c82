//! The conformance suite, on both ways of publishing.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_common::SystemClock;
use groundstate_conformance::{Address, Harness, TestStore};
use groundstate_statemgr::{Backend, Result, StateStore};
use groundstate_statemgr_fs::{FsOptions, FsStore, FsWorkspaces};

use crate::support::Folder;

struct Files(FsOptions);

#[async_trait]
impl Harness for Files {
    fn name(&self) -> String {
        format!("files, published {:?}", self.0.publish)
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        Ok(Arc::new(OneFile { folder: Folder::new(), options: self.0.clone() }))
    }

    async fn open_at(&self, address: &str) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(FsStore::with_options(address, self.0.clone(), Arc::new(SystemClock))?))
    }
}

struct OneFile {
    folder: Folder,
    options: FsOptions,
}

#[async_trait]
impl TestStore for OneFile {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.folder.store_with(self.options.clone())))
    }

    fn address(&self) -> Address {
        Address::At(self.folder.state().display().to_string())
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        Ok(std::fs::write(self.folder.state(), b"").is_ok())
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        let all = FsWorkspaces::new(self.folder.path(), Arc::new(SystemClock));
        Ok(Some(Arc::new(all.options(self.options.clone()))))
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
