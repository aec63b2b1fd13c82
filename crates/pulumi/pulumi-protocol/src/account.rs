//! The user behind a token, organisations, and the version check.

use serde::{Deserialize, Serialize};

use crate::MessageSeverity;
use crate::lenient::or_default;

/// The answer of `GET /api/user`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// An opaque id.
    #[serde(default, deserialize_with = "or_default")]
    pub id: String,
    /// The login name, which `whoami` prints. The CLI refuses an empty one.
    #[serde(default, deserialize_with = "or_default")]
    pub github_login: String,
    /// The full name.
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    /// The address.
    #[serde(default, deserialize_with = "or_default")]
    pub email: String,
    /// The URL of a picture.
    #[serde(default, deserialize_with = "or_default")]
    pub avatar_url: String,
    /// The organisations that the user belongs to.
    #[serde(default, deserialize_with = "or_default")]
    pub organizations: Vec<Organization>,
    /// Where the user is known: `self`, and names of services.
    #[serde(default, deserialize_with = "or_default")]
    pub identities: Vec<String>,
    /// Whether the user runs the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_admin: Option<bool>,
    /// What the token is, when it is not a user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_info: Option<TokenInfo>,
}

impl User {
    /// A user of this login name, with organisations.
    pub fn named(login: impl Into<String>, organizations: impl IntoIterator<Item = String>) -> Self {
        let login = login.into();
        Self {
            id: login.clone(),
            name: login.clone(),
            github_login: login,
            organizations: organizations.into_iter().map(Organization::named).collect(),
            identities: vec!["self".to_owned()],
            ..Self::default()
        }
    }
}

/// An organisation of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Organization {
    /// The name in stack references. The CLI refuses an empty one.
    #[serde(default, deserialize_with = "or_default")]
    pub github_login: String,
    /// The full name.
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    /// The URL of a picture.
    #[serde(default, deserialize_with = "or_default")]
    pub avatar_url: String,
}

impl Organization {
    /// An organisation whose full name is its login name.
    pub fn named(login: impl Into<String>) -> Self {
        let login = login.into();
        Self { name: login.clone(), github_login: login, avatar_url: String::new() }
    }
}

/// What a token is that is not a user's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenInfo {
    /// The name of the token, never the token.
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    /// The organisation that it belongs to.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub organization: String,
    /// The team that it belongs to.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub team: String,
}

/// The answer of `GET /api/user/organizations/default`. Its members have capital letters.
///
/// A service without a default organisation answers 404, and the CLI takes the login name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DefaultOrganization {
    /// The organisation of stack references that name none.
    #[serde(default, deserialize_with = "or_default", rename = "GitHubLogin")]
    pub github_login: String,
    /// What the CLI prints.
    #[serde(default, deserialize_with = "or_default")]
    pub messages: Vec<Message>,
}

/// A message that the CLI prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// How it is printed.
    pub severity: MessageSeverity,
    /// What the CLI prints.
    #[serde(default, deserialize_with = "or_default")]
    pub message: String,
}

/// The answer of `GET /api/cli/version`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CliVersion {
    /// The newest release.
    #[serde(default, deserialize_with = "or_default")]
    pub latest_version: String,
    /// The oldest release that prints no warning about its age.
    #[serde(default, deserialize_with = "or_default")]
    pub oldest_without_warning: String,
    /// The newest development version.
    #[serde(default, deserialize_with = "or_default")]
    pub latest_dev_version: String,
}
