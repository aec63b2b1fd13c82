//! Writing and deleting.

use groundstate_statemgr::{Capabilities, Error, ErrorKind, Expect, Op, Result, Version, WriteOptions};

use crate::service::Condition;
use crate::store::{TemplateStore, version};

/// What this adds to the store's capabilities.
pub(crate) fn adds(to: Capabilities) -> Capabilities {
    to
}

impl TemplateStore {
    pub(crate) async fn put(&self, bytes: &[u8], options: &WriteOptions) -> Result<Version> {
        if options.force || options.fence.is_some() || options.expect != Expect::Any {
            return Err(Error::unsupported(Op::Write, self));
        }
        if bytes.is_empty() {
            let message = "there is nothing to write";
            return Err(Error::new(ErrorKind::Invalid, Op::Write, self).because(message));
        }
        let revision = self.service.put(&self.key, bytes, Condition::Always).await;
        Ok(version(revision.map_err(|error| self.error(Op::Write, error))?))
    }

    pub(crate) async fn remove(&self, _: &WriteOptions) -> Result<()> {
        Err(Error::unsupported(Op::Delete, self))
    }
}
