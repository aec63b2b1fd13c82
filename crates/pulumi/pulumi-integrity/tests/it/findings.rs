//! What findings and errors say of the places they are about.

use groundstate_pulumi_integrity::{IntegrityError, Rule, VerifyOptions, verify};
use groundstate_pulumi_snapshot::{Operation, OperationType, Properties, RawJson, SecretsProvider, Snapshot};

use crate::support::{resource, snapshot, urn};

fn beyond_a_double() -> Properties {
    Properties::Raw(RawJson::parse_as_written(r#"{"n":1e999}"#).expect("tests write JSON"))
}

#[test]
fn a_finding_names_its_resource_or_its_operation() {
    let mut made = snapshot(&["b", "a(x)"]);
    made.resource_mut(1).unwrap().inputs = beyond_a_double();
    let mut pending = resource("p");
    (pending.inputs, pending.resource_type) = (beyond_a_double(), "".into());
    made.pending_operations.push(Operation::new(pending, OperationType::Creating));
    let report = verify(&made, &VerifyOptions::default().loading(true));
    let about: Vec<_> = report
        .findings
        .iter()
        .map(|finding| (finding.rule, finding.resource, finding.pending, finding.urn.clone()))
        .collect();
    let of_resource = |rule| (rule, Some(1), None, Some(urn("a")));
    let of_operation = |rule| (rule, None, Some(0), Some(urn("p")));
    assert_eq!(
        about,
        [
            of_resource(Rule::NumberRange),
            of_operation(Rule::NumberRange),
            of_operation(Rule::PendingUnreadable),
            of_resource(Rule::DependencyMissing),
            of_operation(Rule::PendingOperation),
        ]
    );
}

#[test]
fn an_unknown_secrets_provider_is_what_pulumi_stops_at() {
    let provider = SecretsProvider { kind: "rot13".into(), ..SecretsProvider::default() };
    let made = Snapshot { secrets_provider: Some(provider), ..Snapshot::default() };
    let report = verify(&made, &VerifyOptions::default().loading(true));
    assert_eq!(report.original_error(), Some("no known secrets provider for type \"rot13\""));
}

#[test]
fn the_record_of_a_broken_snapshot_holds_the_schema_the_command_and_the_error() {
    for (resources, version) in [(&["a(x)"][..], "3"), (&["a(x r:b)", "b"], "4")] {
        let mut broken = snapshot(resources);
        assert!(IntegrityError::record(&mut broken, "tool edit"));
        let record = broken.metadata.integrity_error.unwrap();
        let error = format!("resource {}'s dependency {} refers to missing resource", urn("a"), urn("x"));
        assert_eq!((&*record.version, &*record.command, &*record.error), (version, "tool edit", &*error));
    }
}
