//! Why a resource is replaced create-then-delete.

use std::fmt;

use groundstate_states::DeposedKey;
use groundstate_states::addr::{AbsResourceInstance, ConfigResource};

use crate::config::Config;

/// Why the replacement of a resource creates before it destroys: the flag, and the way on which it was passed down.
///
/// `Display` prints the way from the resource up to the origin: `net.a ← vm.b (own flag)`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CbdCause {
    /// The resource, what depends on it, and so on up to the resource from which the flag comes.
    pub chain: Vec<ConfigResource>,
    /// Where the flag comes from.
    pub origin: CbdOrigin,
}

/// Where create before destroy comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CbdOrigin {
    /// The block says so.
    OwnFlag,
    /// The instance is planned create-then-delete.
    Planned(AbsResourceInstance),
    /// The state records so of an instance that is deleted.
    Recorded(AbsResourceInstance),
    /// The old object of the instance goes after the new one has come.
    Leftover(AbsResourceInstance, DeposedKey),
}

impl fmt::Display for CbdCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, resource) in self.chain.iter().enumerate() {
            if at > 0 {
                f.write_str(" ← ")?;
            }
            resource.fmt(f)?;
        }
        match &self.origin {
            CbdOrigin::OwnFlag => f.write_str(" (own flag)"),
            CbdOrigin::Planned(addr) => write!(f, " ({addr} is planned create-then-delete)"),
            CbdOrigin::Recorded(addr) => write!(f, " (recorded with {addr}, which is deleted)"),
            CbdOrigin::Leftover(addr, key) => write!(f, " (deposed object {key} of {addr} is deleted)"),
        }
    }
}

/// What put a resource under create before destroy.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    /// Its own block.
    Own,
    /// A resource that depends on it.
    Resource(u32),
    /// Something about an instance of this resource.
    Instance(u32, Box<CbdOrigin>),
}

/// For each resource what put it under create before destroy, if anything did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Causes(pub(crate) Vec<Option<Cause>>);

impl Causes {
    /// The way from the resource up to the origin.
    pub(crate) fn explain(&self, config: &Config, resource: u32) -> Option<CbdCause> {
        let name = |resource: u32| config.resources[resource as usize].clone();
        let mut chain = vec![name(resource)];
        let mut at = resource;
        // Each cause was known before its effect, so the way up ends.
        loop {
            match self.0.get(at as usize)?.as_ref()? {
                Cause::Own => return Some(CbdCause { chain, origin: CbdOrigin::OwnFlag }),
                Cause::Instance(above, origin) => {
                    chain.push(name(*above));
                    return Some(CbdCause { chain, origin: (**origin).clone() });
                }
                Cause::Resource(above) => {
                    chain.push(name(*above));
                    at = *above;
                }
            }
        }
    }
}
