//! Who the user is, and what the server can do.

use axum::response::Response;
use serde_json::json;

use super::access::Client;
use super::answer::{json, typed};
use crate::app::App;
use crate::auth::PrincipalKind;
use crate::problem::Problem;

/// `GET /api/user`.
pub(super) fn user(client: &Client) -> Result<Response, Problem> {
    let login = client.login();
    let principal = &client.caller.principal;
    // Owners that grants name in full are the organisations of the user.
    let granted = principal.grants().iter().filter_map(|grant| grant.project.literal());
    let mut names: Vec<&str> = granted.filter(|name| *name != login).collect();
    names.sort_unstable();
    names.dedup();
    names.insert(0, &login);
    let organizations: Vec<_> =
        names.iter().map(|name| json!({"githubLogin": name, "name": name, "avatarUrl": ""})).collect();
    let mut user = json!({
        "id": login, "githubLogin": login, "name": client.name(), "email": "", "avatarUrl": "",
        "organizations": organizations, "identities": ["self"],
    });
    if principal.kind() == PrincipalKind::Token {
        user["tokenInfo"] = json!({"name": client.name(), "organization": "", "team": ""});
    }
    json(&user)
}

/// `GET /api/capabilities`.
pub(super) fn capabilities(app: &App) -> Response {
    let mut capabilities = vec![
        json!({"capability": "batch-encrypt"}),
        json!({"capability": "deployment-schema-version", "version": 1, "configuration": {"version": 4}}),
    ];
    if let Some(cutoff) = app.policies().pulumi_deltas_from {
        let configuration = json!({"checkpointCutoffSizeBytes": cutoff});
        capabilities.push(json!({
            "capability": "delta-checkpoint-uploads-v2", "version": 2, "configuration": configuration,
        }));
    }
    typed(json!({"capabilities": capabilities}).to_string().into())
}

/// `GET /api/cli/version`. Which release is the newest is not known here, so none is recommended.
pub(super) fn cli_version() -> Response {
    typed(json!({"latestVersion": "", "oldestWithoutWarning": "", "latestDevVersion": ""}).to_string().into())
}
