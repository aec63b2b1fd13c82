//! Names of stacks and projects, and tags of stacks.

use groundstate_common::{InvalidId, string_id};

/// The longest name, in characters.
const LONGEST: usize = 100;
/// The longest name and the longest value of a tag, in characters.
const LONGEST_TAG: (usize, usize) = (40, 256);

string_id! {
    /// The name of a stack: 1 to 100 letters, digits, `_`, `.` and `-`.
    ///
    /// ```
    /// use groundstate_pulumi_snapshot::StackName;
    ///
    /// assert_eq!(StackName::parse("dev-1.eu")?.as_str(), "dev-1.eu");
    /// assert!(StackName::parse("dev/eu").is_err());
    /// # Ok::<(), groundstate_common::InvalidId>(())
    /// ```
    pub struct StackName: "stack name" = check_stack;
    /// The name of a project: at most 100 letters, digits, `_`, `.` and `-`.
    pub struct ProjectName: "project name" = check_name;
}

fn check_stack(text: &str) -> Result<(), &'static str> {
    if text.is_empty() { Err("stack name must not be empty") } else { check_name(text) }
}

fn check_name(text: &str) -> Result<(), &'static str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if !text.chars().all(allowed) {
        return Err("it may hold letters, digits, underscores, dots and hyphens only");
    }
    if text.len() > LONGEST { Err("it has more than 100 characters") } else { Ok(()) }
}

/// Reads the name of a stack. `.` and `..` are refused, which Pulumi takes: they would lead out of
/// the folder of stacks, and paths of URLs lose them.
///
/// # Errors
///
/// [`InvalidId`]
pub fn stack_name(text: &str) -> Result<StackName, InvalidId> {
    refuse_dots("stack name", text)?;
    StackName::parse(text)
}

/// Reads the name of a project, which is not empty. `.` and `..` are refused, which Pulumi takes: they would lead out of
/// the folder of stacks, and paths of URLs lose them.
///
/// # Errors
///
/// [`InvalidId`]
pub fn project_name(text: &str) -> Result<ProjectName, InvalidId> {
    refuse_dots("project name", text)?;
    if text.is_empty() {
        return Err(InvalidId::new("project name", text, "it is empty"));
    }
    ProjectName::parse(text)
}

fn refuse_dots(kind: &'static str, text: &str) -> Result<(), InvalidId> {
    match text {
        "." | ".." => {
            Err(InvalidId::new(kind, text, "it would lead out of its folder, and paths of URLs lose it"))
        }
        _ => Ok(()),
    }
}

/// Checks a tag: a name of 1 to 40 letters, digits, `-`, `_`, `.` and `:`, a value of at most 256 characters.
///
/// # Errors
///
/// [`InvalidId`]
pub fn check_tag(name: &str, value: &str) -> Result<(), InvalidId> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    if name.is_empty() || !name.chars().all(is_allowed) {
        return Err(InvalidId::new(
            "tag name",
            name,
            "it may hold letters, digits, `-`, `_`, `.` and `:` only",
        ));
    }
    if name.len() > LONGEST_TAG.0 {
        return Err(InvalidId::new("tag name", name, "it has more than 40 characters"));
    }
    if value.chars().count() > LONGEST_TAG.1 {
        return Err(InvalidId::new("tag", name, "its value has more than 256 characters"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        let long = "a".repeat(LONGEST);
        for (text, stack, project) in [
            ("dev", true, true),
            ("A_b.c-1", true, true),
            ("", false, true),
            (long.as_str(), true, true),
            (&*format!("{long}b"), false, false),
            ("a b", false, false),
            ("ä", false, false),
            ("a/b", false, false),
            ("a:b", false, false),
        ] {
            assert_eq!(StackName::parse(text).is_ok(), stack, "{text}");
            assert_eq!(ProjectName::parse(text).is_ok(), project, "{text}");
        }
    }
}
