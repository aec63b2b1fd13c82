//! The keys of Terraform's `s3` backend.

use groundstate_statemgr::{Error, ErrorKind, Op, Result, WorkspaceName};

use crate::layout::Layout;

/// `KEY` for the default workspace, `PREFIX/NAME/KEY` for the others, `.tflock` behind either for the lock.
///
/// ```
/// use groundstate_statemgr::WorkspaceName;
/// use groundstate_statemgr_object::{Layout, S3Layout};
///
/// let layout = S3Layout::new("network/prod.tfstate")?;
/// let dev = WorkspaceName::parse("dev")?;
/// assert_eq!(layout.state_key(&dev), "env:/dev/network/prod.tfstate");
/// assert_eq!(layout.workspace("env:/dev/network/prod.tfstate"), Some(dev));
/// assert_eq!(layout.workspace("env:/dev/network/other.tfstate"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3Layout {
    key: String,
    prefix: String,
}

/// The default of `workspace_key_prefix`.
const DEFAULT_PREFIX: &str = "env:";

impl S3Layout {
    /// The layout of a backend with this `key`.
    ///
    /// # Errors
    ///
    /// `Invalid` for a key that the backend refuses: empty, or with a slash at either end or two in a row. Also for one that
    /// leads out of the folder of a workspace, as `../a` does: the backend stores all workspaces in one object then.
    pub fn new(key: &str) -> Result<Self> {
        if key.is_empty() {
            return Err(invalid("key", key, "it is empty, name the object of the state"));
        }
        if key.starts_with('/') || key.ends_with('/') {
            return Err(invalid("key", key, "it begins or ends with a slash, leave that away"));
        }
        if key.contains("//") {
            return Err(invalid("key", key, "it has two slashes in a row, leave one away"));
        }
        if clean(key).split('/').next() == Some("..") {
            let why = "its `..` leaves the folder of a workspace, so all workspaces have one object; name one inside";
            return Err(invalid("key", key, why));
        }
        Ok(Self { key: key.to_owned(), prefix: DEFAULT_PREFIX.to_owned() })
    }

    /// Sets `workspace_key_prefix`; it may be empty.
    ///
    /// # Errors
    ///
    /// `Invalid` when it has a slash at either end.
    pub fn workspace_key_prefix(mut self, prefix: &str) -> Result<Self> {
        if prefix.starts_with('/') || prefix.ends_with('/') {
            let why = "it begins or ends with a slash, leave that away";
            return Err(invalid("workspace_key_prefix", prefix, why));
        }
        prefix.clone_into(&mut self.prefix);
        Ok(self)
    }

    /// Whether other workspaces are below the default prefix.
    pub fn has_default_prefix(&self) -> bool {
        self.prefix == DEFAULT_PREFIX
    }

    /// The backend's `key`.
    pub fn key(&self) -> &str {
        &self.key
    }
}

fn invalid(option: &str, value: &str, why: &str) -> Error {
    Error::new(ErrorKind::Invalid, Op::Other("use"), format!("the {option} {value:?}")).because(why)
}

impl Layout for S3Layout {
    fn state_key(&self, workspace: &WorkspaceName) -> String {
        if workspace.is_default() {
            return self.key.clone();
        }
        clean(&format!("{}/{workspace}/{}", self.prefix, self.key))
    }

    fn lock_key(&self, workspace: &WorkspaceName) -> String {
        format!("{}.tflock", self.state_key(workspace))
    }

    fn list_prefix(&self) -> String {
        // The keys below it are cleaned, too.
        let prefix = clean(&self.prefix);
        if prefix.is_empty() { prefix } else { format!("{prefix}/") }
    }

    fn is_flat(&self) -> bool {
        false
    }

    fn workspace(&self, key: &str) -> Option<WorkspaceName> {
        let (name, _) = key.strip_prefix(&self.list_prefix())?.split_once('/')?;
        let name = WorkspaceName::parse(name).ok().filter(|name| !name.is_default())?;
        (self.state_key(&name) == key).then_some(name)
    }
}

/// Joined paths are cleaned as Go's `path.Join` does it: no empty parts, no `.`, and `..` takes the part before it along.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use groundstate_statemgr::{ErrorKind, WorkspaceName};

    use super::S3Layout;
    use crate::layout::Layout;

    fn name(text: &str) -> WorkspaceName {
        WorkspaceName::parse(text).unwrap()
    }

    #[test]
    fn keys_are_those_of_the_original() {
        let rows = [
            ("a.tfstate", None, "default", "a.tfstate", ""),
            ("a.tfstate", None, "dev", "env:/dev/a.tfstate", "env:/"),
            ("p/a.tfstate", Some("ws/x"), "dev", "ws/x/dev/p/a.tfstate", "ws/x/"),
            ("p/a.tfstate", Some(""), "dev", "dev/p/a.tfstate", ""),
            ("a~b c/é.tfstate", None, "x@y", "env:/x@y/a~b c/é.tfstate", "env:/"),
            ("./a", Some("b/../c"), "w", "c/w/a", "c/"),
        ];
        for (key, prefix, workspace, state, list) in rows {
            let mut layout = S3Layout::new(key).unwrap();
            if let Some(prefix) = prefix {
                layout = layout.workspace_key_prefix(prefix).unwrap();
            }
            let workspace = name(workspace);
            assert_eq!(layout.state_key(&workspace), state);
            assert_eq!(layout.lock_key(&workspace), format!("{state}.tflock"));
            if !workspace.is_default() {
                assert_eq!(layout.list_prefix(), list);
            }
        }
    }

    #[test]
    fn only_states_of_this_key_are_workspaces() {
        let layout = S3Layout::new("p/a.tfstate").unwrap();
        let rows = [
            ("env:/dev/p/a.tfstate", Some("dev")),
            ("env:/dev/p/a.tfstate.tflock", None),
            ("env:/dev/a.tfstate", None),
            ("env:/p/a.tfstate", None),
            ("env:/dev", None),
            ("env:/default/p/a.tfstate", None),
            ("env:/a b/p/a.tfstate", None),
            ("other/dev/p/a.tfstate", None),
            ("p/a.tfstate", None),
        ];
        for (key, found) in rows {
            assert_eq!(layout.workspace(key), found.map(name), "{key}");
        }
    }

    #[test]
    fn every_workspace_that_has_a_key_is_listed() {
        for (key, prefix) in
            [("a/./b.tfstate", "env:"), ("a/x/../b", "env:"), ("./a", "b/../c"), ("a/b", "./e"), ("./a", "")]
        {
            let layout = S3Layout::new(key).unwrap().workspace_key_prefix(prefix).unwrap();
            let stored = layout.state_key(&name("dev"));
            assert!(stored.starts_with(&layout.list_prefix()), "{key} {prefix}");
            assert_eq!(layout.workspace(&stored), Some(name("dev")), "{key} {prefix}");
        }
    }

    #[test]
    fn keys_that_give_all_workspaces_one_object_are_refused() {
        for key in ["../a", "..", "./../a", "a/../../b", "../../a"] {
            let error = S3Layout::new(key).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{key}");
            assert!(error.to_string().contains("one object"), "{error}");
        }
        for key in ["a/../b", "..a", ".../a", "a/.."] {
            let layout = S3Layout::new(key).unwrap();
            assert_ne!(layout.state_key(&name("dev")), layout.state_key(&name("prod")), "{key}");
        }
    }

    #[test]
    fn refuses_what_the_original_refuses() {
        for key in ["", "/a", "a/", "a//b"] {
            assert_eq!(S3Layout::new(key).unwrap_err().kind(), ErrorKind::Invalid, "{key}");
        }
        for prefix in ["/", "/a", "a/"] {
            let layout = S3Layout::new("a").unwrap();
            assert_eq!(
                layout.workspace_key_prefix(prefix).unwrap_err().kind(),
                ErrorKind::Invalid,
                "{prefix}"
            );
        }
    }
}
