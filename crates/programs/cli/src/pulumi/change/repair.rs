//! `groundstate repair`: a plan that leaves a sound snapshot, shown before it is carried out.

use std::path::Path;

use groundstate_pulumi_integrity::{Action, Plan, Question, RepairOptions};
use groundstate_pulumi_snapshot::{Snapshot, Urn};

use super::done::{Change, Changed, Done};
use super::report::Report;
use super::run::{Edited, Soundness, Subject, edit, encoded, read, run};
use crate::args::{ChangeArgs, RepairArgs};
use crate::input::locate::is_standard;
use crate::input::pulumi::PulumiState;
use crate::input::state::stored_by_pulumi;
use crate::pulumi::secrets;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::save;

/// Repairs a snapshot, or shows how.
pub(crate) fn repair(args: &RepairArgs, source: &PulumiState) -> Result {
    let mut steps = 0;
    let writes = !args.change.dry_run && (args.yes || args.output.is_some());
    let work = |snapshot: &mut Snapshot, _: &Subject<'_>| {
        let plan = plan(snapshot, args)?;
        steps = plan.steps.len();
        ask(&plan);
        if writes {
            all_answered(&plan)?;
        }
        let renamed = renamed(&plan);
        let (mut done, repaired) = carry_out(plan);
        *snapshot = repaired;
        done.warnings.extend(secrets::follow(snapshot, &renamed)?);
        Ok(done)
    };
    match args.output.as_deref() {
        Some(output) => into(output, args, source, work)?,
        None => {
            let change = ChangeArgs { dry_run: args.change.dry_run || !args.yes, ..args.change.clone() };
            let found = stored_by_pulumi(&args.place.state, "repair")?;
            run(found, &change, "state-repair", Soundness::Whatever, work)?;
        }
    };
    let shown_only = args.output.is_none() && !args.yes && !args.change.dry_run;
    if shown_only && steps > 0 {
        Messages::stderr().note("nothing was written; `--yes` carries this out");
        return Ok(Outcome::Found(Kind::Findings));
    }
    Ok(Outcome::Clean)
}

/// The plan by the answers that were given, each of which may bring up further questions.
fn plan(snapshot: &Snapshot, args: &RepairArgs) -> Result<Plan> {
    let mut options = RepairOptions::default().pending(args.pending.into());
    let mut plan = groundstate_pulumi_integrity::repair(snapshot, &options);
    for (question, answer) in &args.answers {
        let found = plan
            .questions
            .get(question - 1)
            .and_then(|found| Some((found.id, found.choices.get(answer - 1)?.clone())));
        let Some((id, choice)) = found else {
            let message = format!("the plan has no question {question} with an answer {answer}");
            return Err(
                Failure::new(Kind::Usage, message).hint("answers count in the order in which they are given")
            );
        };
        options = options.answer(id, choice);
        plan = groundstate_pulumi_integrity::repair(snapshot, &options);
    }
    Ok(plan)
}

/// Refuses to carry a plan out by default that loses values, or gives a resource another URN.
fn all_answered(plan: &Plan) -> Result<()> {
    let numbered = plan.questions.iter().enumerate().map(|(at, question)| (at + 1, question));
    let open: Vec<String> = numbered
        .filter(|(_, question)| question.open)
        .map(|(number, question)| format!("question {number}: {}", question.text))
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    Err(Failure::new(Kind::Conflict, "the repair needs an answer first, so nothing was written:")
        .details(open)
        .hint("`--answer QUESTION=ANSWER` gives one, by the numbers that are shown without `--yes`"))
}

/// The old and the new URNs of the resources that the plan renames.
fn renamed(plan: &Plan) -> Vec<(Urn, Urn)> {
    let renamed = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Rename(new) => Some((step.urn.clone(), new.clone())),
        _ => None,
    });
    renamed.collect()
}

/// Says what could be decided otherwise, and how.
fn ask(plan: &Plan) {
    let mut messages = Messages::stderr();
    for (number, question) in plan.questions.iter().enumerate() {
        let (text, choices) = text_of(number + 1, question);
        messages.note_about(&text, &choices);
    }
}

fn text_of(number: usize, question: &Question) -> (String, Vec<String>) {
    let choices = question.choices.iter().enumerate().map(|(at, choice)| {
        let mark = if at == question.chosen && !question.open { "*" } else { " " };
        format!("{mark} {}: {choice}", at + 1)
    });
    (format!("question {number}: {}", question.text), choices.collect())
}

fn carry_out(mut plan: Plan) -> (Done, Snapshot) {
    let steps = std::mem::take(&mut plan.steps);
    let findings = std::mem::take(&mut plan.after.findings);
    let left = findings.into_iter().map(|finding| format!("still: {finding}"));
    let done = Done {
        warnings: if steps.is_empty() { Vec::new() } else { left.collect() },
        changes: steps.into_iter().map(Change::Step).collect(),
        success: "State repaired successfully".to_owned(),
    };
    (done, plan.apply())
}

/// Writes the repaired state somewhere else.
fn into(
    output: &Path,
    args: &RepairArgs,
    source: &PulumiState,
    work: impl FnOnce(&mut Snapshot, &Subject<'_>) -> Result<Done>,
) -> Result<()> {
    if source.is_in(output) {
        let message = format!("{} is the state itself", output.display());
        return Err(Failure::new(Kind::Usage, message).hint("leave out `--output`, and a backup is kept"));
    }
    let (dry_run, as_json) = (args.change.dry_run, args.change.json);
    if as_json && !dry_run && is_standard(output) {
        let message = "standard output cannot hold both the repaired state and what `--json` prints";
        return Err(Failure::new(Kind::Usage, message).hint("name a file with `--output`"));
    }
    let text = source.text()?;
    let edited = edit(read(&text, &source.name)?, &source.name, ("state-repair", Soundness::Whatever), work)?;
    let bytes = (!dry_run).then(|| encoded(&edited.file)).transpose()?;
    let Edited { done, diff, .. } = edited;
    if as_json {
        if let Some(bytes) = &bytes {
            save::replace(output, None, |out| out.write_all(bytes))?;
        }
        let changed = Changed { done, diff, written: bytes.is_some() };
        return Report { state: &source.name, dry_run, backup: None, changed: &changed, other: None }
            .print(true);
    }
    let mut messages = Messages::stderr();
    done.warnings.iter().for_each(|warning| messages.warning(warning));
    done.changes.iter().for_each(|change| messages.note(&change.would()));
    drop(messages);
    let Some(bytes) = bytes else { return Ok(()) };
    if is_standard(output) {
        let mut out = Output::stdout();
        out.document(&bytes)?;
        return Ok(out.finish()?);
    }
    save::replace(output, None, |out| out.write_all(&bytes))
}
