//! Workspaces: their places, names, selection and end.

use std::fs;
use std::sync::Arc;

use bytes::Bytes;
use groundstate_common::SystemClock;
use groundstate_conformance::block_on;
use groundstate_statemgr::{ErrorKind, StateStore, WriteOptions};
use groundstate_statemgr_fs::{FsWorkspaces, WorkspaceName};

use crate::child::Player;
use crate::support::Folder;

const EMPTY: &[u8] = br#"{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[]}"#;
const WITH_RESOURCE: &[u8] =
    br#"{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[{"mode":"managed",
"type":"terraform_data","name":"a","provider":"provider[\"terraform.io/builtin/terraform\"]",
"instances":[{"schema_version":0,"attributes":{"id":"x"}}]}]}"#;

fn all(folder: &Folder) -> FsWorkspaces {
    FsWorkspaces::new(folder.path(), Arc::new(SystemClock))
}

fn name(text: &str) -> WorkspaceName {
    WorkspaceName::parse(text).unwrap()
}

fn listed(all: &FsWorkspaces) -> Vec<String> {
    block_on(all.list()).unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn messages_name_the_directory_also_where_it_is_the_working_directory() {
    let shown = |directory: &str| FsWorkspaces::new(directory, Arc::new(SystemClock)).to_string();
    assert_eq!([shown("/srv/shop"), shown("shop"), shown("")], ["/srv/shop", "shop", "."]);
}

#[test]
fn they_lie_where_terraform_keeps_them() {
    let folder = Folder::new();
    let all = all(&folder);
    assert_eq!(listed(&all), ["default"]);
    for (workspace, path) in [
        ("default", "terraform.tfstate"),
        ("b", "terraform.tfstate.d/b/terraform.tfstate"),
        ("a", "terraform.tfstate.d/a/terraform.tfstate"),
    ] {
        let store = all.store(&name(workspace)).unwrap();
        block_on(store.write(Bytes::copy_from_slice(EMPTY), &WriteOptions::any())).unwrap();
        assert_eq!(fs::read(folder.join(path)).unwrap(), EMPTY);
    }
    fs::write(folder.join("terraform.tfstate.d/file"), "").unwrap();
    fs::create_dir(folder.join("terraform.tfstate.d/no name")).unwrap();
    fs::create_dir(folder.join("terraform.tfstate.d/default")).unwrap();
    assert_eq!(listed(&all), ["default", "a", "b"]);
}

#[test]
fn one_is_created_once_and_selected_if_it_exists() {
    let folder = Folder::new();
    let all = all(&folder);
    assert!(block_on(all.selected()).unwrap().is_default());
    assert_eq!(block_on(all.select(&name("a"))).unwrap_err().kind(), ErrorKind::NotFound);
    block_on(all.create(&name("a"))).unwrap();
    for taken in ["a", "default"] {
        assert_eq!(block_on(all.create(&name(taken))).unwrap_err().kind(), ErrorKind::Conflict);
    }
    assert!(!folder.join("terraform.tfstate.d/a/terraform.tfstate").exists());
    block_on(all.select(&name("a"))).unwrap();
    assert_eq!(fs::read_to_string(folder.join(".terraform/environment")).unwrap(), "a");
    assert_eq!(block_on(all.selected()).unwrap(), name("a"));
    fs::write(folder.join(".terraform/environment"), "../elsewhere\n").unwrap();
    assert_eq!(block_on(all.selected()).unwrap_err().kind(), ErrorKind::Corrupt);
    fs::write(folder.join(".terraform/environment"), " a\n").unwrap();
    assert_eq!(block_on(all.selected()).unwrap(), name("a"));
}

#[test]
fn one_is_deleted_only_if_nothing_is_lost_with_it_or_by_force() {
    let folder = Folder::new();
    let all = all(&folder);
    let a = name("a");
    let refused = |what: &WorkspaceName| block_on(all.delete(what, false)).unwrap_err().kind();
    assert_eq!(refused(&name("default")), ErrorKind::Invalid);
    assert_eq!(refused(&a), ErrorKind::NotFound);
    let home = folder.join("terraform.tfstate.d/a");
    let write = |bytes: &[u8]| {
        block_on(all.store(&a).unwrap().write(Bytes::copy_from_slice(bytes), &WriteOptions::any())).unwrap();
    };
    write(WITH_RESOURCE);
    assert_eq!(refused(&a), ErrorKind::Invalid);
    fs::write(home.join("terraform.tfstate"), "{").unwrap();
    assert_eq!(refused(&a), ErrorKind::Corrupt);
    write(EMPTY);
    fs::write(home.join("notes.txt"), "").unwrap();
    assert_eq!(refused(&a), ErrorKind::Invalid);
    fs::remove_file(home.join("notes.txt")).unwrap();
    block_on(all.select(&a)).unwrap();
    assert_eq!(refused(&a), ErrorKind::Invalid);
    block_on(all.select(&name("default"))).unwrap();
    block_on(all.delete(&a, false)).unwrap();
    assert!(!home.exists());
    write(WITH_RESOURCE);
    block_on(all.delete(&a, true)).unwrap();
    assert_eq!(listed(&all), ["default"]);
}

#[test]
fn one_that_is_in_use_is_not_deleted_even_by_force() {
    let folder = Folder::new();
    let all = all(&folder);
    let path = folder.join("terraform.tfstate.d/a/terraform.tfstate");
    let player = Player::start("hold the lock", &path).ready();
    let error = block_on(all.delete(&name("a"), true)).unwrap_err();
    assert_eq!(
        (error.kind(), error.holder().and_then(|holder| holder.pid)),
        (ErrorKind::Locked, Some(player.pid()))
    );
    player.finish();
    // A process that waits for the lock has the file open, and would write into one that is gone.
    #[cfg(target_os = "linux")]
    {
        fs::write(&path, EMPTY).unwrap();
        let file = fs::File::open(&path).unwrap();
        let mut other = std::process::Command::new("sleep").arg("60").stdin(file).spawn().unwrap();
        let error = block_on(all.delete(&name("a"), true)).unwrap_err();
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(error.kind(), ErrorKind::Locked);
        assert!(path.exists());
    }
    block_on(all.delete(&name("a"), true)).unwrap();
}

#[cfg(unix)]
#[test]
fn the_selection_is_a_regular_file_and_is_not_shown() {
    let folder = Folder::new();
    let all = all(&folder);
    let data = folder.path().join(".terraform");
    fs::create_dir(&data).unwrap();
    fs::write(folder.path().join("secret"), "hunter2").unwrap();
    let shown = || {
        let error = block_on(all.selected()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        format!("{error} {error:?}")
    };
    std::os::unix::fs::symlink("../secret", data.join("environment")).unwrap();
    assert!(shown().contains("not a regular file") && !shown().contains("hunter2"), "{}", shown());
    fs::remove_file(data.join("environment")).unwrap();
    fs::write(data.join("environment"), "hunter2 and more").unwrap();
    assert!(!shown().contains("hunter2"), "{}", shown());
}
