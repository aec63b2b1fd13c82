//! Rules of owners, of projects in paths, and of all tags together. Those of names are those of snapshots.

use std::borrow::Cow;

use groundstate_common::{InvalidId, string_id};
use groundstate_pulumi_snapshot::check_tag;

use crate::Tags;

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

/// The project as the CLI writes it into paths: any character but letters, digits, `-`, `_` and `.` becomes `-`.
pub fn project_in_path(project: &str) -> Cow<'_, str> {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if project.chars().all(is_kept) {
        return Cow::Borrowed(project);
    }
    project.chars().map(|c| if is_kept(c) { c } else { '-' }).collect()
}

/// Checks all tags of a stack.
///
/// # Errors
///
/// The first that breaks a rule, by name.
pub fn check_tags(tags: &Tags) -> Result<(), InvalidId> {
    tags.iter().try_for_each(|(name, value)| check_tag(name, value))
}
