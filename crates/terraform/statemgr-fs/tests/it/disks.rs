//! Disks that are full and files that cannot be written: an error, and the state is whole.

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use groundstate_statemgr::ErrorKind;
use groundstate_statemgr_fs::{FsOptions, Publish};

use crate::child;
use crate::support::{Calls, Folder, open, shown};

/// A limit on the size of files ends the write of half a megabyte.
#[test]
fn a_file_that_may_not_grow_is_an_error_and_the_old_state_stays() {
    let folder = Folder::new();
    folder.store().write(b"old").unwrap();
    let writer = child::command("write once", &folder.state());
    let mut shell = Command::new("sh");
    // The signal that comes with the limit would end the process; without it the call fails.
    shell.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""]);
    shell.arg(writer.get_program()).args(writer.get_args());
    shell.envs(writer.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
    assert!(!output.status.success() && said.contains("Unavailable cannot write"), "{said}");
    let store = folder.store();
    assert_eq!(fs::read(folder.state()).unwrap(), b"old");
    assert_eq!(store.read().unwrap().unwrap(), b"old");
    assert!(!folder.names().iter().any(|name| name.contains("journal")), "{:?}", folder.names());
    store.write(b"new").unwrap();
}

/// A small file system in memory; only the superuser can make one.
struct SmallDisk(Folder);

impl SmallDisk {
    fn new() -> Option<Self> {
        let folder = Folder::new();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "none"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        if mount.is_ok_and(|status| status.success()) {
            return Some(Self(folder));
        }
        println!("not run: a small file system cannot be mounted here");
        None
    }

    /// Leaves this much room.
    fn fill_up_to(&self, free: usize) {
        let path = self.0.join("filler");
        // A process that another test is just starting has the filler before still open, and so keeps its room.
        let len = std::iter::repeat_with(|| Self::fill(&path)).find(|len| *len > 700_000).unwrap();
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.set_len((len & !4095) - free as u64).unwrap();
    }

    /// Writes a filler until there is no room, and says how long it is.
    fn fill(path: &std::path::Path) -> u64 {
        drop(fs::remove_file(path));
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        drop(file);
        fs::metadata(path).unwrap().len()
    }

    fn remount(&self, how: &str) {
        let mount = Command::new("mount").args(["-o", how]).arg(self.0.path()).status();
        assert!(mount.unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Without this the folder stays; nothing can be done about it here.
        drop(Command::new("umount").arg("-l").arg(self.0.path()).status());
    }
}

/// At every step at which a write may run out of room.
#[test]
fn a_full_disk_is_an_error_and_the_old_state_stays() {
    let Some(disk) = SmallDisk::new() else { return };
    for publish in [Publish::InPlace, Publish::Rename] {
        let store = Calls(open(&disk.0.state(), FsOptions::new().publish(publish)));
        let old = vec![b'o'; 40_000];
        drop(fs::remove_file(disk.0.join("filler")));
        store.write(&old).unwrap();
        // The new state is 60,000 bytes longer, so journal, backup and state run out of room in turn.
        let new = vec![b'n'; 100_000];
        let mut failures = 0;
        for pages in 0..64 {
            disk.fill_up_to(pages * 4096);
            match store.write(&new) {
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unavailable, "{pages} pages: {}", shown(&error));
                    assert!(fs::read(disk.0.state()).unwrap() == old, "{pages} pages");
                    failures += 1;
                }
                Ok(()) => {
                    assert!(fs::read(disk.0.state()).unwrap() == new, "{pages} pages");
                    drop(fs::remove_file(disk.0.join("filler")));
                    store.write(&old).unwrap();
                }
            }
            assert!(!disk.0.names().iter().any(|name| name.contains("journal") || name.contains("-new")));
        }
        assert!((20..60).contains(&failures), "{failures} of 64 writes failed");
    }
}

#[test]
fn a_read_only_disk_is_denied_and_can_be_read() {
    let Some(disk) = SmallDisk::new() else { return };
    let store = Calls(open(&disk.0.state(), FsOptions::new()));
    store.write(b"old").unwrap();
    disk.remount("remount,ro");
    for error in [store.write(b"new").unwrap_err(), store.lock().unwrap_err(), store.delete().unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Denied, "{}", shown(&error));
    }
    assert_eq!(store.read().unwrap().unwrap(), b"old");
    assert_eq!(store.holder().unwrap(), None);
    disk.remount("remount,rw");
}

/// For the superuser there is no such file, so another user writes.
#[test]
fn a_file_that_may_not_be_written_is_denied() {
    let folder = Folder::new();
    fs::write(folder.state(), b"old").unwrap();
    fs::set_permissions(folder.state(), Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let mut writer = child::command("write once", &folder.state());
    if fs::metadata(folder.state()).unwrap().uid() == 0 {
        writer.uid(65_534).gid(65_534);
    }
    let Ok(output) = writer.stdin(Stdio::null()).output() else {
        return println!("not run: another user may not start this program");
    };
    let said = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
    assert!(!output.status.success() && said.contains("Denied cannot write"), "{said}");
    assert_eq!(fs::read(folder.state()).unwrap(), b"old");
    assert_eq!(folder.names(), ["terraform.tfstate"]);
}
