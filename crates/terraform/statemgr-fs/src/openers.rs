//! Who else has a file open.
//!
//! A Terraform that waits for the lock of a state has opened the file already. If the file were removed meanwhile, that
//! Terraform would write its state into a file without a name.

use std::fs::File;

/// What can be told about other processes that have a file open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Openers {
    None,
    Some,
    /// Some processes do not let themselves be looked into, or none can be.
    Unknown,
}

/// Other processes cannot be looked into here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn openers(_: &File) -> Openers {
    Openers::Unknown
}

/// Whether another process has the file open.
///
/// Processes that this one may not look into do not count unless they are a Terraform by name: the files in question
/// are their owner's alone, so these are root's.
#[cfg(target_os = "linux")]
pub(crate) fn openers(file: &File) -> Openers {
    use crate::stamp::FileId;
    let Ok(id) = file.metadata().map(|meta| FileId::of(&meta)) else { return Openers::Unknown };
    let Ok(processes) = std::fs::read_dir("/proc") else { return Openers::Unknown };
    // Where other users' processes are hidden, the first one is.
    if !std::path::Path::new("/proc/1/comm").exists() {
        return Openers::Unknown;
    }
    let this = std::process::id().to_string();
    let mut found = Openers::None;
    for process in processes.flatten() {
        let name = process.file_name();
        let is_process = name.to_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
        if !is_process || name.to_str() == Some(&this) {
            continue;
        }
        match has_open(&process.path(), id) {
            Openers::None => {}
            Openers::Some => return Openers::Some,
            Openers::Unknown => found = Openers::Unknown,
        }
    }
    found
}

#[cfg(target_os = "linux")]
fn has_open(process: &std::path::Path, id: crate::stamp::FileId) -> Openers {
    use crate::stamp::FileId;
    match std::fs::read_dir(process.join("fd")) {
        Ok(files) => {
            let mut ids = files.flatten().filter_map(|file| std::fs::metadata(file.path()).ok());
            if ids.any(|meta| FileId::of(&meta) == id) { Openers::Some } else { Openers::None }
        }
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            let name = std::fs::read_to_string(process.join("comm")).unwrap_or_default();
            if ["terraform", "tofu"].contains(&name.trim()) { Openers::Unknown } else { Openers::None }
        }
        // It has ended meanwhile.
        Err(_) => Openers::None,
    }
}
