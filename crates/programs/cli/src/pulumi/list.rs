//! `groundstate list`: the URNs of resources.

use groundstate_pulumi_snapshot::Resource;

use super::select;
use crate::args::ListArgs;
use crate::input::pulumi::{PulumiState, load, snapshot};
use crate::report::error::{Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;

/// Lists the resources, or those that the arguments stand for.
pub(crate) fn list(args: &ListArgs, source: &PulumiState) -> Result {
    let loaded = load(source)?;
    let snapshot = snapshot(&loaded.file);
    let indexes = match args.addresses.as_slice() {
        [] => (0..snapshot.resources.len()).collect(),
        words => {
            let found = words.iter().map(|word| select::find(&snapshot, word, &source.name));
            found.collect::<Result<Vec<_>>>()?.concat()
        }
    };
    let wanted = |resource: &&Resource| match &args.id {
        Some(id) => resource.id().is_some_and(|known| known == id.as_str()),
        None => true,
    };
    let resources = indexes.into_iter().filter_map(|index| snapshot.resource(index)).filter(wanted);
    let mut out = Output::stdout();
    if args.json {
        let document = Json::document(|json| {
            json.objects("resources", resources, item);
        });
        out.json(&document)?;
    } else {
        for resource in resources {
            out.line(resource.urn.as_str())?;
        }
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn item(json: &mut Json, resource: &Resource) {
    json.text("urn", resource.urn.as_str());
    json.text("type", resource.resource_type.as_str());
    if let Some(id) = resource.id() {
        json.text("id", id.as_str());
    }
    for (name, set) in flags(resource) {
        if set {
            json.raw(name, true);
        }
    }
}

/// What is special about a resource, by the names of files.
fn flags(resource: &Resource) -> [(&'static str, bool); 5] {
    [
        ("delete", resource.delete),
        ("pendingReplacement", resource.pending_replacement),
        ("protect", resource.protect),
        ("taint", resource.taint),
        ("external", resource.external),
    ]
}
