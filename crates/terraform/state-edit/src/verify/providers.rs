//! Rules on provider addresses.

use std::collections::BTreeMap;

use super::facts::{Facts, ProviderFact};
use super::finding::Draft;
use super::rule::Rule;
use groundstate_statefile::Dialect;

pub(super) fn check(facts: &Facts, dialect: Dialect, out: &mut Vec<Draft>) {
    out.extend(facts.providers.iter().filter_map(|provider| unread(provider, dialect)));
    out.extend(facts.providers.iter().filter_map(form));
    hosts(facts, out);
    sources(facts, out);
}

/// Addresses that Terraform refuses, or the product of the state. In a file of Terraform it is no news that OpenTofu
/// refuses what Terraform 0.13 made of older addresses.
fn unread(provider: &ProviderFact, dialect: Dialect) -> Option<Draft> {
    let ProviderFact { text, config, resources, .. } = provider;
    let refuses = |product: &Dialect| {
        let short = config.source.is_short() && *product != dialect;
        !short && !product.reads(&config.source)
    };
    let mut products: Vec<&str> = Vec::new();
    for product in [Dialect::Terraform, Dialect::OpenTofu] {
        if (product == Dialect::Terraform || product == dialect) && refuses(&product) {
            products.push(product.product());
        }
    }
    if products.is_empty() {
        return None;
    }
    let users = match *resources {
        1 => "the resource that has it".to_owned(),
        more => format!("the {more} resources that have it"),
    };
    let message = format!("{} cannot read {text} and drops {users}", products.join(" and "));
    Some(Draft::new(Rule::UnreadProvider, provider.offset, message))
}

/// Addresses in an older or shorter form than the present one; each once, however many resources have it.
fn form(provider: &ProviderFact) -> Option<Draft> {
    let ProviderFact { text, config, resources, .. } = provider;
    let users = if *resources == 1 { "one resource".to_owned() } else { format!("{resources} resources") };
    let draft = |rule, message| Some(Draft::new(rule, provider.offset, message));
    if config.source.is_legacy() {
        return draft(
            Rule::LegacyProvider,
            format!("{text} of {users} does not say where the provider comes from"),
        );
    }
    match quoted_parts(text) {
        0 => draft(Rule::LegacyProvider, format!("{text} of {users} is written as before Terraform 0.13")),
        1 | 2 => draft(Rule::ShortProvider, format!("{text} of {users} does not name the registry")),
        _ => None,
    }
}

/// Providers that differ in nothing but the registry.
fn hosts(facts: &Facts, out: &mut Vec<Draft>) {
    let mut by_name: BTreeMap<(&str, &str), Vec<(&str, usize)>> = BTreeMap::new();
    for provider in facts.providers.iter().filter(|provider| quoted_parts(&provider.text) == 3) {
        let source = &provider.config.source;
        if source.is_legacy() || source.is_builtin() {
            continue;
        }
        let hosts = by_name.entry((source.namespace(), source.type_name())).or_default();
        if hosts.iter().all(|(host, _)| *host != source.host()) {
            hosts.push((source.host(), provider.offset));
        }
    }
    for ((namespace, type_name), hosts) in by_name {
        let Some((_, offset)) = hosts.get(1) else { continue };
        let names: Vec<&str> = hosts.iter().map(|(host, _)| *host).collect();
        let message = format!("{namespace}/{type_name} comes from {}", names.join(" and from "));
        out.push(Draft::new(Rule::ProviderHosts, *offset, message));
    }
}

/// Resource types that different providers manage; registries do not count here.
fn sources(facts: &Facts, out: &mut Vec<Draft>) {
    let mut by_type: BTreeMap<&str, BTreeMap<(&str, &str), usize>> = BTreeMap::new();
    for entry in &facts.resources {
        let Some(provider) = entry.provider.and_then(|at| facts.providers.get(at)) else { continue };
        let source = &provider.config.source;
        if source.is_legacy() {
            continue;
        }
        let users = by_type.entry(&entry.address.resource.type_name).or_default();
        let first = users.entry((source.namespace(), source.type_name())).or_insert(entry.offset);
        *first = entry.offset.min(*first);
    }
    for (type_name, users) in by_type {
        // The provider that comes first is taken for the right one.
        let mut offsets: Vec<usize> = users.values().copied().collect();
        offsets.sort_unstable();
        let Some(&second) = offsets.get(1) else { continue };
        let names: Vec<String> =
            users.keys().map(|(namespace, name)| format!("{namespace}/{name}")).collect();
        let message = format!("resources of type {type_name} belong to {}", names.join(" and "));
        out.push(Draft::new(Rule::ProviderSources, second, message));
    }
}

/// How many parts the quoted source address has; none in the form from before Terraform 0.13.
fn quoted_parts(text: &str) -> usize {
    let quoted = text.split_once("[\"").and_then(|(_, rest)| rest.split_once("\"]"));
    quoted.map_or(0, |(source, _)| source.split('/').count())
}
