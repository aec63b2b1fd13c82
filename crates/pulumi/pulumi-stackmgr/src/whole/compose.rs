//! The snapshot that is written.

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_pulumi_integrity::normalize;
use groundstate_pulumi_journal::{State, drop_dangling};
use groundstate_pulumi_snapshot::{Manifest, Operation, OperationType, Resource, SecretsProvider, Snapshot};

use super::Work;
use crate::error::Result;

impl Work {
    /// What is known, as a snapshot.
    pub(super) fn compose(&self, manifest: Manifest) -> Result<Snapshot> {
        let mut resources = self.resources();
        if self.is_refresh {
            drop_dangling(&mut resources);
        }
        let rest = &self.base.rest;
        let mut snapshot = Snapshot {
            manifest,
            secrets_provider: self.secrets_provider(),
            pending_operations: self.pending(),
            metadata: rest.metadata.clone(),
            snippets: self.snippets.as_ref().unwrap_or(&rest.snippets).clone(),
            extensions: Default::default(),
            extra: rest.extra.clone(),
            resources,
        };
        self.extensions(&mut snapshot);
        normalize(&mut snapshot)?;
        Ok(snapshot)
    }

    /// New states come first: they depend on nothing but each other and what was done before them.
    fn resources(&self) -> Vec<Arc<Resource>> {
        let all = self.resources.iter().chain(&self.base.states);
        all.filter(|state| !self.done.contains(&state.id())).map(State::get).collect()
    }

    /// What is under way, and what a crash left unsettled.
    fn pending(&self) -> Vec<Operation> {
        let own = self.operations.iter().map(|(state, kind)| Operation::new(state.get(), kind.clone()));
        let left = self.base.rest.pending_operations.iter();
        own.chain(left.filter(|left| left.kind == OperationType::Creating).cloned()).collect()
    }

    /// The manager of the base, if it is the same, so that it keeps what it remembers.
    fn secrets_provider(&self) -> Option<SecretsProvider> {
        let base = &self.base.rest.secrets_provider;
        let differs = |own: &SecretsProvider| {
            base.as_ref().is_none_or(|base| (&base.kind, &base.state) != (&own.kind, &own.state))
        };
        match &self.provider {
            Some(own) if differs(own) => Some(own.clone()),
            _ => base.clone(),
        }
    }

    /// The extensions that resources use.
    fn extensions(&self, snapshot: &mut Snapshot) {
        let used: BTreeSet<_> =
            snapshot.resources.iter().filter_map(|resource| resource.extension_ref.clone()).collect();
        for reference in used {
            let own = self.extensions.iter().rev().find(|(known, _)| *known == reference);
            let extension = own.map(|(_, extension)| extension);
            if let Some(extension) = extension.or_else(|| self.base.rest.extensions.get(&reference)) {
                snapshot.extensions.insert(reference, extension.clone());
            }
        }
    }
}
