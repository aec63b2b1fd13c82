//! What a stack is called.

use std::fmt;

use groundstate_common::InvalidId;
use groundstate_pulumi_snapshot::{ProjectName, StackName, project_name, stack_name};

/// The only organisation that these backends have.
pub const ORGANIZATION: &str = "organization";

/// A stack, with its project where the layout has projects.
///
/// Its text is the fully qualified name, which is in the checkpoint and in the path of the lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackRef {
    project: Option<ProjectName>,
    stack: StackName,
}

/// Why a text is not the reference of a stack.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StackRefError {
    /// An organisation that does not exist here.
    #[error("the organization of a stack in this backend has to be `{ORGANIZATION}`, not {0:?}")]
    Organization(String),
    /// Only the stack is named, and nothing says in which project it is.
    #[error(
        "stack {0:?} has no project; name it as `{ORGANIZATION}/PROJECT/STACK`, or run in a directory with a Pulumi.yaml"
    )]
    NoProject(String),
    /// A name that is none: `.` and `..`, which would leave the folder, among them.
    #[error("{0}")]
    Name(#[from] InvalidId),
    /// Parts that lead nowhere.
    #[error("{0:?} is not the name of a stack; write STACK or {ORGANIZATION}/PROJECT/STACK")]
    Parts(String),
}

impl StackRef {
    /// A stack in a project.
    pub fn new(project: ProjectName, stack: StackName) -> Self {
        Self { project: Some(project), stack }
    }

    /// A stack of the layout without projects.
    ///
    /// # Errors
    ///
    /// [`StackRefError::Name`]
    pub fn legacy(stack: &str) -> Result<Self, StackRefError> {
        Ok(Self { project: None, stack: stack_name(stack)? })
    }

    /// A stack of the layout without projects whose name was checked.
    pub(crate) fn flat(stack: StackName) -> Self {
        Self { project: None, stack }
    }

    /// Reads `STACK`, `organization/STACK` or `organization/PROJECT/STACK`. The first two mean the `current` project.
    ///
    /// # Errors
    ///
    /// Names that Pulumi refuses, `.` and `..`; another organisation; no project where none is current.
    pub fn parse(text: &str, current: Option<&ProjectName>) -> Result<Self, StackRefError> {
        let parts: Vec<&str> = text.split('/').collect();
        let (organization, project, stack) = match parts[..] {
            [stack] => (ORGANIZATION, None, stack),
            [organization, stack] => (organization, None, stack),
            [organization, project, stack] => (organization, Some(project), stack),
            _ => return Err(StackRefError::Parts(text.to_owned())),
        };
        if organization != ORGANIZATION {
            return Err(StackRefError::Organization(organization.to_owned()));
        }
        let stack = stack_name(stack)?;
        let project = match project {
            Some(project) => project_name(project)?,
            None => current.cloned().ok_or_else(|| StackRefError::NoProject(stack.to_string()))?,
        };
        Ok(Self::new(project, stack))
    }

    /// The project, unless the layout has none.
    pub fn project(&self) -> Option<&ProjectName> {
        self.project.as_ref()
    }

    /// The name within the project.
    pub fn stack(&self) -> &StackName {
        &self.stack
    }
}

impl fmt::Display for StackRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.project {
            Some(project) => write!(f, "{ORGANIZATION}/{project}/{}", self.stack),
            None => self.stack.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_pulumi_reads_but_names_that_leave_the_folder() {
        let current = ProjectName::parse("shop").ok();
        for (text, expected) in [
            ("prod", Some("organization/shop/prod")),
            ("organization/prod", Some("organization/shop/prod")),
            ("organization/other/prod", Some("organization/other/prod")),
            ("acme/prod", None),
            ("acme/shop/prod", None),
            ("organization//prod", None),
            ("organization/shop/x/prod", None),
            ("organization/shop/", None),
            ("organization/../prod", None),
            ("", None),
            (".", None),
            ("..", None),
            ("ünder", None),
        ] {
            let found = StackRef::parse(text, current.as_ref()).ok().map(|stack| stack.to_string());
            assert_eq!(found.as_deref(), expected, "{text:?}");
        }
        let error = StackRef::parse("prod", None).map_err(|error| error.to_string());
        assert!(error.is_err_and(|error| error.contains("has no project")));
    }

    #[test]
    fn names_may_have_100_characters() {
        assert!(StackRef::legacy(&"a".repeat(100)).is_ok());
        assert!(StackRef::legacy(&"a".repeat(101)).is_err());
    }
}
