//! `file://`: a directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundstate_blobs::{BlobStore, Error, ErrorKind, Op, Result};
use groundstate_blobs_fs::BucketFiles;

use crate::open::OpenContext;
use crate::url::BackendUrl;

const PARAMETERS: [&str; 6] =
    ["create_dir", "dir_file_mode", "no_tmp_dir", "base_url", "secret_key_path", "metadata"];

/// Opens the directory; it has to be there, unless `create_dir` asks for it.
pub(crate) fn open(
    url: &BackendUrl,
    with: OpenContext<'_>,
) -> Result<(Arc<dyn BlobStore>, PathBuf, Vec<String>)> {
    url.only(&PARAMETERS)?;
    if url.query().get("prefix").is_some_and(|prefix| !prefix.is_empty()) {
        return Err(url.unsupported("prefix", "it is for buckets").next_step("name the folder itself"));
    }
    let query = url.query();
    let mut notes = Vec::new();
    match (query.get("base_url"), query.get("secret_key_path")) {
        (None, None) => {}
        (Some(_), Some(_)) => notes.push(format!(
            "the parameters `base_url` and `secret_key_path` of {url} mean nothing here: no signed URLs are made"
        )),
        _ => return Err(url.wrong("it has one of the parameters `base_url` and `secret_key_path` without the other")),
    }
    if query.get("metadata").is_some_and(|value| value != "skip" && !value.is_empty()) {
        return Err(url.parameter("metadata", "is not `skip`"));
    }
    let mode = query.get("dir_file_mode").map(|text| mode(text).ok_or(text));
    if let Some(Err(_)) = mode {
        return Err(url.parameter("dir_file_mode", "is not a file mode such as 0700"));
    }
    let directory = directory(url, with)?;
    let creates = query.get("create_dir").is_some();
    match (std::fs::metadata(&directory), creates) {
        (Ok(found), _) if found.is_dir() => {}
        (Ok(_), _) => return Err(missing(&directory, "it is not a directory")),
        (Err(error), true) if error.kind() == std::io::ErrorKind::NotFound => {
            create(&directory, mode.and_then(std::result::Result::ok))
                .map_err(|error| missing(&directory, &error.to_string()).with_source(error))?;
        }
        (Err(error), _) if error.kind() == std::io::ErrorKind::NotFound => {
            let error = missing(&directory, "it does not exist");
            return Err(error.next_step("create it, or add the parameter `create_dir=true`"));
        }
        (Err(error), _) => return Err(missing(&directory, &error.to_string()).with_source(error)),
    }
    Ok((Arc::new(BucketFiles::open(&directory)?), directory, notes))
}

fn missing(directory: &Path, why: &str) -> Error {
    let place = format!("the state directory {}", directory.display());
    Error::new(ErrorKind::NotFound, Op::Open, place).because(why)
}

/// The directory: `~` is the home directory, and relative paths begin at the working directory.
fn directory(url: &BackendUrl, with: OpenContext<'_>) -> Result<PathBuf> {
    let path = url.path();
    let Some(rest) = path.strip_prefix('~') else { return Ok(clean(&with.directory.join(path))) };
    if !(rest.is_empty() || rest.starts_with('/')) {
        return Err(url
            .wrong("the home directory of another user is not looked up, and Pulumi would use a folder of yours instead")
            .next_step("write the whole path, as in file:///home/NAME/FOLDER"));
    }
    let home = (with.variable)("HOME").or_else(|| (with.variable)("USERPROFILE"));
    let home = home.filter(|home| !home.is_empty());
    let home = home.ok_or_else(|| url.wrong("the home directory is not known").next_step("set HOME"))?;
    Ok(clean(&Path::new(&home).join(rest.trim_start_matches('/'))))
}

/// The path without `.`, and with `..` taken by name, as the original does.
fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                cleaned.pop();
            }
            part => cleaned.push(part),
        }
    }
    cleaned
}

/// A mode as Go's `strconv.ParseUint` with base 0 reads it.
fn mode(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'o', ..] => (&lower[2..], 8),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (&lower[..], 10),
    };
    u32::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
}

fn create(directory: &Path, mode: Option<u32>) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if let Some(mode) = mode {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode & 0o7777);
    }
    #[cfg(not(unix))]
    let _: Option<u32> = mode;
    builder.create(directory)
}

#[cfg(test)]
mod tests {
    use super::mode;

    #[test]
    fn modes_are_those_of_go() {
        for (text, expected) in [
            ("0700", Some(0o700)),
            ("0o755", Some(0o755)),
            ("0x1ff", Some(0o777)),
            ("493", Some(0o755)),
            ("0", Some(0)),
            ("u+x", None),
            ("", None),
            ("+7", None),
        ] {
            assert_eq!(mode(text), expected, "{text}");
        }
    }
}
