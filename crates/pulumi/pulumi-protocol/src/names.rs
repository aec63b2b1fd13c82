//! Rules of names and tags: what the CLI accepts. A stored stack name that it refuses makes it panic.

use std::borrow::Cow;

use groundstate_common::{InvalidId, string_id};
use groundstate_pulumi_snapshot::{ProjectName, StackName};

use crate::Tags;

/// The longest name and the longest value of a tag, in characters.
const LONGEST_TAG: (usize, usize) = (40, 256);

string_id! {
    /// The owner of stacks, a user or an organisation: 3 to 40 letters, digits, `-` and `_`, with a letter or a digit at both ends.
    ///
    /// ```
    /// use groundstate_pulumi_protocol::OwnerName;
    ///
    /// assert_eq!(OwnerName::parse("acme-corp")?.as_str(), "acme-corp");
    /// assert!(OwnerName::parse("-acme").is_err());
    /// # Ok::<(), groundstate_pulumi_protocol::InvalidId>(())
    /// ```
    pub struct OwnerName: "owner of stacks" = check_owner;
}

fn check_owner(text: &str) -> Result<(), &'static str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric();
    if !text.chars().all(|c| is_plain(c) || matches!(c, '-' | '_')) {
        return Err("it may hold letters, digits, hyphens and underscores only");
    }
    if !(3..=40).contains(&text.len()) {
        return Err("it has to have 3 to 40 characters");
    }
    if !text.starts_with(is_plain) || !text.ends_with(is_plain) {
        return Err("it has to begin and end with a letter or a digit");
    }
    Ok(())
}

/// Reads the name of a stack. `.` and `..` are refused: paths of URLs and folders lose them.
///
/// # Errors
///
/// [`InvalidId`]
pub fn stack_name(text: &str) -> Result<StackName, InvalidId> {
    refuse_dots("stack name", text)?;
    StackName::parse(text)
}

/// Reads the name of a project, which is not empty. `.` and `..` are refused: paths of URLs and folders lose them.
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
        "." | ".." => Err(InvalidId::new(kind, text, "paths of URLs and folders lose it")),
        _ => Ok(()),
    }
}

/// The project as the CLI writes it into paths: any character but letters, digits, `-`, `_` and `.` becomes `-`.
pub fn project_in_path(project: &str) -> Cow<'_, str> {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if project.chars().all(is_kept) {
        return Cow::Borrowed(project);
    }
    project.chars().map(|c| if is_kept(c) { c } else { '-' }).collect()
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

/// Checks all tags of a stack.
///
/// # Errors
///
/// The first that breaks a rule, by name.
pub fn check_tags(tags: &Tags) -> Result<(), InvalidId> {
    tags.iter().try_for_each(|(name, value)| check_tag(name, value))
}
