//! Repairs of references to unknown providers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use groundstate_pulumi_snapshot::{
    PROVIDERS_MODULE, ProviderRef, Resource, Snapshot, TypeToken, UNKNOWN, Urn, is_default_provider,
};

use super::choice::{Choice, QuestionId};
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
        let (choices, default) = known.candidates(&user, &reference);
        let text = format!("{} resources use the unknown provider {reference}.", users.len());
        let answer = self.ask(QuestionId::Provider(self.origin(first)), text, choices, default);
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

    /// Adds providers of which nothing else is known. Beside a live one of its name one waits for its deletion.
    fn add_providers(&mut self, references: Vec<(usize, ProviderRef)>) {
        if references.is_empty() {
            return;
        }
        let live = self.snapshot.resources.iter().filter(|resource| !resource.delete);
        let mut live: HashSet<Urn> = live.map(|resource| resource.urn.clone()).collect();
        let mut added = Vec::with_capacity(references.len());
        for (index, reference) in references {
            let Ok((urn, id)) = reference.split() else { continue };
            let provider = Resource {
                custom: true,
                delete: !live.insert(urn.clone()),
                id: (id != *UNKNOWN).then_some(id),
                resource_type: urn.type_token(),
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
    fn candidates(&self, user: &Resource, reference: &ProviderRef) -> (Vec<Choice>, usize) {
        let meant = reference.split().ok();
        let token = meant.as_ref().map(|(urn, _)| urn.resource_type().to_owned());
        let token = token.unwrap_or_else(|| format!("{PROVIDERS_MODULE}:{}", user.resource_type.package()));
        let named = meant.as_ref().and_then(|(urn, _)| self.by_name.get(urn)).into_iter().flatten();
        let of_package = self.by_type.get(token.as_str()).into_iter().flatten();
        let mut seen = HashSet::new();
        let mut providers: Vec<&Resource> = named
            .chain(of_package)
            .map(|provider| &**provider)
            .filter(|provider| provider.urn != user.urn || provider.id() != user.id())
            .filter(|provider| seen.insert((&provider.urn, provider.id())))
            .take(PROPOSED)
            .collect();
        let same_name = |provider: &Resource| meant.as_ref().is_some_and(|(urn, _)| *urn == provider.urn);
        providers.sort_by_key(|provider| {
            (provider.delete, !same_name(provider), !is_default_provider(&provider.urn))
        });
        let live: Vec<&&Resource> = providers.iter().filter(|provider| !provider.delete).collect();
        let defaults = live.iter().filter(|provider| is_default_provider(&provider.urn)).count();
        // The first one is taken unless it is one of several of which none is more likely.
        let clear = match live.as_slice() {
            [] => false,
            [only] => same_name(only) || !user.is_provider(),
            [first, ..] => same_name(first) || (is_default_provider(&first.urn) && defaults == 1),
        };
        let mut choices: Vec<Choice> = providers
            .iter()
            .filter_map(|provider| provider.provider_ref().ok())
            .map(Choice::UseProvider)
            .collect();
        let found = choices.len();
        let anew = meant.and_then(|(urn, id)| ProviderRef::build(&urn, &id).ok());
        let anew = anew.filter(|anew| !choices.contains(&Choice::UseProvider(anew.clone())));
        choices.extend(anew.map(Choice::AddProvider));
        choices.push(Choice::DropProvider);
        // A provider can do without another one.
        let otherwise = if user.is_provider() { choices.len() - 1 } else { found };
        (choices, if clear && found > 0 { 0 } else { otherwise })
    }
}
