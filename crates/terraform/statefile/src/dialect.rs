//! Terraform and OpenTofu: where their files differ, and how to tell them apart.

use std::fmt;

use groundstate_states::addr::{OPENTOFU_REGISTRY, ProviderConfig, ProviderSource, TERRAFORM_REGISTRY};

use crate::walk::OutputWire;
use crate::wire::v4::InstanceWire;
use crate::writer_version::WriterVersion;

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

    /// Whether the product can read this provider of a resource. It drops the resource otherwise, and most releases do
    /// not say so.
    ///
    /// The legacy namespace `-` is part of each product's own registry only, and takes no type that the present form of
    /// addresses cannot hold.
    pub fn reads(self, provider: &ProviderSource) -> bool {
        if provider.is_legacy() {
            let unquoted = provider.is_short() || provider.is_quotable();
            return unquoted && provider.host() == self.default_registry();
        }
        self != Self::OpenTofu || !provider.type_name().starts_with("opentofu-")
    }

    /// What to write in place of a provider that the product does not read.
    pub fn instead_of(self, provider: &ProviderSource) -> String {
        if !provider.is_legacy() {
            return "leave the product's name out of the provider's type".to_owned();
        }
        let own = self.default_registry();
        format!("write `{own}/-/{}`, or the namespace that publishes the provider", provider.type_name())
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

/// What a document shows of the product and the release that wrote it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traces {
    /// A member or an order of members that only OpenTofu writes.
    opentofu: bool,
    /// One that only Terraform writes.
    terraform: bool,
    /// Where the first `depends_on` stands that names instances, which is OpenTofu's unless Terraform 0.12 wrote it.
    pub(crate) depends_on: Option<usize>,
    /// A provider of OpenTofu's registry.
    opentofu_registry: bool,
    /// An empty `sensitive_attributes`.
    pub(crate) empty_sensitive: bool,
    /// An object without `sensitive_attributes`.
    pub(crate) no_sensitive: bool,
    /// A member `check_results`, whatever it holds.
    pub(crate) check_results: bool,
}

impl Traces {
    pub(crate) fn output(&mut self, wire: &OutputWire<'_>) {
        self.opentofu |= wire.deprecated.is_some();
    }

    /// `depends_on` is the object's place if its member of that name lists instances.
    pub(crate) fn instance(&mut self, wire: &InstanceWire<'_>, depends_on: Option<usize>) {
        self.depends_on = self.depends_on.or(depends_on);
        self.opentofu |= wire.skip_destroy;
        self.opentofu |= wire.provider.is_some_and(|text| !text.raw.is_empty());
        self.empty_sensitive |= wire.sensitive.is_some_and(|list| list.text == b"[]");
        self.no_sensitive |= wire.sensitive.is_none();
        // Terraform writes a version always and in front, OpenTofu only with an identity and behind it.
        match (wire.identity.is_some(), wire.identity_schema_version.is_some()) {
            (false, false) => {}
            (false, true) => self.terraform = true,
            (true, false) => self.opentofu = true,
            (true, true) if wire.identity_version_first => self.terraform = true,
            (true, true) => self.opentofu = true,
        }
    }

    /// Adds what a later part of the document shows.
    pub(crate) fn append(&mut self, later: &Self) {
        self.opentofu |= later.opentofu;
        self.terraform |= later.terraform;
        self.depends_on = self.depends_on.or(later.depends_on);
        self.opentofu_registry |= later.opentofu_registry;
        self.empty_sensitive |= later.empty_sensitive;
        self.no_sensitive |= later.no_sensitive;
        self.check_results |= later.check_results;
    }

    pub(crate) fn provider(&mut self, config: &ProviderConfig) {
        self.opentofu_registry |= config.source.host() == OPENTOFU_REGISTRY;
    }

    /// Decides whose document it is.
    ///
    /// What only one product writes decides, then the registry, which either product can be told to use. Nothing of
    /// that, and the document is Terraform's: then both products write the same members.
    pub(crate) fn dialect(&self, writer: Option<&WriterVersion>) -> Dialect {
        let precise = self.depends_on.is_some() && writer.is_none_or(|writer| writer.at_least(0, 13));
        match (self.opentofu || precise, self.terraform, self.opentofu_registry) {
            (true, _, _) | (false, false, true) => Dialect::OpenTofu,
            (false, true, _) | (false, false, false) => Dialect::Terraform,
        }
    }
}
