//! What may become what.

use groundstate_state_edit::{Editor, MoveOptions};

use crate::support::{at, document, lines, moved, operate, refused};

const STATE: &[&str] = &[
    "data.test_thing.d",
    "test_other.o",
    "test_thing.a",
    "test_thing.b[0]",
    "test_thing.b[1]",
    r#"test_thing.c["x"]"#,
    "module.m.test_thing.in",
    "module.m.module.deep.test_thing.in",
    "module.n[0].test_thing.in",
    "module.n[1].test_thing.in",
    "module.n[1].module.deep.test_thing.in",
];

#[track_caller]
fn check(from: &str, to: &str, gone: &[&str], new: &[&str]) {
    let after = moved(STATE, from, to, MoveOptions::default());
    for line in STATE {
        assert_eq!(after.contains(&(*line).to_owned()), !gone.contains(line), "{line} in {after:?}");
    }
    for line in new {
        assert!(after.contains(&(*line).to_owned()), "{line} is missing in {after:?}");
    }
    assert_eq!(after.len(), STATE.len());
}

#[test]
fn a_resource_without_keys_moves_as_an_instance() {
    check("test_thing.a", "test_thing.z", &["test_thing.a"], &["test_thing.z"]);
    check("test_thing.a", "test_thing.b[7]", &["test_thing.a"], &["test_thing.b[7]"]);
    check(
        "test_thing.a",
        "module.new[\"k\"].test_thing.a",
        &["test_thing.a"],
        &["module.new[\"k\"].test_thing.a"],
    );
    check("data.test_thing.d", "data.test_thing.e", &["data.test_thing.d"], &["data.test_thing.e"]);
}

#[test]
fn instances_lose_get_and_change_keys() {
    check("test_thing.b[1]", "test_thing.z", &["test_thing.b[1]"], &["test_thing.z"]);
    check("test_thing.b[1]", "test_thing.b", &["test_thing.b[1]"], &["test_thing.b"]);
    check(
        r#"test_thing.c["x"]"#,
        r#"test_thing.c["y"]"#,
        &[r#"test_thing.c["x"]"#],
        &[r#"test_thing.c["y"]"#],
    );
    check("test_thing.b[0]", r#"test_thing.c["0"]"#, &["test_thing.b[0]"], &[r#"test_thing.c["0"]"#]);
}

#[test]
fn a_whole_resource_keeps_its_keys() {
    check(
        "test_thing.b",
        "module.x.test_thing.bb",
        &["test_thing.b[0]", "test_thing.b[1]"],
        &["module.x.test_thing.bb[0]", "module.x.test_thing.bb[1]"],
    );
}

#[test]
fn modules_move_with_all_that_is_inside() {
    check(
        "module.m",
        "module.x.module.y",
        &["module.m.test_thing.in", "module.m.module.deep.test_thing.in"],
        &["module.x.module.y.test_thing.in", "module.x.module.y.module.deep.test_thing.in"],
    );
    check(
        "module.m",
        "module.n[\"k\"]",
        &["module.m.test_thing.in", "module.m.module.deep.test_thing.in"],
        &["module.n[\"k\"].test_thing.in", "module.n[\"k\"].module.deep.test_thing.in"],
    );
    // Into itself, since everything is taken out first.
    check(
        "module.m",
        "module.m.module.m",
        &["module.m.test_thing.in", "module.m.module.deep.test_thing.in"],
        &["module.m.module.m.test_thing.in", "module.m.module.m.module.deep.test_thing.in"],
    );
}

#[test]
fn a_module_without_a_key_stands_for_all_instances_of_its_call() {
    let instances =
        ["module.n[0].test_thing.in", "module.n[1].test_thing.in", "module.n[1].module.deep.test_thing.in"];
    check(
        "module.n",
        "module.many",
        &instances,
        &[
            "module.many[0].test_thing.in",
            "module.many[1].test_thing.in",
            "module.many[1].module.deep.test_thing.in",
        ],
    );
    let error = refused(STATE, "module.n", "module.many[0]");
    assert_eq!(
        error,
        "cannot move module.n to module.many[0]: the module has instances with keys; name one of them, such as \
         module.n[0]"
    );
}

#[test]
fn refuses_what_cannot_become_each_other() {
    for (from, to, why) in [
        ("test_thing.zz", "test_thing.y", "cannot move test_thing.zz: it matches nothing in the state"),
        ("test_thing.b[7]", "test_thing.y", "cannot move test_thing.b[7]: it matches nothing in the state"),
        ("module.zz", "module.y", "cannot move module.zz: it matches nothing in the state"),
        ("module.m[0]", "module.y", "cannot move module.m[0]: it matches nothing in the state"),
        ("test_thing.a", "test_thing.b[0]", "test_thing.b[0] is in the state already"),
        ("test_thing.a", "test_thing.a", "test_thing.a is in the state already"),
        ("test_thing.b", "test_thing.c", "test_thing.c is in the state already"),
        ("test_thing.b", "test_thing.b", "test_thing.b is in the state already"),
        ("module.m", "module.n[0]", "module.n[0] is in the state already"),
        ("module.m", "module.m", "module.m is in the state already"),
        ("module.m", "test_thing.y", "a module can only become a module"),
        ("test_thing.b", "test_thing.y[0]", "the destination must be one too"),
        ("test_thing.b", "module.y", "the destination must be one too"),
        ("test_thing.a", "module.y", "a resource instance cannot become a module"),
        ("test_thing.a", "test_other.a", "the resource types differ"),
        ("test_thing.b", "test_other.b", "the resource types differ"),
        ("test_thing.a", "data.test_thing.a", "cannot become each other"),
        ("test_thing.a", "ephemeral.test_thing.a", "ephemeral resources are not part of a state"),
    ] {
        let error = refused(STATE, from, to);
        assert!(error.contains(why), "{from} to {to}: {error}");
    }
}

#[test]
fn compatible_moves_take_modules_by_their_exact_keys() {
    let document = document(STATE);
    let mut editor = Editor::on_document(&document);
    let compat = MoveOptions::default().compat(true);
    editor.move_address(&at("module.n"), &at("module.y"), compat).unwrap_err();
    editor.move_address(&at("module.n[1]"), &at("module.y"), compat).unwrap();
    let after = lines(&editor.to_file().unwrap());
    assert!(after.contains(&"module.y.module.deep.test_thing.in".to_owned()), "{after:?}");
}

#[test]
fn things_can_swap_places_when_they_move_together() {
    let document = document(&["test_thing.a", "test_thing.b[0]", "test_thing.b[1]", "module.m.test_thing.x"]);
    let ids = |file: &groundstate_statefile::File| -> Vec<String> {
        let object = |o: &groundstate_states::ObjectSrc| match &o.attributes {
            groundstate_states::Attributes::Json(raw) => raw.as_str().to_owned(),
            groundstate_states::Attributes::Flat(_) => panic!("json"),
        };
        file.state.objects().map(|(address, _, o)| format!("{address} {}", object(o))).collect()
    };
    let after = operate(&document, |editor| {
        let pairs = [
            ("test_thing.b[0]", "test_thing.b[1]"),
            ("test_thing.b[1]", "test_thing.a"),
            ("test_thing.a", "test_thing.b[0]"),
        ];
        let pairs: Vec<_> = pairs.iter().map(|(from, to)| (at(from), at(to))).collect();
        editor.move_all(&pairs, MoveOptions::default()).unwrap();
    });
    assert_eq!(
        ids(&after),
        [
            r#"test_thing.a {"id":"i-2"}"#,
            r#"test_thing.b[0] {"id":"i-0"}"#,
            r#"test_thing.b[1] {"id":"i-1"}"#,
            r#"module.m.test_thing.x {"id":"i-3"}"#,
        ]
    );
    let mut editor = Editor::on_document(&document);
    let twice = [(at("test_thing.b[0]"), at("test_thing.z")), (at("test_thing.b[1]"), at("test_thing.z"))];
    let error = editor.move_all(&twice, MoveOptions::default()).unwrap_err().to_string();
    assert!(error.contains("something else is moved there as well"), "{error}");
    let twice = [(at("test_thing.b"), at("test_thing.z")), (at("test_thing.b[1]"), at("test_thing.y"))];
    let error = editor.move_all(&twice, MoveOptions::default()).unwrap_err().to_string();
    assert!(error.contains("it is moved elsewhere as well"), "{error}");
    assert!(!editor.is_changed().unwrap());
}
