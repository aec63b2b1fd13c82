//! Permissions, owners, links, and paths that are no files.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use groundstate_statemgr::ErrorKind;
use groundstate_statemgr_fs::{FsOptions, Publish};

use crate::child;
use crate::support::{Calls, Folder, open};

#[test]
fn permissions_of_a_file_stay_and_backups_are_private() {
    for (publish, mode) in [(Publish::InPlace, 0o640), (Publish::InPlace, 0o666), (Publish::Rename, 0o644)] {
        let folder = Folder::new();
        fs::write(folder.state(), b"old").unwrap();
        fs::set_permissions(folder.state(), Permissions::from_mode(mode)).unwrap();
        Calls(folder.store_with(FsOptions::new().publish(publish))).write(b"new").unwrap();
        for (name, mode) in [("terraform.tfstate", mode), ("terraform.tfstate.backup", 0o600)] {
            assert_eq!(fs::metadata(folder.join(name)).unwrap().mode() & 0o777, mode, "{name}");
        }
    }
}

#[test]
fn new_states_are_their_owners_alone() {
    for publish in [Publish::InPlace, Publish::Rename] {
        let folder = Folder::new();
        Calls(folder.store_with(FsOptions::new().publish(publish))).write(b"new").unwrap();
        assert_eq!(fs::metadata(folder.state()).unwrap().mode() & 0o777, 0o600);
    }
}

#[test]
fn the_owner_of_a_file_stays() {
    let folder = Folder::new();
    fs::write(folder.state(), b"old").unwrap();
    if std::os::unix::fs::chown(folder.state(), Some(1234), Some(1235)).is_err() {
        return println!("not run: only the superuser may give files away");
    }
    for publish in [Publish::InPlace, Publish::Rename] {
        Calls(folder.store_with(FsOptions::new().publish(publish))).write(b"new").unwrap();
        for name in ["terraform.tfstate", "terraform.tfstate.backup"] {
            let meta = fs::metadata(folder.join(name)).unwrap();
            assert_eq!((meta.uid(), meta.gid()), (1234, 1235), "{name} {publish:?}");
        }
    }
}

/// Only owners may set the times of a file, and readers go by these.
#[test]
fn a_writer_of_a_file_need_not_own_it() {
    let folder = Folder::new();
    fs::write(folder.state(), b"old").unwrap();
    if fs::metadata(folder.state()).unwrap().uid() != 0 {
        return println!("not run: only the superuser may start programs as another user");
    }
    fs::set_permissions(folder.state(), Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    let before = fs::metadata(folder.state()).unwrap().modified().unwrap();
    let mut writer = child::command("write once", &folder.state());
    let Ok(output) = writer.uid(65_534).gid(65_534).stdin(Stdio::null()).output() else {
        return println!("not run: another user may not start this program");
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let meta = fs::metadata(folder.state()).unwrap();
    assert_eq!((meta.uid(), meta.mode() & 0o777), (0, 0o666));
    assert!(meta.len() > 100_000 && meta.modified().unwrap() > before);
}

#[test]
fn deleting_what_is_not_there_makes_nothing() {
    let folder = Folder::new();
    let store = Calls(open(&folder.join("a/b.tfstate"), FsOptions::new()));
    store.delete().unwrap();
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_write_in_place_keeps_the_inode() {
    let folder = Folder::new();
    let store = folder.store();
    store.write(b"one").unwrap();
    let inode = fs::metadata(folder.state()).unwrap().ino();
    store.write(&vec![b'x'; 100_000]).unwrap();
    store.write(b"two").unwrap();
    assert_eq!(fs::metadata(folder.state()).unwrap().ino(), inode);
}

#[test]
fn symbolic_links_are_followed_and_stay_links() {
    for publish in [Publish::InPlace, Publish::Rename] {
        let folder = Folder::new();
        fs::create_dir(folder.join("real")).unwrap();
        fs::write(folder.join("real/x.tfstate"), b"old").unwrap();
        symlink("real/x.tfstate", folder.join("middle")).unwrap();
        symlink("middle", folder.state()).unwrap();
        let (named, real) = (
            Calls(folder.store_with(FsOptions::new().publish(publish))),
            Calls(open(&folder.join("real/x.tfstate"), FsOptions::new())),
        );
        let grant = named.lock().unwrap();
        let error = real.lock().unwrap_err();
        assert_eq!(error.holder().unwrap().info.id, grant.id, "it is one place under two names");
        named.write(b"new").unwrap();
        named.unlock(&grant).unwrap();
        assert!(fs::symlink_metadata(folder.state()).unwrap().is_symlink());
        assert_eq!(real.read().unwrap().unwrap(), b"new");
        assert!(!folder.names().iter().any(|name| name.contains("journal")));
    }
}

#[test]
fn a_link_to_nothing_is_a_place_where_nothing_is() {
    let folder = Folder::new();
    symlink("later/x.tfstate", folder.state()).unwrap();
    let store = folder.store();
    assert_eq!(store.read().unwrap(), None);
    store.write(b"new").unwrap();
    assert_eq!(fs::read(folder.join("later/x.tfstate")).unwrap(), b"new");
}

#[test]
fn folders_that_are_missing_are_made_by_the_first_write() {
    let folder = Folder::new();
    let store = Calls(open(&folder.join("a/b/c.tfstate"), FsOptions::new()));
    assert_eq!(store.read().unwrap(), None);
    assert_eq!(store.holder().unwrap(), None);
    assert!(!folder.join("a").exists());
    store.write(b"new").unwrap();
    assert_eq!(store.read().unwrap().unwrap(), b"new");
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = Folder::new();
    fs::create_dir(folder.join("dir")).unwrap();
    fs::write(folder.join("file"), b"x").unwrap();
    for path in ["dir", "file/below", "/dev/null"] {
        let store = Calls(open(&folder.path().join(path), FsOptions::new()));
        assert_eq!(store.lock().unwrap_err().kind(), ErrorKind::Invalid, "lock {path}");
        assert_eq!(store.write(b"new").unwrap_err().kind(), ErrorKind::Invalid, "write {path}");
        assert_eq!(store.read().unwrap_err().kind(), ErrorKind::Invalid, "read {path}");
    }
}

#[test]
fn errors_and_debug_texts_do_not_show_the_state() {
    let folder = Folder::new();
    let store = folder.store();
    store.write(b"a secret").unwrap();
    let text = format!("{:?} {}", store.0, store.0);
    assert!(!text.contains("secret") && text.contains("terraform.tfstate"), "{text}");
}
