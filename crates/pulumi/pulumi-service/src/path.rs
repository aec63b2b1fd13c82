//! The full names of stacks.

use std::fmt;

use groundstate_common::InvalidId;
use groundstate_versioned::Name;
use serde::{Deserialize, Serialize};

/// The longest part of a full name; Pulumi's own limit for projects and stacks is 100.
const LONGEST: usize = 100;

/// The full name of a stack: owner, project and stack.
///
/// ```
/// use groundstate_pulumi_service::StackPath;
///
/// let path = StackPath::new("acme", "shop", "dev")?;
/// assert_eq!(path.to_string(), "acme/shop/dev");
/// assert!(StackPath::new("acme", "shop", "..").is_err());
/// # Ok::<(), groundstate_pulumi_service::common::InvalidId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StackPath {
    owner: String,
    project: String,
    stack: String,
}

impl StackPath {
    /// Checks the three parts: 1 to 100 letters, digits, `-`, `_` and `.`, and no dot at an end. The CLI crashes on lists with other names.
    ///
    /// # Errors
    ///
    /// For a part that is no name.
    pub fn new(
        owner: impl Into<String>,
        project: impl Into<String>,
        stack: impl Into<String>,
    ) -> Result<Self, InvalidId> {
        let path = Self { owner: owner.into(), project: project.into(), stack: stack.into() };
        for (what, part) in [("owner", &path.owner), ("project", &path.project), ("stack", &path.stack)] {
            check(what, part)?;
        }
        Ok(path)
    }

    /// The user or organisation that owns it.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// The project.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// The name in the project.
    pub fn stack(&self) -> &str {
        &self.stack
    }

    /// The name of the document that says which stack has this name.
    pub(crate) fn document(&self) -> Name {
        Name::parse(&format!("{NAMES}{self}")).expect("parts of at most 100 letters, digits, -, _ and .")
    }

    /// The path whose document has this name.
    pub(crate) fn of_document(name: &Name) -> Option<Self> {
        let mut parts = name.as_str().strip_prefix(NAMES)?.split('/');
        let (owner, project, stack) = (parts.next()?, parts.next()?, parts.next()?);
        parts.next().is_none().then(|| Self::new(owner, project, stack).ok())?
    }
}

/// What the names of documents begin with that say which stack has a name.
pub(crate) const NAMES: &str = "pulumi/names/";

fn check(what: &'static str, part: &str) -> Result<(), InvalidId> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let reason = match part {
        "" => "it is empty",
        part if part.len() > LONGEST => "it is longer than 100 characters",
        part if !part.chars().all(is_allowed) => "it has other characters than letters, digits, -, _ and .",
        part if part.starts_with('.') || part.ends_with('.') => "it begins or ends with a dot",
        _ => return Ok(()),
    };
    Err(InvalidId::new(what, part, reason))
}

impl fmt::Display for StackPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.owner, self.project, self.stack)
    }
}

#[cfg(test)]
mod tests {
    use super::StackPath;

    #[test]
    fn documents_of_names_are_read_back() {
        let path = StackPath::new("Acme-1", "my.shop", "dev_2").unwrap();
        assert_eq!(StackPath::of_document(&path.document()), Some(path));
    }

    #[test]
    fn what_could_leave_its_place_is_no_name() {
        let long = "a".repeat(101);
        for part in ["", ".", "..", "a.", ".a", "a/b", "a b", "a\n", "ä", &long] {
            assert!(StackPath::new(part, "p", "s").is_err(), "{part:?}");
            assert!(StackPath::new("o", part, "s").is_err(), "{part:?}");
            assert!(StackPath::new("o", "p", part).is_err(), "{part:?}");
        }
    }
}
