//! The graph of configuration: which resource depends on which, also through its provider and through whole modules.

use groundstate_dag::CompactGraph;
use groundstate_schedule::WaitCycle;
use groundstate_states::addr::{ConfigResource, Module, ProviderConfig};

use crate::edge::{EdgeReason, Reasons};
use crate::error::{BuildError, ConfigNode};
use crate::network::{Link, Network};
use crate::report::{CycleReport, CycleStep};

/// Vertices are numbered: first the providers, then the resources, then the modules that are depended on as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) providers: Vec<ProviderConfig>,
    /// Declared ones and all others that anything mentions, in order.
    pub(crate) resources: Vec<ConfigResource>,
    pub(crate) modules: Vec<Module>,
    /// Points from what depends to what is depended on.
    pub(crate) graph: CompactGraph<()>,
}

impl Config {
    /// The vertex of a resource.
    pub(crate) fn vertex(&self, resource: u32) -> u32 {
        self.providers.len() as u32 + resource
    }

    /// The resource at a vertex, if it is one.
    pub(crate) fn resource_at(&self, vertex: u32) -> Option<u32> {
        let resource = vertex.checked_sub(self.providers.len() as u32)?;
        ((resource as usize) < self.resources.len()).then_some(resource)
    }

    pub(crate) fn vertices(&self) -> u32 {
        self.graph.node_count() as u32
    }

    /// All resources that a resource depends on, in order; never itself.
    pub(crate) fn closure(&self, resource: u32) -> Vec<u32> {
        let mut seen = std::collections::HashSet::new();
        let start = self.vertex(resource);
        let mut stack = vec![start];
        let mut found = Vec::new();
        while let Some(vertex) = stack.pop() {
            for &next in self.graph.successors(vertex) {
                if next != start && seen.insert(next) {
                    found.extend(self.resource_at(next));
                    stack.push(next);
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Everything that depends on itself.
    pub(crate) fn cycles(&self) -> Vec<BuildError> {
        let visible = (self.providers.len() + self.resources.len()) as u32;
        let link = Link::new(EdgeReason::Config);
        let edges = self.graph.edges().map(|(from, to, ())| (from, to, link)).collect();
        // Modules stand behind all they hold, as barriers do.
        let network = Network::new(visible as usize, self.vertices() as usize, edges);
        let cycles = network.cycles();
        let report = |cycle: &WaitCycle<Link>| {
            let path = cycle.path.iter().map(|&(from, to, _)| CycleStep {
                from: self.node(from),
                to: self.node(to),
                reasons: Reasons::from(EdgeReason::Config),
                inverted: false,
            });
            let path: Vec<_> = path.collect();
            BuildError::ConfigCycle(CycleReport {
                members: cycle.members.iter().map(|&vertex| self.node(vertex)).collect(),
                path,
                cut: Vec::new(),
                smallest_cut: Vec::new(),
                cut_is_smallest: false,
                state_is_stale: false,
            })
        };
        cycles.iter().map(report).collect()
    }

    fn node(&self, vertex: u32) -> ConfigNode {
        let at = vertex as usize;
        match self.resource_at(vertex) {
            Some(resource) => ConfigNode::Resource(self.resources[resource as usize].clone()),
            None if at < self.providers.len() => ConfigNode::Provider(self.providers[at].clone()),
            None => {
                ConfigNode::Module(self.modules[at - self.providers.len() - self.resources.len()].clone())
            }
        }
    }
}
