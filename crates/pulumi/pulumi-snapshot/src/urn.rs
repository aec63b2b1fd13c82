//! URNs: the names of resources.

use std::sync::Arc;

use crate::text::text_id;
use crate::type_token::{ROOT_STACK_TYPE, TypeToken};

/// What every URN begins with.
const PREFIX: &str = "urn:pulumi:";
const DELIMITER: &str = "::";

/// The component that takes all that is left, delimiters included: the name.
const LAST: usize = 3;

text_id! {
    /// The name of a resource: `urn:pulumi:<stack>::<project>::<parent type>$<type>::<name>`.
    ///
    /// Nothing is escaped, and nothing but the prefix and three delimiters is asked for: components may be empty, and hold
    /// blanks, line breaks and `$`; the name may hold `::`. [`Urn::parse`] checks that much. [`Urn::new`] checks nothing,
    /// because snapshots with broken names must be loaded too; the components of what is no URN are empty.
    ///
    /// ```
    /// use groundstate_pulumi_snapshot::Urn;
    ///
    /// let urn = Urn::parse("urn:pulumi:dev::shop::my:Shop$aws:s3/bucket:Bucket::assets")?;
    /// assert_eq!((urn.stack(), urn.project(), urn.name()), ("dev", "shop", "assets"));
    /// assert_eq!(urn.qualified_type(), "my:Shop$aws:s3/bucket:Bucket");
    /// assert_eq!(urn.resource_type(), "aws:s3/bucket:Bucket");
    /// assert_eq!(urn.with_name("media").to_string(), "urn:pulumi:dev::shop::my:Shop$aws:s3/bucket:Bucket::media");
    /// # Ok::<(), groundstate_pulumi_snapshot::UrnError>(())
    /// ```
    pub struct Urn;
}

/// Why a text is not a URN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrnError {
    /// There is no text where a URN is required.
    #[error("missing required URN")]
    Missing,
    /// The text does not have the form of a URN.
    #[error("invalid URN {0:?}")]
    Invalid(Arc<str>),
}

impl Urn {
    /// Checks that the text is a URN.
    ///
    /// # Errors
    ///
    /// [`UrnError::Missing`] for no text, [`UrnError::Invalid`] for another form.
    pub fn parse(text: &str) -> Result<Self, UrnError> {
        Self::parse_optional(text)?.ok_or(UrnError::Missing)
    }

    /// Checks that the text is a URN or empty.
    ///
    /// # Errors
    ///
    /// [`UrnError::Invalid`] for another form.
    pub fn parse_optional(text: &str) -> Result<Option<Self>, UrnError> {
        match Self::is_valid_text(text) {
            true => Ok(Some(Self::new(text))),
            false if text.is_empty() => Ok(None),
            false => Err(UrnError::Invalid(text.into())),
        }
    }

    /// Puts a URN together. The parent type stands in front of the type, unless it is empty or that of the root stack.
    pub fn build(stack: &str, project: &str, parent_type: &str, resource_type: &str, name: &str) -> Self {
        let (parent, dollar) = match parent_type {
            "" | ROOT_STACK_TYPE => ("", ""),
            other => (other, "$"),
        };
        Self::new(format!("{PREFIX}{stack}::{project}::{parent}{dollar}{resource_type}::{name}"))
    }

    /// The URN of the root resource of a stack, `<project>-<stack>` by name.
    pub fn root_stack(stack: &str, project: &str) -> Self {
        Self::build(stack, project, "", ROOT_STACK_TYPE, &format!("{project}-{stack}"))
    }

    /// Whether the text is a URN.
    ///
    /// Delimiters are counted in the whole text from the left, so the colon of the prefix can be half of one; what is left
    /// then has one component less, and an empty name.
    pub fn is_valid(&self) -> bool {
        Self::is_valid_text(self.as_str())
    }

    pub(crate) fn is_valid_text(text: &str) -> bool {
        let behind = |rest| split_delimiter(rest).map(|(_, behind)| behind);
        text.starts_with(PREFIX) && behind(text).and_then(behind).and_then(behind).is_some()
    }

    fn component(&self, position: usize) -> &str {
        component(self.as_str(), position)
    }

    /// The stack.
    pub fn stack(&self) -> &str {
        self.component(0)
    }

    /// The project.
    pub fn project(&self) -> &str {
        self.component(1)
    }

    /// The types of all parents and of the resource, joined by `$`.
    pub fn qualified_type(&self) -> &str {
        self.component(2)
    }

    /// The resource's own type: what stands behind the last `$` of the qualified type.
    pub fn resource_type(&self) -> &str {
        resource_type(self.as_str())
    }

    /// The types of the parents, joined by `$`; empty if there is none.
    pub fn parent_type(&self) -> &str {
        self.qualified_type().rsplit_once('$').map_or("", |(parents, _)| parents)
    }

    /// The resource's own type as a token.
    pub fn type_token(&self) -> TypeToken {
        TypeToken::from(self.resource_type())
    }

    /// The name: everything behind the third delimiter.
    pub fn name(&self) -> &str {
        self.component(LAST)
    }

    /// Whether it names the root resource of a stack.
    pub fn is_root_stack(&self) -> bool {
        self.qualified_type() == ROOT_STACK_TYPE
    }

    /// The same URN with another name.
    #[must_use]
    pub fn with_name(&self, name: &str) -> Self {
        Self::build(self.stack(), self.project(), "", self.qualified_type(), name)
    }

    /// The same URN in another stack. The name of a root stack stays; see [`Urn::root_stack`].
    #[must_use]
    pub fn with_stack(&self, stack: &str) -> Self {
        Self::build(stack, self.project(), "", self.qualified_type(), self.name())
    }

    /// The same URN in another project.
    #[must_use]
    pub fn with_project(&self, project: &str) -> Self {
        Self::build(self.stack(), project, "", self.qualified_type(), self.name())
    }

    /// The URN that this resource has below a parent of the given qualified type.
    #[must_use]
    pub fn below(&self, parent_type: &str) -> Self {
        Self::build(self.stack(), self.project(), parent_type, self.resource_type(), self.name())
    }
}

/// The component at a position; the last takes everything that is left.
fn component(urn: &str, position: usize) -> &str {
    let mut rest = urn.strip_prefix(PREFIX).unwrap_or_default();
    for _ in 0..position {
        let Some((_, behind)) = split_delimiter(rest) else { return "" };
        rest = behind;
    }
    if position == LAST { rest } else { split_delimiter(rest).map_or(rest, |(first, _)| first) }
}

/// The text in front of the first delimiter and that behind it. Searching two bytes takes less than preparing a search.
fn split_delimiter(text: &str) -> Option<(&str, &str)> {
    let at = text.as_bytes().windows(DELIMITER.len()).position(|two| two == DELIMITER.as_bytes())?;
    Some((text.get(..at)?, text.get(at + DELIMITER.len()..)?))
}

/// The resource's own type in the text of a URN.
pub(crate) fn resource_type(urn: &str) -> &str {
    let qualified = component(urn, 2);
    qualified.rsplit_once('$').map_or(qualified, |(_, own)| own)
}

impl std::str::FromStr for Urn {
    type Err = UrnError;

    fn from_str(text: &str) -> Result<Self, UrnError> {
        Self::parse(text)
    }
}
