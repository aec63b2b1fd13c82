//! Names of stacks and projects.

use groundstate_common::string_id;

/// The longest name, in characters.
const LONGEST: usize = 100;

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
