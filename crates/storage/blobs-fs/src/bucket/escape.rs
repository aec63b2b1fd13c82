//! Keys as go-cloud's `file` bucket writes them in file names, and back.

/// The file name of a key, relative to the bucket; `None` if the name would be read back as another key.
pub(crate) fn file_name(key: &str) -> Option<String> {
    let mut name = escape_inside(key);
    if name.ends_with('/') {
        name.pop();
        push_escaped(&mut name, '/');
    }
    (key_of(&name).as_deref() == Some(key)).then_some(name)
}

/// The same without the rule for a slash at the end, for the folders of a prefix.
pub(crate) fn escape_inside(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    let (mut before, mut last) = ('\0', '\0');
    for c in key.chars() {
        let is_odd_slash = c == '/' && (last == '/' || (last == '.' && before == '.'));
        let is_odd_on_windows = cfg!(windows) && r#"><:"|?*\"#.contains(c);
        if u32::from(c) < 32 || is_odd_slash || is_odd_on_windows {
            push_escaped(&mut name, c);
        } else {
            name.push(c);
        }
        (before, last) = (last, c);
    }
    name
}

fn push_escaped(name: &mut String, c: char) {
    name.push_str(&format!("__{:#x}__", u32::from(c)));
}

/// The key of a file name; `None` if an escape names no character.
fn key_of(name: &str) -> Option<String> {
    let mut key = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, escape)) = rest.split_once("__0x") {
        key.push_str(before);
        let digits = escape.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(escape.len());
        let (digits, after) = escape.split_at(digits);
        match after.strip_prefix("__") {
            Some(after) if !digits.is_empty() => {
                key.push(u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)?);
                rest = after;
            }
            _ => {
                key.push_str("__0x");
                rest = escape;
            }
        }
    }
    key.push_str(rest);
    Some(key)
}

/// The key of a listed file name. A name that no key is written as stands for itself, so that it is seen; reading it is
/// refused.
pub(crate) fn listed_key(name: &str) -> String {
    match key_of(name) {
        Some(key) if file_name(&key).as_deref() == Some(name) => key,
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{file_name, listed_key};

    #[test]
    fn keys_and_file_names_are_those_of_the_original() {
        for (key, name) in [
            ("a/b.json", "a/b.json"),
            ("a\u{1}b", "a__0x1__b"),
            ("a\nb\u{1f}", "a__0xa__b__0x1f__"),
            ("x../y", "x..__0x2f__y"),
            ("../y", "..__0x2f__y"),
            ("a//b", "a/__0x2f__b"),
            ("a///b", "a/__0x2f____0x2f__b"),
            ("a/", "a__0x2f__"),
            ("a__b", "a__b"),
            ("a__0x", "a__0x"),
            ("a__0xzz__", "a__0xzz__"),
            ("\u{7f}ü 状%", "\u{7f}ü 状%"),
        ] {
            assert_eq!(file_name(key).as_deref(), Some(name), "{key:?}");
            assert_eq!(listed_key(name), key, "{name:?}");
        }
    }

    #[test]
    fn what_would_come_back_as_another_key_has_no_name() {
        for key in ["a__0x2f__b", "__0x41__", "__0x2F__", "__0xd800__", "__0x110000__", "___0x41__"] {
            assert_eq!(file_name(key), None, "{key}");
            assert_eq!(listed_key(key), key);
        }
    }
}
