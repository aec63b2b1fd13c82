//! Names of projects, states and workspaces, and the paths of URLs that they stand in.

use std::fmt;

use groundstate_common::{InvalidId, string_id};
use groundstate_statemgr::WorkspaceName;
use percent_encoding::percent_decode_str;

/// The longest name, in bytes.
const LONGEST: usize = 100;

/// The part of a URL that means the lock of what stands before it, as other hosts of states have it.
const LOCK: &str = "lock";

string_id! {
    /// The name of a project, which groups states and the roles on them.
    ///
    /// 1 to 100 letters and digits of ASCII and `-`, `_`, `.`, of which the first is a letter or a digit and the last is not a dot.
    pub struct ProjectName: "project name" = check;
    /// The name of a state in its project. The rule is that of projects.
    pub struct StateName: "state name" = check;
}

fn check(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    if text.len() > LONGEST {
        return Err(format!("it has {} bytes, use at most {LONGEST}", text.len()));
    }
    if let Some(c) = text.chars().find(|c| !c.is_ascii_alphanumeric() && !"-_.".contains(*c)) {
        return Err(format!("it has a {c:?}, use letters, digits and -_. only"));
    }
    if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err("it has to begin with a letter or a digit".to_owned());
    }
    if text.ends_with('.') {
        return Err("it ends with a dot".to_owned());
    }
    Ok(())
}

/// Which state: its project, its name, its workspace.
///
/// `Display` is `PROJECT/STATE` for the default workspace and `PROJECT/STATE/WORKSPACE` for any other, as in URLs.
///
/// ```
/// use groundstate_server::StatePath;
///
/// let path = StatePath::parse("/shop/network/dev")?;
/// assert_eq!((path.project().as_str(), path.state().as_str()), ("shop", "network"));
/// assert_eq!(path.workspace().as_str(), "dev");
/// assert_eq!(StatePath::parse("shop/network/default")?, StatePath::parse("shop/network")?);
/// assert!(StatePath::parse("/shop/..%2Fsecrets").is_err());
/// # Ok::<(), groundstate_server::InvalidTarget>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatePath {
    project: ProjectName,
    state: StateName,
    workspace: WorkspaceName,
}

/// Why the path of a URL names no state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTarget {
    /// It has another number of parts.
    #[error("the path does not name a state; it has the form PROJECT/STATE or PROJECT/STATE/WORKSPACE")]
    Form,
    /// A part is not UTF-8 once it is decoded.
    #[error("the path is not valid UTF-8")]
    Encoding,
    /// A part is not a name.
    #[error(transparent)]
    Name(#[from] InvalidId),
}

impl StatePath {
    /// The state of these names.
    ///
    /// # Errors
    ///
    /// If the workspace is longer than 100 bytes, begins or ends with a dot, or is called `lock`, which in URLs is the lock of
    /// the state.
    pub fn new(project: ProjectName, state: StateName, workspace: WorkspaceName) -> Result<Self, InvalidId> {
        let why = match workspace.as_str() {
            LOCK => Some("in URLs it means the lock of the state, use another name".to_owned()),
            dotted if dotted.starts_with('.') || dotted.ends_with('.') => {
                Some("it begins or ends with a dot".to_owned())
            }
            long if long.len() > LONGEST => {
                Some(format!("it has {} bytes, use at most {LONGEST}", long.len()))
            }
            _ => None,
        };
        match why {
            Some(why) => Err(InvalidId::new("workspace name", workspace.as_str(), why)),
            None => Ok(Self { project, state, workspace }),
        }
    }

    /// Reads the path of a URL behind its prefix, whose parts may be percent-encoded.
    ///
    /// # Errors
    ///
    /// When it has another form, or a part is not a name.
    pub fn parse(path: &str) -> Result<Self, InvalidTarget> {
        let parts = parts(path)?;
        Self::of_parts(&parts.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn of_parts(parts: &[&str]) -> Result<Self, InvalidTarget> {
        let (project, state, workspace) = match *parts {
            [project, state] => (project, state, WorkspaceName::default_name()),
            [project, state, workspace] => (project, state, WorkspaceName::parse(workspace)?),
            _ => return Err(InvalidTarget::Form),
        };
        Ok(Self::new(ProjectName::parse(project)?, StateName::parse(state)?, workspace)?)
    }

    /// The project.
    pub fn project(&self) -> &ProjectName {
        &self.project
    }

    /// The state's name in its project.
    pub fn state(&self) -> &StateName {
        &self.state
    }

    /// The workspace.
    pub fn workspace(&self) -> &WorkspaceName {
        &self.workspace
    }

    /// `STATE` or `STATE/WORKSPACE`: what roles are granted on within a project.
    pub fn in_project(&self) -> String {
        match self.workspace.is_default() {
            true => self.state.to_string(),
            false => format!("{}/{}", self.state, self.workspace),
        }
    }
}

impl fmt::Display for StatePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project, self.in_project())
    }
}

impl fmt::Debug for StatePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StatePath({self})")
    }
}

/// What a URL of the protocol means: a state, or its lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) state: StatePath,
    /// Whether the URL is that of the lock: `…/lock`.
    pub(crate) is_lock: bool,
}

impl Target {
    /// Reads the path of a URL behind its prefix.
    ///
    /// # Errors
    ///
    /// Those of [`StatePath::parse`].
    pub(crate) fn parse(path: &str) -> Result<Self, InvalidTarget> {
        let parts = parts(path)?;
        match parts.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            [names @ .., LOCK] if names.len() >= 2 => {
                Ok(Self { state: StatePath::of_parts(names)?, is_lock: true })
            }
            names => Ok(Self { state: StatePath::of_parts(names)?, is_lock: false }),
        }
    }
}

/// The parts of a path. They are decoded after it is split, so that an encoded slash stays in its part, where no name has one.
fn parts(path: &str) -> Result<Vec<String>, InvalidTarget> {
    let decode = |part| match percent_decode_str(part).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(InvalidTarget::Encoding),
    };
    path.strip_prefix('/').unwrap_or(path).split('/').map(decode).collect()
}

#[cfg(test)]
mod tests {
    use super::{InvalidTarget, StatePath, Target};

    #[test]
    fn a_path_names_a_state_a_workspace_or_the_lock_of_one() {
        for (path, shown, is_lock) in [
            ("/shop/network", "shop/network", false),
            ("/shop/network/default", "shop/network", false),
            ("/shop/network/dev", "shop/network/dev", false),
            ("/shop/network/lock", "shop/network", true),
            ("/shop/network/dev/lock", "shop/network/dev", true),
            ("/shop/lock", "shop/lock", false),
            ("/lock/lock/lock", "lock/lock", true),
            ("/shop/net%77ork", "shop/network", false),
            ("/shop/network/a%40b%3Dc", "shop/network/a@b=c", false),
        ] {
            let target = Target::parse(path).unwrap();
            assert_eq!((target.state.to_string().as_str(), target.is_lock), (shown, is_lock), "{path}");
        }
    }

    #[test]
    fn what_leaves_its_part_of_the_path_is_no_name() {
        for path in [
            "",
            "/",
            "/shop",
            "/shop/",
            "//network",
            "/shop//network",
            "/shop/network/",
            "/shop/network/dev/lock/x",
            "/shop/network/lock/lock",
            "/shop/..",
            "/../network",
            "/shop/%2e%2e",
            "/shop/..%2Fsecrets",
            "/shop/a%2Fb",
            "/shop/a%5Cb",
            "/shop/.hidden",
            "/shop/a%00b",
            "/shop/a%0Ab",
            "/shop/%C3%BC",
            "/shop/ü",
            "/shop/%FF",
            "/shop/network/a%2Cb",
            "/shop/network/..",
            "/shop/network/.dev",
            "/shop/network./dev",
            "/shop/network/dev.",
        ] {
            assert!(Target::parse(path).is_err(), "{path}");
        }
        let long = "a".repeat(101);
        assert!(StatePath::parse(&format!("shop/{long}")).is_err());
        assert!(StatePath::parse(&format!("shop/network/{long}")).is_err());
        assert!(StatePath::parse(&format!("shop/{}", &long[1..])).is_ok());
    }

    #[test]
    fn the_message_quotes_the_name_without_control_characters() {
        let InvalidTarget::Name(error) = Target::parse("/shop/a%1B%5B31m").unwrap_err() else {
            panic!("it is a name");
        };
        let text = error.to_string();
        assert!(text.contains(r#""a\u{1b}[31m""#) && !text.contains('\u{1b}'), "{text}");
    }
}
