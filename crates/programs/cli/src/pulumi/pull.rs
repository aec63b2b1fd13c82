//! `groundstate pull` of a stack: its deployment, as `pulumi stack export` prints it.

use groundstate_pulumi_deployment::RawDeployment;

use crate::args::PullArgs;
use crate::input::location::StateLocation;
use crate::input::pulumi;
use crate::input::state::State;
#[cfg(feature = "http")]
use crate::input::{remote::Remote, runtime::runtime, service::FoundService};
use crate::report::error::{Outcome, Result};
use crate::session::save::write_document;
use crate::session::stack::ManagedStack;

pub(crate) fn pull(args: &PullArgs, found: StateLocation) -> Result {
    if let Some(id) = &args.at {
        let source = State::at(&args.state, Some(id))?.pulumi("pull")?;
        let text = source.text()?;
        let raw = RawDeployment::read(&text).map_err(|error| pulumi::failure(&error, &source.name, &text))?;
        write_document(&raw.to_deployment(), args.output.as_deref())?;
        return Ok(Outcome::Clean);
    }
    #[cfg(feature = "http")]
    if let Some(service) = found.remote().and_then(Remote::service) {
        write_document(&exported(service)?, args.output.as_deref())?;
        return Ok(Outcome::Clean);
    }
    let managed = ManagedStack::open(found, "pull", false)?;
    let text = managed.unlocked(async |stack| {
        managed.existing(stack).await?;
        managed.warn_of_journal().await;
        stack.export().await.map_err(|error| managed.failure(&error))
    })?;
    write_document(&text, args.output.as_deref())?;
    Ok(Outcome::Clean)
}

/// The deployment of a service, in the form that `pulumi stack export` gives it.
#[cfg(feature = "http")]
fn exported(found: &FoundService) -> Result<Vec<u8>> {
    let (name, text) = runtime()?.block_on(async {
        let stack = found.stack().await.map_err(|error| found.failure(&error))?;
        match stack.export().await {
            Ok(text) => Ok((stack.to_string(), text)),
            Err(error) => Err(found.failed(&error, stack).await),
        }
    })?;
    let raw = RawDeployment::read(&text).map_err(|error| pulumi::failure(&error, &name, &text))?;
    Ok(raw.to_deployment())
}
