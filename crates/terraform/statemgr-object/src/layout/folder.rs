//! A folder with an object for each workspace: the names of Terraform's `gcs` backend, and of places of our own.

use groundstate_statemgr::WorkspaceName;

use crate::layout::Layout;

/// `PREFIX/NAME.tfstate` for the state of a workspace, `PREFIX/NAME.tflock` for its lock.
///
/// ```
/// use groundstate_statemgr::WorkspaceName;
/// use groundstate_statemgr_object::{FolderLayout, Layout};
///
/// let layout = FolderLayout::new("/network/prod/");
/// assert_eq!(layout.state_key(&WorkspaceName::default_name()), "network/prod/default.tfstate");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderLayout {
    /// Empty, or ending with a slash.
    prefix: String,
}

impl FolderLayout {
    /// The objects below this prefix, with or without slashes around it; empty for the root.
    ///
    /// Only slashes at the beginning and one at the end do not count, as in the original. A prefix with more of them makes
    /// names that no [`Key`](groundstate_blobs::Key) can be, so its states cannot be opened, rather than others be taken for them.
    pub fn new(prefix: &str) -> Self {
        let mut prefix = prefix.trim_start_matches('/').to_owned();
        if !prefix.is_empty() && !prefix.ends_with('/') {
            prefix.push('/');
        }
        Self { prefix }
    }
}

impl Layout for FolderLayout {
    fn state_key(&self, workspace: &WorkspaceName) -> String {
        format!("{}{workspace}.tfstate", self.prefix)
    }

    fn lock_key(&self, workspace: &WorkspaceName) -> String {
        format!("{}{workspace}.tflock", self.prefix)
    }

    fn list_prefix(&self) -> String {
        self.prefix.clone()
    }

    fn is_flat(&self) -> bool {
        true
    }

    fn workspace(&self, key: &str) -> Option<WorkspaceName> {
        // Names have no slash, so what lies in a folder below is none.
        let name = key.strip_prefix(&self.prefix)?.strip_suffix(".tfstate")?;
        WorkspaceName::parse(name).ok().filter(|name| !name.is_default())
    }
}

#[cfg(test)]
mod tests {
    use groundstate_statemgr::WorkspaceName;

    use super::FolderLayout;
    use crate::layout::Layout;

    #[test]
    fn slashes_around_the_prefix_do_not_count() {
        let dev = WorkspaceName::parse("dev").unwrap();
        for (prefix, state) in [
            ("", "dev.tfstate"),
            ("//", "dev.tfstate"),
            ("a", "a/dev.tfstate"),
            ("/a/b/", "a/b/dev.tfstate"),
            ("a//b", "a//b/dev.tfstate"),
        ] {
            let layout = FolderLayout::new(prefix);
            assert_eq!(layout.state_key(&dev), state);
            assert_eq!(layout.lock_key(&dev), state.replace("tfstate", "tflock"));
            assert_eq!(layout.workspace(state), Some(dev.clone()));
        }
    }

    #[test]
    fn only_states_in_the_folder_itself_are_workspaces() {
        let layout = FolderLayout::new("a");
        for key in [
            "a/dev.tflock",
            "a/b/dev.tfstate",
            "dev.tfstate",
            "a/.tfstate",
            "a/default.tfstate",
            "a/a b.tfstate",
        ] {
            assert_eq!(layout.workspace(key), None, "{key}");
        }
    }
}
