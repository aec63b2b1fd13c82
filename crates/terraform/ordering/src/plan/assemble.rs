//! From what a plan holds to an input.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use groundstate_states::addr::{
    AbsResourceInstance, ConfigResource, Module, ProviderConfig, ProviderSource, Resource, ResourceMode,
    TERRAFORM_REGISTRY,
};
use groundstate_states::{DeposedKey, Generation, State};

use super::json::Read;
use super::objects::{self, Objects};
use super::product::{self, Product};
use super::read::{Change, Plan, Value};
use super::resolve::Scopes;
use super::unstated;
use super::{MissingReferences, PlanError, PlanNote, Planned};
use crate::input::{
    Action, DepRef, Input, InstanceInput, ObjectRecord, PlannedChange, ProviderInput, ReplaceOrder,
    ResourceConfig,
};
use crate::options::Options;

pub(super) fn assemble(plan: Plan, state: Option<&State>) -> Read<Planned> {
    let providers = providers(&plan)?;
    let mut planned = Planned { product: Product::of(&plan), ..Planned::default() };
    if plan.errored {
        planned.notes.push(PlanNote::Errored);
    }
    if plan.deferred > 0 {
        planned.notes.push(PlanNote::Deferred { count: plan.deferred });
    }
    if !plan.actions.is_empty() || plan.deferred_actions > 0 {
        let actions: BTreeSet<String> =
            plan.actions.iter().filter(|text| !text.is_empty()).cloned().collect();
        let count = plan.actions.len() + plan.deferred_actions;
        planned.notes.push(PlanNote::Actions { count, actions: actions.into_iter().collect() });
    }
    let mut objects = Objects::of(&plan, state)?;
    let (declared, unstated) = declare(&plan, &providers, &mut planned)?;
    let moves = objects::moves(&plan, |addr| declared.contains_key(addr))?;
    let before = objects.follow(&moves);
    unstated::stand_in(&mut planned, &objects.recorded(), unstated);

    let Objects { mut instances, flagged } = objects;
    changes(&plan, &mut instances, &mut planned)?;
    planned.input.providers = provider_nodes(&plan, &providers, &declared, &instances);

    let changed: BTreeSet<&AbsResourceInstance> =
        planned.input.changes.iter().map(|change| &change.addr).collect();
    // What neither the configuration nor the plan mentions stays as it is, and has no operation.
    let stays = |addr: &AbsResourceInstance| {
        changed.contains(addr) || declared.contains_key(&addr.resource.to_config())
    };
    instances.retain(|addr, _| stays(addr));
    for (addr, instance) in &mut instances {
        if let Some(block) = declared.get(&addr.resource.to_config()) {
            instance.provider = block.clone();
        }
    }
    planned.unknown_flags = unknown_flags(&planned.input.changes, &flagged);
    planned.options = options(&planned.input, &instances);
    planned.options.checks_as_planned = true;
    // Planning with refresh has written the configuration into the prior state; without, it does not count.
    planned.options.recorded_only = plan.has_prior;
    planned.input.instances = instances.into_values().collect();
    planned.before_moves = before;
    planned.notes.sort();
    planned.notes.dedup();
    Ok(planned)
}

/// The instances whose current object goes without anything that says whether it was to go after its successor came.
fn unknown_flags(
    changes: &[PlannedChange],
    flagged: &HashSet<(AbsResourceInstance, Generation)>,
) -> BTreeSet<AbsResourceInstance> {
    let goes = |change: &&PlannedChange| {
        change.action == Action::Delete
            && change.object == Generation::Current
            && change.addr.resource.resource.mode == ResourceMode::Managed
            && !flagged.contains(&(change.addr.clone(), Generation::Current))
    };
    changes.iter().filter(goes).map(|change| change.addr.clone()).collect()
}

pub(super) type Instances = BTreeMap<AbsResourceInstance, InstanceInput>;

pub(super) fn parse(text: &str) -> Read<AbsResourceInstance> {
    AbsResourceInstance::parse(text).map_err(|error| not_an_address(text, &error))
}

pub(super) fn not_an_address(text: &str, error: &dyn std::error::Error) -> PlanError {
    PlanError::Address { text: text.to_owned(), why: error.to_string() }
}

/// The provider configurations by the keys that blocks use.
fn providers(plan: &Plan) -> Read<HashMap<&str, ProviderConfig>> {
    let mut providers = HashMap::new();
    for provider in &plan.providers {
        let name = if provider.full_name.is_empty() {
            // Plans before format 0.2 have the name only, which is the last part of the key.
            provider.key.rsplit([':', '.']).next().unwrap_or_default()
        } else {
            &provider.full_name
        };
        let module = if provider.module.is_empty() {
            Module::root()
        } else {
            Module::parse(&provider.module).map_err(|error| not_an_address(&provider.module, &error))?
        };
        let alias = provider.alias.as_deref().map(Arc::from);
        providers.insert(&*provider.key, ProviderConfig { module, source: source(name)?, alias });
    }
    Ok(providers)
}

fn source(name: &str) -> Read<ProviderSource> {
    ProviderSource::parse(name, TERRAFORM_REGISTRY).map_err(|error| not_an_address(name, &error))
}

/// The root configuration of the provider of this name.
pub(super) fn provider_named(name: Option<&str>, type_name: &str) -> Read<ProviderConfig> {
    // The provider of a type is named by its first word where nothing else is said.
    let name = name.unwrap_or_else(|| type_name.split('_').next().unwrap_or(type_name));
    Ok(ProviderConfig { module: Module::root(), source: source(name)?, alias: None })
}

pub(super) fn deposed_key(text: &str) -> Read<DeposedKey> {
    DeposedKey::parse_strict(text).map_err(|error| not_an_address(text, &error))
}

/// The blocks by their addresses, with the provider of each, and the blocks whose references the plan does not hold.
type Declared = (HashMap<ConfigResource, ProviderConfig>, Vec<(usize, MissingReferences)>);

/// Adds the blocks of the configuration.
fn declare(plan: &Plan, providers: &HashMap<&str, ProviderConfig>, planned: &mut Planned) -> Read<Declared> {
    let mut checked = BTreeSet::new();
    for text in &plan.checked {
        let resource = ConfigResource::parse(text).map_err(|error| not_an_address(text, &error))?;
        checked.insert(resource);
    }
    let triggered = triggered(plan)?;
    let mut declared = HashMap::new();
    let mut unstated = Vec::new();
    let scopes = Scopes::of(&plan.root);
    let indirect = indirect_providers(plan, providers, &scopes);
    for (number, scope) in scopes.all.iter().enumerate() {
        for block in &scope.config.resources {
            let mode = match block.mode.as_str() {
                "data" => ResourceMode::Data,
                "ephemeral" => ResourceMode::Ephemeral,
                _ => ResourceMode::Managed,
            };
            let addr = Resource::new(mode, &block.type_name, &block.name).in_module(scope.path.clone());
            let provider = match providers.get(block.provider_key.as_str()) {
                Some(provider) => provider.clone(),
                None => provider_named(None, &block.type_name)?,
            };
            let mut found = scopes.resolve(number, &block.value, true);
            found.dependencies.remove(&DepRef::Resource(addr.clone()));
            let place = planned.input.resources.len();
            let mut lacks = |what: MissingReferences| unstated.push((place, what));
            found.hidden.into_iter().for_each(|reference| lacks(MissingReferences::Behind(reference)));
            if let Some(reference) = indirect.get(&provider) {
                lacks(MissingReferences::OfProvider(reference.clone()));
            }
            if checked.contains(&addr) {
                lacks(MissingReferences::Conditions);
            }
            if triggered.contains(&addr) {
                lacks(MissingReferences::Triggers);
            }
            declared.insert(addr.clone(), provider.clone());
            let mut config = ResourceConfig::new(addr, provider);
            config.dependencies = found.dependencies.into_iter().collect();
            config.has_conditions = checked.contains(&config.addr);
            planned.input.resources.push(config);
        }
    }
    Ok((declared, unstated))
}

/// Resources of which an instance is replaced because of `replace_triggered_by`.
fn triggered(plan: &Plan) -> Read<BTreeSet<ConfigResource>> {
    let by_trigger = |change: &&Change| change.cause.reason.as_deref() == Some("replace_by_triggers");
    let resource = |change: &Change| Ok(parse(&change.address)?.resource.to_config());
    plan.changes.iter().filter(by_trigger).map(resource).collect()
}

/// Provider configurations with a reference whose own references the plan does not hold.
fn indirect_providers(
    plan: &Plan,
    providers: &HashMap<&str, ProviderConfig>,
    scopes: &Scopes<'_>,
) -> HashMap<ProviderConfig, String> {
    let mut indirect = HashMap::new();
    for provider in &plan.providers {
        let Some(id) = providers.get(provider.key.as_str()) else { continue };
        let scope = scopes.find(&id.module).unwrap_or_default();
        let value = Value { references: provider.references.clone(), depends_on: Vec::new() };
        if let Some(reference) = scopes.resolve(scope, &value, false).hidden.into_iter().next() {
            indirect.insert(id.clone(), reference);
        }
    }
    indirect
}

/// Adds what is planned. Objects that the changes need are there afterwards.
fn changes(plan: &Plan, instances: &mut Instances, planned: &mut Planned) -> Read<()> {
    let forgets_last = planned.product == Product::Terraform && product::is_at_least(plan, [1, 16, 1]);
    for change in &plan.changes {
        let addr = parse(&change.address)?;
        if addr.resource.resource.mode == ResourceMode::Ephemeral {
            // It has no object that would be created or destroyed.
            continue;
        }
        let action = action(change, forgets_last)?;
        let object = match &change.deposed {
            None => Generation::Current,
            Some(key) => Generation::Deposed(deposed_key(key)?),
        };
        let known = instances.get(&addr).is_some_and(|instance| match object {
            Generation::Current => instance.current.is_some(),
            Generation::Deposed(key) => instance.deposed.contains_key(&key),
        });
        let is_new = matches!(action, Action::Create | Action::Read | Action::NoOp);
        if !known && !is_new {
            let provider =
                provider_named(change.provider_name.as_deref(), &addr.resource.resource.type_name)?;
            let entry =
                instances.entry(addr.clone()).or_insert_with(|| InstanceInput::new(addr.clone(), provider));
            match object {
                Generation::Current => entry.current = Some(ObjectRecord::default()),
                Generation::Deposed(key) => {
                    entry.deposed.insert(key, ObjectRecord::default());
                }
            }
            planned.notes.push(PlanNote::MissingObject { addr: addr.clone() });
        }
        if action == Action::Create
            && let Some(instance) = instances.get_mut(&addr)
        {
            // What the plan found to be gone.
            instance.current = None;
        }
        if !known && action == Action::NoOp {
            continue;
        }
        if action == Action::Replace(ReplaceOrder::DeleteThenCreate)
            && let Some(current) = instances.get_mut(&addr).and_then(|instance| instance.current.as_mut())
        {
            // Planning has taken the flag back, whatever an older state records.
            current.create_before_destroy = false;
        }
        let mut cause = change.cause.clone();
        cause.previous_address = match &change.previous_address {
            Some(previous) => Some(parse(previous)?),
            None => None,
        };
        if cause != super::Cause::default() {
            planned.causes.insert(addr.clone(), cause);
        }
        planned.input.changes.push(PlannedChange { addr, object, action });
    }
    Ok(())
}

/// Terraform before 1.16.1 prints `create` first, and forgets first.
fn action(change: &Change, forgets_last: bool) -> Read<Action> {
    let actions: Vec<&str> = change.actions.iter().map(String::as_str).collect();
    Ok(match actions.as_slice() {
        ["no-op"] => Action::NoOp,
        ["create"] => Action::Create,
        ["read"] => Action::Read,
        ["update"] => Action::Update,
        ["delete"] => Action::Delete,
        ["forget"] => Action::Forget,
        ["delete", "create"] => Action::Replace(ReplaceOrder::DeleteThenCreate),
        ["create", "delete"] => Action::Replace(ReplaceOrder::CreateThenDelete),
        ["create", "forget"] if forgets_last => Action::CreateThenForget,
        ["forget", "create"] | ["create", "forget"] => Action::ForgetThenCreate,
        _ => {
            let (addr, actions) = (change.address.clone(), change.actions.clone());
            return Err(PlanError::Actions { addr, actions });
        }
    })
}

/// The provider configurations, if any of them is configured from resources: else they order nothing.
fn provider_nodes(
    plan: &Plan,
    providers: &HashMap<&str, ProviderConfig>,
    declared: &HashMap<ConfigResource, ProviderConfig>,
    instances: &Instances,
) -> Option<Vec<ProviderInput>> {
    let scopes = Scopes::of(&plan.root);
    let mut nodes: BTreeMap<ProviderConfig, BTreeSet<DepRef>> = BTreeMap::new();
    let values: Vec<(&ProviderConfig, Value)> = plan
        .providers
        .iter()
        .filter_map(|provider| {
            let references = provider.references.clone();
            let value = Value { references, depends_on: Vec::new() };
            Some((providers.get(provider.key.as_str())?, value))
        })
        .collect();
    for (id, value) in &values {
        let scope = scopes.find(&id.module).unwrap_or_default();
        let found = scopes.resolve(scope, value, false);
        nodes.entry((*id).clone()).or_default().extend(found.dependencies);
    }
    if nodes.values().all(BTreeSet::is_empty) {
        return None;
    }
    for id in declared.values().chain(instances.values().map(|instance| &instance.provider)) {
        if !nodes.contains_key(id) {
            nodes.insert(id.clone(), BTreeSet::new());
        }
    }
    let node = |(id, dependencies): (ProviderConfig, BTreeSet<DepRef>)| ProviderInput {
        id,
        config_dependencies: dependencies.into_iter().collect(),
    };
    Some(nodes.into_iter().map(node).collect())
}

/// A plan that destroys leaves no managed object.
fn options(input: &Input, instances: &Instances) -> Options {
    let current: HashMap<&AbsResourceInstance, Action> = input
        .changes
        .iter()
        .filter(|change| change.object == Generation::Current)
        .map(|change| (&change.addr, change.action))
        .collect();
    let managed = |addr: &AbsResourceInstance| addr.resource.resource.mode == ResourceMode::Managed;
    let goes = |addr: &AbsResourceInstance| current.get(addr).is_some_and(|action| !action.is_desired());
    let all_go = instances
        .iter()
        .filter(|(addr, instance)| managed(addr) && instance.current.is_some())
        .all(|(addr, _)| goes(addr));
    let nothing_comes = current.values().all(|action| !action.is_desired() || *action == Action::NoOp);
    let destroys = current.values().any(|action| *action == Action::Delete);
    if destroys && all_go && nothing_comes { Options::destroy() } else { Options::default() }
}
