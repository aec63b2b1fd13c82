//! Answers about single instances: why one waits, and what goes with it.

use std::collections::BTreeSet;

use groundstate_ordering::{EdgeReason, Explanation, NodeKey, OperationGraph, Step};
use groundstate_states::addr::{AbsResourceInstance, Target};

use super::subject::{Subject, Whole};
use crate::args::{OrderBlastArgs, OrderWhyArgs, RulesArgs};
use crate::input::terraform::TerraformState;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::order::warn;
use crate::report::output::Output;
use crate::report::progress::working;

pub(crate) fn why(args: &OrderWhyArgs, state: TerraformState) -> Result {
    let rules = RulesArgs { profile: args.profile, targets: Vec::new(), excludes: Vec::new() };
    let subject = Subject::any(state, args.before.as_deref())?.rules(&rules)?;
    let (waits, first) = (Asked::of(&subject, &args.waits)?, Asked::of(&subject, &args.goes_first)?);
    if let Some(both) = waits.instances.iter().find(|instance| first.instances.contains(instance)) {
        let message = format!("{} and {} both stand for {both}", waits.target, first.target);
        return Err(
            Failure::new(Kind::Usage, message).hint("name two things that have no instance in common")
        );
    }
    let working = working("ordering");
    let whole = subject.whole_graph()?;
    let graph = &whole.graph;
    let explanation = graph.why_any(&waits.instances, &first.instances);
    drop(working);
    warn(graph.warnings());
    let mut out = Output::stdout();
    if args.json {
        out.json(&explained(&explanation, graph))?;
    } else {
        for line in lines(&explanation, &whole, &waits.target, &first.target) {
            out.line(&line)?;
        }
    }
    out.finish()?;
    let (_, steps) = explanation.parts();
    let chain = steps.iter().flat_map(|step| [&step.from, &step.to]);
    let instances = waits.instances.iter().chain(&first.instances);
    let operations = instances.flat_map(|instance| graph.operations_on(instance));
    let keys: Vec<&NodeKey> = chain.chain(operations.map(|node| &graph.nodes()[node].key)).collect();
    end(&whole, keys)
}

/// An address of the command line, and the instances it stands for.
struct Asked {
    target: Target,
    instances: Vec<AbsResourceInstance>,
}

impl Asked {
    fn of(subject: &Subject, address: &str) -> Result<Self> {
        let (target, instances) = subject.instances(address)?;
        if instances.is_empty() {
            return Err(Failure::new(Kind::NotFound, format!("{target} has no instances")));
        }
        Ok(Self { target, instances })
    }
}

/// An answer about what lies on a cycle is no order: it is given, and is an error nevertheless.
fn end(whole: &Whole, keys: Vec<&NodeKey>) -> Result {
    let Some(cycles) = &whole.cycles else { return Ok(Outcome::Clean) };
    if keys.into_iter().any(|key| cycles.contain(key)) {
        return Err(cycles.failure.clone());
    }
    let details = cycles.failure.details.first().cloned();
    let details = details.map(|line| format!(": {line}")).unwrap_or_default();
    warn(&[format!("operations in a dependency cycle are left out{details}")]);
    Ok(Outcome::Clean)
}

fn lines(explanation: &Explanation, whole: &Whole, waits: &Target, first: &Target) -> Vec<String> {
    let step = |it: &Step| step(it, &whole.graph);
    match explanation {
        Explanation::Waits(steps) => steps.iter().map(step).collect(),
        Explanation::IsWaitedFor(steps) => {
            let head = format!("{waits} does not wait for {first}; {first} waits for {waits}:");
            std::iter::once(head).chain(steps.iter().map(step)).collect()
        }
        Explanation::Concurrent => {
            // What waits for a cycle is never done.
            let can = if whole.cycles.is_some() { "" } else { ": they can go at the same time" };
            vec![format!("{waits} and {first} do not wait for each other{can}.")]
        }
        Explanation::Absent => {
            vec!["One of them has no operation, so neither waits for the other.".to_owned()]
        }
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
            format!("the state records that {to} depended on {from}; {to} drops that dependency first")
        }
        EdgeReason::StoredCreate => format!("{from} depends on {to}, as the state records"),
        EdgeReason::StoredUpdate if step.inverted => {
            format!("the state records that {from} depends on {to}; {to} changes first")
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
    Json::document(|json| {
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
    let working = working("ordering");
    let whole = subject.whole_graph()?;
    let graph = &whole.graph;
    let found = graph.blast_all(&asked);
    drop(working);
    warn(graph.warnings());

    let mut out = Output::stdout();
    if args.json {
        let document = Json::document(|json| {
            json.objects("affected", &found, |json, affected| {
                json.text("operation", &affected.key.to_string());
                json.raw("distance", affected.distance);
                json.inner("step", |json| write_step(json, &affected.step, graph));
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
    let operations = asked.iter().flat_map(|instance| graph.operations_on(instance));
    let keys = operations.map(|node| &graph.nodes()[node].key);
    end(&whole, keys.chain(found.iter().map(|affected| &affected.key)).collect())
}
