//! Answers about single instances: why one waits, and what goes with it.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_common::shell_word;
use groundstate_ordering::{Affected, EdgeReason, Explanation, NodeKey, OperationGraph, Step};
use groundstate_states::addr::AbsResourceInstance;

use super::subject::Subject;
use crate::args::{OrderBlastArgs, OrderWhyArgs, RulesArgs};
use crate::input::terraform::TerraformState;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::order::warn;
use crate::report::output::Output;

pub(crate) fn why(args: &OrderWhyArgs, state: TerraformState) -> Result {
    let rules = RulesArgs { profile: args.profile, targets: Vec::new(), excludes: Vec::new() };
    let subject = Subject::any(state, args.before.as_deref())?.rules(&rules)?;
    let one = |address: &str| {
        let (target, found) = subject.instances(address)?;
        single(&target.to_string(), found)
    };
    let (waits, first) = (one(&args.waits)?, one(&args.goes_first)?);
    let graph = subject.whole_graph()?;
    warn(graph.warnings());
    let explanation = graph.why(&waits, &first);
    let mut out = Output::stdout();
    if args.json {
        out.json(&explained(&explanation, &graph))?;
    } else {
        for line in lines(&explanation, &graph, &waits, &first) {
            out.line(&line)?;
        }
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

/// The only instance of those an address stands for.
fn single(address: &str, mut found: Vec<AbsResourceInstance>) -> Result<AbsResourceInstance> {
    match (found.pop(), found.len()) {
        (Some(instance), 0) => Ok(instance),
        (None, _) => Err(Failure::new(Kind::NotFound, format!("{address} has no instances"))),
        (Some(last), more) => {
            let message = format!("{address} matches {} instances", more + 1);
            Err(Failure::new(Kind::Usage, message)
                .hint(format!("name one of them, such as {}", shell_word(&last.to_string()))))
        }
    }
}

fn lines(
    explanation: &Explanation,
    graph: &OperationGraph,
    waits: &AbsResourceInstance,
    first: &AbsResourceInstance,
) -> Vec<String> {
    let step = |it: &Step| step(it, graph);
    match explanation {
        Explanation::Waits(steps) => steps.iter().map(step).collect(),
        Explanation::IsWaitedFor(steps) => {
            let head = format!("{waits} does not wait for {first}, it is the other way round:");
            std::iter::once(head).chain(steps.iter().map(step)).collect()
        }
        Explanation::Concurrent => {
            vec![format!("{waits} and {first} do not wait for each other: they can go at the same time.")]
        }
        Explanation::Absent => vec!["Nothing is done with one of them.".to_owned()],
    }
}

fn step(step: &Step, graph: &OperationGraph) -> String {
    format!("{} waits for {}: {}", graph.label_of(&step.from), graph.label_of(&step.to), because(step))
}

/// The reasons of a step as sentences.
fn because(step: &Step) -> String {
    let (from, to) = (name(&step.from), name(&step.to));
    let reasons = step.reasons.iter().map(|reason| match reason {
        EdgeReason::Config if step.inverted => format!("the configuration of {to} refers to {from}"),
        EdgeReason::Config => format!("the configuration of {from} refers to {to}"),
        EdgeReason::Own if step.inverted => "the new object comes before the old one goes".to_owned(),
        EdgeReason::Own => "the old object goes before the new one comes".to_owned(),
        EdgeReason::StoredDestroy => format!("{to} depends on {from}, as the state records"),
        EdgeReason::StoredCreate if step.inverted => {
            format!("{to} depended on {from}, as the state records, and lets go of it first")
        }
        EdgeReason::StoredCreate => format!("{from} depends on {to}, as the state records"),
        EdgeReason::StoredUpdate if step.inverted => {
            format!("{from} depends on {to}, as the state records, which changes first")
        }
        EdgeReason::StoredUpdate => format!("{to} depends on {from}, as the state records"),
        EdgeReason::ConfigDestroy => format!("the configuration of {to} refers to {from}"),
        EdgeReason::ConfigCreate if step.inverted => format!("the configuration of {to} refers to {from}"),
        EdgeReason::ConfigCreate => format!("the configuration of {from} refers to {to}"),
        EdgeReason::ConfigUpdate if step.inverted => format!("the configuration of {from} refers to {to}"),
        EdgeReason::ConfigUpdate => format!("the configuration of {to} refers to {from}"),
        EdgeReason::ForgetFirst => "the old object is forgotten before the new one comes".to_owned(),
        EdgeReason::ProviderUse => format!("{to} is its provider"),
        EdgeReason::ProviderConfig => format!("the configuration of {from} refers to {to}"),
        EdgeReason::ProviderClose => format!("{to} still needs {from}"),
    });
    // One reason may stand for several pairs of objects that read alike.
    let unique: BTreeSet<String> = reasons.collect();
    unique.into_iter().collect::<Vec<_>>().join("; ")
}

/// The reasons of a step for a reader who sees what is waited for.
fn in_short(step: &Step) -> String {
    if step.reasons == EdgeReason::StoredDestroy.into() {
        return format!("depends on {}", name(&step.from));
    }
    because(step)
}

fn name(key: &NodeKey) -> String {
    key.addr().map_or_else(|| key.to_string(), ToString::to_string)
}

fn explained(explanation: &Explanation, graph: &OperationGraph) -> String {
    let (relation, steps) = explanation.parts();
    Json::object(|json| {
        json.text("format_version", "1.0");
        json.text("relation", relation);
        json.objects("steps", steps, |json, step| write_step(json, step, graph));
    })
}

fn write_step(json: &mut Json, step: &Step, graph: &OperationGraph) {
    json.text("from", &graph.label_of(&step.from));
    json.text("to", &graph.label_of(&step.to));
    json.texts("reasons", step.reasons.iter().map(EdgeReason::name));
    json.raw("inverted", step.inverted);
}

pub(crate) fn blast(args: &OrderBlastArgs, state: TerraformState) -> Result {
    let subject = Subject::state(state)?;
    let (target, asked) = subject.instances(&args.address)?;
    let graph = subject.whole_graph()?;
    warn(graph.warnings());
    let asked: BTreeSet<AbsResourceInstance> = asked.into_iter().collect();
    let mut nearest: BTreeMap<NodeKey, Affected> = BTreeMap::new();
    for affected in asked.iter().flat_map(|instance| graph.blast(instance)) {
        if affected.key.addr().is_some_and(|addr| asked.contains(addr)) {
            continue;
        }
        match nearest.get(&affected.key) {
            Some(known) if known.distance <= affected.distance => {}
            _ => drop(nearest.insert(affected.key.clone(), affected)),
        }
    }
    let mut found: Vec<Affected> = nearest.into_values().collect();
    found.sort_by_key(|affected| affected.distance);

    let mut out = Output::stdout();
    if args.json {
        let document = Json::object(|json| {
            json.text("format_version", "1.0");
            json.objects("affected", &found, |json, affected| {
                json.text("operation", &affected.key.to_string());
                json.raw("distance", affected.distance);
                json.inner("step", |json| write_step(json, &affected.step, &graph));
            });
        });
        out.json(&document)?;
    } else {
        for affected in &found {
            out.line(&format!("{}  {}", affected.key, in_short(&affected.step)))?;
        }
        if !found.is_empty() {
            out.line("")?;
        }
        out.line(&match found.len() {
            0 => format!("Nothing else is destroyed with {target}."),
            1 => format!("1 object has to go before {target} can."),
            count => format!("{count} objects have to go before {target} can."),
        })?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}
