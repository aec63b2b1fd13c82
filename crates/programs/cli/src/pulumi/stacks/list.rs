//! `groundstate stacks list`: the stacks of a backend.

use std::sync::Arc;

use groundstate_common::{Timestamp, one_line};
use groundstate_pulumi_backends::OpenedStore;
use groundstate_pulumi_diy::{Backend, Leftovers, StackFilter};
use groundstate_pulumi_snapshot::ProjectName;

use crate::args::StacksListArgs;
use crate::input::found_stack::stack_failure;
use crate::input::remote::warn_once;
use crate::input::runtime::runtime;
use crate::input::stack::{self, FoundBackend, FoundBackends};
use crate::pulumi::leftovers;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::count;

/// A stack in the list.
pub(super) struct Listed {
    /// Its full name.
    pub(super) name: String,
    /// Nothing where no stack was read; the text is why one could not be.
    pub(super) details: Option<Result<Details, String>>,
}

/// What is known of a stack.
pub(super) struct Details {
    pub(super) last_update: Option<Timestamp>,
    pub(super) resources: Option<usize>,
}

pub(super) fn run(args: &StacksListArgs) -> Result {
    match stack::backend(&args.backend)? {
        FoundBackends::Bucket(found) => in_bucket(args, &found),
        #[cfg(feature = "http")]
        FoundBackends::Service(found) => super::service::list(args, &found),
    }
}

fn in_bucket(args: &StacksListArgs, found: &FoundBackend) -> Result {
    warn_once(&found.opened.notes);
    let filter = filter(args)?;
    let failed = |error: groundstate_pulumi_diy::Error| stack_failure(&error);
    let (listed, left) = runtime()?.block_on(async {
        let store = Arc::clone(&found.opened.store);
        let backend =
            Backend::open_existing(store, stack::context(), found.options.clone()).await.map_err(failed)?;
        warn_once(&backend.warnings().iter().map(ToString::to_string).collect::<Vec<_>>());
        let is_whole = filter == StackFilter::default();
        let listed: Vec<Listed> = if args.long || args.tag.is_some() {
            let stacks = backend.stacks(&filter).await.map_err(failed)?;
            let read = stacks.into_iter().map(|stack| {
                let details = stack.details.map_err(|error| chain(&error)).map(|details| {
                    warn_once(&details.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
                    Details { last_update: details.last_update, resources: details.resources }
                });
                Listed { name: stack.reference.to_string(), details: Some(details) }
            });
            read.collect()
        } else {
            let names = backend.stack_names(&filter).await.map_err(failed)?;
            names.into_iter().map(|name| Listed { name: name.to_string(), details: None }).collect()
        };
        if is_whole {
            warn_of_unlisted(&backend).await?;
        }
        if listed.is_empty() && is_whole {
            warn_of_other_form(&found.opened).await;
        }
        // A part of the stacks does not tell what belongs to none.
        let left = match args.long && is_whole {
            true => Some(backend.leftovers().await.map_err(failed)?),
            false => None,
        };
        Ok::<(Vec<Listed>, Option<Leftovers>), Failure>((listed, left))
    })?;
    left.iter().for_each(leftovers::warn_of_failed);
    print(args, &found.name, &listed, left.as_ref())?;
    let has_damaged = listed.iter().any(|listed| matches!(listed.details, Some(Err(_))));
    Ok(if has_damaged { Outcome::Found(Kind::Findings) } else { Outcome::Clean })
}

/// Checkpoints in whose names the project or the stack is not valid are in no list, so nothing would be said of them.
pub(super) async fn warn_of_unlisted(backend: &Backend) -> Result<()> {
    let keys = backend.unlisted_checkpoints().await.map_err(|error| stack_failure(&error))?;
    let left_out = keys.iter().map(|key| {
        format!("{} is left out: the project or the stack in its name is not a valid one", one_line(key))
    });
    warn_once(&left_out.collect::<Vec<_>>());
    Ok(())
}

/// A table of a database may have its stacks under other keys. That is only a hint, so no failure counts.
async fn warn_of_other_form(opened: &OpenedStore) {
    if let Ok(Some(form)) = opened.other_form_with_stacks().await {
        Messages::stderr().warning(&format!("the table has stacks that another URL shows: {form}"));
    }
}

fn filter(args: &StacksListArgs) -> Result<StackFilter> {
    let mut filter = StackFilter::default();
    if let Some(project) = &args.project {
        let project = ProjectName::parse(project);
        filter = filter.project(project.map_err(|error| Failure::new(Kind::Usage, error.to_string()))?);
    }
    if let Some(tag) = &args.tag {
        let (name, value) =
            tag.split_once('=').map_or((tag.as_str(), None), |(name, value)| (name, Some(value)));
        let name = Some(name.to_owned()).filter(|name| !name.is_empty());
        filter = filter.tag(name, value.map(str::to_owned));
    }
    Ok(filter)
}

pub(super) fn print(
    args: &StacksListArgs,
    backend: &str,
    listed: &[Listed],
    left: Option<&Leftovers>,
) -> Result<()> {
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("backend", backend);
            json.objects("stacks", listed, |json, listed| {
                json.text("stack", &listed.name);
                match &listed.details {
                    None => {}
                    Some(Err(why)) => json.text("unreadable", why),
                    Some(Ok(details)) => {
                        if let Some(time) = details.last_update {
                            json.text("last_update", &time.to_string());
                        }
                        if let Some(resources) = details.resources {
                            json.raw("resources", resources);
                        }
                    }
                }
            });
            if let Some(left) = left {
                json.objects("leftovers", &left.found, leftovers::json);
            }
        }))?;
        return Ok(out.finish()?);
    }
    for Listed { name, details } in listed {
        match details {
            Some(Ok(details)) if args.long => {
                let resources = details
                    .resources
                    .map_or_else(|| "no update yet".to_owned(), |number| count(number, "resource"));
                let time = details.last_update.map(|time| format!(", updated {time}")).unwrap_or_default();
                out.line(&format!("{name}  {resources}{time}"))?;
            }
            Some(Err(why)) => {
                out.line(&format!("{name}  cannot be read"))?;
                Messages::stderr().warning(why);
            }
            _ => out.line(name)?,
        }
    }
    if listed.is_empty() {
        Messages::stderr().note(&format!("there are no stacks in {backend}"));
    }
    left.into_iter().for_each(leftovers::say);
    Ok(out.finish()?)
}
