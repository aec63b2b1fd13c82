//! Patterns of paths: `*` stands for any text, with slashes.

/// Tells whether the text fits the pattern as a whole.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Tells whether method and target fit: any method for `*`, and the query counts if the pattern has a question mark.
pub(crate) fn fits_request(method: &str, pattern: &str, request: (&str, &str, &str)) -> bool {
    let (found, path, query) = request;
    if method != "*" && !method.eq_ignore_ascii_case(found) {
        return false;
    }
    if pattern.contains('?') { fits(pattern, &format!("{path}?{query}")) } else { fits(pattern, path) }
}

#[cfg(test)]
mod tests {
    use super::{fits, fits_request};

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "/b/k", true),
            ("/b/k", "/b/k", true),
            ("/b/k", "/b/k2", false),
            ("*.tflock", "/b/p/a.tfstate.tflock", true),
            ("*.tflock", "/b/p/a.tfstate", false),
            ("/b/*", "/c/k", false),
            ("/b/*/k", "/b/x/y/k", true),
            ("/b/*k*k", "/b/k", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn the_query_counts_when_the_pattern_names_one() {
        let request = ("PUT", "/c/blob", "comp=lease");
        assert!(fits_request("PUT", "/c/blob", request));
        assert!(fits_request("*", "*?comp=lease*", request));
        assert!(!fits_request("PUT", "*?comp=metadata", request));
        assert!(!fits_request("GET", "*", request));
    }
}
