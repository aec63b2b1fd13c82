//! Which process holds a lock, told in the free text of its lock document.
//!
//! The document of the originals has no members for it, and must not get any. A tag in brackets at the end of `Info`
//! says process, host, start and process namespace; the last two tell a process from a later one of the same number.

use std::fmt::Write;
use std::sync::OnceLock;

const OPEN: &str = "[groundstate";

/// A process, as well as it can be told from others, for the free text of lock documents.
///
/// ```
/// use groundstate_statemgr_fs::Process;
///
/// let info = Process::this(false).tag("moving house");
/// let (text, process) = Process::untag(&info);
/// assert_eq!(text, "moving house");
/// assert_eq!(process.map(|process| process.pid), Some(std::process::id()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Process {
    /// Its number on its host.
    pub pid: u32,
    /// The host that it runs on.
    pub host: Option<String>,
    start: Option<u64>,
    space: Option<u64>,
    /// It holds the lock for one operation only, without a lock of its own.
    pub brief: bool,
}

impl Process {
    /// The process that asks.
    pub fn this(brief: bool) -> Self {
        // Asked once, since between taking a lock and saying so there should be no time.
        static THIS: OnceLock<Process> = OnceLock::new();
        let pid = std::process::id();
        let find = || Self { pid, host: host(), start: start(pid), space: space(), brief };
        let this = THIS.get_or_init(find);
        // A process that was forked off has the memory of another one.
        if this.pid == pid { Self { brief, ..this.clone() } } else { find() }
    }

    /// `info` with the tag after it.
    pub fn tag(&self, info: &str) -> String {
        let mut text = info.to_owned();
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(OPEN);
        // Writing to a string cannot fail.
        let _ = write!(text, " pid={}", self.pid);
        if let Some(host) = &self.host {
            let _ = write!(text, " host={host}");
        }
        for (name, value) in [("start", self.start), ("space", self.space)] {
            if let Some(value) = value {
                let _ = write!(text, " {name}={value}");
            }
        }
        text.push_str(if self.brief { " brief]" } else { "]" });
        text
    }

    /// Takes a tagged text apart.
    pub fn untag(info: &str) -> (&str, Option<Self>) {
        let Some(at) = info.rfind(OPEN).filter(|_| info.ends_with(']')) else { return (info, None) };
        let (text, tag) = info.split_at(at);
        let mut found = Self::default();
        for word in tag.trim_start_matches(OPEN).trim_end_matches(']').split_whitespace() {
            match word.split_once('=') {
                Some(("pid", pid)) => found.pid = pid.parse().unwrap_or(0),
                Some(("host", host)) => found.host = Some(host.to_owned()),
                Some(("start", start)) => found.start = start.parse().ok(),
                Some(("space", space)) => found.space = space.parse().ok(),
                _ => found.brief |= word == "brief",
            }
        }
        if found.pid == 0 {
            return (info, None);
        }
        (text.strip_suffix(' ').unwrap_or(text), Some(found))
    }

    /// Returns `true` if `host` is this host and no process has the number. A number that is in use may belong to another process by now, so
    /// `false` tells nothing.
    pub fn is_gone(pid: u32, on_host: &str) -> bool {
        host().as_deref() == Some(on_host) && exists(pid) == Some(false)
    }

    /// Whether it still runs, if it can be asked from here.
    pub fn alive(&self) -> Option<bool> {
        if self.host.is_none() || self.host != host() || self.space != space() {
            return None;
        }
        match (self.start, start(self.pid)) {
            (Some(recorded), Some(found)) => Some(recorded == found),
            _ => exists(self.pid),
        }
    }
}

#[cfg(unix)]
fn host() -> Option<String> {
    let name = nix::unistd::gethostname().ok()?.into_string().ok()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    Some(name.chars().filter(|c| is_plain(*c)).collect()).filter(|name: &String| !name.is_empty())
}

#[cfg(not(unix))]
fn host() -> Option<String> {
    None
}

/// The number of the process namespace: two containers may both have a process 7.
#[cfg(target_os = "linux")]
fn space() -> Option<u64> {
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn space() -> Option<u64> {
    None
}

/// When a process began, in ticks since the machine started: the 22nd field of its record.
#[cfg(target_os = "linux")]
fn start(pid: u32) -> Option<u64> {
    let record = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in parentheses, which may hold anything; the third follows the last of them.
    record.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn start(_: u32) -> Option<u64> {
    None
}

#[cfg(unix)]
pub(crate) fn exists(pid: u32) -> Option<bool> {
    use nix::errno::Errno;
    let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).ok()?);
    match nix::sys::signal::kill(pid, None) {
        Ok(()) | Err(Errno::EPERM) => Some(true),
        Err(Errno::ESRCH) => Some(false),
        Err(_) => None,
    }
}

#[cfg(not(unix))]
pub(crate) fn exists(_: u32) -> Option<bool> {
    None
}

#[cfg(test)]
mod tests {
    use super::Process;

    #[test]
    fn a_tag_is_read_back_and_the_text_stays_as_it_was_given() {
        for text in ["", "for the release", "ends in ]", "[groundstate"] {
            for brief in [false, true] {
                let process = Process::this(brief);
                let tagged = process.tag(text);
                assert_eq!(Process::untag(&tagged), (text, Some(process)), "{tagged}");
            }
        }
    }

    #[test]
    fn texts_without_a_tag_are_left_alone() {
        for text in ["", "plain", "[groundstate]", "[groundstate pid=x]", "[groundstate pid=1] and more"] {
            assert_eq!(Process::untag(text), (text, None));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_runs_and_one_with_another_start_does_not() {
        let this = Process::this(false);
        assert_eq!(this.alive(), Some(true));
        assert_eq!(Process { start: Some(1), ..this.clone() }.alive(), Some(false));
        let here = this.host.clone().unwrap_or_default();
        assert!(!Process::is_gone(this.pid, &here) && !Process::is_gone(u32::MAX >> 1, "elsewhere"));
        assert_eq!(Process::is_gone(u32::MAX >> 1, &here), this.host.is_some());
        assert_eq!(Process { host: Some("elsewhere".to_owned()), ..this }.alive(), None);
    }
}
