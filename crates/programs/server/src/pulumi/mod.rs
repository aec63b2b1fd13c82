//! The Pulumi service protocol: `pulumi login` to this server, and everything after it.

mod access;
mod answer;
mod body;
mod history;
mod route;
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
use http::Method;
use http::request::Parts;

pub(crate) use answer::with_codes;

use self::access::Client;
use self::body::Incoming;
use self::route::{OfStack, OfUpdate, Route};
use crate::app::App;
use crate::body::drain;
use crate::problem::{Problem, ProblemType};

/// The routes of the protocol.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/api/{*rest}", any(serve))
}

/// Whether a request says by a lease who sends it, and needs no other credentials.
pub(crate) fn has_lease(path: &str, headers: &http::HeaderMap) -> bool {
    path.starts_with("/api/stacks/") && access::lease_token(headers).is_some()
}

async fn serve(State(app): State<App>, request: Request) -> Response {
    let (parts, mut body) = request.into_parts();
    let answer = answer(&app, &parts, &mut body).await;
    let response = answer.unwrap_or_else(IntoResponse::into_response);
    if response.status().is_client_error() || response.status().is_server_error() {
        drain(&parts.headers, body, app.limits()).await;
    }
    with_codes(parts.uri.path(), response)
}

async fn answer(app: &App, parts: &Parts, body: &mut Body) -> Result<Response, Problem> {
    let path = parts.uri.path();
    let Some(route) = Route::parse(path) else { return Err(no_such_route(path)) };
    let incoming = Incoming { headers: &parts.headers, body, limits: app.limits() };
    let client = || Client::of(app, parts);
    let method = &parts.method;
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    match route {
        Route::CliVersion if is_read => Ok(user::cli_version()),
        Route::Capabilities if is_read => Ok(user::capabilities(app)),
        Route::User if is_read => user::user(&client()?),
        Route::DefaultOrganization if is_read => {
            client()?;
            Err(Problem::new(
                ProblemType::NotFound,
                "there is no default organization, so stacks belong to the user",
            ))
        }
        Route::UserStacks if is_read => stacks::list(&client()?, parts.uri.query()).await,
        Route::Project { owner, project } => match *method {
            Method::HEAD | Method::GET => stacks::project(&client()?, &owner, &project).await,
            Method::POST => stacks::create(&client()?, &owner, &project, incoming).await,
            _ => Err(no_such_method(parts)),
        },
        Route::Stack { path, of } => stack_route(&client()?, parts, incoming, &path, of).await,
        Route::Update { path, update, of } => {
            let request = update::Request { app, parts, path: &path, update: &update };
            update_route(request, incoming, of).await
        }
        _ => Err(no_such_method(parts)),
    }
}

async fn stack_route(
    client: &Client,
    parts: &Parts,
    incoming: Incoming<'_>,
    path: &route::Path,
    of: OfStack,
) -> Result<Response, Problem> {
    let query = parts.uri.query();
    match (parts.method.as_str(), of) {
        ("GET" | "HEAD", OfStack::Itself) => stack::get(client, path).await,
        ("DELETE", OfStack::Itself) => stack::delete(client, path, query).await,
        ("POST", OfStack::Rename) => stack::rename(client, path, incoming).await,
        ("PATCH", OfStack::Tags) => stack::tags(client, path, incoming).await,
        ("GET", OfStack::Export(version)) => stack::export(client, path, version).await,
        ("POST", OfStack::Import) => stack::import(client, path, incoming).await,
        ("POST", OfStack::Create(kind)) => update::create(client, path, kind, incoming).await,
        ("GET", OfStack::Updates) => history::list(client, path, query).await,
        ("GET", OfStack::LatestUpdate) => history::latest(client, path).await,
        ("GET", OfStack::LatestPreviews) => history::no_previews(client, path).await,
        ("GET", OfStack::Version(version)) => history::version(client, path, version).await,
        ("POST", OfStack::Encrypt) => secrets::encrypt(client, path, incoming).await,
        ("POST", OfStack::Decrypt) => secrets::decrypt(client, path, incoming).await,
        ("POST", OfStack::BatchEncrypt) => secrets::batch_encrypt(client, path, incoming).await,
        ("POST", OfStack::BatchDecrypt) => secrets::batch_decrypt(client, path, incoming).await,
        ("POST", OfStack::LogDecryption) => secrets::log_decryption(client, path, incoming).await,
        ("PUT", OfStack::Config) => Err(Problem::new(
            ProblemType::BadRequest,
            "configuration is not kept by this server; keep it in Pulumi.STACK.yaml",
        )),
        _ => Err(no_such_method(parts)),
    }
}

async fn update_route(
    request: update::Request<'_>,
    incoming: Incoming<'_>,
    of: OfUpdate,
) -> Result<Response, Problem> {
    match (request.parts.method.as_str(), of) {
        ("GET", OfUpdate::Itself) => request.status().await,
        ("POST", OfUpdate::Itself) => request.start(incoming).await,
        ("POST", OfUpdate::Cancel) => request.cancel().await,
        ("GET", OfUpdate::Events) => request.events().await,
        ("POST", OfUpdate::RenewLease) => request.renew(incoming).await,
        ("POST", OfUpdate::Complete) => request.complete(incoming).await,
        ("POST", OfUpdate::EventsBatch) => request.store_events(incoming).await,
        ("PATCH", OfUpdate::JournalEntries) => saves::entries(&request, incoming).await,
        ("PATCH", OfUpdate::Checkpoint) => saves::whole(&request, incoming).await,
        ("PATCH", OfUpdate::CheckpointVerbatim) => saves::verbatim(&request, incoming).await,
        ("PATCH", OfUpdate::CheckpointDelta) => saves::delta(&request, incoming).await,
        _ => Err(no_such_method(request.parts)),
    }
}

fn no_such_route(path: &str) -> Problem {
    Problem::new(ProblemType::NoSuchRoute, format!("there is nothing at {path}"))
}

fn no_such_method(parts: &Parts) -> Problem {
    let detail = format!("{} is not a method of {}", parts.method, parts.uri.path());
    Problem::new(ProblemType::MethodNotAllowed, detail)
}
