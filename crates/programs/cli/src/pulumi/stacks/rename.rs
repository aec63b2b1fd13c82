//! `groundstate stacks rename`: a stack under another name, with everything that belongs to it.

use std::io;
use std::path::{Path, PathBuf};

use groundstate_common::shell_command;
use groundstate_pulumi_backends::Project;
use groundstate_pulumi_diy::{CopySource, ErrorKind, MovedObject, RelocateOptions, Relocation, Stack};
use groundstate_pulumi_snapshot::Urn;

use crate::args::StacksRenameArgs;
use crate::input::found_stack::{FoundPlace, FoundStack};
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::count;
use crate::session::interrupt::Interrupts;
use crate::session::stack_lock::stacks_locked;

/// What a rename does, or would do.
struct Rename {
    from: Stack,
    to: Stack,
    objects: Vec<MovedObject>,
    changed: usize,
    is_resumed: bool,
    warnings: Vec<String>,
    /// The file with the configuration of the stack, and its name after.
    configuration: Option<(PathBuf, PathBuf)>,
}

pub(super) fn run(args: &StacksRenameArgs) -> Result {
    match FoundPlace::at(&args.at.place)? {
        FoundPlace::Bucket(found) => in_bucket(args, &found),
        #[cfg(feature = "http")]
        FoundPlace::Service(found) => super::service::rename(args, &found),
    }
}

fn in_bucket(args: &StacksRenameArgs, found: &FoundStack) -> Result {
    let interrupts = Interrupts::listen()?;
    let rename = runtime()?.block_on(rename(args, found, &interrupts))?;
    let mut messages = Messages::stderr();
    rename.warnings.iter().for_each(|warning| messages.warning(warning));
    drop(messages);
    print(args, &rename)?;
    if !args.dry_run {
        follow_up(rename.configuration.as_ref(), &rename.to.reference().to_string());
    }
    Ok(Outcome::Clean)
}

async fn rename(args: &StacksRenameArgs, found: &FoundStack, interrupts: &Interrupts) -> Result<Rename> {
    let from = found.open().await?;
    let to = from.backend().reference(&args.new, from.reference().project()).map_err(|error| {
        Failure::new(Kind::Usage, format!("{:?} cannot be the name of a stack: {error}", args.new))
    })?;
    if to == *from.reference() {
        return Err(Failure::new(Kind::Usage, format!("the stack is called {to} already")));
    }
    let to = from.backend().stack(&to);
    let mut options = RelocateOptions::default();
    options.force = args.force;
    if args.dry_run {
        return match plan(found, &from, &to, options).await? {
            Some(plan) => Rename::of(found, &plan),
            None => ended(found, from, to).await,
        };
    }
    let target = found.named(&to.reference().to_string());
    stacks_locked([(found, &from), (&target, &to)], args.wait.lock_timeout, interrupts, async |locks| {
        let Some(plan) = plan(found, &from, &to, options).await? else {
            return ended(found, from.clone(), to.clone()).await;
        };
        interrupts.check()?;
        let mut rename = Rename::of(found, &plan)?;
        let done = plan.carry_out(&locks).await.map_err(|error| {
            let again = shell_command(&found.command("stacks rename"), &[&args.new]);
            found.failure(&error).hint(format!("`{again}` goes on"))
        })?;
        rename.warnings = done.warnings;
        Ok(rename)
    })
    .await
}

/// The rename; `None` if there is no stack of the old name.
async fn plan(
    found: &FoundStack,
    from: &Stack,
    to: &Stack,
    options: RelocateOptions,
) -> Result<Option<Relocation>> {
    match from.relocation(to, options).await {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::Broken && !options.force => {
            let hint = "`--force` leaves references that cannot be read as they are";
            Err(found.failure(&error).hint(hint))
        }
        plan => plan.map(Some).map_err(|error| found.failure(&error)),
    }
}

/// A rename whose command was killed when everything in the bucket was done: the state before is the `.bak` of the new name. Its
/// configuration may still have the old one.
async fn ended(found: &FoundStack, from: Stack, to: Stack) -> Result<Rename> {
    let (old, new) = (from.reference().clone(), to.reference().clone());
    let failed = |error: groundstate_pulumi_diy::Error| found.failure(&error);
    let before = match to.exists().await.map_err(failed)? {
        true => {
            to.copies().await.map_err(failed)?.into_iter().find(|copy| copy.source == CopySource::Previous)
        }
        false => None,
    };
    let Some(before) = before else { return Err(found.missing(&from).await) };
    let snapshot = match to.read_copy(&before).await.and_then(|copy| copy.decode()) {
        Ok(file) => file.snapshot.unwrap_or_default(),
        Err(_) => return Err(found.missing(&from).await),
    };
    let is_old = |urn: &Urn| urn.stack() == old.stack().as_str();
    if !snapshot.resources.first().is_some_and(|resource| is_old(&resource.urn)) {
        return Err(found.missing(&from).await);
    }
    let configuration = match old.project() == new.project() {
        true => configuration(&found.argument, old.stack().as_str(), new.stack().as_str())?,
        false => None,
    };
    let changed = snapshot.resources.len();
    Ok(Rename {
        from,
        to,
        objects: Vec::new(),
        changed,
        is_resumed: true,
        warnings: Vec::new(),
        configuration,
    })
}

impl Rename {
    fn of(found: &FoundStack, plan: &Relocation) -> Result<Self> {
        let (from, to) = (plan.source().clone(), plan.target().clone());
        let (old, new) = (from.reference(), to.reference());
        let configuration = match old.project() == new.project() {
            true => configuration(&found.argument, old.stack().as_str(), new.stack().as_str())?,
            false => None,
        };
        Ok(Self {
            configuration,
            from,
            to,
            objects: plan.objects().to_vec(),
            changed: plan.changed(),
            is_resumed: plan.is_resumed(),
            warnings: plan.warnings().to_vec(),
        })
    }
}

/// The configuration of a stack that a project directory has, where only the name of the stack changes.
///
/// # Errors
///
/// When the project cannot be read, so that it is not known where that file is.
pub(super) fn configuration(argument: &str, old: &str, new: &str) -> Result<Option<(PathBuf, PathBuf)>> {
    if !Path::new(argument).is_dir() {
        return Ok(None);
    }
    let failed = |error: &dyn std::error::Error| {
        let message = format!("cannot find the configuration of the stack in {argument}: {}", chain(error));
        Failure::new(Kind::Unusable, message).hint("nothing was renamed")
    };
    let directory = std::path::absolute(argument).map_err(|error| failed(&error))?;
    let project = Project::find(&directory).map_err(|error| failed(&error))?;
    let files = project.map(|project| (project.stack_config(old), project.stack_config(new)));
    Ok(files.filter(|(before, _)| before.is_file()))
}

/// What is not in the backend: the file of the configuration, and which stack is selected.
pub(super) fn follow_up(configuration: Option<&(PathBuf, PathBuf)>, name: &str) {
    let mut messages = Messages::stderr();
    if let Some((before, after)) = configuration {
        // What is in the way may be the configuration of another stack of this name.
        let renamed = match std::fs::symlink_metadata(after) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::rename(before, after),
            Err(error) => Err(error),
        };
        match renamed {
            Ok(()) => messages.note(&format!("{} is {} now", before.display(), after.display())),
            Err(error) => messages.warning(&format!(
                "cannot rename {0} to {1}: {error}; the configuration of the stack is still in {0}",
                before.display(),
                after.display()
            )),
        }
    }
    let select = shell_command("pulumi stack select", &[name]);
    messages.note(&format!("`{select}` selects it under its new name"));
}

fn print(args: &StacksRenameArgs, rename: &Rename) -> Result<()> {
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("backend", &rename.from.backend().to_string());
            json.text("stack", &rename.from.reference().to_string());
            json.text("renamed_to", &rename.to.reference().to_string());
            json.raw("dry_run", args.dry_run);
            json.raw("is_resumed", rename.is_resumed);
            json.raw("resources", rename.changed);
            json.objects("objects", &rename.objects, |json, object| {
                json.text("from", object.from.as_str());
                json.text("to", object.to.as_str());
                json.raw("bytes", object.size);
            });
        }))?;
        return Ok(out.finish()?);
    }
    if args.dry_run {
        for MovedObject { from, to, .. } in &rename.objects {
            out.line(&format!("  {from} -> {to}"))?;
        }
    }
    let verb = match (args.dry_run, rename.is_resumed) {
        (true, _) => "Would rename",
        (false, false) => "Renamed",
        (false, true) => "Ended the rename of",
    };
    out.line(&format!(
        "{verb} the stack {} to {} in {}: {} and {}",
        rename.from.reference(),
        rename.to.reference(),
        rename.from.backend(),
        count(rename.changed, "resource"),
        count(rename.objects.len(), "object")
    ))?;
    Ok(out.finish()?)
}
