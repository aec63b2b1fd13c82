//! What programs do with a client: types of outputs, options, workspaces, waiting for a lock, and texts of errors.

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::time::Duration;

use groundstate_client::backends::Variables;
use groundstate_client::edit::states::addr::{AbsResourceInstance, Target};
use groundstate_client::statemgr::{ErrorKind, WorkspaceName};
use groundstate_client::{Error, Options, blocking};
use serde::Deserialize;

use crate::file::{SHOP, Tested, open, shop};

/// A state with these outputs.
fn with_outputs(outputs: &str) -> String {
    format!(r#"{{"version": 4, "serial": 1, "lineage": "a", "outputs": {{{outputs}}}, "resources": []}}"#)
}

#[test]
fn outputs_are_read_as_types_of_the_program() -> Tested {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Cluster {
        name: String,
        #[serde(default)]
        nodes: Vec<u32>,
        size: Option<u8>,
    }
    let (_folder, path) = shop(&with_outputs(
        r#""cluster": {"value": {"name": "a", "nodes": [1, 2], "size": null},
            "type": ["object", {"name": "string", "nodes": ["list", "number"], "size": "number"}]},
        "exact": {"value": 9007199254740993, "type": "number"},
        "ratio": {"value": 0.5, "type": "number"},
        "tags": {"value": {"b": "2", "a": "1"}, "type": ["map", "string"]},
        "on": {"value": true, "type": "bool"},
        "nothing": {"value": null, "type": "string"}"#,
    ));
    let outputs = open(&path).outputs()?;
    assert_eq!(
        outputs.get::<Cluster>("cluster")?,
        Cluster { name: "a".into(), nodes: vec![1, 2], size: None }
    );
    assert_eq!(outputs.get::<u64>("exact")?, 9_007_199_254_740_993, "no digit is lost on the way");
    assert!((outputs.get::<f64>("ratio")? - 0.5).abs() < f64::EPSILON);
    let tags: BTreeMap<String, String> = outputs.get("tags")?;
    assert_eq!(tags.into_iter().collect::<Vec<_>>(), [("a".into(), "1".into()), ("b".into(), "2".into())]);
    assert!(outputs.get::<bool>("on")?);
    assert_eq!(outputs.get::<Option<String>>("nothing")?, None);
    let names: Vec<&str> = outputs.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["cluster", "exact", "nothing", "on", "ratio", "tags"]);
    for (error, said) in [
        (
            outputs.get::<u32>("exact").map(drop),
            r#"the output "exact" is of type "number", which is not what was asked for"#,
        ),
        (
            outputs.get::<String>("nothing").map(drop),
            r#"the output "nothing" is of type "string", which is not what was asked for"#,
        ),
        (
            outputs.get::<Vec<u8>>("tags").map(drop),
            r#"the output "tags" is of type ["map","string"], which is not what was asked for"#,
        ),
    ] {
        assert_eq!(error.unwrap_err().to_string(), said);
    }
    Ok(())
}

#[test]
fn an_output_that_is_looked_for_in_vain_is_said_even_where_there_is_none() -> Tested {
    let (_folder, path) = shop(&with_outputs(""));
    let outputs = open(&path).outputs()?;
    assert_eq!(outputs.iter().len(), 0);
    let error = outputs.get::<String>("vpc").unwrap_err();
    assert!(matches!(error, Error::NoOutput { .. }));
    assert_eq!(error.to_string(), "there is no output \"vpc\", the state has none");
    Ok(())
}

#[test]
fn a_client_says_what_it_is_of_without_what_is_in_it() -> Tested {
    let (_folder, path) = shop(SHOP);
    let state = open(&path);
    let shown = state.client().to_string();
    assert!(shown.starts_with("default in ") && shown.contains("shop.tfstate"), "{shown}");
    let debug = format!("{state:?}");
    assert!(debug.starts_with("Client(") && !debug.contains("hunter2"), "{debug}");
    assert_eq!(state.client().location().workspace.to_string(), "default");
    assert!(state.client().store()?.to_string().contains("shop.tfstate"));
    Ok(())
}

#[test]
fn relative_paths_begin_at_the_directory_of_the_options() -> Tested {
    let (folder, _path) = shop(SHOP);
    let state = blocking::open_with(Options::new().directory(folder.path()), "shop.tfstate")?;
    assert_eq!(state.outputs()?.get::<String>("region")?, "eu-west-1");
    let elsewhere = blocking::open_with(Options::new().directory(folder.path().join("none")), "shop.tfstate");
    let said = match elsewhere {
        Ok(state) => state.outputs().unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    assert!(!said.contains("hunter2") && said.contains("shop.tfstate"), "{said}");
    Ok(())
}

#[test]
fn nothing_is_made_up_where_there_is_no_state() -> Tested {
    let (folder, _path) = shop(SHOP);
    let absent = folder.path().join("absent.tfstate");
    let state = open(&absent);
    let address = AbsResourceInstance::parse("terraform_data.web")?;
    let errors = [
        state.outputs().map(drop).unwrap_err(),
        state.resources().map(drop).unwrap_err(),
        state.attribute(&address, "id").map(drop).unwrap_err(),
        state.state().map(drop).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, Error::NoState { .. }), "{error}");
        let text = error.to_string();
        let place = absent.to_str().unwrap();
        assert!(
            text.contains(place)
                && text
                    .ends_with(" has no state yet, apply the configuration first or name another workspace"),
            "{text}"
        );
    }
    // A change needs something to change, and writes no empty state.
    let refused = state.change(|_| Ok::<_, Error>(())).unwrap_err();
    assert!(matches!(refused, Error::Store(_)), "{refused}");
    assert!(!absent.exists());
    Ok(())
}

#[test]
fn what_cannot_be_read_is_changed_by_no_one() -> Tested {
    for text in ["{", "{}", r#"{"version": 5, "serial": 1}"#, "not json"] {
        let (_folder, path) = shop(text);
        let state = open(&path);
        let address = AbsResourceInstance::parse("terraform_data.web")?;
        for error in [
            state.outputs().map(drop).unwrap_err(),
            state.resources().map(drop).unwrap_err(),
            state.attribute(&address, "id").map(drop).unwrap_err(),
            state.state().map(drop).unwrap_err(),
        ] {
            let Error::Read { .. } = &error else { panic!("{text}: {error}") };
            assert!(error.to_string().ends_with(" holds no state that can be read"), "{error}");
            assert!(error.source().is_some(), "the place of the fault is the cause");
        }
        state.change(|_| Ok::<_, Error>(())).unwrap_err();
        assert_eq!(std::fs::read_to_string(&path)?, text, "nothing is written");
    }
    Ok(())
}

#[test]
fn several_changes_are_one_serial_each_and_only_if_they_change_something() -> Tested {
    let (_folder, path) = shop(SHOP);
    let state = open(&path);
    let serial = || Ok::<_, Error>(state.state()?.serial.get());
    let there = |name: &str| Target::parse(&format!("terraform_data.{name}"));
    let (old, new) = (there("old")?, there("new")?);
    state.change(|editor| {
        editor.move_address(&old, &new, Default::default()).unwrap();
        editor.move_address(&new, &old, Default::default()).unwrap();
        Ok::<_, Error>(())
    })?;
    assert_eq!(
        (serial()?, std::fs::read_to_string(&path)?.as_str()),
        (7, SHOP),
        "there and back is no change"
    );
    for expected in [8, 9] {
        let (from, to) = if expected == 8 { (&old, &new) } else { (&new, &old) };
        state.change(|editor| {
            editor.move_address(from, to, Default::default()).unwrap();
            Ok::<_, Error>(())
        })?;
        assert_eq!(serial()?, expected);
    }
    let back = std::fs::read_to_string(&path)?;
    assert_eq!(back, SHOP.replace("\"serial\": 7", "\"serial\": 9"));
    Ok(())
}

#[test]
fn a_lock_that_does_not_come_free_in_time_is_an_error_and_one_that_does_is_taken() -> Tested {
    let (_folder, path) = shop(SHOP);
    let argument = path.to_str().unwrap().to_owned();
    let held = blocking::open_with(Options::new().who("ana@build-7"), &argument)?;
    let waiting = Options::new().lock_timeout(Duration::from_millis(50));
    let refused = held.change(|_| {
        let (argument, waiting) = (argument.clone(), waiting.clone());
        let attempt = std::thread::spawn(move || {
            let state = blocking::open_with(waiting, &argument).unwrap();
            state.change(|_| Ok::<_, Error>(())).unwrap_err()
        });
        Ok::<_, Error>(attempt.join().unwrap())
    })?;
    let Error::Store(error) = refused else { panic!("{refused}") };
    assert_eq!(error.kind(), ErrorKind::Locked);
    let next = blocking::open_with(waiting, &argument)?;
    next.change(|_| Ok::<_, Error>(()))?;
    Ok(())
}

#[test]
fn the_workspace_is_that_of_the_options_before_that_of_the_environment() -> Tested {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("main.tf"), "terraform {\n  backend \"local\" {}\n}\n")?;
    for (workspace, region) in [("staging", "eu-1"), ("blue", "us-1")] {
        let directory = folder.path().join("terraform.tfstate.d").join(workspace);
        std::fs::create_dir_all(&directory)?;
        let output = format!(r#""region": {{"value": "{region}", "type": "string"}}"#);
        std::fs::write(directory.join("terraform.tfstate"), with_outputs(&output))?;
    }
    let variables: Variables = [("TF_WORKSPACE".to_owned(), "staging".to_owned())].into_iter().collect();
    let place = folder.path().to_str().unwrap();
    let options = || Options::new().variables(variables.clone()).trusts_directories(true);
    let region = |options: Options| blocking::open_with(options, place)?.outputs()?.get::<String>("region");
    assert_eq!(region(options())?, "eu-1");
    assert_eq!(region(options().workspace(WorkspaceName::parse("blue")?))?, "us-1");
    Ok(())
}
