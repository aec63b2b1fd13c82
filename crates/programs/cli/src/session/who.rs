//! Who runs the command, for the documents beside locks.

/// `user@host`, each part empty if the system does not tell.
pub(crate) fn who() -> String {
    format!("{}@{}", user().unwrap_or_default(), host().unwrap_or_default())
}

#[cfg(unix)]
fn user() -> Option<String> {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten();
    user.map(|user| user.name).or_else(|| set("USER"))
}

#[cfg(not(unix))]
fn user() -> Option<String> {
    set("USERNAME")
}

/// The name of the machine, if the system tells it.
#[cfg(unix)]
pub(crate) fn host() -> Option<String> {
    nix::unistd::gethostname().ok()?.into_string().ok()
}

/// The name of the machine, if the system tells it.
#[cfg(not(unix))]
pub(crate) fn host() -> Option<String> {
    set("COMPUTERNAME")
}

fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_user_and_host() {
        let who = super::who();
        let (user, host) = who.split_once('@').unwrap();
        assert!(!user.is_empty() && !host.is_empty(), "{who}");
    }
}
