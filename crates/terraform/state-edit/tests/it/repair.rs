//! Plans that mend states, and what is left after them.

use groundstate_state_edit::{RepairError, RepairPlan, Severity, VerifyOptions, repair, verify};
use groundstate_statefile::{EncodeOptions, encode};

const LINEAGE: &str = "3f2a1c00-0000-4000-8000-000000000001";

fn state(head: &str, resources: &[String]) -> String {
    format!(
        r#"{{"version": 4, "terraform_version": "1.11.4", {head}, "outputs": {{}}, "resources": [{}], "check_results": null}}"#,
        resources.join(", ")
    )
}

fn resource(name: &str, objects: &[&str]) -> String {
    format!(
        r#"{{"mode": "managed", "type": "t", "name": "{name}", "provider": "provider[\"registry.terraform.io/hashicorp/t\"]", "instances": [{}]}}"#,
        objects.join(", ")
    )
}

const HEAD: &str = r#""serial": 3, "lineage": "3f2a1c00-0000-4000-8000-000000000002""#;

fn object(id: &str, rest: &str) -> String {
    format!(r#"{{{rest}"schema_version": 0, "attributes": {{"id": "{id}"}}}}"#)
}

fn ids(plan: &RepairPlan) -> Vec<String> {
    let objects = plan.file.state.objects();
    objects
        .map(|(address, _, object)| format!("{address}={}", object.attributes.text("id").unwrap()))
        .collect()
}

/// The repaired state has no finding of an error.
#[track_caller]
fn check_sound(plan: &RepairPlan) {
    let text = encode(&plan.file, &EncodeOptions::default()).unwrap();
    let report = verify(&text, &VerifyOptions::default());
    let errors: Vec<_> = report.findings.iter().filter(|found| found.severity == Severity::Error).collect();
    assert!(report.readable && errors.is_empty(), "{errors:?}");
}

#[test]
fn of_objects_that_differ_the_answer_decides_which_one_stays() {
    let [one, two, other, old, older] = [
        object("1", ""),
        object("2", ""),
        object("3", r#""index_key": "k", "#),
        object("4", r#""deposed": "0a1b2c3d", "#),
        object("5", r#""deposed": "0a1b2c3d", "#),
    ];
    for text in [
        state(HEAD, &[resource("a", &[&one, &two, &other, &old, &older])]),
        // In two entries.
        state(HEAD, &[resource("a", &[&one, &other, &old]), resource("a", &[&two, &older])]),
        state(HEAD, &[resource("a", &[&one]), resource("a", &[&two, &other, &old, &older])]),
    ] {
        let open = repair(text.as_bytes(), &[], LINEAGE).unwrap();
        assert_eq!((open.questions.len(), open.is_decided()), (2, false));
        assert!(open.questions[0].choices[1].contains("with the id \"2\""), "{:?}", open.questions);
        for (answers, left) in
            [([(1, 1), (2, 2)], ["t.a=1", "t.a=5"]), ([(1, 2), (2, 1)], ["t.a=2", "t.a=4"])]
        {
            let plan = repair(text.as_bytes(), &answers, LINEAGE).unwrap();
            assert!(plan.is_decided());
            assert_eq!(ids(&plan), [left[0], left[1], r#"t.a["k"]=3"#]);
            assert_eq!(plan.steps.len(), 2, "{:?}", plan.steps);
            check_sound(&plan);
        }
        let wrong = repair(text.as_bytes(), &[(1, 3)], LINEAGE).unwrap_err();
        assert_eq!(wrong, RepairError::NoAnswer { question: 1, answer: 3 });
        assert!(repair(text.as_bytes(), &[(3, 1)], LINEAGE).is_err());
    }
}

#[test]
fn object_that_is_repeated_needs_no_answer() {
    let (one, spaced) = (object("1", ""), object("1", "  "));
    let text = state(HEAD, &[resource("a", &[&one, &spaced, &one])]);
    let plan = repair(text.as_bytes(), &[], LINEAGE).unwrap();
    assert_eq!((ids(&plan), plan.questions.len(), plan.steps.len()), (vec!["t.a=1".to_owned()], 0, 2));
    assert_eq!(plan.steps[0].action, "remove_duplicate");
    check_sound(&plan);
}

#[test]
fn dependencies_that_no_state_can_have_are_removed() {
    let on = |id: &str, list: &str| object(id, &format!(r#""dependencies": [{list}], "#));
    let [a, b, c, d] =
        [on("a", r#""t.b", "t.a""#), on("b", r#""t.c""#), on("c", r#""t.a", "t.gone""#), on("d", r#""t.a""#)];
    let text = state(
        HEAD,
        &[resource("a", &[&a]), resource("b", &[&b]), resource("c", &[&c]), resource("d", &[&d])],
    );
    let open = repair(text.as_bytes(), &[], LINEAGE).unwrap();
    assert_eq!((open.questions.len(), open.questions[0].choices.len()), (1, 3), "{:?}", open.questions);
    for answer in 1..=3 {
        let plan = repair(text.as_bytes(), &[(1, answer)], LINEAGE).unwrap();
        check_sound(&plan);
        let recorded: usize = plan.file.state.objects().map(|(_, _, object)| object.dependencies.len()).sum();
        assert_eq!((plan.steps.len(), recorded), (3, 3), "itself, what is gone, and one of the cycle");
    }
    let shown: Vec<String> = open.steps.iter().map(ToString::to_string).collect();
    assert_eq!(shown[0], "remove the dependency of t.a on t.a, which is itself");
    assert_eq!(shown[1], "remove the dependency of t.c on t.gone, which is not in the state");
}

#[test]
fn serial_and_lineage_are_mended() {
    for (serial, expected) in
        [("\"12\"", 12), ("12.0", 12), ("-3", 0), ("\"x\"", 0), ("true", 0), ("1e2", 100)]
    {
        let head = format!(r#""serial": {serial}, "lineage": """#);
        let text = state(&head, &[resource("a", &[&object("1", "")])]);
        let plan = repair(text.as_bytes(), &[], LINEAGE).unwrap();
        assert_eq!((plan.file.serial.get(), plan.file.lineage.as_str()), (expected, LINEAGE), "{serial}");
        let actions: Vec<_> = plan.steps.iter().map(|step| step.action).collect();
        assert_eq!(actions, ["set_serial", "set_lineage"]);
        check_sound(&plan);
    }
    let sound = state(HEAD, &[resource("a", &[&object("1", "")])]);
    assert!(repair(sound.as_bytes(), &[], LINEAGE).unwrap().steps.is_empty());
}

#[test]
fn damage_is_no_matter_of_a_repair() {
    let text = state(HEAD, &[resource("a", &[&object("1", r#""status": "odd", "#)])]);
    assert!(matches!(repair(text.as_bytes(), &[], LINEAGE), Err(RepairError::Read(_))));
    assert!(repair(&text.as_bytes()[..text.len() - 4], &[], LINEAGE).is_err());
}

/// A state of an old format whose root module is listed for each of these entries of `t.a`.
fn old_state(version: u64, entries: &[String]) -> String {
    let module =
        |entry: &String| format!(r#"{{"path": ["root"], "outputs": {{}}, "resources": {{"t.a": {entry}}}}}"#);
    let modules: Vec<String> = entries.iter().map(module).collect();
    // Format 1 has neither.
    let more = if version > 1 { r#""terraform_version": "0.11.14", "lineage": "l", "# } else { "" };
    format!(r#"{{"version": {version}, {more}"serial": 3, "modules": [{}]}}"#, modules.join(",\n"))
}

fn old_entry(id: &str, deposed: &[&str]) -> String {
    let object = |id: &&str| format!(r#"{{"id": "{id}", "attributes": {{"id": "{id}"}}}}"#);
    let deposed: Vec<String> = deposed.iter().map(object).collect();
    let more = match deposed.is_empty() {
        true => String::new(),
        false => format!(r#", "deposed": [{}]"#, deposed.join(", ")),
    };
    format!(r#"{{"type": "t", "primary": {}{more}}}"#, object(&id))
}

#[test]
fn module_that_an_old_format_lists_twice_is_repaired() {
    for version in 1..=3 {
        let text = old_state(version, &[old_entry("1", &[]), old_entry("2", &[])]);
        let open = repair(text.as_bytes(), &[], "new").unwrap();
        assert_eq!(open.questions.len(), 1, "{version}");
        assert_eq!(open.questions[0].text, "t.a has 2 objects, which differ: which one stays?");
        assert!(open.questions[0].choices[1].ends_with("with the id \"2\""), "{:?}", open.questions);
        for answer in [1, 2] {
            let plan = repair(text.as_bytes(), &[(1, answer)], "new").unwrap();
            assert_eq!(ids(&plan), [format!("t.a={answer}")], "{version}");
            check_sound(&plan);
        }
        let same = old_state(version, &[old_entry("1", &[]), old_entry("1", &[])]);
        let plan = repair(same.as_bytes(), &[], "new").unwrap();
        assert!(plan.is_decided(), "{version}");
        assert_eq!(ids(&plan), ["t.a=1"], "{version}");
    }
}

#[test]
fn deposed_objects_of_one_number_in_an_old_format_are_asked_for() {
    let text = old_state(3, &[old_entry("1", &["old"]), old_entry("1", &["older"])]);
    let plan = repair(text.as_bytes(), &[(1, 2)], "new").unwrap();
    assert_eq!(plan.questions.len(), 1, "{:?}", plan.questions);
    assert!(
        plan.questions[0].text.starts_with("t.a (deposed 00000001) has 2 objects"),
        "{:?}",
        plan.questions
    );
    assert_eq!(ids(&plan), ["t.a=1", "t.a=older"]);
    check_sound(&plan);
}

#[test]
fn entry_that_an_old_format_names_twice_is_the_last_one_as_for_readers() {
    let entry = |id: &str| format!("\"t.a\": {}", old_entry(id, &[]));
    let text =
        old_state(3, &[old_entry("1", &[])]).replace(&entry("1"), &format!("{}, {}", entry("1"), entry("2")));
    let plan = repair(text.as_bytes(), &[], "new").unwrap();
    assert_eq!((plan.questions.len(), ids(&plan)), (0, vec!["t.a=2".to_owned()]));
}
