//! Terraform and OpenTofu: where their files differ, and how to tell them apart.

use std::fmt;

use groundstate_states::addr::{OPENTOFU_REGISTRY, TERRAFORM_REGISTRY};

/// Whose rules a format-4 document follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// HashiCorp Terraform.
    Terraform,
    /// OpenTofu.
    OpenTofu,
}

impl Dialect {
    /// The registry that provider addresses without a host belong to.
    pub fn default_registry(self) -> &'static str {
        match self {
            Self::Terraform => TERRAFORM_REGISTRY,
            Self::OpenTofu => OPENTOFU_REGISTRY,
        }
    }

    /// The product's name.
    pub fn product(self) -> &'static str {
        match self {
            Self::Terraform => "Terraform",
            Self::OpenTofu => "OpenTofu",
        }
    }

    /// The name in lower case, as options spell it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Terraform => "terraform",
            Self::OpenTofu => "opentofu",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.product())
    }
}

/// A trace of one product in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Whose trace it is.
    pub dialect: Dialect,
    /// What was found.
    pub what: &'static str,
    /// Index of the byte where it stands.
    pub offset: usize,
}

/// Decides whose document it is.
///
/// Members that only OpenTofu writes decide for it, and so does its registry. Nothing of that, and the document is
/// Terraform's: then both products write the same bytes, or only Terraform could have written these.
pub(crate) fn decide(evidence: &[Evidence]) -> Dialect {
    let opentofu = evidence.iter().any(|e| e.dialect == Dialect::OpenTofu);
    if opentofu { Dialect::OpenTofu } else { Dialect::Terraform }
}
