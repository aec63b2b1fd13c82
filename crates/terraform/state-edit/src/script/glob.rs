//! Text with stars in it.

/// The pieces between the stars; a single piece is matched as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Glob(Vec<String>);

impl Glob {
    /// A glob of these pieces, of which there is at least one.
    pub(super) fn new(pieces: Vec<String>) -> Self {
        Self(pieces)
    }

    /// How many stars there are.
    pub(super) fn stars(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    /// What every text begins and ends with that matches.
    pub(super) fn ends(&self) -> (&str, &str) {
        let (begin, end) = (self.0.first(), self.0.last());
        (begin.map_or("", String::as_str), end.map_or("", String::as_str))
    }

    /// The only text that matches, if there are no stars.
    pub(super) fn exact(&self) -> Option<&str> {
        match self.0.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// What the stars stand for in this text, each as short as it can be and the last one up to the end.
    pub(super) fn captures<'t>(&self, text: &'t str) -> Option<Vec<&'t str>> {
        let (first, rest) = self.0.split_first()?;
        let mut left = text.strip_prefix(first.as_str())?;
        let Some((last, middle)) = rest.split_last() else {
            return left.is_empty().then(Vec::new);
        };
        let mut found = Vec::with_capacity(rest.len());
        for piece in middle {
            let (before, after) = left.split_once(piece.as_str())?;
            found.push(before);
            left = after;
        }
        found.push(left.strip_suffix(last.as_str())?);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(glob: &str, text: &str, expected: Option<&[&str]>) {
        let glob = Glob::new(glob.split('*').map(str::to_owned).collect());
        assert_eq!(glob.captures(text).as_deref(), expected, "{text}");
    }

    #[test]
    fn stars_stand_for_any_text() {
        check("web", "web", Some(&[]));
        check("web", "webs", None);
        check("*", "web", Some(&["web"]));
        check("web*", "web", Some(&[""]));
        check("web_*", "web_a", Some(&["a"]));
        check("*_a_*", "b_a_a_c", Some(&["b", "a_c"]));
        check("a*a", "a", None);
        check("a*b*c", "axbybzc", Some(&["x", "ybz"]));
        check("a*b*c", "axc", None);
    }
}
