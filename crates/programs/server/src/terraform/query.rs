//! The query of a request: the id of the lock that a writer holds.

use url::form_urlencoded;

use crate::problem::{Problem, ProblemType};

/// The longest id of a lock, in bytes.
pub(crate) const LONGEST_ID: usize = 512;

/// The value of `ID`; none if there is none. Other parameters are the client's own.
///
/// # Errors
///
/// If it is empty, too long, or there are two that differ.
pub(crate) fn lock_id(query: Option<&str>) -> Result<Option<String>, Problem> {
    let mut found: Option<String> = None;
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        if name != "ID" {
            continue;
        }
        check_id(&value)?;
        match &found {
            Some(before) if *before != value => {
                return Err(Problem::new(ProblemType::BadRequest, "the query has two different lock ids"));
            }
            _ => found = Some(value.into_owned()),
        }
    }
    Ok(found)
}

/// Whether a text can be the id of a lock.
///
/// # Errors
///
/// If it is empty or too long.
pub(crate) fn check_id(id: &str) -> Result<(), Problem> {
    match id.len() {
        0 => Err(Problem::new(ProblemType::BadRequest, "the id of the lock is empty")),
        1..=LONGEST_ID => Ok(()),
        _ => Err(Problem::new(
            ProblemType::BadRequest,
            format!("the id of the lock is longer than {LONGEST_ID} bytes"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::lock_id;

    #[test]
    fn the_id_is_found_between_other_parameters_and_decoded() {
        for (query, id) in [
            (None, None),
            (Some(""), None),
            (Some("x=1&y=2"), None),
            (Some("id=a"), None),
            (Some("ID=abc"), Some("abc")),
            (Some("a=1&ID=a%2Fb+c&x=1"), Some("a/b c")),
            (Some("ID=a&ID=a"), Some("a")),
        ] {
            assert_eq!(lock_id(query).unwrap().as_deref(), id, "{query:?}");
        }
    }

    #[test]
    fn no_id_is_guessed() {
        let long = format!("ID={}", "a".repeat(513));
        for query in ["ID=", "ID", "ID=a&ID=b", &long] {
            assert!(lock_id(Some(query)).is_err(), "{query}");
        }
    }
}
