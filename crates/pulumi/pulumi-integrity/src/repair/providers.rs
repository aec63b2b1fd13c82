//! Repairs of references to unknown providers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use groundstate_pulumi_snapshot::{
    PROVIDERS_MODULE, Properties, PropertyMap, PropertyValue, ProviderRef, Resource, ResourceId, Snapshot,
    TypeToken, UNKNOWN, Urn, is_default_provider,
};

use super::choice::{Choice, QuestionId};
use super::default_name::DefaultName;
use super::step::{Action, Step};
use super::work::Work;

/// So many providers are looked at for one that is unknown.
const PROPOSED: usize = 100;

impl Work<'_> {
    /// All resources that refer to one unknown provider of one package are asked about once.
    pub(super) fn unknown_providers(&mut self) {
        let known = Known::new(&self.snapshot);
        let mut unknown: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut first: HashMap<(ProviderRef, String), usize> = HashMap::new();
        for (index, resource) in self.snapshot.indexed() {
            let Some(reference) = resource.provider() else { continue };
            let readable = reference.split_text().is_ok();
            if readable && (known.references.contains(reference) || resource.pending_replacement) {
                continue;
            }
            // Of a reference that can be read the package is known; of others the type of the resource tells it.
            let package = if readable { String::new() } else { resource.resource_type.package().to_owned() };
            let group = *first.entry((reference.clone(), package)).or_insert(index);
            unknown.entry(group).or_default().push(index);
        }
        let mut added = Vec::new();
        for users in unknown.into_values() {
            added.extend(self.replace_provider(&users, &known));
        }
        self.add_providers(added);
    }

    /// Gives these resources, which refer to the same provider, another one. The provider that is to be added and the index
    /// of the first of them, if it comes to that.
    fn replace_provider(&mut self, users: &[usize], known: &Known) -> Option<(usize, ProviderRef)> {
        let first = *users.first()?;
        let user = self.at(first);
        let reference = user.provider().cloned()?;
        let Candidates { choices, default, open } = known.candidates(&user, &reference);
        let text = format!("{} resources use the unknown provider {reference}.", users.len());
        let answer = self.question(QuestionId::Provider(self.origin(first)), text, choices, default, open);
        let (to, added) = match answer {
            Some(Choice::UseProvider(to)) => (Some(to), None),
            Some(Choice::AddProvider(to)) => (Some(to.clone()), Some((first, to))),
            _ => (None, None),
        };
        for &index in users {
            let own = self.at(index).provider_ref().ok();
            let to = to.clone().filter(|to| own.as_ref() != Some(to));
            let action = match &to {
                Some(to) if *to == reference => continue,
                Some(to) => Action::UseProvider { from: reference.clone(), to: to.clone() },
                None => Action::DropProvider(reference.clone()),
            };
            self.step(index, action);
            self.change(index, |resource| resource.provider = to);
        }
        added
    }

    /// Adds providers of which only the reference is known. A default provider gets the version that its name contains, since
    /// Pulumi loads the plugin of that version for it. Beside a live one of its name one waits for its deletion.
    fn add_providers(&mut self, references: Vec<(usize, ProviderRef)>) {
        if references.is_empty() {
            return;
        }
        let live = self.snapshot.resources.iter().filter(|resource| !resource.delete);
        let mut live: HashSet<Urn> = live.map(|resource| resource.urn.clone()).collect();
        let mut added = Vec::with_capacity(references.len());
        for (index, reference) in references {
            let Ok((urn, id)) = reference.split() else { continue };
            let version = DefaultName::of(&urn).and_then(|name| name.version());
            let provider = Resource {
                custom: true,
                delete: !live.insert(urn.clone()),
                id: (id != *UNKNOWN).then_some(id),
                resource_type: urn.type_token(),
                inputs: version_alone(version.as_deref()),
                outputs: version_alone(version.as_deref()),
                urn,
                ..Resource::default()
            };
            let (urn, delete) = (provider.urn.clone(), provider.delete);
            self.steps.push(Step { resource: None, urn, delete, action: Action::AddProvider(reference) });
            added.push((index, provider));
        }
        self.insert(added);
    }
}

/// The providers that there are.
struct Known {
    references: HashSet<ProviderRef>,
    by_name: HashMap<Urn, Vec<Arc<Resource>>>,
    by_type: HashMap<TypeToken, Vec<Arc<Resource>>>,
}

impl Known {
    fn new(snapshot: &Snapshot) -> Self {
        let mut known = Self { references: HashSet::new(), by_name: HashMap::new(), by_type: HashMap::new() };
        for provider in snapshot.resources.iter().filter(|resource| resource.is_provider()) {
            known.references.extend(provider.provider_ref());
            known.by_name.entry(provider.urn.clone()).or_default().push(Arc::clone(provider));
            known.by_type.entry(provider.resource_type.clone()).or_default().push(Arc::clone(provider));
        }
        known
    }

    /// What may take the place of a provider: one of its name, one of its package, itself anew, none.
    fn candidates(&self, user: &Resource, reference: &ProviderRef) -> Candidates {
        let meant = meant(user, reference);
        let token = meant.as_ref().map(|(urn, _)| urn.resource_type().to_owned());
        let token = token.unwrap_or_else(|| format!("{PROVIDERS_MODULE}:{}", user.resource_type.package()));
        let named = meant.as_ref().and_then(|(urn, _)| self.by_name.get(urn)).into_iter().flatten();
        let of_package = self.by_type.get(token.as_str()).into_iter().flatten();
        let mut seen = HashSet::new();
        let mut providers: Vec<&Resource> = named
            .chain(of_package)
            .map(|provider| &**provider)
            .filter(|provider| provider.urn != user.urn || provider.id() != user.id())
            .filter(|provider| provider.provider_ref().is_ok())
            .filter(|provider| seen.insert((&provider.urn, provider.id())))
            .take(PROPOSED)
            .collect();
        let same_name = |provider: &Resource| meant.as_ref().is_some_and(|(urn, _)| *urn == provider.urn);
        providers.sort_by_key(|provider| {
            (provider.delete, !same_name(provider), !is_default_provider(&provider.urn))
        });
        let live: Vec<&Resource> = providers.iter().copied().filter(|provider| !provider.delete).collect();
        let successor = successor(meant.as_ref().map(|(urn, _)| urn), &live);
        let mut choices: Vec<Choice> = providers
            .iter()
            .filter_map(|provider| provider.provider_ref().ok())
            .map(Choice::UseProvider)
            .collect();
        let found = choices.len();
        let default_name = meant.as_ref().and_then(|(urn, _)| DefaultName::of(urn));
        let anew = meant.as_ref().and_then(|(urn, id)| ProviderRef::build(urn, id).ok());
        let anew = anew.filter(|anew| !choices.contains(&Choice::UseProvider(anew.clone())));
        let can_be_restored = anew.is_some() && default_name.is_some_and(|name| name.tells_all());
        choices.extend(anew.map(Choice::AddProvider));
        choices.push(Choice::DropProvider);
        // A provider can do without another one.
        if user.is_provider() {
            let own_name = live.first().is_some_and(|first| same_name(first));
            let default = if own_name { 0 } else { choices.len() - 1 };
            return Candidates { choices, default, open: false };
        }
        if successor {
            return Candidates { choices, default: 0, open: false };
        }
        let default = found.min(choices.len() - 1);
        let open = !can_be_restored && choices.len() > 1;
        // A reference that cannot be read names nothing that could be added.
        let default = if open && matches!(choices[default], Choice::DropProvider) { 0 } else { default };
        Candidates { choices, default, open }
    }
}

/// Choices of a question about a provider.
struct Candidates {
    choices: Vec<Choice>,
    /// Position of the choice that the plan shows without an answer.
    default: usize,
    /// If `true`, the plan must not be carried out without an answer: every choice is a guess, and a provider of another
    /// region or account does not find the objects that exist.
    open: bool,
}

/// Returns the name and identifier of the provider that a reference means. A default provider always has the stack and the
/// project of its users, also where the reference lost them.
fn meant(user: &Resource, reference: &ProviderRef) -> Option<(Urn, ResourceId)> {
    let (urn, id) = reference.split().ok()?;
    let is_torn = urn.stack().is_empty() || urn.project().is_empty();
    if !(is_torn && is_default_provider(&urn) && user.urn.is_valid()) {
        return Some((urn, id));
    }
    let whole =
        Urn::build(user.urn.stack(), user.urn.project(), urn.parent_type(), urn.resource_type(), urn.name());
    Some((whole, id))
}

/// Returns `true` if the first of the live providers takes over from the missing one without doubt: it has the same name, or
/// both are default providers of the package and the version went up. Explicit providers stand for regions and accounts, so
/// another name is never the same provider.
fn successor(missing: Option<&Urn>, live: &[&Resource]) -> bool {
    let Some(first) = live.first() else { return false };
    if missing == Some(&first.urn) {
        return true;
    }
    let defaults = live.iter().filter(|provider| is_default_provider(&provider.urn)).count();
    let Some(next) = DefaultName::of(&first.urn).filter(|_| defaults == 1) else { return false };
    match missing {
        Some(missing) => DefaultName::of(missing).is_some_and(|missing| missing.precedes(&next)),
        // The reference cannot be read. It is clear only if nothing else of the package is there.
        None => live.len() == 1,
    }
}

fn version_alone(version: Option<&str>) -> Properties {
    let Some(version) = version else { return Properties::Absent };
    PropertyMap::from_iter([("version", PropertyValue::from(version))]).into()
}
