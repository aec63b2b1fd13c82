//! The keys of two stacks, between which resources move with their secrets.

use std::path::Path;
use std::sync::Arc;

use groundstate_pulumi_deployment::{
    DeploymentFile, forget_ciphertexts, open_snapshot, rewrite_sealed_references, seal_snapshot,
    sealed_values,
};
use groundstate_pulumi_secrets::Manager;
use groundstate_pulumi_secrets::passphrase::GivenPassphrase;
use groundstate_pulumi_snapshot::{Resource, SecretsProvider, Snapshot, Urn};

use super::{passphrase, secrets};
use crate::report::error::{Failure, Kind, Result};
use crate::report::text::count;

/// The secrets managers of two stacks, opened when they are needed.
pub(super) struct Keys<'f> {
    source: Stack<'f>,
    dest: Stack<'f>,
    /// Where the passphrase of the second one is, if it has its own.
    dest_passphrase: Option<&'f Path>,
    managers: Option<(Manager, Manager)>,
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
        dest_passphrase: Option<&'f Path>,
    ) -> Self {
        let source = Stack { file: source, name: source_name };
        let dest = Stack { file: dest, name: dest_name };
        Self { source, dest, dest_passphrase, managers: None }
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
        if sealed == 0 {
            return Ok(Vec::new());
        }
        let warnings = match self.are_one() {
            true => {
                part.secrets_provider = self.source.provider().cloned();
                secrets::follow(&mut part, renamed)?
            }
            false => {
                let (from, to) = (self.source, self.dest);
                let (source, dest) = self.managers(sealed)?;
                let mut rename =
                    |urn: &Urn| renamed.iter().find(|(old, _)| old == urn).map(|(_, new)| new.clone());
                let crypters = (source.decrypter(), source.encrypter());
                rewrite_sealed_references(&mut part, crypters, &mut rename)
                    .map_err(|error| from.explain(secrets::failure(error)))?;
                opened(&mut part, source).map_err(|failure| from.explain(failure))?;
                seal_snapshot(&mut part, dest.encrypter())
                    .map_err(|error| to.explain(secrets::failure(error)))?;
                Vec::new()
            }
        };
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
        let Ok((source, dest)) = self.managers(sealed) else { return false };
        let mut one = Snapshot { resources: ours, ..Snapshot::default() };
        let mut other = Snapshot { resources: theirs, ..Snapshot::default() };
        opened(&mut one, source).is_ok()
            && opened(&mut other, dest).is_ok()
            && one.resources == other.resources
    }

    fn managers(&mut self, sealed: usize) -> Result<(&Manager, &Manager)> {
        let missing = |stack: Stack<'_>| {
            let values = count(sealed, "encrypted value");
            let message = format!("{} names no secrets provider, and {values} would move", stack.name);
            let hint = "`groundstate change-secrets-provider` gives it one";
            Failure::new(Kind::Unusable, message).hint(hint)
        };
        for stack in [self.source, self.dest] {
            stack.provider().ok_or_else(|| missing(stack))?;
        }
        let managers = match self.managers.take() {
            Some(managers) => managers,
            None => {
                let second = self.dest_passphrase.map_or_else(passphrase::source, passphrase::of_file);
                let source = Self::manager(self.source, passphrase::source())?;
                let dest = Self::manager(self.dest, second)?;
                (source.ok_or_else(|| missing(self.source))?, dest.ok_or_else(|| missing(self.dest))?)
            }
        };
        let (source, dest) = self.managers.insert(managers);
        Ok((source, dest))
    }

    fn manager(stack: Stack<'_>, passphrase: GivenPassphrase) -> Result<Option<Manager>> {
        let Some(snapshot) = stack.file.snapshot.as_ref() else { return Ok(None) };
        let name = stack.file.stack().unwrap_or(stack.name).to_owned();
        secrets::manager_by(snapshot, Some(name), passphrase).map_err(|failure| stack.explain(failure))
    }
}

/// Opens all secrets, and forgets how they were encrypted.
fn opened(part: &mut Snapshot, manager: &Manager) -> Result<()> {
    open_snapshot(part, manager.decrypter()).map_err(secrets::failure)?;
    forget_ciphertexts(part).map_err(secrets::failure)?;
    Ok(())
}
