//! Names of workspaces, by Terraform's rule and one more.

use groundstate_common::string_id;

/// The workspace that always exists.
const DEFAULT: &str = "default";

string_id! {
    /// The name of a workspace.
    ///
    /// As for Terraform it may have what stands for itself in a part of a URL: letters and digits of ASCII, and
    /// `-_.~$&+:=@`. Unlike there it is neither `.` nor `..`, which are names of other folders.
    pub struct WorkspaceName: "workspace name" = check;
}

impl WorkspaceName {
    /// The workspace that always exists and cannot be deleted.
    pub fn default_name() -> Self {
        Self::parse(DEFAULT).expect("it is made of letters")
    }

    /// Whether it is the one that always exists.
    pub fn is_default(&self) -> bool {
        self.as_str() == DEFAULT
    }
}

fn check(text: &str) -> Result<(), String> {
    match text {
        "" => return Err("it is empty".to_owned()),
        "." | ".." => return Err("it is the name of another folder".to_owned()),
        _ => {}
    }
    match text.chars().find(|c| !c.is_ascii_alphanumeric() && !"-_.~$&+:=@".contains(*c)) {
        Some(c) => Err(format!("it has a {c:?}, use letters, digits and -_.~$&+:=@ only")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::WorkspaceName;

    #[test]
    fn names_are_what_terraform_takes_but_for_other_folders() {
        for name in ["default", "a", "A-b_c.9", "~$&+:=@", "...", ".hidden"] {
            assert_eq!(WorkspaceName::parse(name).map(|name| name.to_string()).as_deref(), Ok(name));
        }
        for name in ["", ".", "..", "a/b", "a b", "a%20", "a,b", "a;b", "a?b", "a#b", "ä", "a\\b", "a\n"] {
            assert!(WorkspaceName::parse(name).is_err(), "{name:?}");
        }
    }
}
