//! Pulumi's deployments and checkpoints: what the commands do with them.

mod check;
mod diff;
mod list;
mod load;
mod locate;
mod outputs;
mod passphrase;
mod secrets;
mod select;
mod show;
mod shown;
mod upgrade;

pub(crate) use check::check;
pub(crate) use diff::diff;
pub(crate) use list::list;
pub(crate) use outputs::outputs;
pub(crate) use show::show;
pub(crate) use upgrade::upgrade;
