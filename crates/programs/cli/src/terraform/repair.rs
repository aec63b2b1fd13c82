//! `groundstate repair` for Terraform states: a plan that is shown before it is carried out.

use std::path::Path;

use groundstate_common::{IdSource, OsIds};
use groundstate_state_edit::{RepairError, RepairPlan, RepairQuestion, repair};
use groundstate_statefile::{EncodeOptions, encode};

use super::replace::{Replaced, Replacement, replaced};
use crate::args::{ChangeArgs, PendingArg, RepairArgs};
use crate::input::locate::is_standard;
use crate::input::location::StateLocation;
use crate::input::terraform::{TerraformState, failure, salvage};
use crate::report::differences;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::save;
use crate::terraform::diff::differences as compared;

/// Repairs a state, or shows how.
pub(crate) fn run(args: &RepairArgs, state: &TerraformState) -> Result {
    if args.pending != PendingArg::Keep {
        let message = "`--pending` is for Pulumi states; those of Terraform have no pending operations";
        return Err(Failure::new(Kind::Usage, message));
    }
    let text = state.text()?;
    let lineage = OsIds.uuid().map_err(|error| Failure::new(Kind::Unreachable, chain(&error)))?;
    let plan = repair(&text, &args.answers, &lineage).map_err(|error| explain(&error, state, &text))?;
    ask(&plan);
    if !args.change.dry_run && (args.yes || args.output.is_some()) {
        all_answered(&plan)?;
    }
    if let Some(output) = args.output.as_deref() {
        into(output, args, state, &plan)?;
        return Ok(Outcome::Clean);
    }
    let change = ChangeArgs { dry_run: args.change.dry_run || !args.yes, ..args.change.clone() };
    let done = match plan.steps.is_empty() {
        true => None,
        false => Some(carry_out(args, &change, &plan, &text)?),
    };
    report(state, &change, &plan, done.as_ref())?;
    if !plan.steps.is_empty() && !args.yes && !args.change.dry_run {
        Messages::stderr().note("nothing was written; `--yes` carries this out");
        return Ok(Outcome::Found(Kind::Findings));
    }
    Ok(Outcome::Clean)
}

fn carry_out(args: &RepairArgs, change: &ChangeArgs, plan: &RepairPlan, text: &[u8]) -> Result<Replaced> {
    let found = StateLocation::existing(&args.place.state)?;
    let how = Replacement {
        args: change,
        yes: true,
        operation: "state-repair",
        source: &args.place.state,
        restored: None,
        force: true,
        over_encrypted: false,
        checked: false,
        expected: Some(text),
    };
    replaced(found, &how, |_| Ok(plan.file.clone()))
}

fn explain(error: &RepairError, state: &TerraformState, text: &[u8]) -> Failure {
    match error {
        RepairError::Read(error) => failure(error, &state.name, text)
            .hint(format!("`{}` leaves out what cannot be read", salvage(&state.name))),
        error => Failure::new(Kind::Usage, error.to_string())
            .hint("answers count by the numbers that are shown without `--yes`"),
    }
}

/// Shows the questions with their answers.
fn ask(plan: &RepairPlan) {
    let mut messages = Messages::stderr();
    for (at, RepairQuestion { text, choices, answer, .. }) in plan.questions.iter().enumerate() {
        let choices = choices.iter().enumerate().map(|(at, choice)| {
            let mark = if *answer == Some(at) { "*" } else { " " };
            format!("{mark} {}: {choice}", at + 1)
        });
        messages.note_about(&format!("question {}: {text}", at + 1), &choices.collect::<Vec<_>>());
    }
}

/// Refuses to decide by itself which object or dependency is the wrong one.
fn all_answered(plan: &RepairPlan) -> Result<()> {
    let open = plan.questions.iter().enumerate().filter(|(_, question)| question.answer.is_none());
    let open: Vec<String> =
        open.map(|(at, question)| format!("question {}: {}", at + 1, question.text)).collect();
    if open.is_empty() {
        return Ok(());
    }
    Err(Failure::new(Kind::Conflict, "the repair needs an answer first, so nothing was written:")
        .details(open)
        .hint("`--answer QUESTION=ANSWER` gives one, by the numbers that are shown without `--yes`"))
}

fn report(
    state: &TerraformState,
    change: &ChangeArgs,
    plan: &RepairPlan,
    done: Option<&Replaced>,
) -> Result<()> {
    let mut out = Output::stdout();
    let diff = done.and_then(|done| done.diff.as_ref());
    let backup = done.and_then(|done| done.backup.as_ref());
    let written = done.is_some_and(|done| done.written);
    if change.json {
        out.json(&Json::document(|json| {
            json.text("state", &state.name);
            json.raw("dry_run", change.dry_run);
            json.raw("written", written);
            if let Some(backup) = backup {
                json.text("backup", &backup.path());
            }
            json.objects("changes", &plan.steps, |json, step| {
                json.text("change", step.action);
                if let Some(address) = &step.address {
                    json.text("address", address);
                }
                json.text("step", &step.to_string());
            });
            if let Some(diff) = diff {
                json.inner("diff", |json| differences::members(json, &compared(diff, false)));
            }
        }))?;
        return Ok(out.finish()?);
    }
    for step in &plan.steps {
        out.line(&if change.dry_run { format!("Would {step}") } else { format!("Done: {step}") })?;
    }
    match written {
        true => out.line("State repaired successfully.")?,
        false if plan.steps.is_empty() => out.line("Nothing to change.")?,
        false => {}
    }
    if let Some(backup) = backup {
        out.line(&format!("The state before is {backup}."))?;
    }
    Ok(out.finish()?)
}

/// Writes the repaired state somewhere else.
fn into(output: &Path, args: &RepairArgs, state: &TerraformState, plan: &RepairPlan) -> Result<()> {
    if state.is_in(output) {
        let message = format!("{} is the state itself", output.display());
        return Err(Failure::new(Kind::Usage, message).hint("leave out `--output`, and a backup is kept"));
    }
    if args.change.json && !args.change.dry_run && is_standard(output) {
        let message = "standard output cannot hold both the repaired state and what `--json` prints";
        return Err(Failure::new(Kind::Usage, message).hint("name a file with `--output`"));
    }
    let mut file = plan.file.clone();
    if !plan.steps.is_empty() {
        // It is not the snapshot that has this serial.
        file.serial = file.serial.next().unwrap_or(file.serial);
    }
    let bytes = encode(&file, &EncodeOptions::default());
    let bytes = bytes.map_err(|error| Failure::new(Kind::Loss, error.to_string()))?;
    if args.change.json {
        if !args.change.dry_run {
            save::replace(output, None, |out| out.write_all(&bytes))?;
        }
        return report(state, &args.change, plan, None);
    }
    let mut messages = Messages::stderr();
    plan.steps.iter().for_each(|step| messages.note(&format!("Would {step}")));
    drop(messages);
    match (args.change.dry_run, is_standard(output)) {
        (true, _) => Ok(()),
        (false, true) => {
            let mut out = Output::stdout();
            out.document(&bytes)?;
            Ok(out.finish()?)
        }
        (false, false) => save::replace(output, None, |out| out.write_all(&bytes)),
    }
}
