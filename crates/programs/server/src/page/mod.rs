//! The page for browsers at `/`: files without secrets, which any client gets. What it shows comes from the API.

mod cross_site;
mod links;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use md5::{Digest as _, Md5};

pub(crate) use cross_site::{is_cross_site, refuse_cross_site};
pub(crate) use links::redirect;

use crate::headers::Conditions;
use crate::problem::{Problem, ProblemType};

/// Nothing from elsewhere, nothing inline, no text as markup, no frame around it. Pictures of the API come as objects of the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// A file of the page.
#[derive(Clone, Copy, Debug)]
struct Asset {
    path: &'static str,
    content_type: &'static str,
    text: &'static str,
}

macro_rules! assets {
    ($($path:literal = $content_type:ident $file:literal),+ $(,)?) => {
        /// Every file.
        const ASSETS: &[Asset] = &[$(Asset {
            path: $path,
            content_type: $content_type,
            text: include_str!(concat!("assets/", $file)),
        }),+];
    };
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

assets! {
    "/" = HTML "index.html",
    "/assets/page.css" = CSS "page.css",
    "/assets/icon.svg" = SVG "icon.svg",
    "/assets/api.js" = SCRIPT "api.js",
    "/assets/deployment.js" = SCRIPT "deployment.js",
    "/assets/dialogs.js" = SCRIPT "dialogs.js",
    "/assets/dom.js" = SCRIPT "dom.js",
    "/assets/events.js" = SCRIPT "events.js",
    "/assets/follow.js" = SCRIPT "follow.js",
    "/assets/history.js" = SCRIPT "history.js",
    "/assets/journal.js" = SCRIPT "journal.js",
    "/assets/main.js" = SCRIPT "main.js",
    "/assets/resources.js" = SCRIPT "resources.js",
    "/assets/stack.js" = SCRIPT "stack.js",
    "/assets/stacks.js" = SCRIPT "stacks.js",
    "/assets/state.js" = SCRIPT "state.js",
    "/assets/states.js" = SCRIPT "states.js",
    "/assets/text.js" = SCRIPT "text.js",
    "/assets/tree.js" = SCRIPT "tree.js",
    "/assets/updates.js" = SCRIPT "updates.js",
}

/// The routes of the page. They need no principal.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let router = ASSETS.iter().fold(Router::new(), |router, asset| {
        let tag = BASE64.encode(Md5::digest(asset.text));
        router.route(asset.path, get(async move |headers: HeaderMap| asset.answer(&tag, &headers)))
    });
    router.method_not_allowed_fallback(method_not_allowed)
}

/// Returns `true` if a path is one of the page or leads to it, which is served without credentials.
pub(crate) fn is_public(path: &str) -> bool {
    ASSETS.iter().any(|asset| asset.path == path) || links::is_link(path)
}

async fn method_not_allowed(uri: Uri) -> Problem {
    Problem::new(ProblemType::MethodNotAllowed, format!("{} is only read", uri.path()))
        .with_allow("GET, HEAD")
}

impl Asset {
    fn answer(self, tag: &str, asked: &HeaderMap) -> Response {
        // A condition that cannot be read is none: the whole file is always right.
        let changed = Conditions::read(asked).unwrap_or_default().none_match(Some(tag));
        let mut response = match changed {
            true => self.text.into_response(),
            false => StatusCode::NOT_MODIFIED.into_response(),
        };
        let headers = response.headers_mut();
        // A browser asks each time whether a file has changed, so that an update of the server never mixes old files with new ones.
        let fixed: [(HeaderName, &'static str); 7] = [
            (CONTENT_TYPE, self.content_type),
            (CACHE_CONTROL, "no-cache"),
            (CONTENT_SECURITY_POLICY, POLICY),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (REFERRER_POLICY, "no-referrer"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        ];
        for (name, value) in fixed {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if let Ok(tag) = HeaderValue::try_from(format!("\"{tag}\"")) {
            headers.insert(ETAG, tag);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::{ASSETS, POLICY, is_public};

    #[test]
    fn every_file_that_the_page_names_is_served() {
        for asset in ASSETS {
            let names = asset.text.split('"').filter_map(|text| {
                let is_asset =
                    text.starts_with("/assets/") || text.starts_with("./") && text.ends_with(".js");
                is_asset.then(|| text.replacen("./", "/assets/", 1))
            });
            for name in names {
                assert!(is_public(&name), "{} names {name}", asset.path);
            }
        }
        assert!(!is_public("/assets/") && !is_public("/api/v1/states") && !is_public("/tf/a/b"));
    }

    #[test]
    fn nothing_is_inline_or_from_elsewhere() {
        for asset in ASSETS {
            let text = asset.text.replace("http://www.w3.org/2000/svg", "");
            for word in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "style=",
                "https://",
                "http://",
                "document.cookie",
                "localStorage",
            ] {
                assert!(!text.contains(word), "{} has {word}", asset.path);
            }
        }
        assert!(!POLICY.contains("unsafe"));
    }
}
