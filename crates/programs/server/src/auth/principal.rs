//! Principals and their roles.

use groundstate_common::one_line;
use serde::{Deserialize, Serialize};

/// What a principal may do on a state. Each role has what those before it have.
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

/// How a principal was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PrincipalKind {
    /// Nothing was asked for: the server is reached from its own machine only, and its policy says so.
    Local,
    /// By a token.
    Token,
}

/// A role on states.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Grant {
    /// The role.
    pub role: Role,
    /// The project; none means all.
    pub project: Option<String>,
    /// The state in the project, `STATE` or `STATE/WORKSPACE`; none means all.
    pub state: Option<String>,
}

impl Grant {
    /// A role on everything.
    pub fn everything(role: Role) -> Self {
        Self { role, project: None, state: None }
    }

    /// A role on a project.
    pub fn project(role: Role, project: &str) -> Self {
        Self { role, project: Some(project.to_owned()), state: None }
    }

    fn covers(&self, project: &str, state: &str) -> bool {
        self.project.as_deref().is_none_or(|granted| granted == project)
            && self.state.as_deref().is_none_or(|granted| granted == state)
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

    /// Whether it has the role, or a higher one, on a state of a project: `STATE` or `STATE/WORKSPACE`.
    pub fn may(&self, role: Role, project: &str, state: &str) -> bool {
        self.grants.iter().any(|grant| grant.role >= role && grant.covers(project, state))
    }
}

#[cfg(test)]
mod tests {
    use super::{Grant, Principal, PrincipalKind, Role};

    #[test]
    fn a_role_has_what_lower_ones_have_and_only_where_it_is_granted() {
        let ci = Principal::new("ci", PrincipalKind::Token, vec![Grant::project(Role::Lock, "shop")]);
        assert!(ci.may(Role::Outputs, "shop", "network") && ci.may(Role::Lock, "shop", "network/dev"));
        assert!(!ci.may(Role::Write, "shop", "network"));
        assert!(!ci.may(Role::Outputs, "bank", "network"));
        let admin = Principal::new("root", PrincipalKind::Local, vec![Grant::everything(Role::Admin)]);
        assert!(admin.may(Role::Admin, "bank", "network"));
    }
}
