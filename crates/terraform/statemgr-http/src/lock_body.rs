//! The bodies of refusals: who holds the lock, and what the server says.

use groundstate_common::{one_line, shortened};
use groundstate_statemgr::{LockId, LockInfo};
use serde_json::{Map, Value};

/// Characters of what a server says that are shown, at most.
const MOST_SHOWN: usize = 200;
/// The type of the problem that says that the writer's lock is gone, as `groundstate serve` words it.
const LOCK_LOST: &str = "urn:groundstate:problem:lock-lost";

/// The holder that the body of a refusal names, if it names one.
///
/// It is read as leniently as the original programs do, and further: where a member cannot be read, such as the time, the others count. Any
/// other text, and a document without an id, names none.
///
/// ```
/// use groundstate_statemgr_http::holder_in;
///
/// let holder = holder_in(br#"{"ID":"7","Who":"ana@build","Created":"yesterday"}"#);
/// assert_eq!(holder.map(|info| info.who), Some("ana@build".to_owned()));
/// assert_eq!(holder_in(b"<html>423 Locked</html>"), None);
/// ```
pub fn holder_in(body: &[u8]) -> Option<LockInfo> {
    let info = LockInfo::parse(body).ok().or_else(|| by_members(body))?;
    Some(info).filter(|info| !info.id.is_empty())
}

/// What can be read of a document of which not all can.
fn by_members(body: &[u8]) -> Option<LockInfo> {
    let members: Map<String, Value> = serde_json::from_slice(body).ok()?;
    let text = |name: &str| {
        let found = members.iter().rfind(|(found, _)| found.eq_ignore_ascii_case(name));
        found.and_then(|(_, value)| value.as_str()).unwrap_or_default().to_owned()
    };
    Some(LockInfo {
        id: LockId::new(&text("ID")),
        operation: text("Operation"),
        info: text("Info"),
        who: text("Who"),
        version: text("Version"),
        path: text("Path"),
        ..LockInfo::default()
    })
}

/// What a server says in the body of a refusal, on one line: the text of a problem document, of GitLab's, or a line of plain text.
pub(crate) fn said(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    let line = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(members)) => ["detail", "message", "error", "title"]
            .iter()
            .find_map(|name| members.get(*name).and_then(Value::as_str))?
            .to_owned(),
        Ok(Value::String(text)) => text,
        Ok(_) => return None,
        // A page is for browsers.
        Err(_) if text.starts_with('<') => return None,
        Err(_) => text.lines().next()?.to_owned(),
    };
    let line = line.trim();
    (!line.is_empty()).then(|| shortened(&one_line(line), MOST_SHOWN).into_owned())
}

/// Whether a refusal says that the writer's lock is gone.
pub(crate) fn is_lock_lost(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|problem| problem["type"] == LOCK_LOST)
}

#[cfg(test)]
mod tests {
    use super::{holder_in, is_lock_lost, said};

    #[test]
    fn holders_are_read_leniently_and_other_texts_name_none() {
        for (body, id) in [
            (
                r#"{"ID":"7","Operation":"","Info":"","Who":"a@b","Version":"","Created":"2026-01-02T03:04:05Z","Path":""}"#,
                "7",
            ),
            (r#"{"id":"7","unknown":[1,{"x":null}]}"#, "7"),
            (r#"{"ID":"7","Created":"not a time"}"#, "7"),
            (r#"{"ID":"7","Info":{"a":1}}"#, "7"),
            (" \n{\"ID\":\"7\"}\n", "7"),
        ] {
            assert_eq!(
                holder_in(body.as_bytes()).map(|info| info.id.to_string()).as_deref(),
                Some(id),
                "{body}"
            );
        }
        for body in [
            "",
            "null",
            "[]",
            "7",
            "\"ID\"",
            "{}",
            r#"{"ID":""}"#,
            r#"{"ID":null}"#,
            r#"{"ID":7}"#,
            "locked",
            "<p>",
            r#"{"lock":{"ID":"7"}}"#,
            "{\"ID\":\"7\"",
        ] {
            assert_eq!(holder_in(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn what_a_server_says_is_one_short_line() {
        for (body, expected) in [
            (
                r#"{"type":"x","title":"no","detail":"the body is not a state"}"#,
                Some("the body is not a state"),
            ),
            (r#"{"message":"403 Forbidden"}"#, Some("403 Forbidden")),
            ("lock id mismatch\nmore\n", Some("lock id mismatch")),
            ("\u{1b}[31mred", Some("\\u001b[31mred")),
            ("<html><body>no</body></html>", None),
            ("", None),
            ("[1]", None),
            ("\"text\"", Some("text")),
        ] {
            assert_eq!(said(body.as_bytes()).as_deref(), expected, "{body}");
        }
        assert_eq!(said(&[0xff, 0xfe]), None);
        assert!(said("x".repeat(10_000).as_bytes()).is_some_and(|text| text.chars().count() == 201));
        assert!(is_lock_lost(br#"{"type":"urn:groundstate:problem:lock-lost"}"#) && !is_lock_lost(b"lost"));
    }
}
