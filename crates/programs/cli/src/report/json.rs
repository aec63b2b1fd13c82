//! A writer of JSON documents, member by member.

use std::convert::Infallible;

use groundstate_common::in_turn;
use groundstate_statefile::push_json_string;

/// The version of the form of all documents of the command: minor versions add members, a major one takes some away.
const FORMAT_VERSION: &str = "1.0";

/// A document that is being written, without white space.
///
/// Strings are escaped as Terraform escapes them, so that `<`, `>`, `&` and the line separators of Unicode never
/// stand in the text.
#[derive(Debug, Default)]
pub(crate) struct Json {
    out: String,
}

impl Json {
    /// Writes a document of the command: an object that begins with the version of its form.
    pub(crate) fn document(members: impl FnOnce(&mut Self)) -> String {
        Self::object(|json| {
            json.text("format_version", FORMAT_VERSION);
            members(json);
        })
    }

    /// Writes an object.
    pub(crate) fn object(members: impl FnOnce(&mut Self)) -> String {
        let mut json = Self::default();
        json.braces('{', '}', members);
        json.out
    }

    /// Adds a member whose value is a string.
    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.string(value);
    }

    /// Adds a member whose value is JSON already, or prints as JSON.
    pub(crate) fn raw(&mut self, name: &str, value: impl std::fmt::Display) {
        self.name(name);
        self.out.push_str(&value.to_string());
    }

    /// Adds a member whose value is an object.
    pub(crate) fn inner(&mut self, name: &str, members: impl FnOnce(&mut Self)) {
        self.name(name);
        self.braces('{', '}', members);
    }

    /// Adds a member whose value is an array with an object for each item.
    pub(crate) fn objects<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        mut members: impl FnMut(&mut Self, T),
    ) {
        self.name(name);
        self.braces('[', ']', |json| {
            for item in items {
                json.comma();
                json.braces('{', '}', |json| members(json, item));
            }
        });
    }

    /// The same for many items, which so many threads share; each writes `chunk` items at a time.
    pub(crate) fn many_objects<T: Sync>(
        &mut self,
        name: &str,
        items: &[T],
        chunk: usize,
        threads: usize,
        members: impl Fn(&mut Self, &T) + Sync,
    ) {
        let write = |chunk: &&[T]| {
            let mut json = Self::default();
            for item in *chunk {
                // The bracket is written elsewhere, so an empty text is the beginning of a list.
                if !json.out.is_empty() {
                    json.out.push(',');
                }
                json.braces('{', '}', |json| members(json, item));
            }
            json.out
        };
        self.name(name);
        self.braces('[', ']', |json| {
            let chunks: Vec<&[T]> = items.chunks(chunk).collect();
            let Ok(()) = in_turn(&chunks, threads, write, |text| {
                json.comma();
                json.out.push_str(&text);
                Ok::<(), Infallible>(())
            });
        });
    }

    /// Adds a member whose value is an array of strings.
    pub(crate) fn texts<T: AsRef<str>>(&mut self, name: &str, items: impl IntoIterator<Item = T>) {
        self.name(name);
        self.braces('[', ']', |json| {
            for item in items {
                json.comma();
                json.string(item.as_ref());
            }
        });
    }

    fn name(&mut self, name: &str) {
        self.comma();
        self.string(name);
        self.out.push(':');
    }

    fn comma(&mut self) {
        if !self.out.ends_with(['{', '[']) {
            self.out.push(',');
        }
    }

    fn braces(&mut self, open: char, close: char, content: impl FnOnce(&mut Self)) {
        self.out.push(open);
        content(self);
        self.out.push(close);
    }

    fn string(&mut self, text: &str) {
        push_json_string(&mut self.out, text);
    }
}

/// A text as JSON.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::new();
    push_json_string(&mut out, text);
    out
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn writes_members_in_order_and_escapes_them() {
        let text = Json::object(|json| {
            json.text("a<b", "\u{2028}\"\n\u{1}");
            json.raw("n", 1);
            json.inner("o", |json| json.raw("x", "[]"));
            json.objects("list", [1, 2], |json, item| json.raw("i", item));
            json.texts("empty", Vec::<String>::new());
        });
        let expected =
            r#"{"a\u003cb":"\u2028\"\n\u0001","n":1,"o":{"x":[]},"list":[{"i":1},{"i":2}],"empty":[]}"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn many_objects_are_written_alike_by_any_number_of_threads() {
        for count in [0, 1, 2, 5, 64, 100] {
            let items: Vec<usize> = (0..count).collect();
            let plain = Json::object(|json| json.objects("o", &items, |json, item| json.raw("i", item)));
            for (chunk, threads) in [(1, 1), (1, 3), (2, 2), (64, 4)] {
                let shared = Json::object(|json| {
                    json.many_objects("o", &items, chunk, threads, |json, item| json.raw("i", item));
                });
                assert_eq!(shared, plain, "{count} items, {chunk} at a time, {threads} threads");
            }
        }
    }
}
