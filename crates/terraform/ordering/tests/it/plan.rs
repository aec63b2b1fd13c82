//! Inputs from plans.

use groundstate_ordering::{
    Action, BuildErrors, OperationGraph, PlanError, PlanMode, Planned, Product, Profile, ReplaceOrder, build,
};
use groundstate_states::State;

/// Printed by Terraform 1.11.4 for `terraform_data` resources: `net` is replaced, modules `m` take it over a local value,
/// `vm` depends on all of `module.m` and is create before destroy.
const REAL: &[u8] = include_bytes!("../fixtures/plan/modules-and-locals.json");

fn read(text: &str) -> Planned {
    Planned::read(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}"))
}

fn graph(planned: &Planned) -> Result<OperationGraph, BuildErrors> {
    build(&planned.input, &planned.options)
}

/// A plan of these blocks and changes.
fn plan(configuration: &str, changes: &str, prior: &str) -> String {
    format!(
        r#"{{"format_version": "1.2", "terraform_version": "1.11.4",
            "prior_state": {{"format_version": "1.0", "values": {{"root_module": {prior}}}}},
            "configuration": {configuration}, "resource_changes": {changes}}}"#
    )
}

#[test]
fn a_real_plan_is_ordered() {
    let planned = Planned::read(REAL, None).unwrap();
    let listing = graph(&planned).unwrap().to_listing().unwrap();
    let expected = r#"0	terraform_data.net[0]	replace-create
0	terraform_data.net[1]	replace-create
1	module.m["p"].terraform_data.a	update
1	module.m["q"].terraform_data.a	update
2	module.m["p"].terraform_data.b	check
2	module.m["q"].terraform_data.b	check
2	terraform_data.net[0] (destroy deposed 00000001)	destroy-deposed
2	terraform_data.net[1] (destroy deposed 00000001)	destroy-deposed
"#;
    let mut lines: Vec<&str> = listing.lines().collect();
    lines.sort_unstable();
    let mut wanted: Vec<&str> = expected.lines().collect();
    wanted.sort_unstable();
    assert_eq!(lines, wanted);

    let notes: Vec<String> = planned.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "the plan does not say what local.x refers to (module.m.terraform_data.a): the dependencies that its objects record are used",
            "the plan does not say what its conditions refer to (module.m.terraform_data.b): the dependencies that its objects record are used",
        ]
    );
    let causes: Vec<String> = planned.causes.values().map(|cause| cause.replace_paths.join(",")).collect();
    assert_eq!(causes, ["triggers_replace", "triggers_replace"]);
}

#[test]
fn references_lead_through_variables_outputs_and_calls() {
    let configuration = r#"{"root_module": {
        "resources": [
            {"mode": "managed", "type": "t", "name": "a"},
            {"mode": "managed", "type": "t", "name": "gate"},
            {"mode": "managed", "type": "t", "name": "z", "expressions": {"x": [{"y": {"references": ["module.m[\"k\"].out", "module.m[\"k\"]", "module.m"]}}]}},
            {"mode": "managed", "type": "t", "name": "whole", "depends_on": ["module.m"]},
            {"mode": "managed", "type": "t", "name": "all", "expressions": {"x": {"references": ["module.m"]}}}
        ],
        "module_calls": {"m": {
            "expressions": {"in": {"references": ["t.a.id", "t.a"]}, "unused": {"references": ["t.whole"]}},
            "for_each_expression": {"references": ["t.gate.id", "t.gate"]},
            "module": {
                "resources": [
                    {"mode": "managed", "type": "t", "name": "b", "expressions": {"x": {"references": ["var.in"]}}},
                    {"mode": "data", "type": "t", "name": "c"}
                ],
                "outputs": {"out": {"expression": {"references": ["t.b.id", "t.b"]}},
                            "other": {"expression": {"references": ["data.t.c.id", "data.t.c"]}}}
            }}}
        }}"#;
    let planned = read(&plan(configuration, "[]", "{}"));
    let dependencies: Vec<String> = planned
        .input
        .resources
        .iter()
        .map(|block| {
            let names = block.dependencies.iter().map(|reference| match reference {
                groundstate_ordering::DepRef::Resource(addr) => addr.to_string(),
                groundstate_ordering::DepRef::Module(module) => module.to_string(),
            });
            let mut names: Vec<String> = names.collect();
            names.sort();
            format!("{}: {}", block.addr, names.join(" "))
        })
        .collect();
    assert_eq!(
        dependencies,
        [
            "t.a: ",
            "t.gate: ",
            "t.z: module.m.t.b",
            "t.whole: module.m",
            "t.all: module.m module.m.data.t.c module.m.t.b",
            "module.m.t.b: t.a t.gate",
            "module.m.data.t.c: t.gate",
        ]
    );
}

#[test]
fn every_action_is_read() {
    let cases = [
        (r#"["no-op"]"#, Action::NoOp),
        (r#"["update"]"#, Action::Update),
        (r#"["delete"]"#, Action::Delete),
        (r#"["forget"]"#, Action::Forget),
        (r#"["delete","create"]"#, Action::Replace(ReplaceOrder::DeleteThenCreate)),
        (r#"["create","delete"]"#, Action::Replace(ReplaceOrder::CreateThenDelete)),
        (r#"["forget","create"]"#, Action::ForgetThenCreate),
        (r#"["create","forget"]"#, Action::ForgetThenCreate),
    ];
    for (actions, action) in cases {
        let configuration =
            r#"{"root_module": {"resources": [{"mode": "managed", "type": "t", "name": "a"}]}}"#;
        let changes = format!(r#"[{{"address": "t.a", "change": {{"actions": {actions}}}}}]"#);
        let prior = r#"{"resources": [{"address": "t.a", "provider_name": "registry.terraform.io/acme/x"}]}"#;
        let planned = read(&plan(configuration, &changes, prior));
        assert_eq!(planned.input.changes[0].action, action);
        graph(&planned).unwrap();
    }
    // What Terraform prints first has come first since 1.16.1.
    let text = plan(
        r#"{"root_module": {"resources": [{"mode": "managed", "type": "t", "name": "a"}]}}"#,
        r#"[{"address": "t.a", "change": {"actions": ["create","forget"]}}]"#,
        r#"{"resources": [{"address": "t.a", "provider_name": "registry.terraform.io/acme/x"}]}"#,
    );
    for (version, action) in [
        ("1.16.0", Action::ForgetThenCreate),
        ("1.16.1", Action::CreateThenForget),
        ("1.17.0-beta1", Action::CreateThenForget),
        ("2.0.0", Action::CreateThenForget),
    ] {
        let planned = read(&text.replace("1.11.4\"", &format!("{version}\", \"applyable\": true")));
        assert_eq!(planned.input.changes[0].action, action, "{version}");
        graph(&planned).unwrap();
    }
    let changes = r#"[{"address": "t.a", "change": {"actions": ["explode"]}}]"#;
    let error = Planned::read(plan("{}", changes, "{}").as_bytes(), None).unwrap_err();
    assert!(matches!(error, PlanError::Actions { .. }));
}

#[test]
fn a_plan_that_destroys_is_one() {
    let configuration = r#"{"root_module": {"resources": [
        {"mode": "managed", "type": "t", "name": "a"},
        {"mode": "managed", "type": "t", "name": "b", "expressions": {"x": {"references": ["t.a"]}}}]}}"#;
    let changes = r#"[{"address": "t.a", "change": {"actions": ["delete"]}},
        {"address": "t.b", "change": {"actions": ["delete"]}},
        {"address": "t.b", "deposed": "0000000a", "change": {"actions": ["delete"]}}]"#;
    let prior = r#"{"resources": [{"address": "t.a"}, {"address": "t.b", "depends_on": ["t.a"]}, {"address": "t.b", "deposed_key": "0000000a"}]}"#;
    let planned = read(&plan(configuration, changes, prior));
    assert_eq!(planned.options.mode, PlanMode::Destroy);
    // The leftover records nothing, so it is on its own.
    let listing = graph(&planned).unwrap().to_listing().unwrap();
    assert_eq!(
        listing,
        "0\tt.b (destroy)\tdestroy\n1\tt.a (destroy)\tdestroy\n0\tt.b (destroy deposed 0000000a)\tdestroy-deposed\n"
    );
}

#[test]
fn the_state_knows_what_a_plan_does_not() {
    let state = r#"{"version": 4, "serial": 1, "lineage": "a", "outputs": {}, "resources": [
        {"mode": "managed", "type": "t", "name": "old", "provider": "provider[\"registry.terraform.io/acme/x\"].west",
         "instances": [{"attributes": {}, "create_before_destroy": true}]},
        {"mode": "managed", "type": "t", "name": "before", "provider": "provider[\"registry.terraform.io/acme/x\"]",
         "instances": [{"attributes": {}, "dependencies": ["t.old"]}]}]}"#;
    let file = groundstate_statefile::decode(state.as_bytes(), &Default::default()).unwrap();
    let configuration =
        r#"{"root_module": {"resources": [{"mode": "managed", "type": "t", "name": "now"}]}}"#;
    let changes = r#"[{"address": "t.old", "change": {"actions": ["delete"]}},
        {"address": "t.now", "previous_address": "t.before", "change": {"actions": ["update"]}}]"#;
    let text = plan(configuration, changes, "{}");
    let with = |state: Option<&State>| {
        let planned = Planned::read(text.as_bytes(), state).unwrap();
        (graph(&planned).unwrap().to_listing().unwrap(), planned.notes.len())
    };
    let known = ("0\tt.now\tupdate\n1\tt.old (destroy)\tdestroy\n".to_owned(), 0);
    assert_eq!(with(Some(&file.state)), known);
    // Without it, nothing says that the one depends on the other, nor that it goes last.
    let guessed = ("0\tt.now\tupdate\n0\tt.old (destroy)\tdestroy\n".to_owned(), 2);
    assert_eq!(with(None), guessed);
}

#[test]
fn providers_are_nodes_where_they_order_something() {
    let configuration = r#"{
        "provider_config": {
            "x": {"name": "x", "full_name": "registry.terraform.io/acme/x"},
            "module.m:x.west": {"name": "x", "full_name": "registry.terraform.io/acme/x", "alias": "west",
                "module_address": "module.m", "expressions": {"host": {"references": ["var.host"]}}}},
        "root_module": {
            "resources": [{"mode": "managed", "type": "t", "name": "a", "provider_config_key": "x"}],
            "module_calls": {"m": {"expressions": {"host": {"references": ["t.a.ip", "t.a"]}}, "module": {
                "resources": [{"mode": "managed", "type": "t", "name": "b", "provider_config_key": "module.m:x.west"}]}}}}}"#;
    let changes = r#"[{"address": "t.a", "change": {"actions": ["create"]}},
        {"address": "module.m.t.b", "change": {"actions": ["create"]}}]"#;
    let listing = graph(&read(&plan(configuration, changes, "{}"))).unwrap().to_listing().unwrap();
    let labels: Vec<&str> = listing.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(
        labels,
        [
            r#"provider["registry.terraform.io/acme/x"]"#,
            "t.a",
            r#"module.m.provider["registry.terraform.io/acme/x"].west"#,
            "module.m.t.b",
            r#"provider["registry.terraform.io/acme/x"] (close)"#,
            r#"module.m.provider["registry.terraform.io/acme/x"].west (close)"#,
        ]
    );
}

#[test]
fn texts_that_are_no_plans_are_refused() {
    for (text, message) in [
        ("", "byte 0 of the plan is not JSON"),
        ("[]", "this is not a plan"),
        ("{}", "this is not a plan"),
        (r#"{"format_version": "1.0", "values": {}}"#, "this is not a plan"),
        ("PK\u{3}\u{4}", "this is a plan file, which only the program that wrote it can read"),
        (r#"{"format_version": "2.0", "resource_changes": []}"#, "plans of format 2.0 are not known"),
        (
            r#"{"format_version": "1.0", "resource_changes": {}}"#,
            "`resource_changes` of the plan is not an array",
        ),
        (
            r#"{"format_version": "1.0", "resource_changes": [{"address": "?"}]}"#,
            "the plan names \"?\", which is not an address",
        ),
        (
            r#"{"format_version": "1.0", "resource_changes": [{"address": 3}]}"#,
            "`address` of the plan is not a string",
        ),
        (r#"{"format_version": "1.0", "resource_changes": []"#, "byte 48 of the plan is not JSON"),
    ] {
        let error = Planned::read(text.as_bytes(), None).expect_err(text).to_string();
        assert!(error.starts_with(message), "{text}: {error}");
    }
    // However deep: refused, or read without a stack that grows.
    let modules = r#"{"module_calls": {"m": {"module": "#.repeat(5_000);
    let deep = format!(r#"{{"format_version": "1.0", "configuration": {{"root_module": {modules}"#);
    assert_eq!(Planned::read(deep.as_bytes(), None).unwrap_err(), PlanError::TooDeep(64));
    let expressions = format!("{}{}", r#"[{"a": "#.repeat(4_900), "0");
    let deep = format!(
        r#"{{"format_version": "1.0", "configuration": {{"root_module": {{"resources": [{{"expressions": {expressions}"#
    );
    assert!(matches!(Planned::read(deep.as_bytes(), None).unwrap_err(), PlanError::Syntax { .. }));
}

#[test]
fn a_plan_cut_off_anywhere_is_refused() {
    for end in (0..REAL.len()).step_by(97) {
        assert!(Planned::read(&REAL[..end], None).is_err(), "cut at {end}");
    }
}

#[test]
fn plans_that_do_not_hold_all_changes_say_so() {
    let text = r#"{"format_version": "1.2", "errored": true, "resource_changes": [],
        "deferred_changes": [{"reason": "resource_config_unknown"}, {"reason": "provider_config_unknown"}]}"#;
    let notes: Vec<String> = read(text).notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "planning ended with an error, so changes may be missing in the order: plan again",
            "changes put off to a later plan are missing in the order: 2",
        ]
    );
    let whole =
        r#"{"format_version": "1.2", "errored": false, "resource_changes": [], "deferred_changes": []}"#;
    assert_eq!(read(whole).notes, []);
}

#[test]
fn ephemeral_resources_have_no_operations() {
    let configuration = r#"{"root_module": {"resources": [{"mode": "ephemeral", "type": "e", "name": "a"},
        {"mode": "managed", "type": "t", "name": "b", "expressions": {"x": {"references": ["ephemeral.e.a"]}}}]}}"#;
    let changes = r#"[{"address": "ephemeral.e.a", "change": {"actions": ["open"]}},
        {"address": "t.b", "change": {"actions": ["create"]}}]"#;
    let graph = graph(&read(&plan(configuration, changes, "{}"))).unwrap();
    assert_eq!(graph.to_listing().unwrap(), "0\tt.b\tcreate\n");
}

/// Terraform rewrites the flag when it plans, so a state of before the plan does not speak against its order.
#[test]
fn a_flag_that_planning_took_back_does_not_count() {
    let state = r#"{"version": 4, "serial": 1, "lineage": "a", "outputs": {}, "resources": [
        {"mode": "managed", "type": "t", "name": "a", "provider": "provider[\"registry.terraform.io/acme/x\"]",
         "instances": [{"attributes": {}, "create_before_destroy": true}]}]}"#;
    let file = groundstate_statefile::decode(state.as_bytes(), &Default::default()).unwrap();
    let configuration = r#"{"root_module": {"resources": [{"mode": "managed", "type": "t", "name": "a"}]}}"#;
    let changes = r#"[{"address": "t.a", "change": {"actions": ["delete", "create"]}}]"#;
    let planned = Planned::read(plan(configuration, changes, "{}").as_bytes(), Some(&file.state)).unwrap();
    for profile in [Profile::Fixed, Profile::Classic] {
        let mut options = planned.options.clone();
        options.profile = profile;
        let listing = build(&planned.input, &options).unwrap().to_listing().unwrap();
        assert_eq!(listing, "0\tt.a (destroy)\tdestroy\n1\tt.a\treplace-create\n");
    }
}

/// A state as text, of resources of type `t`.
fn state(resources: &str) -> State {
    let text = format!(
        r#"{{"version": 4, "serial": 1, "lineage": "a", "outputs": {{}}, "resources": [{resources}]}}"#
    );
    groundstate_statefile::decode(text.as_bytes(), &Default::default()).unwrap().state
}

fn stored(name: &str, object: &str) -> String {
    format!(
        r#"{{"mode": "managed", "type": "t", "name": "{name}", "provider": "provider[\"registry.terraform.io/acme/x\"]",
            "instances": [{{"attributes": {{}}{object}}}]}}"#
    )
}

fn declared(names: &[&str]) -> String {
    let block = |name: &&str| format!(r#"{{"mode": "managed", "type": "t", "name": "{name}"}}"#);
    let blocks: Vec<String> = names.iter().map(block).collect();
    format!(r#"{{"root_module": {{"resources": [{}]}}}}"#, blocks.join(","))
}

/// The plan was made from the refreshed state, so what the file of before says of dependencies is out of date.
#[test]
fn dependencies_of_the_prior_state_count_and_not_those_of_the_state() {
    let changes = r#"[{"address": "t.a", "change": {"actions": ["delete"]}}, {"address": "t.b", "change": {"actions": ["delete"]}}]"#;
    let forward = "0\tt.b (destroy)\tdestroy\n1\tt.a (destroy)\tdestroy\n";
    let apart = "0\tt.a (destroy)\tdestroy\n0\tt.b (destroy)\tdestroy\n";
    let needs = r#", "depends_on": ["t.a"]"#;
    let records = r#", "dependencies": ["t.a"]"#;
    for (prior, record, expected) in [(needs, "", forward), ("", records, apart)] {
        let prior = format!(r#"{{"resources": [{{"address": "t.a"}}, {{"address": "t.b"{prior}}}]}}"#);
        let state = state(&[stored("a", ""), stored("b", record)].join(","));
        let text = plan(&declared(&[]), changes, &prior);
        let planned = Planned::read(text.as_bytes(), Some(&state)).unwrap();
        assert_eq!(graph(&planned).unwrap().to_listing().unwrap(), expected);
    }
}

#[test]
fn flags_that_decide_and_are_unknown_are_told() {
    let changes = r#"[{"address": "t.old", "change": {"actions": ["delete"]}}, {"address": "t.lb", "change": {"actions": ["update"]}}]"#;
    let prior = r#"{"resources": [{"address": "t.old"}, {"address": "t.lb", "depends_on": ["t.old"]}]}"#;
    let text = plan(&declared(&["old", "lb"]), changes, prior);
    let undecided = |state: Option<&State>| {
        let planned = Planned::read(text.as_bytes(), state).unwrap();
        let (input, options) = planned.under(Product::Terraform);
        let graph = build(&input, &options).unwrap();
        let undecided = graph.undecided(&planned.unknown_flags);
        let pairs: Vec<String> =
            undecided.iter().map(|it| format!("{} {}", it.change, it.destruction)).collect();
        (pairs, graph.to_listing().unwrap())
    };
    assert_eq!(undecided(None).0, ["t.lb t.old (destroy)"]);
    for (flag, first) in [(r#", "create_before_destroy": true"#, "0\tt.lb"), ("", "1\tt.lb")] {
        let state = state(&[stored("old", flag), stored("lb", "")].join(","));
        let (pairs, listing) = undecided(Some(&state));
        assert_eq!(pairs, Vec::<String>::new());
        assert!(listing.contains(first), "{listing}");
    }
}

/// What recorded dependencies stand in for must not close a cycle with what the configuration says today.
#[test]
fn records_stand_in_for_conditions_unless_they_are_out_of_date() {
    let configuration = r#"{"root_module": {"resources": [
        {"mode": "managed", "type": "t", "name": "a", "expressions": {"x": {"references": ["t.c"]}}},
        {"mode": "managed", "type": "t", "name": "b"},
        {"mode": "managed", "type": "t", "name": "c"}]}}"#;
    let actions = r#""change": {"actions": ["update"]}"#;
    let changes = ["a", "b", "c"].map(|name| format!(r#"{{"address": "t.{name}", {actions}}}"#)).join(",");
    let prior = r#"{"resources": [{"address": "t.a"}, {"address": "t.b"}, {"address": "t.c", "depends_on": ["t.a", "t.b"]}]}"#;
    let checks = r#""checks": [{"address": {"kind": "resource", "to_display": "t.c"}}], "format_version""#;
    let text = plan(configuration, &format!("[{changes}]"), prior).replacen("\"format_version\"", checks, 1);
    let planned = Planned::read(text.as_bytes(), None).unwrap();
    assert_eq!(
        graph(&planned).unwrap().to_listing().unwrap(),
        "0\tt.b\tupdate\n1\tt.c\tupdate\n2\tt.a\tupdate\n"
    );
}

#[test]
fn only_planned_instances_have_their_conditions_checked() {
    let changes = r#"[{"address": "t.a", "change": {"actions": ["no-op"]}}]"#;
    let prior = r#"{"resources": [{"address": "t.a"}, {"address": "t.b"}]}"#;
    let checks = r#""checks": [{"address": {"kind": "resource", "to_display": "t.a"}},
        {"address": {"kind": "resource", "to_display": "t.b"}}], "format_version""#;
    let text = plan(&declared(&["a", "b"]), changes, prior).replacen("\"format_version\"", checks, 1);
    let planned = Planned::read(text.as_bytes(), None).unwrap();
    assert_eq!(graph(&planned).unwrap().to_listing().unwrap(), "0\tt.a\tcheck\n");
}

/// What depended on `t.a` is destroyed before `t.a2`, which it has become; Terraform itself does not see that.
#[test]
fn recorded_dependencies_follow_moves() {
    let changes = r#"[{"address": "t.a2", "previous_address": "t.a", "change": {"actions": ["delete"]}},
        {"address": "t.u", "change": {"actions": ["delete"]}}]"#;
    let prior = r#"{"resources": [{"address": "t.a2"}, {"address": "t.u", "depends_on": ["t.a"]}]}"#;
    let planned = read(&plan(&declared(&["a2", "u"]), changes, prior));
    let followed = graph(&planned).unwrap().to_listing().unwrap();
    assert_eq!(followed, "0\tt.u (destroy)\tdestroy\n1\tt.a2 (destroy)\tdestroy\n");
    let (input, options) = planned.under(Product::Terraform);
    assert_eq!(options.profile, Profile::Classic);
    let apart = build(&input, &options).unwrap().to_listing().unwrap();
    assert_eq!(apart, "0\tt.a2 (destroy)\tdestroy\n0\tt.u (destroy)\tdestroy\n");
}

#[test]
fn the_product_shows_in_the_plan() {
    for (members, product) in [
        (r#""terraform_version": "1.11.4", "applyable": true"#, Product::Terraform),
        (r#""terraform_version": "1.5.7""#, Product::Terraform),
        (r#""terraform_version": "1.12.6""#, Product::OpenTofu),
        (
            r#""terraform_version": "1.6.0", "resource_changes": [{"address": "t.a", "change": {"actions": ["create"]},
               "provider_name": "registry.opentofu.org/acme/x"}]"#,
            Product::OpenTofu,
        ),
    ] {
        let text = format!(r#"{{"format_version": "1.2", "configuration": {{}}, {members}}}"#);
        assert_eq!(Planned::read(text.as_bytes(), None).unwrap().product, product, "{members}");
    }
}

#[test]
fn invoked_actions_are_noted() {
    let text = plan("{}", "[]", "{}").replacen(
        "{",
        r#"{"action_invocations": [{"address": "action.acme_call.b[0]"}, {"address": "action.acme_call.a"}, {"address": "action.acme_call.a"}],
            "deferred_action_invocations": [{}],"#,
        1,
    );
    let notes: Vec<String> = read(&text).notes.iter().map(ToString::to_string).collect();
    let expected = "actions that the plan invokes are missing in the order: 4 (action.acme_call.a, action.acme_call.b[0])";
    assert_eq!(notes, [expected]);
}

#[test]
fn flag_of_the_prior_state_decides() {
    let prior = |flag: &str| {
        format!(
            r#"{{"resources": [{{"address": "t.old", "provider_name": "registry.terraform.io/acme/x"{flag}}},
            {{"address": "t.new", "provider_name": "registry.terraform.io/acme/x", "depends_on": ["t.old"]}}]}}"#
        )
    };
    let configuration =
        r#"{"root_module": {"resources": [{"mode": "managed", "type": "t", "name": "new"}]}}"#;
    let changes = r#"[{"address": "t.old", "change": {"actions": ["delete"]}},
        {"address": "t.new", "change": {"actions": ["update"]}}]"#;
    let first = |flag: &str| {
        let planned = read(&plan(configuration, changes, &prior(flag)));
        let (input, options) = planned.under(Product::Terraform);
        let order = build(&input, &options).unwrap().to_listing().unwrap();
        (planned.unknown_flags.len(), order.split('\t').nth(1).unwrap().to_owned())
    };
    assert_eq!(first(r#", "create_before_destroy": true"#), (0, "t.new".to_owned()));
    assert_eq!(first(r#", "create_before_destroy": false"#), (0, "t.old (destroy)".to_owned()));
    assert_eq!(first("").0, 1);
}

#[test]
fn plan_in_another_encoding_is_reported_with_the_way_out() {
    let text = plan("{}", "[]", "{}");
    let (little, big): (Vec<u8>, Vec<u8>) = (
        text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    );
    for (bytes, advice) in [
        ([b"\xff\xfe".as_slice(), &little].concat(), "looks like UTF-16: convert it to UTF-8"),
        ([b"\xfe\xff".as_slice(), &big].concat(), "looks like UTF-16: convert it to UTF-8"),
        (little, "looks like UTF-16: convert it to UTF-8"),
        (big, "looks like UTF-16: convert it to UTF-8"),
        ([b"\xef\xbb\xbf".as_slice(), text.as_bytes()].concat(), "begins with a byte-order mark"),
    ] {
        let error = Planned::read(&bytes, None).unwrap_err().to_string();
        assert!(error.contains(advice), "{error}");
    }
}
