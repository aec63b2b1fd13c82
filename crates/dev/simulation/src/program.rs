//! Programs: what a run wants of each resource.

use groundstate_pulumi_snapshot::{PropertyDependencies, Resource, Snapshot, Urn};

use crate::base::{COMPONENT, PROVIDER, RESOURCE, urn};
use crate::dice::Dice;

/// What is to become of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Keep,
    Update,
    /// The new one comes first.
    Replace,
    /// The old one goes first.
    DeleteFirst,
    Read,
    Import,
}

/// What a program wants of one resource.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    /// What it is to be; identifier, outputs and provider are put in when its turn comes.
    pub(crate) resource: Resource,
    /// The provider by its name.
    pub(crate) provider: Option<Urn>,
    /// The resource of the base that it is now.
    pub(crate) old: Option<usize>,
    pub(crate) wish: Wish,
    /// It is refreshed before anything is done to it, and found gone.
    pub(crate) refresh: Option<Found>,
    pub(crate) registers_outputs: bool,
    pub(crate) targeted: bool,
}

/// What a refresh finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Same,
    Changed,
    Gone,
}

/// How programs are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    /// Only some resources are selected; the others stay what they are.
    pub(crate) targets: bool,
    /// Nothing changes.
    pub(crate) settled: bool,
}

/// A program for a snapshot. Goals refer to goals before them.
pub(crate) fn program(dice: &Dice<'_>, base: &Snapshot, habits: Habits, fresh: &mut usize) -> Vec<Goal> {
    let mut goals: Vec<Goal> = Vec::new();
    let mut renamed: Vec<(Urn, Urn)> = Vec::new();
    for (index, resource) in base.indexed().filter(|(_, resource)| !resource.delete) {
        if !habits.settled && dice.chance(15) {
            *fresh += 1;
            let goal = new_goal(dice, &goals, *fresh, habits);
            goals.push(goal);
        }
        let choice = if habits.settled { 0 } else { dice.roll(20) };
        // What everything else needs stays.
        if matches!(choice, 14..=16) && index > 0 {
            continue;
        }
        let mut goal = keep(resource, index, &goals, &renamed);
        goal.wish = wish(dice, choice, resource);
        if choice == 17 && !habits.targets && !resource.is_provider() {
            *fresh += 1;
            let parent = goal.resource.parent.clone();
            let name = format!("n{fresh}");
            let new = urn(&name, resource.resource_type.as_str(), parent.as_ref());
            renamed.push((resource.urn.clone(), new.clone()));
            goal.resource.aliases = vec![resource.urn.clone()];
            goal.resource.urn = new;
        }
        if !habits.settled {
            options(dice, &mut goal, habits);
            extra_edges(dice, &goals, &mut goal.resource, 20);
        }
        goals.push(goal);
    }
    goals
}

fn wish(dice: &Dice<'_>, choice: usize, old: &Resource) -> Wish {
    match choice {
        10 => Wish::Update,
        11 if old.custom => Wish::Replace,
        12 if old.custom => Wish::DeleteFirst,
        13 if old.custom && !old.is_provider() && dice.chance(50) => Wish::Read,
        13 if old.custom && !old.is_provider() => Wish::Import,
        18 | 19 => Wish::Update,
        _ => Wish::Keep,
    }
}

/// The goal that a resource stays what it is, as far as what it needs is still wanted.
fn keep(resource: &Resource, index: usize, goals: &[Goal], renamed: &[(Urn, Urn)]) -> Goal {
    let mut wanted = resource.clone();
    let is_known = |urn: &Urn| goals.iter().any(|goal| goal.resource.urn == *urn);
    let now = |urn: &Urn| {
        let urn = renamed.iter().rev().find(|(old, _)| old == urn).map_or(urn, |(_, new)| new);
        is_known(urn).then(|| urn.clone())
    };
    wanted.parent = resource.parent().and_then(now);
    wanted.dependencies = resource.dependencies.iter().filter_map(now).collect();
    wanted.property_dependencies = resource
        .property_dependencies
        .iter()
        .map(|(key, urns)| (key, urns.map(|urns| urns.iter().filter_map(now).collect())))
        .collect::<PropertyDependencies>();
    wanted.deleted_with = resource.deleted_with.as_ref().and_then(now);
    wanted.replace_with = resource.replace_with.iter().filter_map(now).collect();
    wanted.pending_replacement = false;
    let provider =
        resource.provider().and_then(|reference| reference.split().ok()).and_then(|(urn, _)| now(&urn));
    let provider = provider.or_else(|| default_provider(resource, goals));
    wanted.provider = None;
    Goal {
        resource: wanted,
        provider,
        old: Some(index),
        wish: Wish::Keep,
        refresh: None,
        registers_outputs: false,
        targeted: true,
    }
}

/// The first provider, for resources that need one.
fn default_provider(resource: &Resource, goals: &[Goal]) -> Option<Urn> {
    let provider = goals.iter().find(|goal| goal.resource.is_provider());
    let needs = resource.custom && !resource.is_provider() && resource.provider().is_some();
    provider.filter(|_| needs).map(|goal| goal.resource.urn.clone())
}

fn new_goal(dice: &Dice<'_>, goals: &[Goal], number: usize, habits: Habits) -> Goal {
    let name = format!("n{number}");
    let (resource_type, custom) = match dice.roll(5) {
        0..=2 => (RESOURCE, true),
        3 => (COMPONENT, false),
        _ => (PROVIDER, true),
    };
    let parents: Vec<&Urn> =
        goals.iter().filter(|goal| !goal.resource.is_provider()).map(|goal| &goal.resource.urn).collect();
    let is_child = resource_type != PROVIDER && dice.chance(30);
    let parent = dice.pick(&parents).filter(|_| is_child).map(|urn| (*urn).clone());
    let mut resource = Resource::new(urn(&name, resource_type, parent.as_ref()), resource_type);
    resource.parent = parent;
    resource.custom = custom;
    if resource_type == RESOURCE {
        resource.provider = Some("wanted".into());
    }
    let provider = default_provider(&resource, goals);
    resource.provider = None;
    extra_edges(dice, goals, &mut resource, 50);
    let wish = match dice.roll(6) {
        4 if resource_type == RESOURCE => Wish::Read,
        5 if resource_type == RESOURCE => Wish::Import,
        _ => Wish::Keep,
    };
    let mut goal =
        Goal { resource, provider, old: None, wish, refresh: None, registers_outputs: false, targeted: true };
    options(dice, &mut goal, habits);
    goal
}

fn options(dice: &Dice<'_>, goal: &mut Goal, habits: Habits) {
    goal.registers_outputs = !goal.resource.custom && dice.chance(40);
    goal.targeted = !habits.targets || dice.chance(50);
    if goal.old.is_some() && goal.resource.custom && dice.chance(10) {
        let all = [Found::Same, Found::Changed, Found::Gone];
        goal.refresh = dice.pick(&all).copied();
    }
    if dice.chance(10) {
        goal.resource.protect = !goal.resource.protect;
    }
    if dice.chance(5) {
        goal.resource.taint = true;
    }
}

fn extra_edges(dice: &Dice<'_>, goals: &[Goal], resource: &mut Resource, percent: u8) {
    let urns: Vec<Urn> = goals.iter().map(|goal| goal.resource.urn.clone()).collect();
    if dice.chance(percent) {
        resource.dependencies.extend(dice.pick(&urns).cloned());
    }
    if dice.chance(percent / 2) {
        resource.property_dependencies.insert("p9", Some(dice.pick(&urns).cloned().into_iter().collect()));
    }
    if dice.chance(percent / 4) {
        resource.deleted_with = dice.pick(&urns).cloned();
    }
    if dice.chance(percent / 4) {
        resource.replace_with.extend(dice.pick(&urns).cloned());
    }
}
