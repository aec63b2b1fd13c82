//! The file of passwords that all clients of PostgreSQL share.

use std::fs;
use std::io;
use std::path::Path;

/// A password.
pub(crate) struct Password {
    pub(crate) text: String,
    /// Whether it was meant for this very host.
    pub(crate) is_for_host: bool,
}

/// The password for a connection, if the file has one and its owner alone may read it.
pub(crate) fn password(file: &Path, connection: [&str; 4]) -> io::Result<Option<Password>> {
    let text = fs::read_to_string(file)?;
    if is_open_to_others(file) {
        return Ok(None);
    }
    Ok(text.lines().find_map(|line| password_in(line, connection)))
}

/// Whether others than its owner may read a file.
#[cfg(unix)]
pub(crate) fn is_open_to_others(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_open_to_others(_: &Path) -> bool {
    false
}

/// The last part of a line whose other parts are those of the connection: host, port, database, user.
fn password_in(line: &str, connection: [&str; 4]) -> Option<Password> {
    if line.starts_with('#') {
        return None;
    }
    let mut parts = vec![String::new()];
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            ':' if parts.len() < 5 => parts.push(String::new()),
            '\\' => parts.last_mut()?.push(characters.next()?),
            c => parts.last_mut()?.push(c),
        }
    }
    let text = parts.get(4)?.clone();
    let matches = connection.iter().zip(&parts).all(|(wanted, part)| part == "*" || part == wanted);
    let is_for_host = parts.first().is_some_and(|host| host != "*");
    (matches && !text.is_empty()).then_some(Password { text, is_for_host })
}

#[cfg(test)]
mod tests {
    use super::password_in;

    #[test]
    fn lines_match_by_parts_with_escapes_and_stars() {
        let at = ["h", "5432", "d:b", "u"];
        for (line, password) in [
            (r"h:5432:d\:b:u:p\:w\\", Some((r"p:w\", true))),
            ("*:*:*:*:any", Some(("any", false))),
            ("other:*:*:*:no", None),
            ("# h:5432:*:u:no", None),
            ("h:5432:*:u", None),
            ("h:5432:*:u:", None),
        ] {
            let found = password_in(line, at);
            let found = found.as_ref().map(|found| (found.text.as_str(), found.is_for_host));
            assert_eq!(found, password, "{line}");
        }
    }
}
