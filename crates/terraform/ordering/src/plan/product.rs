//! Which program made a plan.

use super::read::Plan;

/// A program that plans and applies, whose rules differ in details.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Product {
    /// Terraform.
    #[default]
    Terraform,
    /// OpenTofu, which lets instances of one module go their own ways where Terraform joins them.
    OpenTofu,
}

/// The registry from which OpenTofu takes providers unless the configuration names another.
const REGISTRY: &str = "registry.opentofu.org/";

/// Terraform writes members that OpenTofu does not from a minor version on that lies below this one.
const MARKED: u64 = 10;

/// Returns `true` if the plan names this release of its program or a later one. A pre-release counts as its release.
pub(super) fn is_at_least(plan: &Plan, release: [u64; 3]) -> bool {
    let version = plan.version.as_deref().unwrap_or_default();
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let numbers: Option<Vec<u64>> = core.split('.').map(|part| part.parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.as_slice() >= release.as_slice())
}

impl Product {
    pub(super) fn of(plan: &Plan) -> Self {
        if plan.of_terraform {
            return Self::Terraform;
        }
        let configured = plan.providers.iter().map(|provider| provider.full_name.as_str());
        let changed = plan.changes.iter().filter_map(|change| change.provider_name.as_deref());
        let known = plan.prior.iter().filter_map(|object| object.provider_name.as_deref());
        let mut names = configured.chain(changed).chain(known);
        if names.any(|name| name.starts_with(REGISTRY)) {
            return Self::OpenTofu;
        }
        let minor = plan.version.as_deref().and_then(|version| {
            let mut numbers = version.split('.');
            (numbers.next() == Some("1")).then(|| numbers.next()?.parse::<u64>().ok()).flatten()
        });
        if minor.is_some_and(|minor| minor >= MARKED) { Self::OpenTofu } else { Self::Terraform }
    }

    /// The name of the product.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Terraform => "Terraform",
            Self::OpenTofu => "OpenTofu",
        }
    }
}
