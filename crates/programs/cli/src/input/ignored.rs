//! Which findings of `check` do not count: codes of the command line, and those of a file in the repository.

use std::fs;
use std::path::{Path, PathBuf};

use groundstate_durable::{Links, is_unsuitable, small_text};

use crate::input::locate::is_standard;
use crate::report::error::{Failure, Kind, Result};

/// The file in a repository that names codes, one a line.
pub(crate) const FILE: &str = ".groundstate-ignore";

/// A list of codes is short; more than this is something else.
const MAX_SIZE: u64 = 64 * 1024;

/// Codes that do not count for one state, and where they come from.
#[derive(Debug, Default)]
pub(crate) struct Ignored {
    given: Vec<String>,
    file: Option<PathBuf>,
    listed: Vec<String>,
}

impl Ignored {
    /// The codes for a state: `given` ones, and those of the nearest file in its folder or above it in the repository.
    pub(crate) fn of(argument: &Path, given: &[String]) -> Result<Self> {
        let mut ignored = Self { given: given.to_vec(), ..Self::default() };
        for folder in folders(argument) {
            let path = folder.join(FILE);
            if let Some(text) = read(&path)? {
                ignored.listed = codes(&text, &path)?;
                ignored.file = Some(path);
                break;
            }
        }
        Ok(ignored)
    }

    /// What ignores a finding. An error is ignored by the command line alone: a checkout does not decide that a state is sound.
    pub(crate) fn by(&self, code: Option<&str>, is_error: bool) -> Option<String> {
        let code = code?;
        let is_in = |codes: &[String]| codes.iter().any(|known| known == code);
        if is_in(&self.given) {
            return Some("--ignore".to_owned());
        }
        let file = self.file.as_ref().filter(|_| !is_error && is_in(&self.listed))?;
        Some(file.display().to_string())
    }
}

/// The folder of a state, and those above it up to the root of the repository; without a repository the folder alone.
fn folders(argument: &Path) -> Vec<PathBuf> {
    let is_url = argument.to_str().is_some_and(|text| text.contains("://"));
    let nearest = match argument {
        path if is_standard(path) || is_url => Path::new("."),
        path if path.is_dir() => path,
        path => path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")),
    };
    let Ok(whole) = fs::canonicalize(nearest) else { return Vec::new() };
    let mut folders = vec![nearest.to_owned()];
    let Some(depth) = whole.ancestors().position(|folder| folder.join(".git").exists()) else {
        return folders;
    };
    folders.extend(whole.ancestors().skip(1).take(depth).map(Path::to_owned));
    folders
}

/// The text of the file, if there is one. It is a regular file and small, or refused.
fn read(path: &Path) -> Result<Option<String>> {
    small_text(path, MAX_SIZE, Links::Refuse).map_err(|error| match is_unsuitable(&error) {
        true => {
            let message = format!("{} is not read: {error}", path.display());
            Failure::new(Kind::Usage, message).hint("list one code a line, such as `GS0031`")
        }
        false => Failure::unreadable(path, &error),
    })
}

fn codes(text: &str, path: &Path) -> Result<Vec<String>> {
    let mut codes = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split('#').next().unwrap_or_default().trim();
        if code.is_empty() {
            continue;
        }
        let code = crate::args::code(code).map_err(|_| {
            let message = format!("{}:{}: expected a code such as GS0031", path.display(), number + 1);
            Failure::new(Kind::Usage, message).hint("write one code a line; `#` begins a comment")
        })?;
        codes.push(code);
    }
    Ok(codes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{FILE, Ignored};

    #[test]
    fn the_nearest_file_of_the_repository_counts_and_never_for_errors() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("infra/prod");
        fs::create_dir_all(&inner).unwrap();
        fs::write(dir.path().join(FILE), "GS0005\n").unwrap();
        let by = |code: &str, is_error| Ignored::of(&inner, &[]).unwrap().by(Some(code), is_error).is_some();
        assert!(!by("GS0005", false), "what is above is not of this repository");
        fs::create_dir(dir.path().join(".git")).unwrap();
        assert!(by("GS0005", false) && !by("GS0005", true) && !by("GS0006", false));
        fs::write(inner.join(FILE), "# why\n gs0006 # yes\n\n").unwrap();
        assert!(by("GS0006", false) && !by("GS0005", false));
        let given = Ignored::of(&inner, &["GS0061".to_owned()]).unwrap();
        assert_eq!(given.by(Some("GS0061"), true).as_deref(), Some("--ignore"));
        assert_eq!(given.by(None, false), None);
        fs::write(inner.join(FILE), "GS0006\nall\n").unwrap();
        assert!(
            Ignored::of(&inner, &[]).unwrap_err().to_string().ends_with(":2: expected a code such as GS0031")
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join(FILE)).unwrap();
        assert!(Ignored::of(dir.path(), &[]).is_err());
    }
}
