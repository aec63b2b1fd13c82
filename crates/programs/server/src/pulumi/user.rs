//! Who the user is, and what the server can do.

use axum::response::Response;
use groundstate_pulumi_protocol::{Capabilities, CliVersion, TokenInfo, User};

use super::access::Client;
use super::answer::json;
use crate::app::App;
use crate::auth::PrincipalKind;
use crate::problem::Problem;

/// `GET /api/user`.
pub(super) fn user(client: &Client) -> Result<Response, Problem> {
    let login = client.login();
    let principal = &client.caller.principal;
    // Owners that grants name in full are the organisations of the user.
    let granted = principal.grants().iter().filter_map(|grant| grant.project.literal());
    let mut names: Vec<String> = granted.filter(|name| *name != login).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names.insert(0, login.clone());
    let mut user = User::named(login, names);
    client.name().clone_into(&mut user.name);
    user.token_info = (principal.kind() == PrincipalKind::Token)
        .then(|| TokenInfo { name: client.name().to_owned(), ..TokenInfo::default() });
    json(&user)
}

/// `GET /api/capabilities`.
pub(super) fn capabilities(app: &App) -> Result<Response, Problem> {
    json(&Capabilities::served(app.policies().pulumi_deltas_from))
}

/// `GET /api/cli/version`. Which release is the newest is not known here, so none is recommended.
pub(super) fn cli_version() -> Result<Response, Problem> {
    json(&CliVersion::default())
}
