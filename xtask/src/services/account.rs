//! Who a service runs as: PostgreSQL refuses to be root, and containers often have no other user.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::running::make;
use crate::outcome::Outcome;
#[cfg(unix)]
use crate::outcome::{Failure, stdout};

/// The user of a process, if not the one who started it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account(Option<(u32, u32)>);

impl Account {
    /// The one who started this program.
    pub(super) fn same() -> Self {
        Self(None)
    }

    /// Another one if this is root and a service must not be.
    #[cfg(unix)]
    pub(super) fn of(unprivileged: bool) -> Outcome<Self> {
        if !unprivileged || stdout(Command::new("id").arg("-u"))?.trim() != "0" {
            return Ok(Self::same());
        }
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let found = ["postgres", "nobody"].into_iter().find_map(|name| ids(&passwd, name));
        let missing = || Failure::Missing("there is no user but root to run it as".to_owned());
        Ok(Self(Some(found.ok_or_else(missing)?)))
    }

    /// Another one if this is root and a service must not be.
    #[cfg(not(unix))]
    pub(super) fn of(_unprivileged: bool) -> Outcome<Self> {
        Ok(Self::same())
    }

    /// A folder of its own for a service, where the account can reach it.
    pub(super) fn home(self, root: &Path, name: &str) -> Outcome<PathBuf> {
        let beside = root.join(name).join("home");
        #[cfg(unix)]
        if let Some((user, group)) = self.0 {
            let home = if beside.ancestors().skip(1).all(lets_others_in) {
                beside
            } else {
                std::env::temp_dir().join(format!("groundstate-{name}-{}", std::process::id()))
            };
            make(&home)?;
            let failed = |error| Failure::Missing(format!("cannot give {} away: {error}", home.display()));
            std::os::unix::fs::chown(&home, Some(user), Some(group)).map_err(failed)?;
            return Ok(home);
        }
        make(&beside)?;
        Ok(beside)
    }

    /// Has a command run as this account.
    pub(super) fn put_on(self, command: &mut Command) {
        #[cfg(unix)]
        if let Some((user, group)) = self.0 {
            use std::os::unix::process::CommandExt as _;
            command.uid(user).gid(group);
        }
        #[cfg(not(unix))]
        let _no_other = command;
    }
}

#[cfg(unix)]
fn lets_others_in(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0)
}

/// The numbers of a user and its group in the text of the users' file.
#[cfg(unix)]
fn ids(passwd: &str, name: &str) -> Option<(u32, u32)> {
    let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::ids;

    #[test]
    fn users_are_found_by_their_whole_name() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\npostgres2:x:7:8::/:\npostgres:x:101:104:,,,:/var:/bin/sh\nbad:x\n";
        assert_eq!(ids(passwd, "postgres"), Some((101, 104)));
        assert_eq!(ids(passwd, "post"), None);
        assert_eq!(ids(passwd, "bad"), None);
    }
}
