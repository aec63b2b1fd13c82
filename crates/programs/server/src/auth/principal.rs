//! Principals and their roles.

use std::fmt;
use std::str::FromStr;

use groundstate_common::{InvalidId, one_line};
use serde::{Deserialize, Serialize};

use super::pattern::Pattern;

/// What a principal may do on a state. Each role has what those before it have.
///
/// | role | what it adds |
/// | --- | --- |
/// | `outputs` | the outputs of a state |
/// | `read` | the state, its versions and history, its lock and its holder; lists of states |
/// | `lock` | taking a lock, and releasing it by its id: `terraform plan` |
/// | `write` | storing a state, rolling back, changing resources: `terraform apply` |
/// | `admin` | releasing locks of other holders, deleting states |
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// Read outputs.
    Outputs,
    /// Read states and their history.
    Read,
    /// Lock and unlock.
    Lock,
    /// Write, roll back.
    Write,
    /// Break locks, delete states.
    Admin,
}

impl Role {
    /// All of them, the lowest first.
    pub const ALL: [Self; 5] = [Self::Outputs, Self::Read, Self::Lock, Self::Write, Self::Admin];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Outputs => "outputs",
            Self::Read => "read",
            Self::Lock => "lock",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Role {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let role = Self::ALL.into_iter().find(|role| role.as_str() == text);
        role.ok_or_else(|| InvalidId::new("role", text, "the roles are outputs, read, lock, write and admin"))
    }
}

/// How a principal was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PrincipalKind {
    /// Nothing was asked for: the server is reached from its own machine only, and its policy says so.
    Local,
    /// By a token.
    Token,
    /// By a token of an OpenID Connect issuer, such as a CI system.
    Oidc,
    /// By a certificate.
    Certificate,
}

/// A role on states.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Grant {
    /// The role.
    pub role: Role,
    /// The projects.
    pub project: Pattern,
    /// The states in the projects: names as `STATE` or `STATE/WORKSPACE` match.
    pub state: Pattern,
}

impl Grant {
    /// A role on the states that match.
    pub fn new(role: Role, project: Pattern, state: Pattern) -> Self {
        Self { role, project, state }
    }

    /// A role on everything.
    pub fn everything(role: Role) -> Self {
        Self::new(role, Pattern::any(), Pattern::any())
    }

    /// A role on every state of the projects that match.
    pub fn project(role: Role, project: Pattern) -> Self {
        Self::new(role, project, Pattern::any())
    }

    /// Checks that there can be a name that it matches.
    ///
    /// # Errors
    ///
    /// If there is none: the grant would allow nothing, and look as if it did.
    pub fn check(&self) -> Result<(), InvalidId> {
        let never = |of: &str, pattern: &Pattern, why: &str| {
            Err(InvalidId::new("pattern", pattern.as_str(), format!("no {of} has such a name: {why}")))
        };
        let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.*".contains(c));
        if !is_name(self.project.as_str()) {
            return never("project", &self.project, "it has letters, digits and -_. only, and no slash");
        }
        let state = self.state.as_str();
        let parts: Vec<&str> = state.split('/').collect();
        if parts.len() > 2 {
            return never("state", &self.state, "it is STATE or STATE/WORKSPACE, for Pulumi PROJECT/STACK");
        }
        if parts.iter().any(|part| part.is_empty()) {
            return never("state", &self.state, "there is a name on both sides of the slash");
        }
        match parts.first() {
            Some(first) if !is_name(first) => {
                never("state", &self.state, "it has letters, digits and -_. only")
            }
            _ => Ok(()),
        }
    }

    /// Whether it is the role on everything.
    pub fn is_everywhere(&self) -> bool {
        self.project.is_any() && self.state.is_any()
    }

    fn covers(&self, project: &str, state: &str) -> bool {
        self.project.matches(project) && self.state.matches(state)
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}/{}", self.role, self.project, self.state)
    }
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    name: String,
    kind: PrincipalKind,
    grants: Vec<Grant>,
}

impl Principal {
    /// A principal.
    pub fn new(name: &str, kind: PrincipalKind, grants: Vec<Grant>) -> Self {
        Self { name: one_line(name).into_owned(), kind, grants }
    }

    /// Its name, without control characters.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it was recognised.
    pub fn kind(&self) -> PrincipalKind {
        self.kind
    }

    /// What it was granted.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Whether it has the role, or a higher one, on a state of a project: `STATE` or `STATE/WORKSPACE`.
    pub fn may(&self, role: Role, project: &str, state: &str) -> bool {
        self.grants.iter().any(|grant| grant.role >= role && grant.covers(project, state))
    }

    /// Returns `true` if it has the role, or a higher one, on some state of a project whose name begins so.
    pub fn may_below(&self, role: Role, project: &str, beginning: &str) -> bool {
        self.grants.iter().any(|grant| {
            grant.role >= role && grant.project.matches(project) && grant.state.may_begin(beginning)
        })
    }

    /// Whether it has the role, or a higher one, on everything: what concerns the server and not a state.
    pub fn may_everywhere(&self, role: Role) -> bool {
        self.grants.iter().any(|grant| grant.role >= role && grant.is_everywhere())
    }
}

#[cfg(test)]
mod tests {
    use super::{Grant, Pattern, Principal, PrincipalKind, Role};

    fn grant(role: Role, project: &str, state: &str) -> Grant {
        Grant::new(role, Pattern::parse(project).unwrap(), Pattern::parse(state).unwrap())
    }

    #[test]
    fn a_role_has_what_lower_ones_have_and_only_where_it_is_granted() {
        let ci = Principal::new("ci", PrincipalKind::Token, vec![grant(Role::Lock, "shop", "*")]);
        assert!(ci.may(Role::Outputs, "shop", "network") && ci.may(Role::Lock, "shop", "network/dev"));
        assert!(!ci.may(Role::Write, "shop", "network"));
        assert!(!ci.may(Role::Outputs, "bank", "network"));
        assert!(!ci.may_everywhere(Role::Outputs));
        let admin = Principal::new("root", PrincipalKind::Local, vec![Grant::everything(Role::Admin)]);
        assert!(admin.may(Role::Admin, "bank", "network") && admin.may_everywhere(Role::Admin));
    }

    #[test]
    fn every_grant_counts_and_none_counts_for_another_state() {
        let grants = vec![grant(Role::Read, "*", "*"), grant(Role::Write, "web-*", "prod-*")];
        let ci = Principal::new("ci", PrincipalKind::Token, grants);
        for (role, project, state, expected) in [
            (Role::Read, "bank", "vault", true),
            (Role::Lock, "bank", "vault", false),
            (Role::Write, "web-shop", "prod-network", true),
            (Role::Write, "web-shop", "prod-network/blue", true),
            (Role::Write, "web-shop", "test", false),
            (Role::Write, "shop", "prod-network", false),
            (Role::Admin, "web-shop", "prod-network", false),
        ] {
            assert_eq!(ci.may(role, project, state), expected, "{role} {project} {state}");
        }
        assert!(ci.may_everywhere(Role::Read) && !ci.may_everywhere(Role::Write));
    }

    #[test]
    fn grants_that_match_no_name_are_refused() {
        for (project, state, expected) in [
            ("*", "*", true),
            ("web-*", "prod", true),
            ("acme", "shop/dev", true),
            ("acme", "shop/*", true),
            ("acme", "network/größe", true),
            ("acme/shop", "*", false),
            ("acme/*", "*", false),
            ("a b", "*", false),
            ("acme", "acme/shop/dev", false),
            ("acme", "*/shop/*", false),
            ("acme", "/shop", false),
            ("acme", "shop/", false),
            ("acme", "größe", false),
        ] {
            assert_eq!(grant(Role::Read, project, state).check().is_ok(), expected, "{project} {state}");
        }
    }

    #[test]
    fn roles_are_read_as_they_are_written() {
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert!("Admin".parse::<Role>().is_err());
    }
}
