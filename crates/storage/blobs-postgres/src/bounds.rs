//! The bounds of what begins with a prefix.

/// The first text that follows all texts with this prefix; `None` if there is no such text.
pub(crate) fn behind(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        let next = u32::from(last) + 1;
        // The numbers in between are no characters.
        if let Some(next) = char::from_u32(if next == 0xD800 { 0xE000 } else { next }) {
            text.push(next);
            return Some(text);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::behind;

    #[test]
    fn the_text_behind_a_prefix_follows_everything_below_it() {
        for (prefix, next) in [
            ("a/", Some("a0")),
            ("a_", Some("a`")),
            ("\u{d7ff}", Some("\u{e000}")),
            ("a\u{10ffff}", Some("b")),
            ("\u{10ffff}", None),
            ("", None),
        ] {
            assert_eq!(behind(prefix).as_deref(), next, "{prefix:?}");
            assert!(next.is_none_or(|next| format!("{prefix}\u{10ffff}\u{10ffff}").as_str() < next));
        }
    }
}
