//! The full names of stacks.

use std::fmt;

use groundstate_common::InvalidId;
use groundstate_pulumi_snapshot::{project_name, stack_name};
use groundstate_versioned::Name;
use serde::{Deserialize, Serialize};

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
    /// Checks the three parts by the rule of Pulumi, 1 to 100 letters, digits, `-`, `_` and `.`, and that none has a dot at an end. The CLI crashes on
    /// lists with other names.
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
        // Owners are names of users, and these have the rule of projects here.
        project_name(&path.owner)?;
        project_name(&path.project)?;
        stack_name(&path.stack)?;
        for (what, part) in [("owner", &path.owner), ("project", &path.project), ("stack", &path.stack)] {
            check_ends(what, part)?;
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

/// Documents and paths have no part with a dot at an end.
fn check_ends(what: &'static str, part: &str) -> Result<(), InvalidId> {
    match part.starts_with('.') || part.ends_with('.') {
        true => Err(InvalidId::new(what, part, "it begins or ends with a dot")),
        false => Ok(()),
    }
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
