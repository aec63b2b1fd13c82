//! Tokens of other services by which an application proves itself: of a file, of GitHub, of Azure DevOps.

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use http::Method;
use serde::Deserialize;

use super::read;
use crate::cloud::{Request, Wire, address, ask, encode, token};
use crate::settings::Values;

/// Who the tokens of GitHub are for.
const AUDIENCE: &str = "api://AzureADTokenExchange";

/// Where such a token comes from.
pub(super) enum AssertionSource {
    Text(String),
    /// A file that something else renews, so it is read each time.
    File(String),
    /// GitHub's service, or one like it.
    GitHub {
        url: String,
        bearer: String,
    },
    /// A service connection of a pipeline.
    DevOps {
        url: String,
        bearer: String,
    },
}

#[derive(Deserialize)]
struct GitHubAnswer {
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DevOpsAnswer {
    oidc_token: String,
}

impl AssertionSource {
    pub(super) fn new(values: &Values, aks: bool) -> Result<Self> {
        let checked =
            |option, text| token(text).map(str::to_owned).map_err(|why| values.invalid(option, why));
        let file =
            values.text("oidc_token_file_path").or_else(|| values.text("aks_token_file").filter(|_| aks));
        if let Some(text) = values.text("oidc_token") {
            let text = checked("oidc_token", text)?;
            return match file {
                Some(path) if read(values, "oidc_token_file_path", path)? != text => {
                    Err(values
                        .invalid("oidc_token", "`oidc_token_file_path` names a file with another token"))
                }
                _ => Ok(Self::Text(text)),
            };
        }
        let connection = values.text("ado_pipeline_service_connection_id");
        if let (None, Some(path)) = (connection, file) {
            read(values, "oidc_token_file_path", path)?;
            return Ok(Self::File(path.to_owned()));
        }
        let missing = |name| {
            values.invalid(name, "there is neither a token, nor a file with one, nor where to ask for one")
        };
        let url = values.text("oidc_request_url").ok_or_else(|| missing("oidc_request_url"))?;
        let mut url = address(url).map_err(|why| values.invalid("oidc_request_url", why))?;
        let bearer = values.text("oidc_request_token").ok_or_else(|| missing("oidc_request_token"))?;
        let bearer = checked("oidc_request_token", bearer)?;
        if let Some(id) = connection {
            url.query_pairs_mut()
                .append_pair("api-version", "7.1")
                .append_pair("serviceConnectionId", id.trim());
            return Ok(Self::DevOps { url: url.into(), bearer });
        }
        let has_audience = url.query_pairs().any(|(name, _)| name == "audience");
        let mut url = String::from(url);
        if !has_audience {
            url.push_str(if url.contains('?') { "&" } else { "?" });
            url.push_str(&format!("audience={}", encode(AUDIENCE, false)));
        }
        Ok(Self::GitHub { url, bearer })
    }

    /// A token that is good now.
    pub(super) async fn assertion(&self, wire: &Wire) -> Result<String> {
        let (place, text) = match self {
            Self::Text(text) => return Ok(text.clone()),
            Self::File(path) => return from_file(path),
            Self::GitHub { url, bearer } => {
                let place = "the token service of the job (`oidc_request_url`)";
                let request = Request::new(Method::GET, url.clone());
                (place, ask::<GitHubAnswer>(wire, place, authorized(request, bearer)?).await?.value)
            }
            Self::DevOps { url, bearer } => {
                let place = "the token service of the pipeline (`oidc_request_url`)";
                let request = Request::new(Method::POST, url.clone());
                let request = authorized(request.header("content-type", "application/json")?, bearer)?;
                (place, ask::<DevOpsAnswer>(wire, place, request).await?.oidc_token)
            }
        };
        let text = token(&text)
            .map_err(|why| Error::new(ErrorKind::Unauthenticated, Op::GetToken, place).because(why))?;
        Ok(text.to_owned())
    }
}

fn authorized(request: Request, bearer: &str) -> Result<Request> {
    request.header("accept", "application/json")?.header("authorization", &format!("Bearer {bearer}"))
}

fn from_file(path: &str) -> Result<String> {
    let failed = || Error::new(ErrorKind::Unauthenticated, Op::GetToken, path);
    let text = std::fs::read_to_string(path).map_err(|error| failed().with_source(error))?;
    token(&text).map(str::to_owned).map_err(|why| failed().because(why))
}
