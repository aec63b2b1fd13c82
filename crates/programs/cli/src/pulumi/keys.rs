//! The keys of two stacks, between which resources move with their secrets.

use std::path::Path;
use std::sync::Arc;

use groundstate_pulumi_deployment::{
    DeploymentFile, readable_values, rewrite_sealed_references, seal_snapshot, sealed_values,
};
use groundstate_pulumi_secrets::Manager;
use groundstate_pulumi_secrets::passphrase::GivenPassphrase;
use groundstate_pulumi_snapshot::{Resource, SecretsProvider, Snapshot, Urn};

use super::admission::Place;
use super::{passphrase, secrets};
use crate::report::error::{Failure, Kind, Result};
use crate::report::text::count;

/// The secrets managers of two stacks, opened when they are needed.
pub(super) struct Keys<'f> {
    source: Stack<'f>,
    dest: Stack<'f>,
    /// Where the passphrase of the second one is, if it has its own.
    dest_passphrase: Option<&'f Path>,
    /// The place of the second one, whose manager counts if its state names none.
    place: &'f Place,
    managers: (Option<Manager>, Option<Manager>),
}

#[derive(Clone, Copy)]
struct Stack<'f> {
    file: &'f DeploymentFile,
    name: &'f str,
}

impl<'f> Stack<'f> {
    fn provider(self) -> Option<&'f SecretsProvider> {
        let provider = self.file.snapshot.as_ref().and_then(|snapshot| snapshot.secrets_provider.as_ref());
        provider.filter(|provider| !provider.kind.is_empty())
    }

    /// Says whose secrets a failure is about.
    fn explain(self, failure: Failure) -> Failure {
        failure.hint(format!(
            "these are the secrets of {}; if the destination stack has another passphrase, give its file with `--to-passphrase-file`",
            self.name
        ))
    }
}

impl<'f> Keys<'f> {
    pub(super) fn of(
        (source, source_name): (&'f DeploymentFile, &'f str),
        (dest, dest_name): (&'f DeploymentFile, &'f str),
        (place, dest_passphrase): (&'f Place, Option<&'f Path>),
    ) -> Self {
        let source = Stack { file: source, name: source_name };
        let dest = Stack { file: dest, name: dest_name };
        Self { source, dest, dest_passphrase, place, managers: (None, None) }
    }

    /// Whether what one of them encrypts the other decrypts.
    fn are_one(&self) -> bool {
        self.source.provider().is_some() && self.source.provider() == self.dest.provider()
    }

    /// Encrypts what has arrived with the keys of its new stack, and lets references in it follow. Gives warnings.
    pub(super) fn reseal(
        &mut self,
        destination: &mut Snapshot,
        arrived: &[usize],
        renamed: &[(Urn, Urn)],
    ) -> Result<Vec<String>> {
        let found = arrived.iter().filter_map(|index| destination.resources.get(*index).map(Arc::clone));
        let mut part = Snapshot { resources: found.collect(), ..Snapshot::default() };
        let sealed: usize = part.resources.iter().map(|resource| sealed_values(resource)).sum();
        let readable = readable_values(&part);
        let stays = self.place.keeps_readable(self.dest.file.snapshot.as_ref());
        if sealed == 0 && (readable == 0 || stays) {
            return Ok(Vec::new());
        }
        let mut warnings = Vec::new();
        if sealed > 0 && self.are_one() {
            part.secrets_provider = self.source.provider().cloned();
            warnings = secrets::follow(&mut part, renamed)?;
        } else if sealed > 0 {
            let (from, to) = (self.source, self.dest);
            // A destination without a key is refused before the user is asked for the passphrase of the source.
            self.open_dest(sealed)?;
            self.open_source(sealed)?;
            let (Some(source), Some(dest)) = (&self.managers.0, &self.managers.1) else {
                return Err(missing(to, sealed));
            };
            let mut rename =
                |urn: &Urn| renamed.iter().find(|(old, _)| old == urn).map(|(_, new)| new.clone());
            let crypters = (source.decrypter(), source.encrypter());
            rewrite_sealed_references(&mut part, crypters, &mut rename)
                .map_err(|error| from.explain(secrets::failure(error)))?;
            secrets::opened(&mut part, Some(source)).map_err(|failure| from.explain(failure))?;
            seal_snapshot(&mut part, dest.encrypter())
                .map_err(|error| to.explain(secrets::failure(error)))?;
        }
        if readable > 0 && !stays {
            let to = self.dest;
            let dest = self.open_dest(readable)?;
            seal_snapshot(&mut part, dest.encrypter())
                .map_err(|error| to.explain(secrets::failure(error)))?;
        }
        if let Some(dest) = self.managers.1.as_ref().filter(|_| self.dest.provider().is_none()) {
            destination.secrets_provider = Some(secrets::provider(dest.providers())?);
        }
        for (index, resource) in arrived.iter().zip(part.resources) {
            if let Some(place) = destination.resources.get_mut(*index) {
                *place = resource;
            }
        }
        Ok(warnings)
    }

    /// Whether resources of the first stack, and what is stored of them in the second, say the same in other ciphertexts.
    pub(super) fn are_same(&mut self, ours: Vec<Arc<Resource>>, theirs: Vec<Arc<Resource>>) -> bool {
        if ours == theirs || ours.len() != theirs.len() {
            return ours == theirs;
        }
        let sealed: usize = ours.iter().map(|resource| sealed_values(resource)).sum();
        if sealed > 0 && self.open_source(sealed).is_err() || self.open_dest(sealed).is_err() {
            return false;
        }
        let mut one = Snapshot { resources: ours, ..Snapshot::default() };
        let mut other = Snapshot { resources: theirs, ..Snapshot::default() };
        secrets::opened(&mut one, self.managers.0.as_ref()).is_ok()
            && secrets::opened(&mut other, self.managers.1.as_ref()).is_ok()
            && one.resources == other.resources
    }

    fn open_source(&mut self, values: usize) -> Result<&Manager> {
        let manager = match self.managers.0.take() {
            Some(manager) => manager,
            None => Self::manager(self.source, passphrase::source())?
                .ok_or_else(|| missing(self.source, values))?,
        };
        Ok(self.managers.0.insert(manager))
    }

    fn open_dest(&mut self, values: usize) -> Result<&Manager> {
        let manager = match self.managers.1.take() {
            Some(manager) => manager,
            None => {
                let second = self.dest_passphrase.map_or_else(passphrase::source, passphrase::of_file);
                let named = Self::manager(self.dest, second)?;
                let name = self.dest.file.stack().map(str::to_owned);
                match named {
                    Some(manager) => manager,
                    None => self.place.manager(None, name)?.ok_or_else(|| missing(self.dest, values))?,
                }
            }
        };
        Ok(self.managers.1.insert(manager))
    }

    fn manager(stack: Stack<'_>, passphrase: GivenPassphrase) -> Result<Option<Manager>> {
        let Some(snapshot) = stack.file.snapshot.as_ref() else { return Ok(None) };
        let name = stack.file.stack().unwrap_or(stack.name).to_owned();
        let manager = secrets::manager_by(snapshot, Some(name), passphrase);
        manager.map_err(|failure| stack.explain(failure))
    }
}

fn missing(stack: Stack<'_>, values: usize) -> Failure {
    let values = count(values, "secret");
    let message = format!("{} names no secrets provider, and {values} would move", stack.name);
    Failure::new(Kind::Unusable, message).hint("`groundstate change-secrets-provider` gives it one")
}
