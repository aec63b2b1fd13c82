//! STATE, resolved once: whose state it is, and where it comes from.

use std::path::Path;

use crate::input::family::Family;
use crate::input::locate::is_place;
use crate::input::location::StateLocation;
use crate::input::pulumi::PulumiState;
use crate::input::remote::Located;
use crate::input::source::Source;
use crate::input::terraform::{self, TerraformState};
use crate::report::error::{Failure, Kind, Result};

/// A state to read, of the family that its content tells. What tells no family is judged as Terraform's.
#[derive(Debug)]
pub(crate) enum State {
    Terraform(TerraformState),
    Pulumi(PulumiState),
}

impl State {
    /// The state that an argument names.
    pub(crate) fn find(argument: &Path) -> Result<Self> {
        Ok(Self::of(Source::find(argument)?))
    }

    /// The same for an argument beside the place that the command is about: `--workspace` does not mean it.
    pub(crate) fn beside(argument: &Path) -> Result<Self> {
        Ok(Self::of(Source::beside(argument)?))
    }

    /// One of several states that a command reads: `--workspace` means the places among them, if there are any.
    pub(crate) fn among(argument: &Path, all: &[&Path]) -> Result<Self> {
        let is_beside = !is_place(argument) && all.iter().any(|other| is_place(other));
        if is_beside { Self::beside(argument) } else { Self::find(argument) }
    }

    /// The state that an argument names, or a snapshot in the history of it.
    pub(crate) fn at(argument: &Path, snapshot: Option<&str>) -> Result<Self> {
        match snapshot {
            Some(snapshot) => Ok(Self::of(Source::of_snapshot(argument, snapshot)?)),
            None => Self::find(argument),
        }
    }

    /// What an argument has led to.
    pub(crate) fn of_located(located: &Located) -> Result<Self> {
        Ok(Self::of(Source::of_located(located)?))
    }

    /// The family of a source, with the source.
    pub(crate) fn of(source: Source) -> Self {
        match source.family {
            Some(Family::Pulumi) => Self::Pulumi(PulumiState::new(source)),
            Some(Family::Terraform) | None => Self::Terraform(TerraformState::new(source)),
        }
    }

    /// The input, whichever family it is of.
    pub(crate) fn source(&self) -> &Source {
        match self {
            Self::Terraform(state) => state,
            Self::Pulumi(state) => state,
        }
    }

    /// The state, where only Terraform's has what the command needs.
    pub(crate) fn terraform(self) -> Result<TerraformState> {
        match self {
            Self::Terraform(state) => Ok(state),
            Self::Pulumi(state) => {
                let message = format!("{} is Pulumi's, and this command is for Terraform states", state.name);
                Err(Failure::new(Kind::Usage, message))
            }
        }
    }

    /// The state, where `command` is for Pulumi's alone.
    pub(crate) fn pulumi(self, command: &str) -> Result<PulumiState> {
        match self {
            Self::Pulumi(state) => Ok(state),
            Self::Terraform(state) => {
                // An empty or unknown file gets an error of its own.
                terraform::load(&state)?;
                let message = format!("{} is not Pulumi's, and `{command}` is for nothing else", state.name);
                Err(Failure::new(Kind::Usage, message))
            }
        }
    }
}

/// Where a state is that a command changes, with its family: that of the file, by its content. What backends keep is
/// Terraform's and OpenTofu's, and is not asked for.
#[derive(Debug)]
pub(crate) enum StoredState {
    Terraform(StateLocation),
    Pulumi(StateLocation),
}

impl StoredState {
    /// The state that an argument names, which has to exist.
    pub(crate) fn existing(argument: &Path) -> Result<Self> {
        Ok(Self::of(StateLocation::existing(argument)?))
    }

    /// The same, whether something is stored there or not.
    pub(crate) fn at(argument: &Path) -> Result<Self> {
        Ok(Self::of(StateLocation::at(argument)?))
    }

    /// The same for commands that change nothing.
    pub(crate) fn to_read(argument: &Path) -> Result<Self> {
        Ok(Self::of(StateLocation::to_read(argument)?))
    }

    fn of(location: StateLocation) -> Self {
        match family_of(&location) {
            Some(Family::Pulumi) => Self::Pulumi(location),
            Some(Family::Terraform) | None => Self::Terraform(location),
        }
    }

    /// The place, where only Terraform's state has what `command` needs; `hint` says what to do with Pulumi's.
    pub(crate) fn terraform(self, command: &str, hint: &str) -> Result<StateLocation> {
        match self {
            Self::Terraform(location) => Ok(location),
            Self::Pulumi(location) => Err(not_theirs(location.name(), command, hint)),
        }
    }
}

/// Where a state is that `command` changes, which is for Pulumi's alone. A backend is asked too.
pub(crate) fn stored_by_pulumi(argument: &Path, command: &str) -> Result<StateLocation> {
    let location = StateLocation::existing(argument)?;
    State::of_located(location.located())?.pulumi(command)?;
    Ok(location)
}

/// The family of the file at a location, if there is one and its content tells. What cannot be read is judged later.
pub(crate) fn family_of(location: &StateLocation) -> Option<Family> {
    let path = match location.located() {
        Located::File(path, _) => path,
        Located::Remote(remote) => return remote.is_stack().then_some(Family::Pulumi),
    };
    let source = location.exists().then(|| Source::of_file(location.name().to_owned(), path.clone()));
    source.and_then(Result::ok).and_then(|source| source.family)
}

/// That a state is Pulumi's where one of Terraform is needed.
pub(crate) fn not_theirs(name: &str, command: &str, hint: &str) -> Failure {
    let message = format!("{name} is Pulumi's, and `{command}` is for Terraform states");
    Failure::new(Kind::Usage, message).hint(hint)
}
