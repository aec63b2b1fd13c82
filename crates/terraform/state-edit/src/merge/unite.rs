//! The changes of two sides in one state.

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_states::addr::{AbsResource, InstanceKey};
use groundstate_states::{Resource, State};

use super::Conflict;
use crate::diff::{ChangeKind, Subject};
use groundstate_statefile::File;

/// What to take of one thing.
#[derive(Debug, PartialEq, Eq)]
enum Take {
    Stored,
    Errored,
    /// Both sides changed it, in these ways.
    Neither(ChangeKind, ChangeKind),
}

fn decide<T: PartialEq + ?Sized>(base: Option<&T>, stored: Option<&T>, errored: Option<&T>) -> Take {
    if stored == errored || base == errored {
        return Take::Stored;
    }
    if base == stored {
        return Take::Errored;
    }
    let kind = |side: Option<&T>| match (base, side) {
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Removed,
        _ => ChangeKind::Changed,
    };
    Take::Neither(kind(stored), kind(errored))
}

/// The sides of a merge, and what they cannot agree on.
struct Sides<'f> {
    base: &'f File,
    stored: &'f File,
    errored: &'f File,
    conflicts: Vec<Conflict>,
}

/// Takes each thing from the side that changed it.
pub(super) fn unite(base: &File, stored: &File, errored: &File) -> Result<File, Vec<Conflict>> {
    let mut sides = Sides { base, stored, errored, conflicts: Vec::new() };
    let mut file = stored.clone();
    sides.document(&mut file);
    sides.outputs(&mut file);
    sides.resources(&mut file);
    if sides.conflicts.is_empty() { Ok(file) } else { Err(sides.conflicts) }
}

impl Sides<'_> {
    /// Notes a conflict; whether the errored side is to be taken.
    fn takes_errored(&mut self, take: Take, subject: impl FnOnce() -> Subject) -> bool {
        if let Take::Neither(stored, errored) = take {
            self.conflicts.push(Conflict { subject: subject(), stored, errored });
            return false;
        }
        take == Take::Errored
    }

    fn document(&mut self, file: &mut File) {
        let Self { base, stored, errored, .. } = *self;
        let take = decide(Some(&base.extra), Some(&stored.extra), Some(&errored.extra));
        if self.takes_errored(take, || Subject::Document) {
            file.extra = errored.extra.clone();
        }
        let (b, s, e) = (&base.terraform_version, &stored.terraform_version, &errored.terraform_version);
        if decide(Some(b), Some(s), Some(e)) == Take::Errored {
            file.terraform_version.clone_from(e);
        }
        let (b, s, e) =
            (&base.state.check_results, &stored.state.check_results, &errored.state.check_results);
        if decide(Some(b), Some(s), Some(e)) == Take::Errored {
            file.state.check_results.clone_from(e);
        }
        // What reading either of them could not keep is lost with either of them.
        file.notes.extend(errored.notes.iter().cloned());
    }

    fn outputs(&mut self, file: &mut File) {
        let Self { base, stored, errored, .. } = *self;
        let of = |side: &File, name: &Arc<str>| side.state.root().outputs.get(name).cloned();
        let names: BTreeSet<&Arc<str>> =
            [base, stored, errored].into_iter().flat_map(|side| side.state.root().outputs.keys()).collect();
        for name in names {
            let (b, s, e) = (of(base, name), of(stored, name), of(errored, name));
            let take = decide(b.as_ref(), s.as_ref(), e.as_ref());
            if self.takes_errored(take, || Subject::Output(Arc::clone(name))) {
                let outputs = &mut file.state.root_mut().outputs;
                match e {
                    Some(output) => drop(outputs.insert(Arc::clone(name), output)),
                    None => drop(outputs.remove(name)),
                }
            }
        }
    }

    fn resources(&mut self, file: &mut File) {
        let Self { base, stored, errored, .. } = *self;
        let mut addresses = BTreeSet::new();
        for side in [base, stored, errored] {
            let all = side.state.all_resources();
            addresses.extend(all.map(|(module, name, _)| name.clone().absolute(module.clone())));
        }
        for address in addresses {
            let of = |side: &'_ File| side.state.resource(&address).cloned();
            let (b, s, e) = (of(base), of(stored), of(errored));
            let merged = match decide(b.as_ref(), s.as_ref(), e.as_ref()) {
                Take::Stored => continue,
                Take::Errored => e,
                Take::Neither(..) => self.resource(&address, b.as_ref(), s.as_ref(), e.as_ref()),
            };
            put(&mut file.state, &address, merged);
        }
    }

    /// A resource that both sides changed: instance by instance.
    fn resource(
        &mut self,
        address: &AbsResource,
        base: Option<&Resource>,
        stored: Option<&Resource>,
        errored: Option<&Resource>,
    ) -> Option<Resource> {
        let mut merged = stored.or(errored)?.clone();
        if let (Some(s), Some(e)) = (stored, errored) {
            let provider = decide(base.map(|b| &b.provider), Some(&s.provider), Some(&e.provider));
            if self.takes_errored(provider, || Subject::Resource(address.clone())) {
                merged.provider = e.provider.clone();
            }
            let extra = decide(base.map(|b| &b.extra), Some(&s.extra), Some(&e.extra));
            if self.takes_errored(extra, || Subject::Resource(address.clone())) {
                merged.extra = e.extra.clone();
            }
        }
        merged.instances.clear();
        let sides = [base, stored, errored];
        let keys: BTreeSet<&InstanceKey> =
            sides.into_iter().flatten().flat_map(|r| r.instances.keys()).collect();
        for key in keys {
            let [b, s, e] = sides.map(|side| side.and_then(|resource| resource.instances.get(key)));
            let take = decide(b, s, e);
            let subject = || Subject::Instance(address.instance(key.clone()));
            let taken = if self.takes_errored(take, subject) { e } else { s };
            merged.instances.extend(taken.map(|instance| (key.clone(), instance.clone())));
        }
        // A resource without instances stays one only where a side has it so.
        let husk = [stored, errored].into_iter().flatten().any(|side| side.instances.is_empty());
        (husk || !merged.instances.is_empty()).then_some(merged)
    }
}

fn put(state: &mut State, address: &AbsResource, resource: Option<Resource>) {
    match resource {
        Some(resource) => {
            let module = state.ensure_module(&address.module);
            module.resources.insert(address.resource.clone(), Arc::new(resource));
        }
        None => drop(state.remove_resource(address)),
    }
}
