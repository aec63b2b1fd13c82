//! The catalogue of rules: stable codes, how much each matters, and what to do.

use std::fmt;

use groundstate_common::Severity;

use groundstate_statefile::Code;

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $number:literal, $severity:ident, $title:literal, $help:literal;)+) => {
        /// What a finding is about. The printed code never changes its meaning, and is never given to another rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[doc = $doc])+ $name,)+
            /// A problem of the reader: the file cannot be used as a state.
            Problem(Code),
        }

        impl Rule {
            /// All rules except the problems of the reader, in the order of their codes.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The printed code: `GS0001` and so on, `GS0101` and so on for problems of the reader.
            #[must_use]
            pub fn id(self) -> String {
                match self {
                    $(Self::$name => format!("GS{:04}", $number),)+
                    Self::Problem(code) => code.id(),
                }
            }

            /// The rule that has this printed code.
            #[must_use]
            pub fn from_id(id: &str) -> Option<Self> {
                let problems = Code::ALL.iter().copied().map(Self::Problem);
                Self::ALL.iter().copied().chain(problems).find(|rule| rule.id() == id)
            }

            /// How much it matters.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$name => Severity::$severity,)+
                    Self::Problem(_) => Severity::Error,
                }
            }

            /// A few words that name it.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)+
                    Self::Problem(code) => code.summary(),
                }
            }

            /// What to do about it.
            #[must_use]
            pub fn help(self) -> &'static str {
                match self {
                    $(Self::$name => $help,)+
                    Self::Problem(code) => code.help(),
                }
            }

            /// SourcePos in the order of codes.
            pub(super) fn number(self) -> u16 {
                match self {
                    $(Self::$name => $number,)+
                    Self::Problem(code) => 100 + code as u16,
                }
            }
        }
    };
}

rules! {
    /// The input is empty.
    Empty = 1, Warning, "empty state file",
        "if there should be a state, restore a backup or an older version; otherwise remove the file";
    /// The file has a format older than 4.
    OldFormat = 2, Info, "old state file format",
        "upgrade it to format 4; OpenTofu no longer reads older ones";
    /// There is no lineage.
    LineageMissing = 3, Warning, "no lineage",
        "give it one with `groundstate repair`, so that states of other origin cannot be pushed over this one";
    /// The lineage is not a UUID in the usual form.
    LineageUnusual = 4, Info, "unusual lineage",
        "nothing has to be done, any text is a lineage; a UUID makes sure that no other state has the same";
    /// The serial is 0.
    SerialZero = 5, Info, "serial 0",
        "nothing has to be done if the state was never stored; otherwise give it the next serial of its lineage";
    /// The file does not say who wrote it.
    WriterMissing = 6, Info, "no terraform_version",
        "nothing has to be done; the next write by Terraform or OpenTofu fills it in";
    /// The file was written by a release that is newer than all that are known, or by a pre-release.
    WriterUnusual = 7, Info, "unusual terraform_version",
        "make sure that all users of this state have at least that release";
    /// The file is very large.
    Large = 8, Info, "very large state",
        "split the state; every plan and every edit reads and writes all of it";
    /// Writing the state again changes bytes although nothing else is wrong.
    NotCanonical = 9, Info, "not in canonical form",
        "nothing has to be done; an upgrade rewrites the file in the form its product writes";
    /// A member that no known release writes.
    UnknownMember = 10, Info, "unknown member",
        "groundstate keeps it, Terraform and OpenTofu drop it on the next write; remove it if nothing needs it";
    /// A member whose name differs from a known one in upper and lower case only.
    MemberCase = 11, Warning, "member in the wrong case",
        "write the name in lower case: Terraform and OpenTofu take it for the known member, other tools do not";
    /// The file says something that cannot be kept.
    Lost = 12, Warning, "ambiguous or unreadable content",
        "correct it in the file; until then writing the state again loses what is named here";
    /// The file says something in another way than it will be written.
    Normalized = 13, Info, "content in another form",
        "nothing has to be done; the next write brings it into the usual form";
    /// The file holds something that newer formats have no place for.
    Dropped = 14, Info, "obsolete content",
        "nothing has to be done; Terraform and OpenTofu leave it out as well";
    /// Two entries of `resources` have the same address.
    SplitResource = 20, Warning, "resource in two entries",
        "put the instances into one entry; readers merge them, and the provider of the last one counts";
    /// A resource has no instances.
    Husk = 21, Info, "resource without instances",
        "nothing has to be done; the next apply removes it, and so does removing the resource from the state";
    /// A resource's type or name is not an identifier.
    NotAnIdentifier = 22, Warning, "resource that cannot be addressed",
        "rename it in the file: no command takes this address, and no configuration can declare it";
    /// A resource's type or name is empty.
    EmptyName = 23, Error, "resource without a name",
        "write the type and name that the configuration has, or remove the entry";
    /// A provider address in a form from before Terraform 0.13.
    LegacyProvider = 24, Warning, "legacy provider address",
        "replace it by the full address, such as registry.terraform.io/hashicorp/aws (state replace-provider)";
    /// A provider address without a registry.
    ShortProvider = 25, Info, "provider address without a registry",
        "write the registry too: without it Terraform and OpenTofu read different providers";
    /// The same provider from two registries.
    ProviderHosts = 26, Warning, "one provider from two registries",
        "move all resources to one of the addresses (state replace-provider)";
    /// Resources of one type from different providers.
    ProviderSources = 27, Warning, "one resource type from different providers",
        "if that is not intended, move the resources to one provider (state replace-provider)";
    /// Instances of a resource have keys of different kinds.
    MixedKeys = 28, Warning, "keys of different kinds",
        "finish the change between count, for_each and neither: move each instance to its new key, or apply";
    /// The indexes of a resource with `count` have gaps.
    IndexGap = 29, Info, "gap in count indexes",
        "nothing has to be done; the next apply creates the missing instances unless count is lowered";
    /// Instances of a module have keys of different kinds.
    MixedModuleKeys = 30, Warning, "module keys of different kinds",
        "finish the change between count, for_each and neither: move each module instance, or apply";
    /// An index that is not a whole number in 64-bit floating point.
    HugeIndex = 31, Warning, "index that Terraform misreads",
        "give the instance another index: Terraform rounds it on reading, so that the next write changes it";
    /// An object is tainted.
    Tainted = 40, Warning, "tainted object",
        "the next apply replaces it; untaint it if the remote object is sound";
    /// An object is deposed.
    Deposed = 41, Warning, "deposed object",
        "the next apply destroys it; if the remote object is gone, `groundstate rm STATE 'ADDR (deposed KEY)'` forgets it";
    /// A deposed key is not of the form that keys are generated in.
    DeposedKeyForm = 42, Info, "unusual deposed key",
        "nothing has to be done; new Terraform releases do not take such a key on the command line";
    /// The attributes of an object are no JSON object.
    NotAnObject = 43, Warning, "attributes are not an object",
        "no provider can read them: restore the object from a backup, or remove and import it";
    /// The attributes of an object are in the form of Terraform before 0.12.
    FlatAttributes = 44, Info, "attributes in flat form",
        "a refresh or an apply with the provider brings them into the present form; nothing else can";
    /// A path in `sensitive_attributes` leads nowhere.
    SensitivePathAbsent = 45, Info, "sensitive path leads nowhere",
        "nothing has to be done; the next refresh corrects it";
    /// A dependency on a resource that is not in the state.
    DanglingDependency = 60, Info, "dependency that is not in the state",
        "nothing has to be done if its count is 0 or its for_each empty; otherwise `groundstate repair` removes it";
    /// A resource depends on itself.
    SelfDependency = 61, Error, "dependency on itself",
        "remove the entry with `groundstate repair`";
    /// Resources depend on each other in a circle.
    DependencyCycle = 62, Error, "cyclic dependencies",
        "let `groundstate repair` remove one of these dependencies; no order to destroy the resources exists until then";
    /// An output that is not sensitive looks like a secret.
    SecretOutput = 70, Warning, "secret in a plain output",
        "mark the output as sensitive, rotate the secret if others can read the state, and encrypt the state";
    /// A sensitive output, stored as everything else.
    SensitiveOutput = 71, Info, "sensitive output in clear text",
        "protect the file like the secret itself, or encrypt the state; sensitive only hides it on screens";
    /// Members that only OpenTofu reads.
    OpenTofuMember = 80, Warning, "member that Terraform drops",
        "use OpenTofu only, or be ready to lose it: Terraform drops it on the next write without a word";
    /// Instances that name their provider themselves.
    InstanceProvider = 81, Warning, "resource that Terraform deletes from the state",
        "never let Terraform write this state: releases before 1.17 drop the whole resource without a word";
    /// A provider address that only one of the products reads, or neither.
    UnreadProvider = 82, Warning, "provider address that drops its resources",
        "replace it by an address with a namespace, such as hashicorp/aws (replace-provider), before the product writes";
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
    fn codes_ascend_and_stay_below_those_of_problems() {
        assert!(Rule::ALL.is_sorted_by(|a, b| a.number() < b.number()));
        assert!(Rule::ALL.iter().all(|rule| rule.number() < 100 && rule.id().len() == 6));
        assert_eq!(Rule::Problem(Code::Syntax).id(), "GS0102");
        assert_eq!(Rule::Problem(Code::Syntax).number(), 102);
    }

    #[test]
    fn titles_are_distinct() {
        let mut titles: Vec<_> = Rule::ALL.iter().map(|rule| rule.title()).collect();
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), Rule::ALL.len());
    }
}
