//! The destruction of stored deployments: lists of snapshots, order, reasons, what is protected, and drawings.

use std::sync::Arc;

use groundstate_pulumi_integrity::Rule;
use groundstate_pulumi_ordering::{
    DeletedWith, Deletes, Destruction, DotStyle, Explanation, RemovalKind, RemovalReason, RemovalStep,
    StackError, StackOptions, without_views,
};
use groundstate_pulumi_snapshot::{PropertyDependencies, ProviderRef, Resource, Snapshot, Urn};

use crate::notation::{damage, entries, short, urn};
use crate::options;

const SHOP: &str = "prov; net; web component; disk(net) parent web; vm(n:net, disk) parent web; log(web)";

pub(crate) fn destruction_of(
    list: &[Arc<Resource>],
    options: &StackOptions,
) -> Result<Destruction, Vec<StackError>> {
    Destruction::of(&Snapshot { resources: list.to_vec(), ..Snapshot::default() }, options)
}

fn destruction(list: &str) -> Destruction {
    destruction_of(&entries(list), &StackOptions::default()).unwrap()
}

fn with(list: &str, change: impl FnOnce(&mut StackOptions)) -> Destruction {
    destruction_of(&entries(list), &options(change)).unwrap()
}

fn order(destruction: &Destruction) -> Vec<String> {
    destruction.order().into_iter().map(|node| short(destruction.label(node))).collect()
}

fn waves(destruction: &Destruction) -> Vec<Vec<&str>> {
    let group = |group: Vec<usize>| group.into_iter().map(|node| destruction.urn(node).name()).collect();
    destruction.waves().groups().into_iter().map(group).collect()
}

fn named(name: &str) -> Resource {
    let urn = Urn::build("dev", "shop", "", "t:t:t", name);
    Resource { custom: true, ..Resource::new(urn, "t:t:t") }
}

#[test]
fn what_depends_goes_first_and_independent_entries_at_once() {
    let destruction = destruction(SHOP);
    let expected =
        ["log (delete)", "vm (delete)", "disk (delete)", "web (remove)", "net (delete)", "prov (delete)"];
    assert_eq!(order(&destruction), expected);
    // What depends on a component goes before what belongs to it.
    assert_eq!(
        waves(&destruction),
        [vec!["log"], vec!["vm"], vec!["disk"], vec!["web", "net"], vec!["prov"]]
    );
    assert_eq!(waves_of(&destruction, "web"), (3, 1), "nothing waits for the component any more");
}

/// The first wave of an entry, and by how many it can be late.
fn waves_of(destruction: &Destruction, name: &str) -> (u32, u32) {
    let [node] = *destruction.removals_of(&urn(name)) else { panic!("one removal of {name}") };
    let waves = destruction.waves();
    (waves.earliest[node], waves.slack(node))
}

#[test]
fn every_kind_of_reference_is_a_reason() {
    let list = "prov; A; B(A); C(p:A); D(rw A); E(dw A) retain; K component; F parent K; G(K); P; Q parent P";
    let destruction = destruction(list);
    for (waits, first, reason) in [
        ("A", "B", RemovalReason::Dependency),
        ("A", "C", RemovalReason::Property),
        ("A", "D", RemovalReason::ReplaceWith),
        ("A", "E", RemovalReason::DeletedWith),
        ("P", "Q", RemovalReason::Parent),
        ("F", "G", RemovalReason::Component),
        ("prov", "P", RemovalReason::Provider),
    ] {
        let Explanation::Waits(steps) = destruction.why(&urn(waits), &urn(first)) else {
            panic!("{waits} waits for {first}")
        };
        let [step] = steps.as_slice() else { panic!("one step from {waits} to {first}: {steps:?}") };
        assert_eq!(step.reasons.iter().collect::<Vec<_>>(), [reason], "{waits} {first}");
        let references = destruction.references(step);
        assert_eq!((references.len(), references[0].reason), (1, reason), "{waits} {first}");
        assert_eq!((references[0].who, references[0].whom), (&urn(first), &urn(waits)));
        assert_eq!(references[0].property, (reason == RemovalReason::Property).then_some("p"));
    }
    assert_eq!(destruction.why(&urn("B"), &urn("C")), Explanation::Concurrent);
    assert!(matches!(destruction.why(&urn("B"), &urn("A")), Explanation::IsWaitedFor(_)));
    assert_eq!(destruction.why(&urn("B"), &urn("missing")), Explanation::Absent);
}

#[test]
fn what_protected_entries_need_stays_and_the_rest_goes() {
    let destruction = destruction("prov; net; db(net) protect; vm(db); other");
    let stays: Vec<&str> = (0..destruction.removals().len())
        .filter(|&node| destruction.removals()[node].blocked)
        .map(|node| destruction.urn(node).name())
        .collect();
    assert_eq!(stays, ["net", "prov"]);
    let expected = [
        "other (delete)",
        "vm (delete)",
        "db (protected)",
        "net (delete, blocked)",
        "prov (delete, blocked)",
    ];
    assert_eq!(order(&destruction), expected);
    let ignoring = with("prov; db protect", |options| options.ignore_protect = true);
    assert_eq!(order(&ignoring), ["db (delete)", "prov (delete)"]);
}

#[test]
fn names_what_becomes_of_each_entry() {
    let list =
        "A; A delete; A delete; B pending; C external; D retain; E component; F protect; A protect delete";
    let destruction = destruction(list);
    let kinds: Vec<RemovalKind> = destruction.removals().iter().map(|removal| removal.kind).collect();
    let expected = [
        RemovalKind::DeleteReplaced,
        RemovalKind::Protected,
        RemovalKind::Component,
        RemovalKind::Retain,
        RemovalKind::External,
        RemovalKind::Pending,
        RemovalKind::DeleteReplaced,
        RemovalKind::DeleteReplaced,
        RemovalKind::Delete,
    ];
    assert_eq!(kinds, expected);
    let olds: Vec<String> =
        order(&destruction).into_iter().filter(|label| label.starts_with("A (")).collect();
    let expected =
        ["A (delete the old one, 1)", "A (delete the old one, 2)", "A (delete the old one, 3)", "A (delete)"];
    assert_eq!(olds, expected);
    assert_eq!(destruction.removals_of(&urn("A")).len(), 4);
}

#[test]
fn a_deletion_takes_along_what_is_deleted_with_it() {
    const LIST: &str = "T; D(dw T); X(D)";
    let atomic = destruction(LIST);
    assert_eq!(order(&atomic), ["X (delete)", "T (delete)"]);
    assert_eq!(atomic.removals()[1].members, [1]);
    assert_eq!(atomic.removals_of(&urn("D")), atomic.removals_of(&urn("T")));
    let Explanation::Waits(steps) = atomic.why(&urn("T"), &urn("X")) else { panic!("T waits for X") };
    let references = atomic.references(&steps[0]);
    assert_eq!((references[0].who.name(), references[0].whom.name()), ("X", "D"), "for the sake of D");

    let apart = with(LIST, |options| options.deleted_with = DeletedWith::Compat);
    assert_eq!(order(&apart), ["X (delete)", "D (remove, goes with another)", "T (delete)"]);
}

#[test]
fn batches_go_as_late_as_they_can() {
    let list = "prov; A; B(A); C(B); X";
    let batched = with(list, |options| options.deletes = Deletes::Batches);
    assert_eq!(waves(&batched), [vec!["C"], vec!["B"], vec!["X", "A"], vec!["prov"]]);
    let Explanation::Waits(steps) = batched.why(&urn("X"), &urn("B")) else { panic!("X waits for B") };
    assert_eq!(steps[0].reasons.to_string(), "batch");
    assert_eq!(waves(&destruction(list)), [vec!["X", "C"], vec!["B"], vec!["A"], vec!["prov"]]);
    assert_eq!(destruction(list).why(&urn("X"), &urn("B")), Explanation::Concurrent);
}

#[test]
fn targets_take_along_what_depends_on_them_and_excludes_keep_what_they_need() {
    let target = with(SHOP, |options| {
        options.targets.insert(urn("disk"));
        options.target_dependents = true;
    });
    assert_eq!(order(&target), ["vm (delete)", "disk (delete)"]);
    let rest = with(SHOP, |options| {
        options.excludes.insert(urn("disk"));
    });
    assert_eq!(order(&rest), ["log (delete)", "vm (delete)"]);
    let wrong = options(|options| options.targets = [urn("x")].into());
    let unknown = destruction_of(&entries(SHOP), &wrong);
    assert_eq!(unknown.unwrap_err(), [StackError::UnknownTarget { urn: urn("x") }]);
}

#[test]
fn blasts_name_what_has_to_go_by_distance() {
    let destruction = destruction(SHOP);
    let found: Vec<(usize, &str)> = destruction
        .blast(&urn("net"))
        .into_iter()
        .map(|affected| (affected.distance, destruction.urn(affected.node).name()))
        .collect();
    assert_eq!(found, [(1, "disk"), (2, "vm"), (3, "log")]);
    assert!(destruction.blast(&urn("log")).is_empty());
    assert!(destruction.blast(&urn("missing")).is_empty());
}

#[test]
fn reduced_edges_say_the_same() {
    let whole = destruction("A; B(A); C(A, B)");
    let reduced = whole.clone().reduced();
    let pairs = |destruction: &Destruction| {
        destruction.edges().map(|RemovalStep { from, to, .. }| (from, to)).collect::<Vec<_>>()
    };
    assert_eq!((pairs(&whole), pairs(&reduced)), (vec![(1, 0), (2, 0), (2, 1)], vec![(1, 0), (2, 1)]));
    assert_eq!(order(&whole), order(&reduced));
    assert_eq!(whole.dependencies(2).len(), 2);
}

#[test]
fn snapshots_become_lists() {
    let root = Resource::root_stack("dev", "shop");
    let provider = Resource {
        id: Some("a::b".into()),
        custom: true,
        ..Resource::new("urn:pulumi:dev::shop::pulumi:providers:t::own", "pulumi:providers:t")
    };
    let mut old = named("web");
    old.delete = true;
    let mut web = named("web");
    web.parent = Some(root.urn.clone());
    web.provider = Some(ProviderRef::new(format!("{}::a::b", provider.urn)));
    let mut view = named("view");
    view.view_of = Some(web.urn.clone());
    let mut inner = named("inner");
    inner.view_of = Some(view.urn.clone());
    web.dependencies.push(view.urn.clone());
    let mut log = named("log");
    log.property_dependencies = PropertyDependencies::from_iter([
        ("a", Some(vec![inner.urn.clone()])),
        ("b", Some(vec![])),
        ("c", None),
    ]);
    log.deleted_with = Some("".into());
    let snapshot = Snapshot::new([root.clone(), provider.clone(), old, web.clone(), view, inner, log]);

    let list = without_views(&snapshot);
    assert_eq!(damage(&list), []);
    assert_eq!(list.len(), 5, "views are left out");
    assert!(list[3].dependencies.is_empty(), "a resource does not wait for its own view");
    let properties: Vec<(&str, &[Urn])> =
        list[4].property_dependencies.iter().map(|(name, urns)| (name, urns.unwrap_or_default())).collect();
    let owner = [web.urn.clone()];
    assert_eq!(properties, [("a", &owner[..]), ("b", &[]), ("c", &[])], "its owner stands for a view");
    assert!(Arc::ptr_eq(&list[2], &snapshot.resources[2]), "what refers to no view is shared");

    let destruction = Destruction::of(&snapshot, &StackOptions::default()).unwrap();
    let Explanation::Waits(steps) = destruction.why(&provider.urn, &web.urn) else {
        panic!("web goes first")
    };
    assert_eq!(steps[0].reasons.to_string(), "provider", "an identifier may hold the delimiter");
}

#[test]
fn damaged_snapshots_have_no_order() {
    let mut web = named("web");
    web.dependencies.push("gone".into());
    web.provider = Some(ProviderRef::new("nonsense"));
    let errors = Destruction::of(&Snapshot::new([web]), &StackOptions::default()).unwrap_err();
    let rules: Vec<Rule> = errors
        .iter()
        .filter_map(|error| match error {
            StackError::Integrity(finding) => Some(finding.rule),
            _ => None,
        })
        .collect();
    assert_eq!(rules, [Rule::ProviderRefMalformed, Rule::DependencyMissing]);

    // Views have no place in the order, and still count where something is said to be.
    let mut view = named("view");
    view.view_of = Some(named("net").urn);
    let mut log = named("log");
    log.dependencies.push("gone".into());
    let snapshot = Snapshot::new([named("net"), view, log]);
    let errors = Destruction::of(&snapshot, &StackOptions::default()).unwrap_err();
    let [StackError::Integrity(finding)] = errors.as_slice() else { panic!("{errors:?}") };
    assert_eq!((finding.resource, &*finding.path), (Some(2), "resources[2].dependencies[0]"));

    // What is wrong elsewhere keeps nothing from being ordered.
    let mut broken = Snapshot::new([Resource { id: Some("x".into()), ..Resource::new("no URN", "t:t:t") }]);
    broken.manifest.magic = "wrong".into();
    assert!(Destruction::of(&broken, &StackOptions::default()).is_ok());
}

#[test]
fn drawings_group_by_component() {
    let destruction = destruction("K component; L component parent K; A parent L; B(A) parent K; X");
    let dot = destruction.to_dot(DotStyle::Picture);
    let [outer, inner] =
        ["subgraph \"cluster_component::K\"", "subgraph \"cluster_component::K / component::L\""]
            .map(|text| dot.find(text).unwrap());
    assert!(outer < inner && dot.contains("label=\"pulumi:providers:t::A\\ndelete\""), "{dot}");
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    let flat = destruction.to_dot(DotStyle::Flat);
    assert!(
        !flat.contains("subgraph")
            && flat.contains("component::K / component::L\\npulumi:providers:t::A\\ndelete\""),
        "{flat}"
    );
    let mermaid = destruction.to_mermaid();
    assert_eq!(
        (mermaid.matches("subgraph").count(), mermaid.matches("  end\n").count()),
        (2, 2),
        "{mermaid}"
    );
    let annotated = destruction.to_dot(DotStyle::Annotated);
    assert!(
        annotated.contains("[label = \"dependency\"]") && annotated.contains("rank = same"),
        "{annotated}"
    );
    assert!(!destruction.to_dot(DotStyle::Compatible).contains("dependency"));
}

#[test]
fn json_has_nodes_edges_order_and_waves() {
    let json = short(&destruction("T protect; D(T)").to_json());
    let expected = r#"{"format_version":"1.0","nodes":[
        {"id":"D (delete)","kind":"delete","urn":"D","type":"pulumi:providers:t","blocked":false,"wave":0},
        {"id":"T (protected)","kind":"protected","urn":"T","type":"pulumi:providers:t","blocked":false,"wave":1}],
        "edges":[{"from":"T (protected)","to":"D (delete)","reasons":["dependency"]}],
        "order":["D (delete)","T (protected)"],"waves":[["D (delete)"],["T (protected)"]]}"#;
    let expected: String = expected.lines().map(str::trim).collect();
    assert_eq!(json.trim_end(), expected);
}

#[test]
fn wide_lists_are_planned_in_time() {
    let mut list = String::from("prov; K component");
    for number in 0..3000 {
        list.push_str(&format!(
            "; r{number}{} parent K",
            if number > 0 { format!("(r{})", number - 1) } else { String::new() }
        ));
    }
    let destruction = destruction(&list);
    assert_eq!(
        destruction.waves().count,
        3001,
        "one for each, and the last for the component and the provider"
    );
    assert_eq!(destruction.order().first(), Some(&0));
}
