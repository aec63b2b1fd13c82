//! States in files: reads, changes under the lock, and what is refused.

use std::error::Error as StdError;
use std::path::PathBuf;
use std::sync::Arc;

use groundstate_client::backends::{BackendsError, Variables};
use groundstate_client::edit::states::addr::{AbsResourceInstance, Target};
use groundstate_client::statemgr::ErrorKind;
use groundstate_client::{Error, Options, Outputs, blocking};
use tempfile::TempDir;

pub(crate) type Tested = Result<(), Box<dyn StdError>>;

pub(crate) const SHOP: &str = include_str!("../fixtures/shop.tfstate");

/// A folder with the state `shop.tfstate`.
pub(crate) fn shop(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    let path = folder.path().join("shop.tfstate");
    std::fs::write(&path, text).expect("the folder is there");
    (folder, path)
}

pub(crate) fn open(path: &std::path::Path) -> blocking::Client {
    blocking::open(path.to_str().expect("it is text")).expect("it is a file")
}

#[test]
fn outputs_have_types_and_errors_no_values() -> Tested {
    let (_folder, path) = shop(SHOP);
    let outputs = open(&path).outputs()?;
    assert_eq!(outputs.get::<String>("region")?, "eu-west-1");
    assert_eq!(outputs.get::<Vec<String>>("zones")?, ["a", "b"]);
    assert!(outputs.output("password").unwrap().sensitive);
    let error = outputs.get::<u64>("password").unwrap_err().to_string();
    assert_eq!(error, "the output \"password\" is of type \"string\", which is not what was asked for");
    let error = outputs.get::<String>("vpc").unwrap_err().to_string();
    assert_eq!(error, "there is no output \"vpc\", the state has password, region, zones");
    assert!(!format!("{outputs:?}").contains("hunter2"));
    Ok(())
}

#[test]
fn resources_attributes_and_the_whole_state_are_read() -> Tested {
    let (_folder, path) = shop(SHOP);
    let state = open(&path);
    let addresses: Vec<String> = state.resources()?.iter().map(ToString::to_string).collect();
    assert_eq!(addresses, ["terraform_data.old", "terraform_data.web"]);
    let web = AbsResourceInstance::parse("terraform_data.web")?;
    assert_eq!(
        state.attribute(&web, "input.value")?.and_then(|value| value.to_text()).as_deref(),
        Some("blue")
    );
    assert_eq!(state.attribute(&web, "nope")?, None);
    assert_eq!(state.state()?.serial.get(), 7);
    Ok(())
}

/// A state of format 3 is read as well; a change writes format 4.
#[test]
fn old_formats_are_read() -> Tested {
    let (_folder, path) = shop(
        r#"{"version": 3, "serial": 7, "lineage": "a", "modules": [{"path": ["root"], "outputs":
        {"region": {"sensitive": false, "type": "string", "value": "eu"}}, "resources": {"null_resource.a": {"type":
        "null_resource", "primary": {"id": "1"}, "provider": "provider.null"}}}]}"#,
    );
    let state = open(&path);
    assert_eq!(state.outputs()?.get::<String>("region")?, "eu");
    let address = state.resources()?.remove(0);
    assert_eq!(address.to_string(), "null_resource.a");
    assert_eq!(state.attribute(&address, "id")?.and_then(|id| id.to_text()).as_deref(), Some("1"));
    Ok(())
}

#[test]
fn a_change_keeps_the_bytes_it_does_not_touch() -> Tested {
    let (_folder, path) = shop(SHOP);
    let state = open(&path);
    let old = Target::parse("terraform_data.old")?;
    let removed = state.change(|editor| Ok::<_, Box<dyn StdError>>(editor.remove(&[old])?))?;
    assert_eq!(removed.changes.len(), 1);
    let begin = SHOP.find("    {\n      \"mode\"").unwrap();
    let end = SHOP.rfind("    {\n      \"mode\"").unwrap();
    let expected = format!("{}{}", &SHOP[..begin], &SHOP[end..]).replace("\"serial\": 7", "\"serial\": 8");
    assert_eq!(std::fs::read_to_string(&path)?, expected);
    Ok(())
}

/// The work of a change sees the state as it will be, and may keep it from being stored.
#[test]
fn a_changed_state_is_read_before_it_is_stored() -> Tested {
    let (_folder, path) = shop(SHOP);
    let state = open(&path);
    let old = [Target::parse("terraform_data.old")?];
    let refused = state.change(|editor| {
        editor.remove(&old)?;
        let changed = editor.to_file()?;
        assert_eq!(changed.state.resource_instances().count(), 1);
        assert_eq!(Outputs::of(&changed.state).get::<String>("region")?, "eu-west-1");
        assert!(editor.is_changed()?);
        Err::<(), Box<dyn StdError>>("it is needed".into())
    });
    assert_eq!(refused.unwrap_err().to_string(), "it is needed");
    assert_eq!(std::fs::read_to_string(&path)?, SHOP);
    Ok(())
}

/// The default name comes from the variables that count as the environment.
#[test]
fn locks_are_taken_in_the_name_that_the_variables_have() -> Tested {
    let (folder, path) = shop(SHOP);
    for (variables, name) in [
        (&[("USER", "ana"), ("HOSTNAME", "build-7")][..], "ana@build-7"),
        (&[("USERNAME", "ana"), ("HOSTNAME", "")], "ana@unknown"),
        (&[], "unknown@unknown"),
    ] {
        let variables: Variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let options = Options::new().variables(variables);
        let state = blocking::open_with(options, path.to_str().unwrap())?;
        let lock = folder.path().join(".shop.tfstate.lock.info");
        let held = state.change(|_| Ok::<_, Error>(std::fs::read_to_string(&lock).unwrap()))?;
        assert!(held.contains(&format!("\"Who\":\"{name}\"")), "{held}");
    }
    Ok(())
}

#[test]
fn work_that_fails_writes_nothing_and_frees_the_lock() -> Tested {
    let (_folder, path) = shop(SHOP);
    let state = open(&path);
    let web = [Target::parse("terraform_data.web")?];
    let failed = state.change(|editor| {
        editor.remove(&web).unwrap();
        Err::<(), Box<dyn StdError>>("no".into())
    });
    assert_eq!(failed.unwrap_err().to_string(), "no");
    assert_eq!(std::fs::read_to_string(&path)?, SHOP);
    // The lock is free, and an edit without effect writes nothing.
    state.change(|_| Ok::<_, Error>(()))?;
    assert_eq!(std::fs::read_to_string(&path)?, SHOP);
    Ok(())
}

#[test]
fn a_held_lock_is_respected_and_named() -> Tested {
    let (_folder, path) = shop(SHOP);
    let argument = path.to_str().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let holder = Options::new().who("ana@build-7").open(argument).await?;
        let other = Arc::new(Options::new().open(argument).await?);
        let error = holder.change(|_| {
            // A thread of its own, because this one drives the holder.
            let other = Arc::clone(&other);
            let attempt = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(other.change(|_| Ok::<_, Error>(()))).unwrap_err()
            });
            Ok::<_, Error>(attempt.join().unwrap())
        });
        let Error::Store(error) = error.await? else { panic!("the store refuses") };
        assert_eq!(error.kind(), ErrorKind::Locked);
        assert_eq!(error.holder().unwrap().info.who, "ana@build-7");
        Ok(())
    })
}

#[test]
fn what_is_no_state_is_said() -> Tested {
    let (folder, path) = shop("{}");
    assert!(matches!(open(&path).state().unwrap_err(), Error::Read { .. }));
    assert!(matches!(open(&path).outputs().unwrap_err(), Error::Read { .. }));
    let absent = open(&folder.path().join("absent.tfstate")).outputs().unwrap_err();
    assert!(absent.to_string().contains("has no state yet"), "{absent}");
    let scheme = blocking::open("nowhere://x").unwrap_err();
    assert!(matches!(scheme, Error::Location(BackendsError::Scheme { .. })), "{scheme}");
    Ok(())
}
