//! Rules on resources, their names and the keys of their instances.

use std::collections::HashMap;
use std::sync::Arc;

use groundstate_states::addr::{InstanceKey, is_identifier};

use super::facts::{Facts, ResourceFact};
use super::finding::Draft;
use super::rule::Rule;

pub(super) fn check(facts: &Facts, out: &mut Vec<Draft>) {
    for resource in &facts.resources {
        out.extend(name(resource));
    }
    for entries in facts.by_address() {
        out.extend(split(&entries));
        out.extend(husk(&entries));
        out.extend(keys(facts, &entries));
    }
    module_keys(facts, out);
}

fn name(entry: &ResourceFact) -> Option<Draft> {
    let resource = &entry.address.resource;
    let parts = [("type", &resource.type_name), ("name", &resource.name)];
    if let Some((what, _)) = parts.iter().find(|(_, text)| text.is_empty()) {
        return Some(
            Draft::new(Rule::EmptyName, entry.offset, format!("the {what} is empty")).of(&entry.address),
        );
    }
    let (what, text) = parts.iter().find(|(_, text)| !is_identifier(text))?;
    let shown: String = text.chars().take(80).collect();
    let message = format!("the {what} {shown:?} is not an identifier");
    Some(Draft::new(Rule::NotAnIdentifier, entry.offset, message).of(&entry.address))
}

fn split(entries: &[&ResourceFact]) -> Option<Draft> {
    let [_, second, ..] = entries else { return None };
    let message = format!("{} has {} entries in \"resources\"", second.address, entries.len());
    Some(Draft::new(Rule::SplitResource, second.offset, message).of(&second.address))
}

fn husk(entries: &[&ResourceFact]) -> Option<Draft> {
    let first = (!entries.iter().any(|entry| entry.has_instances)).then(|| entries.first()).flatten()?;
    Some(
        Draft::new(Rule::Husk, first.offset, format!("{} has no instances", first.address))
            .of(&first.address),
    )
}

/// What the keys of a resource's or a module's instances look like.
#[derive(Default)]
struct Kinds {
    without: bool,
    number: bool,
    text: bool,
}

impl Kinds {
    fn add(&mut self, key: &InstanceKey) {
        match key {
            InstanceKey::None => self.without = true,
            InstanceKey::Int(_) => self.number = true,
            InstanceKey::String(_) => self.text = true,
        }
    }

    fn is_mixed(&self) -> bool {
        u8::from(self.without) + u8::from(self.number) + u8::from(self.text) > 1
    }

    /// Names the kinds.
    fn mixture(&self) -> String {
        let named = [(self.without, "no key"), (self.number, "numbers"), (self.text, "strings")];
        let found: Vec<&str> = named.iter().filter(|(found, _)| *found).map(|(_, name)| *name).collect();
        found.join(" and ")
    }
}

fn keys(facts: &Facts, entries: &[&ResourceFact]) -> Option<Draft> {
    let first = entries.first()?;
    let mut kinds = Kinds::default();
    let mut indexes = Vec::new();
    let mut deviating = first.offset;
    for object in entries.iter().flat_map(|entry| facts.objects_of(entry)) {
        let before = kinds.is_mixed();
        kinds.add(&object.key);
        if !before && kinds.is_mixed() {
            deviating = object.offset;
        }
        if let InstanceKey::Int(index) = object.key {
            indexes.push((index, object.offset));
        }
    }
    if kinds.is_mixed() {
        let message = format!("the instances of {} have {} as keys", first.address, kinds.mixture());
        return Some(Draft::new(Rule::MixedKeys, deviating, message).of(&first.address));
    }
    match indexes.iter().max() {
        Some(&(last, offset)) if last > EXACT => Some(huge(first, last, offset)),
        _ => gap(first, indexes.into_iter().map(|(index, _)| index).collect()),
    }
}

/// Up to here every whole number is one in 64-bit floating point, through which Terraform reads indexes.
const EXACT: u64 = 1 << 53;

fn huge(entry: &ResourceFact, index: u64, offset: usize) -> Draft {
    let message = format!("index {index} is beyond 2^53, up to where Terraform reads indexes exactly");
    Draft::new(Rule::HugeIndex, offset, message).of(&entry.address)
}

fn gap(entry: &ResourceFact, mut indexes: Vec<u64>) -> Option<Draft> {
    indexes.sort_unstable();
    indexes.dedup();
    let last = *indexes.last()?;
    let first = (0..).zip(&indexes).find(|(expected, index)| expected != *index)?.0;
    let missing = last.saturating_add(1).saturating_sub(indexes.len() as u64);
    let message = match missing {
        1 => format!("index {first} is missing below {last}"),
        more => format!("{more} indexes are missing below {last}, the first is {first}"),
    };
    Some(Draft::new(Rule::IndexGap, entry.offset, message).of(&entry.address))
}

/// One step of a module path: its parent, and its name and key.
type Step<'f> = (usize, &'f Arc<str>, &'f InstanceKey);

/// Numbers the steps of all module paths, so that the cost is that of their text, however deep they are.
fn module_keys(facts: &Facts, out: &mut Vec<Draft>) {
    const ROOT: usize = 0;
    let mut numbers: HashMap<Step<'_>, usize> = HashMap::new();
    let mut calls: HashMap<(usize, &Arc<str>), Kinds> = HashMap::new();
    for entry in &facts.resources {
        let mut parent = ROOT;
        for (depth, step) in entry.address.module.steps().iter().enumerate() {
            let next = numbers.len() + 1;
            let number = *numbers.entry((parent, &step.name, &step.key)).or_insert(next);
            // A step that is known has been counted.
            if number == next {
                let kinds = calls.entry((parent, &step.name)).or_default();
                let before = kinds.is_mixed();
                kinds.add(&step.key);
                if kinds.is_mixed() && !before {
                    let steps = entry.address.module.steps().iter().take(depth);
                    let outer: String =
                        steps.map(|step| format!("module.{}{}.", step.name, step.key)).collect();
                    let call = format!("{outer}module.{}", step.name);
                    let message = format!("the instances of {call} have {} as keys", kinds.mixture());
                    out.push(Draft::new(Rule::MixedModuleKeys, entry.offset, message).of(call));
                }
            }
            parent = number;
        }
    }
}
