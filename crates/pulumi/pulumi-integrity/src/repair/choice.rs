//! Questions of a repair, with the answer that it goes by.

use std::collections::BTreeMap;
use std::fmt;

use groundstate_pulumi_snapshot::{ProviderRef, Urn};

use crate::pending::PendingRule;

/// What a question is about. The same snapshot always gives the same ones, as far as earlier answers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum QuestionId {
    /// What becomes of the resource at this index, which has no name.
    Nameless(usize),
    /// Which one is kept of the resources that share the name of the one at this index, the first of them.
    Keep(usize),
    /// What becomes of the resource at this index, which shares its name with the one that is kept.
    Duplicate(usize),
    /// What takes the place of the unknown provider of the resource at this index, and of all that have the same.
    Provider(usize),
    /// Which reference is dropped to break a circle, by the number of the circle.
    Cycle(usize),
    /// What becomes of the pending operation at this index.
    Pending(usize),
    /// Which URNs the resources get that lose their parent: the one at this index, and all that name the same parent.
    Orphan(usize),
    /// What becomes of the provider at this index, which no reference can name.
    Unreferenceable(usize),
    /// What becomes of a secrets provider that no manager can be made of.
    SecretsProvider,
    /// What becomes of encrypted secrets that nothing can decrypt.
    Secrets,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// Keep the resource at this index.
    Keep(usize),
    /// Name the resource.
    Name(Urn),
    /// Mark the resource for deletion: the next update deletes what it stands for.
    MarkDeleted,
    /// Take the resource out of the snapshot; what it stands for stays.
    Remove,
    /// Give the resource this name.
    Rename(Urn),
    /// Refer to this provider instead.
    UseProvider(ProviderRef),
    /// Add the provider that is referred to.
    AddProvider(ProviderRef),
    /// Have no provider.
    DropProvider,
    /// Drop the references of the first resource to the second, given by their names and indexes.
    DropReferences {
        /// The index of the resource that refers.
        from: usize,
        /// The URN of the resource that refers.
        from_urn: Urn,
        /// The name of the resource it refers to.
        to_urn: Urn,
    },
    /// Leave the operation.
    Leave,
    /// Forget the operation.
    Clear,
    /// Leave the URN as it is, with the types of the parents in it.
    KeepUrn,
    /// Give the resource the URN of one without a parent, and what lies below it the URNs that belong there.
    UrnWithoutParent,
    /// Forget the secrets provider. What it encrypted can be decrypted no more.
    DropSecretsProvider,
    /// Take the encrypted values out.
    DropSecrets,
}

/// A question, and the answer that the plan goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// What it is about.
    pub id: QuestionId,
    /// The question in words.
    pub text: String,
    /// The answers there are; never none.
    pub choices: Vec<Choice>,
    /// Which of them is the default.
    pub default: usize,
    /// Which of them the plan goes by.
    pub chosen: usize,
    /// The plan must not be carried out before this is answered: it loses values, or gives a resource that exists another
    /// URN, which makes the next update delete what it stands for.
    pub open: bool,
}

/// Options of a repair: answers, and rules for what is not asked.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RepairOptions {
    /// Which pending operations are cleared, unless a question about one is answered.
    pub pending: PendingRule,
    answers: BTreeMap<QuestionId, Choice>,
}

impl RepairOptions {
    /// Sets which pending operations are cleared.
    #[must_use]
    pub fn pending(mut self, rule: PendingRule) -> Self {
        self.pending = rule;
        self
    }

    /// Answers a question. What is none of its choices does not count.
    #[must_use]
    pub fn answer(mut self, id: QuestionId, choice: Choice) -> Self {
        self.answers.insert(id, choice);
        self
    }

    /// The position of the answer among the choices, if there is one.
    pub(super) fn chosen(&self, id: QuestionId, choices: &[Choice]) -> Option<usize> {
        let answer = self.answers.get(&id)?;
        choices.iter().position(|choice| choice == answer)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep(index) => write!(f, "keep the resource at index {index}"),
            Self::Name(urn) => write!(f, "name it {urn}"),
            Self::MarkDeleted => {
                f.write_str("mark it for deletion: the next update deletes what it stands for")
            }
            Self::Remove => f.write_str("take it out of the snapshot: what it stands for stays"),
            Self::Rename(urn) => write!(f, "rename it to {urn}"),
            Self::UseProvider(reference) => write!(f, "use the provider {reference}"),
            Self::AddProvider(reference) => write!(f, "add the provider {reference}"),
            Self::DropProvider => f.write_str("have no provider"),
            Self::DropReferences { from_urn, to_urn, .. } => {
                write!(f, "drop the references of {from_urn} to {to_urn}")
            }
            Self::Leave => f.write_str("leave it"),
            Self::Clear => f.write_str("forget it"),
            Self::KeepUrn => {
                f.write_str("keep the URN: a program that still has the parent finds the resource")
            }
            Self::UrnWithoutParent => f.write_str(
                "take the parent out of the URN: a program that still has the parent replaces the resource",
            ),
            Self::DropSecretsProvider => {
                f.write_str("forget the secrets provider: what it encrypted can be decrypted no more")
            }
            Self::DropSecrets => f.write_str("take the encrypted values out"),
        }
    }
}
