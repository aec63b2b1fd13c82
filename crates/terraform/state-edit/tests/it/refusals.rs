//! Why an operation is refused, word for word: users read it, and scripts look for it.

use groundstate_state_edit::{Editor, MoveOptions, Transfer};
use groundstate_statefile::Document;
use groundstate_states::addr::{ProviderSource, TERRAFORM_REGISTRY};

use crate::support::{PROVIDER, at, document, instance, refused};

const STATE: &[&str] = &[
    "data.test.d",
    "test.a",
    "test.b[0]",
    "test.b[1]",
    r#"module.m["x"].module.n[2].test.in"#,
    "module.solo.test.in",
];

#[test]
fn a_move_names_both_addresses_the_cause_and_what_to_do() {
    for (from, to, said) in [
        (
            "test.zz",
            "test.y",
            "cannot move test.zz: it matches nothing in the state; list the state to see the addresses it has",
        ),
        (
            "test.a",
            "test.b[0]",
            "cannot move test.a to test.b[0]: test.b[0] is in the state already; remove it or choose another address",
        ),
        (
            "module.solo",
            r#"module.m["x"].module.n[2]"#,
            r#"cannot move module.solo to module.m["x"].module.n[2]: module.m["x"].module.n[2] is in the state already; remove it or choose another address"#,
        ),
        (
            r#"module.m["x"].module.n"#,
            "module.o[1]",
            r#"cannot move module.m["x"].module.n to module.o[1]: the module has instances with keys; name one of them, such as module.m["x"].module.n[2]"#,
        ),
        (
            "module.solo",
            "test.y",
            "cannot move module.solo to test.y: a module can only become a module; write `module.NAME` as the destination",
        ),
        (
            "test.b",
            "test.c[0]",
            "cannot move test.b to test.c[0]: the source is a whole resource, so the destination must be one too; leave out the key, or name one instance",
        ),
        (
            "test.b[0]",
            "module.y",
            "cannot move test.b[0] to module.y: a resource instance cannot become a module; write the address of an instance as the destination",
        ),
        (
            "test.a",
            "data.test.a",
            "cannot move test.a to data.test.a: a managed resource and a data source cannot become each other",
        ),
        (
            "data.test.d",
            "test.d",
            "cannot move data.test.d to test.d: a managed resource and a data source cannot become each other",
        ),
        (
            "test.b",
            "other.b",
            "cannot move test.b to other.b: the resource types differ; choose a destination of the same type",
        ),
        (
            "test.a",
            "ephemeral.test.a",
            "cannot move test.a to ephemeral.test.a: ephemeral resources are not part of a state",
        ),
    ] {
        assert_eq!(refused(STATE, from, to), said);
    }
}

#[test]
fn a_module_is_not_merged_into_another_although_no_resource_is_in_the_way() {
    let before = ["test.a", "module.m.test.x", "module.n.test.y"];
    assert_eq!(
        refused(&before, "module.m", "module.n"),
        "cannot move module.m to module.n: module.n is in the state already; remove it or choose another address"
    );
    let document = document(&before);
    let mut editor = Editor::on_document(&document);
    let pairs = [("module.m", "module.n"), ("module.n", "module.m")].map(|(from, to)| (at(from), at(to)));
    editor.move_all(&pairs, MoveOptions::default()).expect("each makes room for the other");
}

#[test]
fn moves_that_meet_name_the_pair_that_came_second() {
    for (pairs, said) in [
        (
            [("test.a", "test.y"), ("test.b[1]", "test.y")],
            "cannot move test.b[1] to test.y: something else is moved there as well; give each its own address",
        ),
        (
            [("test.b", "test.y"), ("test.b[1]", "test.z")],
            "cannot move test.b[1] to test.z: it is moved elsewhere as well; name it once",
        ),
        (
            [("test.b[1]", "test.z"), ("test.b", "test.y")],
            "cannot move test.b to test.y: it is moved elsewhere as well; name it once",
        ),
        (
            [("test.a", "test.y[0]"), ("test.b", "test.y")],
            "cannot move test.b to test.y: something else is moved there as well; give each its own address",
        ),
    ] {
        let document = document(STATE);
        let mut editor = Editor::on_document(&document);
        let pairs = pairs.map(|(from, to)| (at(from), at(to)));
        let error = editor.move_all(&pairs, MoveOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), said);
        assert!(!editor.is_changed().unwrap());
    }
}

#[test]
fn a_transfer_says_which_of_the_two_states_is_in_the_way() {
    let from = document(STATE);
    let pair = |from: &str, to: &str| [(at(from), at(to))];
    let plan = |from_text: &str, to: &str| {
        Transfer::plan(&Editor::on_document(&from), &pair(from_text, to)).unwrap()
    };
    let other = document(&["test.a", "test.c", "test.d", "test.q", "module.m.test.x"]);
    for (source, to, taken) in [
        ("test.b", "test.q", "test.q"),
        ("test.b[0]", "test.q", "test.q"),
        ("module.solo", "module.m", "module.m"),
    ] {
        let error = plan(source, to).add_to(&mut Editor::on_document(&other)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot move {source} to {to}: the other state has {taken} already, and it is not the same; remove one \
                 of the two, or choose another address"
            )
        );
    }
    let error =
        plan("test.a", "test.y").remove_from(&mut Editor::on_document(&document(&["test.b"]))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot move test.a: another client has changed it meanwhile; the other state has what it was before"
    );
}

#[test]
fn removals_taints_and_providers_say_what_is_missing() {
    let document = document(STATE);
    let mut editor = Editor::on_document(&document);
    let list = "list the state to see the addresses it has";
    assert_eq!(
        editor.remove(&[at("test.zz")]).unwrap_err().to_string(),
        format!("nothing to remove: test.zz matches nothing in the state; {list}")
    );
    assert_eq!(
        editor.remove(&[at("test.b[2]"), at("module.m[0]"), at("module.m.test.in")]).unwrap_err().to_string(),
        format!("nothing to remove: test.b[2] and 2 more addresses match nothing in the state; {list}")
    );
    assert_eq!(
        editor.remove(&[]).unwrap_err().to_string(),
        format!("nothing to remove: no address is given in the state; {list}")
    );
    assert_eq!(
        editor.taint(&instance("test.b")).unwrap_err().to_string(),
        format!("test.b is not in the state; {list}")
    );
    assert_eq!(
        editor.taint(&instance("data.test.d")).unwrap_err().to_string(),
        "data.test.d is not a managed resource; only those can be tainted"
    );
    assert_eq!(
        editor.untaint(&instance("test.b[1]")).unwrap_err().to_string(),
        "test.b[1] is not tainted, so it cannot be untainted"
    );
    let full = |name: &str| {
        let text = format!("registry.terraform.io/{name}");
        ProviderSource::parse(&text, TERRAFORM_REGISTRY).unwrap()
    };
    assert_eq!(
        editor.replace_provider(&full("a/b"), &full("a/b")).unwrap_err().to_string(),
        "cannot replace registry.terraform.io/a/b by itself; name another provider"
    );
    assert_eq!(
        editor.replace_provider(&full("a/b"), &full("a/c")).unwrap_err().to_string(),
        "nothing to replace: no resource has the provider registry.terraform.io/a/b"
    );
    assert!(!editor.is_changed().unwrap());
}

#[test]
fn an_instance_of_deposed_objects_says_how_to_finish_the_replacement() {
    let text = format!(
        r#"{{"version":4,"serial":1,"lineage":"l","resources":[{{"mode":"managed","type":"t","name":"a",
        "provider":"{PROVIDER}","instances":[{{"deposed":"00000001"}}]}}]}}"#
    );
    let document = Document::open(text.into_bytes()).unwrap();
    let error = Editor::on_document(&document).untaint(&instance("t.a")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.a has deposed objects only, from a replacement that did not finish; apply the configuration to finish it first"
    );
}

#[test]
fn a_script_stops_at_the_first_refusal_and_keeps_what_earlier_scripts_did() {
    use groundstate_state_edit::{Script, ScriptOptions};
    let document = document(&["test.a", "test.b: test.a", "test.c"]);
    let mut editor = Editor::on_document(&document);
    let run = |editor: &mut Editor<'_>, text: &str| {
        editor
            .run(&Script::parse(text).unwrap(), &ScriptOptions::default())
            .map_err(|error| error.to_string())
    };
    run(&mut editor, "mv test.a test.x").unwrap();
    let first = editor.to_file().unwrap();
    let said = run(&mut editor, "mv test.x test.y\nrm test.c\n\tmv test.c test.d").unwrap_err();
    assert_eq!(
        said,
        "line 3, column 5: cannot move test.c: it matches nothing in the state; list the state to see the addresses it has"
    );
    assert_eq!(editor.to_file().unwrap().state, first.state, "the script that failed left nothing behind");
    // Patterns and dependencies see the state as it is again, not as the script would have left it.
    assert_eq!(editor.select("test.*").unwrap(), [at("test.b"), at("test.c"), at("test.x")]);
    run(&mut editor, "mv test.x test.z").unwrap();
    assert_eq!(crate::support::lines(&editor.to_file().unwrap()), ["test.b: test.z", "test.c", "test.z"]);
}
