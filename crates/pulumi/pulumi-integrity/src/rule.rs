//! The catalogue of rules: stable codes, how much each matters, and what to do.

use std::fmt;

use groundstate_common::Severity;

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $number:literal, $severity:ident, $title:literal, $help:literal;)+) => {
        /// What a finding is about. The printed code never changes its meaning, and is never given to another rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[doc = $doc])+ $name = $number,)+
        }

        impl Rule {
            /// All rules in the order of their codes.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// How much it matters, unless an option says otherwise.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$name => Severity::$severity,)+
                }
            }

            /// A few words that name it.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)+
                }
            }

            /// What to do about it.
            pub fn help(self) -> &'static str {
                match self {
                    $(Self::$name => $help,)+
                }
            }
        }
    };
}

rules! {
    /// The magic of the manifest does not belong to its version.
    Magic = 601, Error, "magic that does not belong to the version",
        "the manifest was edited or damaged: compare the file with a backup, then repair it";
    /// A resource has no URN.
    UrnMissing = 602, Error, "resource without a URN",
        "write the URN that the program gives it, or let the repair make one up";
    /// A resource has no type.
    TypeMissing = 603, Error, "resource without a type",
        "write the type that its URN ends in, which is what the repair does";
    /// A component has an identifier.
    IdOnComponent = 604, Error, "component with an identifier",
        "set \"custom\" if a provider manages it, otherwise remove the identifier";
    /// A provider has a URN that no reference can name.
    ProviderNotReferenceable = 605, Error, "provider that cannot be referred to",
        "give it a URN with the type of a provider in it";
    /// A reference to a provider is not of the form of one.
    ProviderRefMalformed = 606, Error, "malformed reference to a provider",
        "write the URN and the identifier of a provider, joined by ::";
    /// No provider before the resource has the URN and identifier that it refers to.
    UnknownProvider = 607, Error, "unknown provider",
        "refer to a provider that comes before it, or restore the one that is missing";
    /// A parent stands after its child.
    ParentAfter = 608, Error, "parent after its child",
        "put the parent before it; the repair finds an order";
    /// A parent is not there.
    ParentMissing = 609, Error, "missing parent",
        "restore the parent, or let the repair detach the child";
    /// A dependency stands after what depends on it.
    DependencyAfter = 610, Error, "dependency after its dependent",
        "put the dependency before it; the repair finds an order";
    /// A dependency is not there.
    DependencyMissing = 611, Error, "missing dependency",
        "restore the dependency, or let the repair drop the reference";
    /// A dependency of a property stands after what depends on it.
    PropertyDependencyAfter = 612, Error, "dependency of a property after its dependent",
        "put the dependency before it; the repair finds an order";
    /// A dependency of a property is not there.
    PropertyDependencyMissing = 613, Error, "missing dependency of a property",
        "restore the dependency, or let the repair drop the reference";
    /// What a resource is deleted with comes after it.
    DeletedWithAfter = 614, Error, "`deletedWith` names a later resource",
        "put the other resource before it; the repair finds an order";
    /// What a resource is deleted with is not there.
    DeletedWithMissing = 615, Error, "`deletedWith` names a missing resource",
        "restore the other resource, or let the repair drop the reference";
    /// What a resource is replaced with comes after it.
    ReplaceWithAfter = 616, Error, "`replaceWith` names a later resource",
        "put the other resource before it; the repair finds an order";
    /// What a resource is replaced with is not there.
    ReplaceWithMissing = 617, Error, "`replaceWith` names a missing resource",
        "restore the other resource, or let the repair drop the reference";
    /// More than one resource of a name does not wait for its deletion.
    Duplicate = 618, Error, "duplicate resource",
        "keep one and mark, rename or remove the others; the repair asks which";
    /// A snippet has no UUID.
    SnippetWithoutUuid = 619, Error, "snippet without a UUID",
        "give it one, or remove it if no resource names it";
    /// Two snippets have the same UUID.
    SnippetDuplicate = 620, Error, "two snippets of one UUID",
        "remove one of them, or give it another UUID";
    /// Resources need each other in a circle.
    Cycle = 621, Error, "cyclic dependencies",
        "drop one of the references of the circle; the repair proposes the one that matters least";
    /// The resource of a pending operation has no URN, or no type, or is a component with an identifier.
    PendingUnreadable = 622, Error, "pending operation that cannot be loaded",
        "clear the operation, as the repair does: Pulumi loads nothing of the snapshot with it";
    /// A child's URN does not have its parent's type in it.
    ParentType = 630, Warning, "URN that does not match the parent",
        "nothing has to be done; the next update gives the child the URN that belongs to its parent";
    /// The resource that another one is a view of is not there.
    ViewOfMissing = 631, Warning, "view of something that is missing",
        "refresh the resource, or remove \"viewOf\"";
    /// A URN does not have the form of one.
    UrnInvalid = 632, Warning, "malformed URN",
        "write it as urn:pulumi:<stack>::<project>::<type>::<name>; commands cannot name the resource otherwise";
    /// The identifier of a provider holds the delimiter of references.
    AmbiguousProviderId = 633, Warning, "provider whose identifier holds ::",
        "Pulumi misreads references to it and refuses the snapshot; replace the provider by one of another identifier";
    /// An extension that a resource names is not there.
    ExtensionMissing = 634, Warning, "missing extension",
        "restore the extension: without it the package of the resource cannot be loaded";
    /// An operation is pending.
    PendingOperation = 635, Warning, "pending operation",
        "find out what became of the resource, then resolve or clear the operation";
    /// Values that nest deeper than the check goes.
    ValuesTooDeep = 636, Warning, "values that nest too deep to be checked",
        "look at the value: nothing that deep comes from a provider";
    /// Secrets that stand in the state without encryption.
    SecretReadable = 637, Warning, "readable secret",
        "with the key of the stack at hand, `groundstate pull` and then `groundstate push` of that file encrypt what is readable";
    /// The configuration of the stack names another key than the state.
    ConfigurationKey = 638, Warning, "different key in the configuration",
        "find out which key opens the secrets, and run `groundstate change-secrets-provider` or restore the file from version control";
    /// Aliases that each write should remove.
    AliasesLeft = 640, Info, "aliases in a stored snapshot",
        "nothing has to be done; the next write rewrites the references and removes them";
    /// A reference that names nothing.
    EmptyReference = 641, Info, "empty reference",
        "nothing has to be done; some Pulumi releases pass over it, others call it a missing dependency";
    /// The snapshot says that it was written although it was broken.
    RecordedError = 642, Info, "integrity error on record",
        "nothing has to be done once the snapshot is sound; the next write removes the record";
    /// An object whose signature is not known.
    UnknownSignature = 650, Error, "value of an unknown kind",
        "take the value out, as the repair does, or the resource with `rm`: Pulumi loads nothing of the snapshot with it";
    /// A secret without, or with both, of its forms.
    SecretMalformed = 651, Error, "secret without a value",
        "take the value out, as the repair does, or the resource with `rm`: Pulumi loads nothing of the snapshot with it";
    /// A secret that holds no JSON.
    SecretContent = 652, Error, "secret that holds no value",
        "write the value as JSON, strings in quotes, or take it out, as the repair does";
    /// An asset with a member that is not text.
    AssetMalformed = 653, Error, "malformed asset",
        "take the asset out, as the repair does; the next update writes it anew";
    /// An archive with a member that is not what it has to be.
    ArchiveMalformed = 654, Error, "malformed archive",
        "take the archive out, as the repair does; the next update writes it anew";
    /// A reference to a resource that does not name it.
    ReferenceMalformed = 655, Error, "malformed reference to a resource",
        "write the URN of the resource, or take the reference out, as the repair does";
    /// A number that JSON has no form for, with bits that are none.
    FloatMalformed = 656, Error, "malformed number",
        "write 16 hexadecimal digits, or take the number out, as the repair does";
    /// A text that is not UTF-8, with bytes that are not base64.
    BytesMalformed = 657, Error, "malformed byte string",
        "write the bytes in standard base64, or take them out, as the repair does";
    /// A number beyond the range of a double.
    NumberRange = 658, Error, "number beyond the range of a double",
        "write a number that a double can hold, or take it out, as the repair does";
    /// An encrypted secret, where no secrets manager is named.
    SecretWithoutManager = 659, Error, "encrypted secret without a secrets provider",
        "restore \"secrets_providers\" from a backup: without it nothing can be decrypted";
    /// A ciphertext that no manager of the kind has written.
    CiphertextDamaged = 660, Error, "damaged ciphertext",
        "take the ciphertext from a backup, or take the secret out, as the repair does";
    /// A secrets provider that is not known.
    SecretsProviderUnknown = 661, Error, "unknown secrets provider",
        "restore \"secrets_providers\" from a backup: Pulumi knows passphrase, service and cloud";
    /// A state from which no secrets manager can be made.
    SecretsProviderState = 662, Error, "malformed state of a secrets provider",
        "restore \"secrets_providers\" from a backup, or the salt from the configuration of the stack";
}

impl Rule {
    /// Whether it is about values or the secrets provider, which Pulumi reads before it looks at anything else.
    pub fn is_of_values(self) -> bool {
        (650..=662).contains(&(self as u16))
    }

    /// Returns `true` if Pulumi cannot load a snapshot with it, so that `pulumi stack import --force` refuses the snapshot as well.
    pub fn is_of_loading(self) -> bool {
        let is_of_resource = matches!(
            self,
            Self::UrnMissing | Self::TypeMissing | Self::IdOnComponent | Self::PendingUnreadable
        );
        is_of_resource || self.is_of_values()
    }

    /// Whether it is about what must stand before a resource, or about resources that share a name: what an order of
    /// operations rests on.
    pub fn is_of_order(self) -> bool {
        (606..=618).contains(&(self as u16))
    }

    /// The rule that has this printed code.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.id() == id)
    }

    /// The printed code: `GS0601` and so on.
    pub fn id(self) -> String {
        format!("GS{:04}", self as u16)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_titles_are_distinct() {
        assert!(Rule::ALL.is_sorted_by(|a, b| a.id() < b.id()));
        let mut titles: Vec<_> = Rule::ALL.iter().map(|rule| rule.title()).collect();
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), Rule::ALL.len());
        assert_eq!(Rule::Magic.to_string(), "GS0601");
    }
}
