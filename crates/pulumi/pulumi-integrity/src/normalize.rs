//! Names that resources used to have, replaced by those they have now.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use groundstate_pulumi_snapshot::{ProviderRefError, Snapshot, Urn};

use crate::rewrite::{Renames, provider_names};

/// Why names cannot be normalized. The snapshot stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NormalizeError {
    /// Two resources say that they had the same name.
    #[error("Two resources ('{other}' and '{this}') aliased to the same: '{alias}'")]
    Ambiguous {
        /// The resource that said so first.
        other: Urn,
        /// The one that says so too.
        this: Urn,
        /// The URN that both claim to have had.
        alias: Urn,
    },
    /// A reference to a provider cannot be read.
    #[error("failed to parse provider reference for resource {urn}: {source}")]
    Provider {
        /// The resource that refers to the provider.
        urn: Urn,
        /// What is wrong with the reference.
        source: ProviderRefError,
    },
}

/// Puts the present name of each resource in place of its aliases, wherever one stands, and removes the aliases.
///
/// Below a parent that has another name, resources that were written with the old one get the name that belongs there.
/// Names are followed to the end: what a resource was called leads to what it is called when all is done. A resource of its
/// own keeps its name, also if another one used to have it. Tells whether anything changed.
///
/// # Errors
///
/// Two resources claim one name, or a reference to a provider cannot be read.
pub fn normalize(snapshot: &mut Snapshot) -> Result<bool, NormalizeError> {
    if snapshot.resources.iter().all(|resource| resource.aliases.is_empty()) {
        return Ok(false);
    }
    let names = Names::collect(snapshot)?;
    for resource in &snapshot.resources {
        if let Some(Err(source)) = resource.provider().map(|reference| reference.split_text()) {
            return Err(NormalizeError::Provider { urn: resource.urn.clone(), source });
        }
    }
    let mut result = snapshot.clone();
    let providers = provider_names(snapshot);
    let rename = |urn: &Urn| names.present(urn);
    let renames = Renames::new(&rename, &providers);
    for resource in &mut result.resources {
        let own = names.own(&resource.urn, resource.delete);
        if !resource.aliases.is_empty() {
            Arc::make_mut(resource).aliases.clear();
        }
        renames.references(resource);
        if let Some(own) = own {
            Arc::make_mut(resource).urn = own;
        }
    }
    renames.beside_resources(&mut result);
    *snapshot = result;
    Ok(true)
}

/// What names turn into.
struct Names {
    /// Aliases, with the resources that have them.
    aliases: HashMap<Urn, Urn>,
    /// Resources that have another name because their parent has one.
    moved: HashMap<Urn, Urn>,
    /// Names of resources that do not wait for their deletion.
    live: HashSet<Urn>,
}

impl Names {
    fn collect(snapshot: &Snapshot) -> Result<Self, NormalizeError> {
        let live = snapshot.resources.iter().filter(|resource| !resource.delete);
        let live = live.map(|resource| resource.urn.clone()).collect();
        let mut names = Self { aliases: HashMap::new(), moved: HashMap::new(), live };
        for resource in &snapshot.resources {
            for alias in resource.aliases.iter().filter(|alias| !alias.is_empty()) {
                let known = names.aliases.entry(alias.clone()).or_insert_with(|| resource.urn.clone());
                if *known != resource.urn {
                    let (other, this, alias) = (known.clone(), resource.urn.clone(), alias.clone());
                    return Err(NormalizeError::Ambiguous { other, this, alias });
                }
            }
            let parent = resource.parent().and_then(|parent| names.present(parent));
            if let Some(parent) = parent.filter(|parent| !parent.is_empty() && !parent.is_root_stack()) {
                let below = resource.urn.below(parent.qualified_type());
                if below != resource.urn {
                    names.moved.insert(resource.urn.clone(), below);
                }
            }
        }
        Ok(names)
    }

    /// The name that a reference is to have. A resource moves once at most, so there is no circle to follow.
    fn present(&self, urn: &Urn) -> Option<Urn> {
        if let Some(moved) = self.moved.get(urn) {
            return Some(moved.clone());
        }
        let now = self.aliases.get(urn)?;
        Some(self.moved.get(now).unwrap_or(now).clone())
    }

    /// The name that a resource itself is to have: that of a live resource is its own.
    fn own(&self, urn: &Urn, delete: bool) -> Option<Urn> {
        match self.moved.get(urn) {
            Some(moved) => Some(moved.clone()),
            None if delete || !self.live.contains(self.aliases.get(urn)?) => self.present(urn),
            None => None,
        }
    }
}
