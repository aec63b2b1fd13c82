//! The order in which a Pulumi deployment is destroyed.

use std::collections::BTreeSet;

use groundstate_ordering::Profile;
use groundstate_pulumi_ordering::{
    DeletedWith, Deletes, Destruction, Explanation, RemovalKind, RemovalReason, RemovalReference,
    RemovalStep, StackError, StackOptions,
};
use groundstate_pulumi_snapshot::{Snapshot, Urn};

use crate::args::{GraphFormat, OrderBlastArgs, OrderWhyArgs, PictureArgs, ProfileArg, RulesArgs};
use crate::input::pulumi::{PulumiState, load, snapshot};
use crate::input::remote::command_on;
use crate::pulumi::select;
use crate::report::error::{Outcome, Result};
use crate::report::json::Json;
use crate::report::order::{Text, draw, no_order, warn};
use crate::report::output::Output;
use crate::report::progress::working;
use crate::session::save::write_drawing;

pub(crate) fn print(source: &PulumiState, rules: &RulesArgs, picture: &PictureArgs, text: Text) -> Result {
    let file = load(source)?.file;
    let ordering = working("ordering");
    let mut destruction = {
        let snapshot = snapshot(&file);
        let mut options = options(profile(rules.profile));
        options.targets = matching(&snapshot, &rules.targets, source)?;
        options.excludes = matching(&snapshot, &rules.excludes, source)?;
        planned(&snapshot, &options, source)?
    };
    // Neither the text nor the rest of the file is needed when the order is written.
    drop(file);
    let warnings = protected(&destruction);
    if !picture.all_edges {
        destruction = destruction.reduced();
    }
    let text = draw(&destruction, picture.format(), text);
    drop(ordering);
    warn(&warnings);
    let text = text?;
    write_drawing(&text, picture.format() == GraphFormat::Json, picture.output.as_deref())?;
    Ok(Outcome::Clean)
}

fn profile(arg: Option<ProfileArg>) -> Profile {
    arg.map_or(Profile::Fixed, ProfileArg::profile)
}

/// Deleting a resource deletes what depends on it too.
fn options(profile: Profile) -> StackOptions {
    let mut options = StackOptions::default();
    options.target_dependents = true;
    if profile == Profile::Classic {
        (options.deletes, options.deleted_with) = (Deletes::Batches, DeletedWith::Compat);
    }
    options
}

fn matching(snapshot: &Snapshot, words: &[String], source: &PulumiState) -> Result<BTreeSet<Urn>> {
    let mut found = BTreeSet::new();
    for word in words {
        found.extend(select::matching(snapshot, word, &source.name)?);
    }
    Ok(found)
}

fn planned(snapshot: &Snapshot, options: &StackOptions, source: &PulumiState) -> Result<Destruction> {
    Destruction::of(snapshot, options).map_err(|errors| {
        let failure = no_order(&errors, &source.name, |error| vec![error.to_string()]);
        match errors.iter().any(|error| matches!(error, StackError::Integrity(_))) {
            true => {
                let command = command_on("groundstate check", &source.name);
                failure.hint(format!("`{command}` shows all that is wrong"))
            }
            false => failure,
        }
    })
}

/// What is protected, and how much cannot go because of that.
fn protected(destruction: &Destruction) -> Vec<String> {
    let removals = destruction.removals();
    let is_protected = |node: &usize| removals[*node].kind == RemovalKind::Protected;
    let protected = (0..removals.len()).filter(is_protected);
    let mut warnings: Vec<String> = protected
        .map(|node| format!("{} is protected and cannot be deleted", destruction.urn(node)))
        .collect();
    match removals.iter().filter(|removal| removal.blocked).count() {
        0 => {}
        1 => warnings.push("1 more stays, since what is protected needs it".to_owned()),
        count => warnings.push(format!("{count} more stay, since what is protected needs them")),
    }
    warnings
}

pub(crate) fn why(args: &OrderWhyArgs, source: &PulumiState) -> Result {
    let loaded = load(source)?;
    let snapshot = snapshot(&loaded.file);
    let one = |word: &str| select::single(&snapshot, word, &source.name);
    let (waits, first) = (one(&args.waits)?, one(&args.goes_first)?);
    let ordering = working("ordering");
    let destruction = planned(&snapshot, &options(profile(args.profile)), source)?;
    let explanation = destruction.why(&waits, &first);
    drop(ordering);
    let mut out = Output::stdout();
    if args.json {
        out.json(&explained(&destruction, &explanation))?;
    } else {
        for line in lines(&destruction, &explanation, &waits, &first) {
            out.line(&line)?;
        }
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn lines(destruction: &Destruction, explanation: &Explanation, waits: &Urn, first: &Urn) -> Vec<String> {
    let line = |step: &RemovalStep| {
        let [from, to] = [step.from, step.to].map(|node| destruction.label(node));
        format!("{from} waits for {to}: {}", because(destruction, step))
    };
    match explanation {
        Explanation::Waits(steps) => steps.iter().map(line).collect(),
        Explanation::IsWaitedFor(steps) => {
            let head = format!("{waits} does not wait for {first}; {first} waits for {waits}:");
            std::iter::once(head).chain(steps.iter().map(line)).collect()
        }
        Explanation::Concurrent => {
            vec![format!("{waits} and {first} do not wait for each other: they can go at the same time.")]
        }
        Explanation::Absent => {
            vec!["One of them has no operation, so neither waits for the other.".to_owned()]
        }
    }
}

/// The reasons of a step as sentences.
fn because(destruction: &Destruction, step: &RemovalStep) -> String {
    let references = destruction.references(step);
    references.iter().map(sentence).collect::<Vec<_>>().join("; ")
}

fn sentence(reference: &RemovalReference<'_>) -> String {
    // The whole names have been said before.
    let [who, whom] = [reference.who, reference.whom].map(name);
    match (reference.reason, reference.property) {
        (RemovalReason::Parent, _) => format!("{whom} is the parent of {who}"),
        (RemovalReason::Provider, _) => format!("{whom} is the provider of {who}"),
        (RemovalReason::Property, Some(property)) => format!("{who} has its property {property} from {whom}"),
        (RemovalReason::DeletedWith, _) => format!("{who} is deleted with {whom}"),
        (RemovalReason::ReplaceWith, _) => format!("{who} is replaced with {whom}"),
        (RemovalReason::Component, _) => format!("{who} depends on a component that {whom} belongs to"),
        (RemovalReason::Batch, _) => format!("{who} is in the batch before that of {whom}"),
        _ => format!("{who} depends on {whom}"),
    }
}

/// The name in a URN, or all of what is none.
fn name(urn: &Urn) -> String {
    if urn.is_valid() { urn.name().to_owned() } else { urn.to_string() }
}

fn explained(destruction: &Destruction, explanation: &Explanation) -> String {
    let (relation, steps) = explanation.parts();
    Json::document(|json| {
        json.text("relation", relation);
        json.objects("steps", steps, |json, step| write_step(json, destruction, step));
    })
}

fn write_step(json: &mut Json, destruction: &Destruction, step: &RemovalStep) {
    json.text("from", destruction.label(step.from));
    json.text("to", destruction.label(step.to));
    json.texts("reasons", step.reasons.iter().map(RemovalReason::name));
    json.objects("references", destruction.references(step), |json, reference| {
        json.text("from", reference.who.as_str());
        json.text("to", reference.whom.as_str());
        json.text("reason", reference.reason.name());
        if let Some(property) = reference.property {
            json.text("property", property);
        }
    });
}

pub(crate) fn blast(args: &OrderBlastArgs, source: &PulumiState) -> Result {
    let loaded = load(source)?;
    let snapshot = snapshot(&loaded.file);
    let urn = select::single(&snapshot, &args.address, &source.name)?;
    let ordering = working("ordering");
    let destruction = planned(&snapshot, &options(Profile::Fixed), source)?;
    let found = destruction.blast(&urn);
    drop(ordering);
    let mut out = Output::stdout();
    if args.json {
        let document = Json::document(|json| {
            json.objects("affected", &found, |json, affected| {
                json.text("operation", destruction.label(affected.node));
                json.raw("distance", affected.distance);
                json.inner("step", |json| write_step(json, &destruction, &affected.step));
            });
        });
        out.json(&document)?;
    } else {
        for affected in &found {
            let label = destruction.label(affected.node);
            out.line(&format!("{label}  {}", because(&destruction, &affected.step)))?;
        }
        if !found.is_empty() {
            out.line("")?;
        }
        out.line(&match found.len() {
            0 => format!("Nothing else is destroyed with {urn}."),
            1 => format!("1 resource has to go before {urn} can."),
            count => format!("{count} resources have to go before {urn} can."),
        })?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}
