//! Snapshots: all that is known of a stack.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groundstate_json::Extra;

use crate::feature::Feature;
use crate::manifest::{Manifest, SecretsProvider};
use crate::metadata::{Extension, SnapshotMetadata, Snippet};
use crate::operation::Operation;
use crate::resource::Resource;
use crate::text::ExtensionRef;
use crate::urn::Urn;
use crate::urn_index::UrnIndex;

/// All that is known of a stack.
///
/// Resources stand in an order in which each comes after everything it needs; a snapshot that breaks this rule, or any
/// other, can still be held. Cloning is cheap: resources are shared until one of the copies changes them.
///
/// A resource is identified by its index, because names repeat: beside the live resource there may be copies of the same
/// name that wait for their deletion, and in a broken snapshot any number of others.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Snapshot {
    /// When and by what it was written.
    pub manifest: Manifest,
    /// Who encrypts its secrets.
    pub secrets_provider: Option<SecretsProvider>,
    /// The resources, in order.
    pub resources: Vec<Arc<Resource>>,
    /// Operations whose outcome is not known.
    pub pending_operations: Vec<Operation>,
    /// What it says about itself.
    pub metadata: SnapshotMetadata,
    /// Pieces of program that made resources.
    pub snippets: Vec<Snippet>,
    /// Packages made by parameters, by the references that resources use.
    pub extensions: BTreeMap<ExtensionRef, Extension>,
    /// Members that are not understood.
    pub extra: Extra,
}

impl Snapshot {
    /// A snapshot of these resources that says nothing else.
    pub fn new(resources: impl IntoIterator<Item = Resource>) -> Self {
        Self { resources: resources.into_iter().map(Arc::new).collect(), ..Self::default() }
    }

    /// The resource at an index.
    pub fn resource(&self, index: usize) -> Option<&Resource> {
        self.resources.get(index).map(|resource| &**resource)
    }

    /// The resource at an index, to be changed. Copies of the snapshot keep it as it was.
    pub fn resource_mut(&mut self, index: usize) -> Option<&mut Resource> {
        self.resources.get_mut(index).map(Arc::make_mut)
    }

    /// All resources of a name with their indexes, in order.
    pub fn locate<'a>(&'a self, urn: &'a Urn) -> impl Iterator<Item = (usize, &'a Resource)> {
        self.indexed().filter(move |(_, resource)| resource.urn == *urn)
    }

    /// The resources with their indexes, in order.
    pub fn indexed(&self) -> impl DoubleEndedIterator<Item = (usize, &Resource)> + ExactSizeIterator {
        self.resources.iter().map(|resource| &**resource).enumerate()
    }

    /// An index of the names, for many questions.
    pub fn urn_index(&self) -> UrnIndex<'_> {
        UrnIndex::new(&self.resources)
    }

    /// The root of the stack: the first resource of its type that has no parent.
    pub fn root_stack(&self) -> Option<(usize, &Resource)> {
        self.indexed().find(|(_, resource)| resource.is_root_stack())
    }

    /// The features that a reader of this snapshot needs, pending operations included.
    ///
    /// See [`Resource::features`] for what cannot be told here.
    pub fn features(&self) -> BTreeSet<Feature> {
        let resources = self.resources.iter().chain(self.pending_operations.iter().map(|op| &op.resource));
        let mut features: BTreeSet<Feature> = resources.flat_map(|resource| resource.features()).collect();
        if !self.snippets.is_empty() {
            features.insert(Feature::SnippetsPrototype);
        }
        features
    }
}
