//! The Pulumi service protocol: `pulumi login` to this server, and everything after it.

mod access;
mod answer;
mod body;
mod bucket;
mod history;
mod journal;
mod lock;
mod resources;
mod saves;
mod secrets;
mod stack;
mod stacks;
mod update;
mod user;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use groundstate_pulumi_protocol::{Route, StackCall, StackPath, UpdateCall};
use http::request::Parts;

pub(crate) use answer::with_codes;
pub use bucket::PulumiBucket;

use self::access::Client;
use self::body::Incoming;
use crate::app::App;
use crate::body::drain;
use crate::budget::Account;
use crate::problem::{Problem, ProblemType};

/// The routes of the protocol.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/api/{*rest}", any(serve))
}

/// Whether a path is one that needs no principal: which releases of the CLI there are, which it asks before it has a token.
pub(crate) fn is_public(path: &str) -> bool {
    path == "/api/cli/version"
}

/// Whether a request says by a lease who sends it, and needs no other credentials.
pub(crate) fn has_lease(path: &str, headers: &http::HeaderMap) -> bool {
    path.starts_with("/api/stacks/") && access::lease_token(headers).is_some()
}

/// The stack of a path of the protocol, for shares of what has no principal.
pub(crate) fn stack_part(path: &str) -> &str {
    let rest = path.strip_prefix("/api/stacks/").unwrap_or_default();
    rest.match_indices('/').nth(2).map_or(rest, |(end, _)| rest.get(..end).unwrap_or_default())
}

async fn serve(State(app): State<App>, request: Request) -> Response {
    let (parts, mut body) = request.into_parts();
    let answer = answer(&app, &parts, &mut body).await;
    let response = answer.unwrap_or_else(IntoResponse::into_response);
    if response.status().is_client_error() || response.status().is_server_error() {
        drain(&parts.headers, body, app.limits()).await;
    }
    response
}

async fn answer(app: &App, parts: &Parts, body: &mut Body) -> Result<Response, Problem> {
    let no_such_route = || {
        let detail = format!("there is no {} at {}", parts.method, parts.uri.path());
        Problem::new(ProblemType::NoSuchRoute, detail)
    };
    let route = Route::parse(parts.method.as_str(), parts.uri.path()).ok_or_else(no_such_route)?;
    check_api_version(&parts.headers)?;
    let account = Account::of(app, parts);
    let incoming = Incoming { app, account: &account, headers: &parts.headers, body };
    let client = || Client::of(app, parts);
    match route {
        Route::CliVersion => user::cli_version(),
        Route::Capabilities => user::capabilities(app),
        Route::User => user::user(&client()?),
        Route::DefaultOrganization => {
            client()?;
            Err(Problem::new(
                ProblemType::NotFound,
                "there is no default organization, so stacks belong to the user",
            ))
        }
        Route::ListStacks => stacks::list(&client()?, parts.uri.query()).await,
        Route::HasProject(path) => stacks::project(&client()?, &path).await,
        Route::CreateStack(path) => stacks::create(&client()?, &path, incoming).await,
        Route::Stack { stack, call } => {
            stack_call(&client()?, parts, incoming, &stack, call).await.ok_or_else(no_such_route)?
        }
        Route::Update { stack, update, call } => {
            let request = update::Request { app, parts, path: &stack, update: &update };
            update_call(request, incoming, call).await.ok_or_else(no_such_route)?
        }
        _ => Err(no_such_route()),
    }
}

/// The answer to a call on a stack; none for a call that this server does not know.
async fn stack_call(
    client: &Client,
    parts: &Parts,
    incoming: Incoming<'_>,
    path: &StackPath,
    call: StackCall,
) -> Option<Result<Response, Problem>> {
    let query = parts.uri.query();
    Some(match call {
        StackCall::Get => stack::get(client, path).await,
        StackCall::Delete => stack::delete(client, path, query).await,
        StackCall::Rename => stack::rename(client, path, incoming).await,
        StackCall::SetTags => stack::tags(client, path, incoming).await,
        StackCall::Export => stack::export(client, path, None).await,
        StackCall::ExportVersion(version) => stack::export(client, path, Some(version)).await,
        StackCall::Import => stack::import(client, path, query, incoming).await,
        StackCall::Lock => lock::take(client, path, query).await,
        StackCall::RenewLock => lock::renew(client, path, query).await,
        StackCall::Unlock => lock::release(client, path, query).await,
        StackCall::CreateUpdate(kind) => update::create(client, path, kind, incoming).await,
        StackCall::Updates => history::list(client, path, query).await,
        StackCall::LatestUpdate => history::latest(client, path).await,
        StackCall::Previews => history::no_previews(client, path).await,
        StackCall::UpdateVersion(version) => history::version(client, path, version).await,
        StackCall::Resources => resources::list(client, path, query).await,
        StackCall::Outputs => resources::outputs(client, path, query).await,
        StackCall::AppendVersion => history::append(client, path, incoming).await,
        StackCall::Encrypt => secrets::encrypt(client, path, incoming).await,
        StackCall::Decrypt => secrets::decrypt(client, path, incoming).await,
        StackCall::BatchEncrypt => secrets::batch_encrypt(client, path, incoming).await,
        StackCall::BatchDecrypt => secrets::batch_decrypt(client, path, incoming).await,
        StackCall::LogDecryption | StackCall::LogBatchDecryption => {
            secrets::log_decryption(client, path, incoming).await
        }
        StackCall::SetConfig => Err(Problem::new(
            ProblemType::BadRequest,
            "configuration is not kept by this server; keep it in Pulumi.STACK.yaml",
        )),
        _ => return None,
    })
}

/// The answer to a call on an update; none for a call that this server does not know.
async fn update_call(
    request: update::Request<'_>,
    incoming: Incoming<'_>,
    call: UpdateCall,
) -> Option<Result<Response, Problem>> {
    Some(match call {
        UpdateCall::Status => request.status().await,
        UpdateCall::Start => request.start(incoming).await,
        UpdateCall::Cancel => request.cancel().await,
        UpdateCall::Events => request.events().await,
        UpdateCall::Journal => request.journal().await,
        UpdateCall::RenewLease => request.renew(incoming).await,
        UpdateCall::Complete => request.complete(incoming).await,
        UpdateCall::RecordEvents => request.store_events(incoming).await,
        UpdateCall::JournalEntries => saves::entries(&request, incoming).await,
        UpdateCall::Checkpoint => saves::whole(&request, incoming).await,
        UpdateCall::CheckpointVerbatim => saves::verbatim(&request, incoming).await,
        UpdateCall::CheckpointDelta => saves::delta(&request, incoming).await,
        _ => return None,
    })
}

/// Refuses releases of the CLI that speak another protocol: before version 8 lists of stacks had no pages.
fn check_api_version(headers: &http::HeaderMap) -> Result<(), Problem> {
    const OLDEST: u64 = 8;
    let accept =
        headers.get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let version = accept
        .split_once("application/vnd.pulumi+")
        .and_then(|(_, version)| version.trim().parse::<u64>().ok());
    match version {
        Some(version) if version < OLDEST => {
            let detail = format!(
                "Bad Request: the CLI speaks version {version} of the protocol; take a later release"
            );
            Err(Problem::new(ProblemType::BadRequest, detail))
        }
        _ => Ok(()),
    }
}
