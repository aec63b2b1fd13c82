//! Resources and outputs of a stack, for people who look at them: pages of a state of any size, without what is secret in it.

mod outputs;
mod scanned;
mod tree;

use axum::response::Response;
use groundstate_pulumi_protocol::{OutputsView, PendingView, ResourceView, ResourcesView, StackPath};
use groundstate_pulumi_service::Export;

use self::outputs::StackOutputs;
use self::scanned::{Scanned, ScannedResource};
use self::tree::Row;
use super::access::{Client, problem};
use super::answer::json;
use crate::auth::Role;
use crate::problem::{Problem, ProblemType};
use crate::scan::{Input, Kept, Piecewise, scan};

/// How many pending operations are listed.
const PENDING: usize = 1000;

/// What a query asks for.
struct Query {
    search: String,
    version: Option<u64>,
    offset: usize,
    limit: usize,
}

impl Query {
    fn parse(query: Option<&str>, most: usize) -> Result<Self, Problem> {
        let mut asked = Self { search: String::new(), version: None, offset: 0, limit: most.min(100) };
        for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let wrong =
                |_| Problem::new(ProblemType::BadRequest, format!("Bad Request: {name} is not a number"));
            match &*name {
                "search" => asked.search = value.to_lowercase(),
                "version" => asked.version = Some(value.parse().map_err(wrong)?),
                "offset" => asked.offset = value.parse().map_err(wrong)?,
                "limit" => asked.limit = value.parse::<usize>().map_err(wrong)?.clamp(1, most),
                _ => {}
            }
        }
        Ok(asked)
    }
}

/// The state that is asked for, and the number of its version.
async fn open(client: &Client, path: &StackPath, version: Option<u64>) -> Result<(Export, u64), Problem> {
    let access = client.stack("stack.read", Role::Read, path).await?;
    let reader = match version {
        Some(version) => access.stack.export_version(version).await,
        None => access.stack.export().await,
    };
    let reader = reader.map_err(|error| problem(&error))?;
    let number = reader.number();
    Ok((reader, number))
}

fn unreadable(number: u64, error: &serde_json::Error) -> Problem {
    // What the error quotes may be a secret.
    let (line, column) = (error.line(), error.column());
    let detail = format!("version {number} cannot be read as a state: line {line}, column {column}");
    Problem::new(ProblemType::Unreadable, detail)
}

/// `GET …/resources`.
pub(super) async fn list(
    client: &Client,
    path: &StackPath,
    query: Option<&str>,
) -> Result<Response, Problem> {
    let asked = Query::parse(query, client.app.limits().page)?;
    let (reader, version) = open(client, path, asked.version).await?;
    // A name may be as long as the state.
    let kept = Kept { per_byte: 1, per_brace: 512 };
    let view = scan(&client.app, client.account(), reader, kept, move |input| {
        let scanned = Scanned::read(&mut Piecewise(input))?;
        Ok(view(scanned, &asked, version))
    });
    json(&view.await?.map_err(|error| unreadable(version, &error))?)
}

fn view(scanned: Scanned, asked: &Query, version: u64) -> ResourcesView {
    let rows = tree::rows(&scanned.resources);
    let is_found = |row: &&Row| {
        asked.search.is_empty() || scanned.resources[row.resource].urn.to_lowercase().contains(&asked.search)
    };
    let found: Vec<&Row> = rows.iter().filter(is_found).collect();
    let page = found.iter().skip(asked.offset).take(asked.limit);
    let resources = page.map(|row| row_view(&scanned.resources[row.resource], row)).collect();
    let pending = scanned.pending.into_iter().take(PENDING).map(|pending| PendingView {
        operation: pending.kind,
        urn: pending.resource.urn,
        resource_type: pending.resource.kind,
    });
    ResourcesView {
        version,
        count: scanned.resources.len() as u64,
        found: found.len() as u64,
        engine: scanned.engine,
        secrets_provider: scanned.secrets_provider,
        pending: pending.collect(),
        resources,
    }
}

fn row_view(resource: &ScannedResource, row: &Row) -> ResourceView {
    let flags = [
        ("custom", resource.custom),
        ("delete", resource.delete),
        ("protect", resource.protect),
        ("external", resource.external),
        ("taint", resource.taint),
        ("pendingReplacement", resource.pending_replacement),
        ("retainOnDelete", resource.retain_on_delete),
    ];
    let changed = if resource.modified.is_empty() { &resource.created } else { &resource.modified };
    ResourceView {
        urn: resource.urn.clone(),
        resource_type: resource.kind.clone(),
        depth: row.depth,
        odd: row.odd.map(str::to_owned),
        flags: flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| (*flag).to_owned()).collect(),
        init_errors: resource.init_errors,
        changed: changed.clone(),
    }
}

/// `GET …/outputs`.
pub(super) async fn outputs(
    client: &Client,
    path: &StackPath,
    query: Option<&str>,
) -> Result<Response, Problem> {
    let asked = Query::parse(query, client.app.limits().page)?;
    let (reader, version) = open(client, path, asked.version).await?;
    // So may the outputs, of which copies are made.
    let kept = Kept { per_byte: 2, per_brace: 128 };
    let read = |input: &mut Input| StackOutputs::read(&mut Piecewise(input));
    let outputs = scan(&client.app, client.account(), reader, kept, read).await?;
    let outputs = outputs.map_err(|error| unreadable(version, &error))?;
    json(&OutputsView { version, outputs: outputs.0 })
}
