//! What of a URL may be shown, and whether it has a password.
//!
//! A password may have a raw `?`, `#`, `/` or `@` in it, which ends the part that it is in for one reader and not for another. So the
//! user info is taken to reach as far as any reader may take it.

/// Whether a URL has a password: in its user info, or as a parameter.
pub(crate) fn has_password(url: &str) -> bool {
    let after_scheme = after_scheme(url);
    let user = after_scheme.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':'))
        || after_scheme.split(['?', '&']).skip(1).any(|pair| pair.starts_with("password="))
}

/// The host and the path of a URL, without user info and parameters; none if a reader may take what seems to be one of them for
/// another.
pub(crate) fn shown_place(url: &str) -> Option<&str> {
    let after_scheme = after_scheme(url);
    let place = after_scheme.split(['?', '#']).next().unwrap_or_default();
    if after_scheme[place.len()..].contains('@') {
        return None;
    }
    Some(place.rsplit_once('@').map_or(place, |(_, host)| host))
}

fn after_scheme(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::{has_password, shown_place};

    #[test]
    fn a_password_with_raw_characters_is_one_and_no_part_of_it_is_shown() {
        for (url, has, shown) in [
            ("postgres://h:5432/d", false, Some("h:5432/d")),
            ("postgres://ci@h/d?sslmode=require", false, Some("h/d")),
            ("postgres://ci:hush@h/d#x", true, Some("h/d")),
            ("postgres://ci:hu@sh@h/d", true, Some("h/d")),
            ("postgres://ci:hu/sh@h/d", true, Some("h/d")),
            ("postgres://ci:hu?sh@h/d", true, None),
            ("postgres://ci:hu#sh@h/d", true, None),
            ("postgres://ci:hu?s@h#@h/d?a=b", true, None),
            ("postgres://h/d?password=hu@sh", true, None),
            ("postgres://h/d?user=a&password=hush", true, Some("h/d")),
        ] {
            assert_eq!((has_password(url), shown_place(url)), (has, shown), "{url}");
        }
    }
}
