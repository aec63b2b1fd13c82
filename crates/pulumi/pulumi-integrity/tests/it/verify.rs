//! The rules, one test each.

use std::sync::Arc;

use groundstate_pulumi_integrity::{
    IntegrityError, IntegrityOperation, Report, Rule, Severity, VerifyOptions, verify,
};
use groundstate_pulumi_snapshot::{
    ExtensionRef, IntegrityErrorMetadata, Manifest, Operation, OperationType, ProviderRef, Snapshot, Snippet,
    Time, Urn,
};

use crate::support::{below, resource, snapshot, urn};

fn check(snapshot: &Snapshot) -> Report {
    verify(snapshot, &VerifyOptions::default())
}

/// Rules and paths of what is found.
fn found(report: &Report) -> Vec<(Rule, &str)> {
    report.findings.iter().map(|finding| (finding.rule, finding.path.as_str())).collect()
}

/// One finding, and what Pulumi says of it.
#[track_caller]
fn expect_one(resources: &[&str], rule: Rule, path: &str, original: &str) {
    let report = check(&snapshot(resources));
    let all: Vec<_> = found(&report).into_iter().filter(|(rule, _)| *rule != Rule::Cycle).collect();
    assert_eq!(all, [(rule, path)], "{report:?}");
    let expand = |text: &str| {
        let mut text = text.to_owned();
        for name in ["a", "b", "c", "x", "P"] {
            text = text.replace(&format!("<{name}>"), urn(name).as_str());
        }
        text
    };
    assert_eq!(report.original_error(), Some(&*expand(original)));
}

#[track_caller]
fn expect_valid(resources: &[&str]) {
    let report = check(&snapshot(resources));
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.original_error(), None);
}

#[test]
fn an_empty_manifest_has_no_magic_to_check() {
    assert!(check(&Snapshot::default()).is_clean());
}

#[test]
fn a_changed_version_breaks_the_magic() {
    let mut snapshot = Snapshot { manifest: Manifest::new(Time::ZERO, "v3.1.0"), ..Snapshot::default() };
    assert!(check(&snapshot).is_clean());
    snapshot.manifest.version = "v3.2.0".into();
    let report = check(&snapshot);
    assert_eq!(found(&report), [(Rule::Magic, "manifest.magic")]);
    let text = "magic cookie mismatch; possible tampering/corruption detected";
    assert_eq!(report.original_error(), Some(text));
}

#[test]
fn a_dependency_on_itself_is_missing() {
    let path = "resources[0].dependencies[0]";
    let text = "resource <a>'s dependency <a> refers to missing resource";
    expect_one(&["a(a)"], Rule::DependencyMissing, path, text);
}

#[test]
fn a_dependency_must_come_before() {
    let text = "resource <a>'s dependency <b> comes after it";
    expect_one(&["a(b)", "b"], Rule::DependencyAfter, "resources[0].dependencies[0]", text);
}

#[test]
fn a_dependency_must_exist() {
    let text = "resource <a>'s dependency <x> refers to missing resource";
    expect_one(&["b", "a(b x)"], Rule::DependencyMissing, "resources[1].dependencies[1]", text);
}

#[test]
fn a_parent_must_exist_and_come_before() {
    let text = "child resource <a>'s parent <b> comes after it";
    expect_one(&["a(^b)", "b"], Rule::ParentAfter, "resources[0].parent", text);
    let text = "child resource <a> refers to missing parent <x>";
    expect_one(&["a(^x)"], Rule::ParentMissing, "resources[0].parent", text);
}

#[test]
fn a_qualified_type_that_lacks_the_parent_is_a_warning() {
    let report = check(&snapshot(&["a", "b(^a)"]));
    assert_eq!(found(&report), [(Rule::ParentType, "resources[1].parent")]);
    assert!(report.is_valid() && report.findings[0].severity == Severity::Warning);
    assert_eq!(report.original_error(), None);

    let mut child = resource("b(^a)");
    child.urn = below(1, "b");
    assert!(check(&Snapshot::new([resource("a"), child.clone()])).is_clean());
    // The root adds no type.
    let root = groundstate_pulumi_snapshot::Resource::new(Urn::root_stack("s", "p"), "pulumi:pulumi:Stack");
    let mut below_root = resource("b");
    below_root.parent = Some(root.urn.clone());
    assert!(check(&Snapshot::new([root.clone(), below_root])).is_clean());
    child.parent = Some(root.urn.clone());
    assert_eq!(found(&check(&Snapshot::new([root, child])))[0].0, Rule::ParentType);
}

#[test]
fn a_provider_must_come_before() {
    let snapshot = snapshot(&["a(@P=1)", "P(#1)"]);
    let report = check(&snapshot);
    assert_eq!(found(&report), [(Rule::UnknownProvider, "resources[0].provider")]);
    let text = format!("resource {} refers to unknown provider {}::1", urn("a"), urn("P"));
    assert_eq!(report.original_error(), Some(&*text));
    let unknown = format!("no provider before it is {}::1", urn("P"));
    assert_eq!(report.findings[0].message, format!("{unknown}; one comes after it"));
    let another = check(&crate::support::snapshot(&["a(@P=1)", "P(#2)"]));
    assert_eq!(another.findings[0].message, unknown);
}

#[test]
fn a_provider_with_another_id_is_unknown() {
    let text = "resource <a> refers to unknown provider <P>::2";
    expect_one(&["P(#1)", "a(@P=2)"], Rule::UnknownProvider, "resources[1].provider", text);
}

#[test]
fn a_pending_replacement_needs_no_provider() {
    expect_valid(&["a(? @P=1)"]);
    expect_valid(&["a(? @P=1)", "P(#1 a)"]);
}

#[test]
fn a_resource_to_be_deleted_needs_its_provider() {
    let text = "resource <a> refers to unknown provider <P>::1";
    expect_one(&["a(! @P=1)"], Rule::UnknownProvider, "resources[0].provider", text);
}

#[test]
fn a_provider_to_be_deleted_counts() {
    expect_valid(&["P(#1 !)", "a(@P=1)"]);
}

#[test]
fn a_provider_that_comes_after_does_not_count() {
    let text = "resource <a> refers to unknown provider <P>::1";
    let resources = ["P(#2)", "a(@P=1)", "P(#1 !)"];
    expect_one(&resources, Rule::UnknownProvider, "resources[1].provider", text);
}

#[test]
fn two_live_copies_are_duplicates() {
    let text = "duplicate resource <a> (not marked for deletion)";
    expect_one(&["a", "a"], Rule::Duplicate, "resources[0].urn", text);
    let report = check(&snapshot(&["b", "a", "a", "b"]));
    assert_eq!(
        found(&report),
        [(Rule::Duplicate, "resources[0].urn"), (Rule::Duplicate, "resources[1].urn")]
    );
}

#[test]
fn copies_to_be_deleted_are_no_duplicates() {
    expect_valid(&["a", "a(!)", "a(!)"]);
    expect_valid(&["a(!)", "a", "a(!)"]);
    expect_valid(&["a(!)", "a(!)"]);
}

#[test]
fn a_pending_replacement_counts_as_live() {
    let text = "duplicate resource <a> (not marked for deletion)";
    expect_one(&["a(?)", "a"], Rule::Duplicate, "resources[0].urn", text);
}

#[test]
fn a_component_has_no_id() {
    let text = "resource '<a>' has 'custom false but non-empty ID";
    expect_one(&["a(~ #x)"], Rule::IdOnComponent, "resources[0].id", text);
}

#[test]
fn replace_with_must_exist_and_come_before() {
    let text = "resource <a> is specified as being replaced with <x>, which is missing";
    expect_one(&["a(r:x)"], Rule::ReplaceWithMissing, "resources[0].replaceWith[0]", text);
    let text = "resource <a> is specified as being replaced with <b>, which comes after it";
    expect_one(&["a(r:b)", "b"], Rule::ReplaceWithAfter, "resources[0].replaceWith[0]", text);
    let lenient = verify(&snapshot(&["a(r:x)"]), &VerifyOptions::default().lenient(true));
    assert!(lenient.is_valid() && !lenient.is_clean());
}

#[test]
fn deleted_with_must_exist_and_come_before() {
    let text = "resource <a> is specified as being deleted with <b>, which comes after it";
    expect_one(&["a(w:b)", "b"], Rule::DeletedWithAfter, "resources[0].deletedWith", text);
    let text = "resource <a> is specified as being deleted with <x>, which is missing";
    expect_one(&["a(w:x)"], Rule::DeletedWithMissing, "resources[0].deletedWith", text);
}

#[test]
fn property_dependencies_name_their_property() {
    let text = "resource <a>'s property dependency <b> (from property k) comes after it";
    let path = "resources[0].propertyDependencies.k[0]";
    expect_one(&["a(k:b)", "b"], Rule::PropertyDependencyAfter, path, text);
    let text = "resource <a>'s property dependency <x> (from property k) refers to missing resource";
    let path = "resources[1].propertyDependencies.k[1]";
    expect_one(&["b", "a(k:b k:x)"], Rule::PropertyDependencyMissing, path, text);
}

#[test]
fn an_empty_urn_in_a_list_is_a_warning() {
    let report = check(&snapshot(&["a(_)"]));
    assert_eq!(found(&report), [(Rule::EmptyReference, "resources[0].dependencies[0]")]);
    assert!(report.is_valid() && report.original_error().is_none());
}

#[test]
fn snippets_need_unique_uuids() {
    let snippet = |uuid: &str| Snippet { uuid: uuid.into(), ..Snippet::default() };
    let snippets = vec![snippet("u"), snippet(""), snippet("v"), snippet("u")];
    let snapshot = Snapshot { snippets, ..Snapshot::default() };
    let report = check(&snapshot);
    let expected =
        [(Rule::SnippetWithoutUuid, "snippets[1].uuid"), (Rule::SnippetDuplicate, "snippets[3].uuid")];
    assert_eq!(found(&report), expected);
    let texts: Vec<_> = report.findings.iter().map(|finding| finding.original.as_deref().unwrap()).collect();
    let expected = [
        "snippet at index 1 missing required 'uuid' field",
        "duplicate snippet uuid \"u\" at indexes 0 and 3",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn findings_come_in_the_order_of_the_original() {
    let report = check(&snapshot(&["a(^x @P=1)", "b(x)"]));
    let rules: Vec<Rule> = report.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, [Rule::UnknownProvider, Rule::ParentMissing, Rule::DependencyMissing]);
    let text = format!("resource {} refers to unknown provider {}::1", urn("a"), urn("P"));
    assert_eq!(report.original_error(), Some(&*text));
}

#[test]
fn a_missing_view_is_an_error_only_if_strict() {
    let report = check(&snapshot(&["a(v:x)"]));
    assert_eq!(found(&report), [(Rule::ViewOfMissing, "resources[0].viewOf")]);
    assert!(report.is_valid() && report.original_error().is_none());
    assert!(!verify(&snapshot(&["a(v:x)"]), &VerifyOptions::default().strict_views(true)).is_valid());
}

#[test]
fn names_and_types_are_required() {
    let mut nothing = resource("a");
    nothing.urn = Urn::default();
    nothing.resource_type = "".into();
    let report = check(&Snapshot::new([resource("b"), nothing]));
    let expected = [(Rule::UrnMissing, "resources[1].urn"), (Rule::TypeMissing, "resources[1].type")];
    assert_eq!(found(&report), expected);
    assert_eq!(report.original_error(), Some("resource at index 1 missing required 'urn' field"));
    assert_eq!(report.findings[1].original.as_deref(), Some("resource '' missing required 'type' field"));
}

#[test]
fn providers_must_be_referenceable_and_references_readable() {
    let mut provider = resource("a");
    provider.resource_type = "pulumi:providers:t".into();
    let mut user = resource("b");
    user.provider = Some(ProviderRef::from("nonsense"));
    let report = check(&Snapshot::new([provider, user]));
    let expected = [
        (Rule::ProviderNotReferenceable, "resources[0].urn"),
        (Rule::ProviderRefMalformed, "resources[1].provider"),
    ];
    assert_eq!(found(&report), expected);
    let text = format!(
        "provider {} is not referenceable: invalid module in type: expected 'pulumi:providers', got 't:t'",
        urn("a")
    );
    assert_eq!(report.original_error(), Some(&*text));
    let text = format!(
        "failed to parse provider reference for resource {}: expected '::' in provider reference 'nonsense'",
        urn("b")
    );
    assert_eq!(report.findings[1].original.as_deref(), Some(&*text));
}

#[test]
fn a_provider_may_name_itself() {
    expect_valid(&["P(#1 @P=1)"]);
}

#[test]
fn a_consumer_without_an_identifier_does_not_mean_the_provider_without_one() {
    expect_valid(&["P", "a(@P)"]);
    let mut snapshot = snapshot(&["P", "a"]);
    snapshot.resource_mut(1).unwrap().provider = Some(ProviderRef::from(format!("{}::", urn("P"))));
    assert_eq!(found(&check(&snapshot)), [(Rule::UnknownProvider, "resources[1].provider")]);
}

#[test]
fn identifiers_with_delimiters_are_understood_and_reported() {
    let report = check(&snapshot(&["P(#1::2)", "a(@P=1::2)"]));
    assert_eq!(found(&report), [(Rule::AmbiguousProviderId, "resources[1].provider")]);
    assert!(report.is_valid(), "it is clear what is meant");
    assert!(report.original_error().unwrap().contains("refers to unknown provider"));
}

#[test]
fn a_cycle_is_named_as_one() {
    let report = check(&snapshot(&["c", "a(b)", "b(a c)"]));
    let expected = [(Rule::DependencyAfter, "resources[1].dependencies[0]"), (Rule::Cycle, "resources[1]")];
    assert_eq!(found(&report), expected);
    assert!(report.findings[1].message.ends_with(&format!("{0} -> {1} -> {0}", urn("a"), urn("b"))));
    // In order there is no cycle, though by names there is one.
    expect_valid(&["a(!)", "b(a)", "a(b)"]);
}

#[test]
fn of_a_long_cycle_eight_names_are_shown_and_the_others_counted() {
    for (count, counted) in [(8, ""), (9, "1 more -> "), (11, "3 more -> ")] {
        let ring = (0..count).map(|at| resource(&format!("n{at}(n{})", (at + 1) % count)));
        let report = check(&Snapshot::new(ring));
        let shown: String = (0..8).map(|at| format!("{} -> ", urn(&format!("n{at}")))).collect();
        let expected = format!("resources need each other in a circle: {shown}{counted}{}", urn("n0"));
        let told: Vec<&str> = report.of_rule(Rule::Cycle).map(|finding| finding.message.as_str()).collect();
        assert_eq!(told, [expected]);
    }
}

#[test]
fn what_is_only_worth_knowing_keeps_nothing_from_being_used() {
    let mut snapshot = snapshot(&["a(a:b)"]);
    let resource = snapshot.resource_mut(0).unwrap();
    resource.extension_ref = Some(ExtensionRef::from("e"));
    snapshot
        .pending_operations
        .push(Operation::new(crate::support::resource("x(y)"), OperationType::Creating));
    snapshot.metadata.integrity_error =
        Some(IntegrityErrorMetadata { error: "oh".into(), ..IntegrityErrorMetadata::default() });
    let mut odd = crate::support::resource("b");
    odd.urn = Urn::from("odd");
    snapshot.resources.push(Arc::new(odd));
    let report = check(&snapshot);
    let expected = [
        (Rule::ExtensionMissing, "resources[0].extensionRef"),
        (Rule::AliasesLeft, "resources[0].aliases"),
        (Rule::UrnInvalid, "resources[1].urn"),
        (Rule::PendingOperation, "pending_operations[0]"),
        (Rule::RecordedError, "metadata.integrity_error"),
    ];
    assert_eq!(found(&report), expected);
    assert!(report.is_valid() && report.original_error().is_none());
    let pending: Vec<_> = report.of_rule(Rule::PendingOperation).map(|finding| finding.pending).collect();
    assert_eq!(pending, [Some(0)]);
}

#[test]
fn the_error_says_what_pulumi_says() {
    let mut broken = snapshot(&["a(b)", "b"]);
    broken.metadata.integrity_error =
        Some(IntegrityErrorMetadata { error: "oh".into(), ..IntegrityErrorMetadata::default() });
    let error = IntegrityError::check(&broken, IntegrityOperation::Read).unwrap_err();
    let text = format!("resource {}'s dependency {} comes after it", urn("a"), urn("b"));
    assert_eq!(error.to_string(), text);
    assert_eq!(error.refusal(), format!("snapshot integrity failure; refusing to use it: {text}"));
    assert_eq!(&*error.metadata.unwrap().error, "oh");
    let error = IntegrityError::check(&broken, IntegrityOperation::Write).unwrap_err();
    assert!(error.metadata.is_none());
    assert_eq!(IntegrityError::check(&snapshot(&["a"]), IntegrityOperation::Read), Ok(()));
}

#[test]
fn a_finding_prints_on_one_line() {
    let report = check(&snapshot(&["a(b)", "b"]));
    let text = format!(
        "GS0610 error: its dependency {} comes after it [{}] at resources[0].dependencies[0]",
        urn("b"),
        urn("a")
    );
    assert_eq!(report.findings[0].to_string(), text);
}

#[test]
fn every_rule_has_a_chapter_and_every_chapter_a_rule() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/checks-pulumi.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    // GS08 is what `groundstate-pulumi-diy` finds in buckets.
    let headings = docs.lines().filter_map(|line| line.strip_prefix("### "));
    let headings: Vec<&str> = headings.filter(|heading| !heading.starts_with("GS08")).collect();
    let heading = |rule: &Rule| format!("{rule} {} ({})", rule.title(), rule.severity());
    let expected: Vec<String> = Rule::ALL.iter().map(heading).collect();
    assert_eq!(headings, expected);
}

#[test]
fn the_rules_that_an_order_rests_on_and_those_of_values_are_told_from_others() {
    use groundstate_pulumi_integrity::Rule;
    let of_order = [
        Rule::UnknownProvider,
        Rule::ParentAfter,
        Rule::DependencyMissing,
        Rule::ReplaceWithAfter,
        Rule::Duplicate,
    ];
    let of_values = [Rule::UnknownSignature, Rule::NumberRange, Rule::SecretsProviderState];
    let of_neither =
        [Rule::ProviderNotReferenceable, Rule::SnippetWithoutUuid, Rule::AliasesLeft, Rule::RecordedError];
    let told = |rule: &Rule| (rule.is_of_order(), rule.is_of_values());
    assert!(of_order.iter().all(|rule| told(rule) == (true, false)));
    assert!(of_values.iter().all(|rule| told(rule) == (false, true)));
    assert!(of_neither.iter().all(|rule| told(rule) == (false, false)));
}

#[test]
fn what_is_missing_is_told_from_the_resource_itself() {
    for (text, words) in
        [("a(x)", "is not there"), ("a(a)", "is the resource itself"), ("a(^x)", "is not there")]
    {
        let report = verify(&snapshot(&[text]), &VerifyOptions::default());
        assert!(report.findings.iter().any(|finding| finding.message.ends_with(words)), "{text}: {report:?}");
    }
}

#[test]
fn an_operation_that_cannot_be_loaded_is_named_by_its_urn_if_it_has_one() {
    for (name, expected) in [(urn("p"), Some(urn("p"))), (Urn::default(), None)] {
        let mut pending = resource("p");
        (pending.urn, pending.resource_type) = (name, "".into());
        let mut made = snapshot(&["a"]);
        made.pending_operations = vec![Operation::new(pending, OperationType::Creating)];
        let report = check(&made);
        let named: Vec<_> = report.of_rule(Rule::PendingUnreadable).map(|finding| &finding.urn).collect();
        assert_eq!(named, [&expected]);
    }
}
