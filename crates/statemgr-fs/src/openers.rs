//! Who else has a file open.
//!
//! A Terraform that waits for the lock of a state has opened the file already. If the file were removed meanwhile, that
//! Terraform would write its state into a file without a name.

use std::fs::File;

/// Whether another process may have the file open, as far as can be told; in doubt it is so.
#[cfg(not(target_os = "linux"))]
pub(crate) fn may_be_open_elsewhere(_: &File) -> bool {
    true
}

/// Whether another process may have the file open, as far as can be told; in doubt it is so.
///
/// Files that are removed are private to their owner, so only processes of the same user and of root matter. Where these
/// do not let themselves be looked into, their names decide.
#[cfg(target_os = "linux")]
pub(crate) fn may_be_open_elsewhere(file: &File) -> bool {
    use crate::stamp::FileId;
    let Ok(id) = file.metadata().map(|meta| FileId::of(&meta)) else { return true };
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    // Where other users' processes are hidden, the first one is.
    if !std::path::Path::new("/proc/1/comm").exists() {
        return true;
    }
    let this = std::process::id().to_string();
    processes.flatten().any(|process| {
        let name = process.file_name();
        let is_process = name.to_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
        is_process && name.to_str() != Some(&this) && has_open(&process.path(), id)
    })
}

#[cfg(target_os = "linux")]
fn has_open(process: &std::path::Path, id: crate::stamp::FileId) -> bool {
    use crate::stamp::FileId;
    match std::fs::read_dir(process.join("fd")) {
        Ok(files) => files
            .flatten()
            .any(|file| std::fs::metadata(file.path()).is_ok_and(|meta| FileId::of(&meta) == id)),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            let name = std::fs::read_to_string(process.join("comm")).unwrap_or_default();
            ["terraform", "tofu"].contains(&name.trim())
        }
        // It has ended meanwhile.
        Err(_) => false,
    }
}
