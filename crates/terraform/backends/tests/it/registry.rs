//! Which backend an argument stands for.

use std::sync::Arc;

use groundstate_backends::{BackendsError, Location, PlaceUrl, Registry, Settings};
use groundstate_statemgr::bytes::Bytes;
use groundstate_statemgr::{Backend, MemoryBackend, StateStore, WorkspaceName, WriteOptions};

use crate::support::{Shelf, context, directory, name};

fn place(argument: &str, workspace: Option<&str>) -> Result<Location, BackendsError> {
    Registry::standard().place(argument, workspace.map(name).as_ref(), &context(&[]))
}

/// Where the state of the place is.
fn store(place: &Location) -> String {
    place.opened.backend.store(&place.workspace).expect("it is a file").to_string()
}

#[test]
fn a_file_is_a_place_of_its_own() {
    let dir = directory(&[("x.tfstate", "{}")]);
    let path = dir.path().join("x.tfstate");
    for (argument, expected) in [("x.tfstate", "x.tfstate"), ("new.tfstate", "new.tfstate")] {
        let found = place(dir.path().join(argument).to_str().unwrap(), None).unwrap();
        assert_eq!(store(&found), dir.path().join(expected).to_str().unwrap());
    }
    let path = path.to_str().unwrap();
    assert!(place(path, Some("default")).is_ok());
    assert!(matches!(place(path, Some("dev")), Err(BackendsError::NoWorkspaces { .. })));
    assert_eq!(store(&place(&format!("file://{path}"), None).unwrap()), path);
    assert_eq!(store(&place(&format!("file://localhost{path}"), None).unwrap()), path);
}

#[test]
fn a_directory_is_what_init_and_the_selection_say() {
    let backend = r#"{"version": 3, "backend": {"type": "local", "config": {"path": "s/x.tfstate", "workspace_dir": "ws"}}}"#;
    let block = r#"{"terraform": {"backend": {"local": {"path": "s/x.tfstate", "workspace_dir": "ws"}}}}"#;
    let dir = directory(&[
        (".terraform/terraform.tfstate", backend),
        (".terraform/environment", "dev"),
        ("main.tf.json", block),
    ]);
    let at = |workspace| place(dir.path().to_str().unwrap(), workspace).unwrap();
    let expected = |path: &str| dir.path().join(path).to_str().unwrap().to_owned();
    assert_eq!(store(&at(None)), expected("ws/dev/terraform.tfstate"));
    assert_eq!(store(&at(Some("default"))), expected("s/x.tfstate"));
    assert_eq!(store(&at(Some("prod"))), expected("ws/prod/terraform.tfstate"));
    assert_eq!(at(None).directory.as_deref(), Some(dir.path()));
}

#[test]
fn the_options_of_an_address_are_those_of_the_block() {
    let dir = directory(&[]);
    let path = dir.path().to_str().unwrap();
    let others = store(&place(&format!("file://{path}/a/x.tfstate?workspace=dev"), None).unwrap());
    assert_eq!(others, format!("{path}/a/terraform.tfstate.d/dev/terraform.tfstate"));
    let url = format!("file://{path}/x.tfstate?workspace=dev&workspace_dir={path}/ws");
    assert_eq!(store(&place(&url, None).unwrap()), format!("{path}/ws/dev/terraform.tfstate"));
    assert_eq!(store(&place(&url, Some("b")).unwrap()), format!("{path}/ws/b/terraform.tfstate"));
    let error = place("file:///x.tfstate?workspacedir=y", None).unwrap_err();
    assert!(error.to_string().ends_with("use path, workspace_dir"), "{error}");
}

#[test]
fn refuses_what_is_not_there_and_says_what_is() {
    for (argument, expected) in [
        ("consul://host/x", "no backend has addresses that begin with consul://, use one of "),
        ("file://host/x", "it names another host"),
        ("file:///", "it names no file"),
        ("file:///x?workspace=a%2Fb", "not a valid workspace name"),
    ] {
        let error = place(argument, None).unwrap_err().to_string();
        assert!(error.contains(expected), "{argument}: {error}");
    }
    let open = |kind| Registry::standard().open(&Settings::new(kind), &context(&[])).unwrap_err();
    assert!(matches!(open("consul"), BackendsError::NotBuiltIn { .. }));
    assert!(matches!(open("shelf"), BackendsError::Unknown { .. }));
}

#[tokio::test]
async fn a_program_adds_back_ends_of_its_own() {
    let memory = MemoryBackend::new("shelf");
    let registry = Registry::standard().with(Arc::new(Shelf(memory.clone())));
    let kinds: Vec<&str> = registry.kinds().collect();
    assert!(kinds.contains(&"local") && kinds.contains(&"shelf"), "{kinds:?}");
    memory.store(&name("a")).unwrap().write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    let opened = registry.place("shelf://board", None, &context(&[])).unwrap().opened;
    assert_eq!(opened.backend.list().await.unwrap(), [WorkspaceName::default_name(), name("a")]);

    let init = r#"{"backend": {"type": "shelf", "config": {"board": "b"}}}"#;
    let block = "terraform {\n  backend \"shelf\" {\n    board = \"b\"\n  }\n}\n";
    let dir = directory(&[
        (".terraform/terraform.tfstate", init),
        (".terraform/environment", "a"),
        ("main.tf", block),
    ]);
    let place = registry.place(dir.path().to_str().unwrap(), None, &context(&[])).unwrap();
    let stored = place.opened.backend.store(&place.workspace).unwrap().read().await.unwrap();
    assert_eq!(stored.map(|stored| stored.bytes).as_deref(), Some(&b"{}"[..]));

    let url = PlaceUrl::parse("shelf:///x").unwrap();
    assert!(matches!(registry.settings(&url), Err(BackendsError::Url { .. })));
    let nothing = registry.open(&Settings::new("shelf"), &context(&[])).unwrap_err();
    assert!(nothing.to_string().contains("it has to be given"), "{nothing}");
}
