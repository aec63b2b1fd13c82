//! The addresses that the Pulumi CLI prints and opens where `PULUMI_CONSOLE_DOMAIN` names this server. They lead to the page.
//!
//! The CLI makes them of the scheme of its backend and the variable:
//!
//! - `/OWNER` for the backend, by `pulumi whoami --verbose`, for an owner without a dot;
//! - `/OWNER/PROJECT/STACK` for a stack, also by `pulumi console`;
//! - `/OWNER/PROJECT/STACK/updates/NUMBER` for an update;
//! - `/OWNER/PROJECT/STACK/previews/ID` for a preview.

use axum::response::{IntoResponse, Response};
use groundstate_pulumi_service::StackPath;
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};

/// First parts of paths that have other meanings, also in other cases: a client of them that is mistaken is not led to a page.
const TAKEN: [&str; 6] = ["api", "assets", "healthz", "metrics", "readyz", "tf"];

/// The place on the page of an address of the CLI; none for any other path.
fn place(path: &str) -> Option<String> {
    let mut parts = path.strip_prefix('/')?.split('/');
    let is_taken = |owner: &&str| TAKEN.iter().any(|taken| taken.eq_ignore_ascii_case(owner));
    let owner = parts.next().filter(|owner| !is_taken(owner))?;
    let Some(project) = parts.next() else {
        // Browsers ask for files such as `favicon.ico` there.
        let owner =
            StackPath::new(owner, "project", "stack").ok().filter(|path| !path.owner().contains('.'))?;
        return Some(format!("/#/stacks?search={}/", owner.owner()));
    };
    let stack = parts.next()?;
    let stack = StackPath::new(owner, project, stack).ok()?;
    let is_id =
        |id: &&str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let tab = match (parts.next(), parts.next()) {
        (None, _) => String::new(),
        (Some("updates"), Some(number)) if number.parse::<u64>().is_ok() => "/updates".to_owned(),
        (Some("previews"), Some(id)) if is_id(&id) => format!("/events?update={id}"),
        _ => return None,
    };
    parts.next().is_none().then(|| format!("/#/stacks/{stack}{tab}"))
}

/// Returns `true` if a path is an address of the CLI. It tells nothing of the stack, so no credentials are needed.
pub(super) fn is_link(path: &str) -> bool {
    place(path).is_some()
}

/// Leads a browser from an address of the CLI to the page; none for any other path.
pub(crate) fn redirect(path: &str) -> Option<Response> {
    let location = HeaderValue::try_from(place(path)?).ok()?;
    Some((StatusCode::FOUND, [(LOCATION, location)]).into_response())
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn addresses_of_the_cli_lead_to_the_page() {
        for (path, expected) in [
            ("/acme", "/#/stacks?search=acme/"),
            ("/acme/shop/dev", "/#/stacks/acme/shop/dev"),
            ("/acme/shop/dev/updates/12", "/#/stacks/acme/shop/dev/updates"),
            ("/acme/shop/dev/previews/6d0b-1", "/#/stacks/acme/shop/dev/events?update=6d0b-1"),
        ] {
            assert_eq!(place(path).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn other_paths_lead_nowhere() {
        for path in [
            "/",
            "/acme/",
            "/acme%20",
            "/metrics",
            "/favicon.ico",
            "/index.html",
            "/acme/shop",
            "/acme/shop/dev/",
            "/acme/shop/dev/updates",
            "/acme/shop/dev/updates/latest",
            "/acme/shop/dev/updates/1/more",
            "/acme/shop/dev/previews/a%2Fb",
            "/acme/shop/dev/settings/1",
            "/acme/shop/de%76",
            "/acme/../dev",
            "//evil.example/a",
            "/tf/shop/network",
            "/TF/shop/network",
            "/api/v1/nothing",
            "/assets/a/b",
        ] {
            assert_eq!(place(path), None, "{path}");
        }
    }
}
