//! The notation of scenarios: `prov; A; B(A); C(p:A, dw T, rw A){Q} protect`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groundstate_pulumi_integrity::{Finding, Rule, VerifyOptions, verify};
use groundstate_pulumi_ordering::{Diff, Differ, Goal, StackGraph, StepId, StepKind};
use groundstate_pulumi_snapshot::{ProviderRef, Resource, Snapshot, Urn};

/// Every name may be that of a provider.
const TYPE: &str = "pulumi:providers:t";
const PREFIX: &str = "urn:pulumi:dev::shop::pulumi:providers:t::";

pub(crate) fn urn(name: &str) -> Urn {
    Urn::new(format!("{PREFIX}{name}"))
}

/// A text with the names of the notation in it, and not the URNs.
pub(crate) fn short(text: &str) -> String {
    text.replace(PREFIX, "")
}

pub(crate) fn custom(name: &str) -> Goal {
    Goal::custom(urn(name), TYPE)
}

/// What is wrong about the order of a list.
pub(crate) fn damage(list: &[Arc<Resource>]) -> Vec<Finding> {
    let snapshot = Snapshot { resources: list.to_vec(), ..Snapshot::default() };
    let findings = verify(&snapshot, &VerifyOptions::default()).findings;
    findings.into_iter().filter(|finding| finding.rule.is_of_order()).collect()
}

/// As [`damage`], when providers go by their names: which of several of one name is meant is known only when steps have run.
pub(crate) fn damage_by_name(list: &[Arc<Resource>]) -> Vec<Finding> {
    let has_provider = |finding: &Finding| {
        let at = finding.resource.unwrap_or_default();
        let named = list[at].provider().and_then(|provider| provider.split().ok());
        named.is_some_and(|(urn, _)| list[..at].iter().any(|other| other.urn == urn))
    };
    let findings = damage(list).into_iter();
    findings.filter(|finding| finding.rule != Rule::UnknownProvider || !has_provider(finding)).collect()
}

/// Entries of a list. All that are custom use `prov` if the list has one, unless `{Q}` says otherwise. Words after the
/// name: `component`, `parent K`, `protect`, `retain`, `delete`, `pending`, `external`.
pub(crate) fn entries(text: &str) -> Vec<Arc<Resource>> {
    let mut counts: BTreeMap<Urn, usize> = BTreeMap::new();
    let entry = |(goal, words): (Goal, Vec<String>)| {
        let count = counts.entry(goal.urn().clone()).or_default();
        *count += 1;
        let has = |word: &str| words.iter().any(|found| found == word);
        let id = goal.resource.custom.then(|| format!("{}-{count}", goal.urn().name()).into());
        Arc::new(Resource { id, delete: has("delete"), pending_replacement: has("pending"), ..goal.resource })
    };
    parse(text).into_iter().map(entry).collect()
}

/// Goals, in the same notation.
pub(crate) fn goals(text: &str) -> Vec<Goal> {
    parse(text).into_iter().map(|(goal, _)| goal).collect()
}

fn parse(text: &str) -> Vec<(Goal, Vec<String>)> {
    let items: Vec<&str> = text.split(';').map(str::trim).filter(|item| !item.is_empty()).collect();
    let provider = items.contains(&"prov");
    items.into_iter().map(|item| parse_item(item, provider)).collect()
}

fn parse_item(item: &str, provider: bool) -> (Goal, Vec<String>) {
    let (item, own) = take(item, '{', '}');
    let (item, references) = take(&item, '(', ')');
    let mut words = item.split_whitespace().map(str::to_owned);
    let name = words.next().unwrap();
    let words: Vec<String> = words.collect();
    let component = words.iter().any(|word| word == "component");
    let mut goal = if component { Goal::component(urn(&name), "component") } else { custom(&name) };
    let named = own.or_else(|| (provider && !component && name != "prov").then(|| "prov".to_owned()));
    goal.resource.provider = named.map(|name| ProviderRef::new(format!("{}::{name}-1", urn(&name))));
    for reference in
        references.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|text| !text.is_empty())
    {
        if let Some(on) = reference.strip_prefix("dw ") {
            goal.resource.deleted_with = Some(urn(on));
        } else if let Some(on) = reference.strip_prefix("rw ") {
            goal.resource.replace_with.push(urn(on));
        } else if let Some((property, on)) = reference.split_once(':') {
            goal = goal.property(property, urn(on));
        } else {
            goal.resource.dependencies.push(urn(reference));
        }
    }
    for (at, word) in words.iter().enumerate() {
        match word.as_str() {
            "parent" => goal.resource.parent = Some(urn(&words[at + 1])),
            "protect" => goal.resource.protect = true,
            "retain" => goal.resource.retain_on_delete = true,
            "external" => goal.resource.external = true,
            "dbr" => goal.delete_before_replace = Some(true),
            "cbd" => goal.delete_before_replace = Some(false),
            _ => {}
        }
    }
    (goal, words)
}

/// Cuts out what stands between two signs.
fn take(item: &str, open: char, close: char) -> (String, Option<String>) {
    match (item.find(open), item.find(close)) {
        (Some(from), Some(to)) => {
            (format!("{}{}", &item[..from], &item[to + 1..]), Some(item[from + 1..to].to_owned()))
        }
        _ => (item.to_owned(), None),
    }
}

/// Answers to diffs: `A=R` replace, `A=RD` replace and delete first, `A=U` update, `B.p` replaces if unknown. Everything
/// else is the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    diffs: BTreeMap<String, Diff>,
    unknown: BTreeSet<String>,
    pub(crate) asked: Vec<String>,
}

impl Script {
    pub(crate) fn parse(text: &str) -> Self {
        let mut script = Self::default();
        for word in text.split_whitespace() {
            let Some((name, diff)) = word.split_once('=') else {
                script.unknown.insert(word.to_owned());
                continue;
            };
            let diff = match diff {
                "R" => Diff::Replace { dbr: false },
                "RD" => Diff::Replace { dbr: true },
                "U" => Diff::Update,
                _ => Diff::Same,
            };
            script.diffs.insert(name.to_owned(), diff);
        }
        script
    }
}

impl Differ for Script {
    fn diff(&mut self, old: &Resource, _: &Goal) -> Diff {
        self.asked.push(old.urn.name().to_owned());
        self.diffs.get(old.urn.name()).copied().unwrap_or(Diff::Same)
    }

    fn replaces_if_unknown(&mut self, old: &Resource, properties: &BTreeSet<String>) -> bool {
        properties.iter().any(|property| self.unknown.contains(&format!("{}.{property}", old.urn.name())))
    }

    fn provider_change_replaces(&mut self, old: &Resource, _: &Goal) -> bool {
        self.unknown.contains(&format!("{}.provider", old.urn.name()))
    }
}

const NAMES: [(&str, StepKind); 9] = [
    ("S", StepKind::Same),
    ("C", StepKind::Create),
    ("U", StepKind::Update),
    ("Rd", StepKind::Read),
    ("CR", StepKind::CreateReplacement),
    ("Rep", StepKind::Replace),
    ("DR", StepKind::DeleteReplaced),
    ("Del", StepKind::Delete),
    ("RP", StepKind::RemovePending),
];

/// A step as the scenarios write it: `CR(A)`.
pub(crate) fn name(graph: &StackGraph, step: usize) -> String {
    let step = &graph.steps()[step];
    let kind = NAMES.iter().find(|(_, kind)| *kind == step.kind).unwrap().0;
    format!("{kind}({})", step.urn.name())
}

/// Every step but those that change nothing.
pub(crate) fn steps(graph: &StackGraph) -> Vec<String> {
    let all = (0..graph.steps().len()).map(|step| name(graph, step));
    all.filter(|name| !name.starts_with("S(")).collect()
}

/// The steps with this name.
pub(crate) fn find(graph: &StackGraph, wanted: &str) -> Vec<usize> {
    (0..graph.steps().len()).filter(|step| name(graph, *step) == wanted).collect()
}

/// Whether one step comes strictly before another.
pub(crate) fn precedes(graph: &StackGraph, first: usize, then: usize) -> bool {
    let dag = graph.to_dag();
    let then = dag.indices().nth(then).unwrap();
    dag.descendants([then]).any(|node| node.index() == first)
}

/// Asserts chains such as `CR(A) < U(B) < DR(A)`, and pairs such as `Del(A) | Del(X)` that may run at once.
#[track_caller]
pub(crate) fn assert_order(graph: &StackGraph, statements: &[&str]) {
    for statement in statements {
        let (sign, concurrent) = if statement.contains('|') { ('|', true) } else { ('<', false) };
        let names: Vec<&str> = statement.split(sign).map(str::trim).collect();
        for pair in names.windows(2) {
            let (first, then) = (find(graph, pair[0]), find(graph, pair[1]));
            assert!(!first.is_empty(), "no {} among {:?}", pair[0], steps(graph));
            assert!(!then.is_empty(), "no {} among {:?}", pair[1], steps(graph));
            for (first, then) in first.iter().flat_map(|first| then.iter().map(move |then| (*first, *then))) {
                let found = (precedes(graph, first, then), precedes(graph, then, first));
                assert_eq!(found, (!concurrent, false), "{statement}: {} and {}", pair[0], pair[1]);
            }
        }
    }
}

/// The steps that call a provider to delete, in the order of their numbers.
pub(crate) fn provider_deletes(graph: &StackGraph) -> Vec<String> {
    let deletes = graph.steps().iter().filter(|step| step.deletes() && step.calls_provider);
    deletes.map(|step| step.urn.name().to_owned()).collect()
}

pub(crate) fn ids(graph: &StackGraph) -> Vec<StepId> {
    graph.order().unwrap()
}
