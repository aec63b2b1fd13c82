//! JSON values and the way the products lay them out.

use std::io::{self, Write};

/// A JSON value; members are in the order they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// A number as it is spelt.
    Number(String),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// An object whose members are sorted by name, as providers store theirs.
pub(crate) fn sorted<N: Into<String>>(members: impl IntoIterator<Item = (N, Json)>) -> Json {
    let mut members: Vec<_> = members.into_iter().map(|(name, value)| (name.into(), value)).collect();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    Json::Object(members)
}

/// An object whose members keep their order.
pub(crate) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::members(members.into())
}

/// A list.
pub(crate) fn list<T: Into<Json>>(items: impl IntoIterator<Item = T>) -> Json {
    Json::List(items.into_iter().map(Into::into).collect())
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Self {
        Self::Number(value.to_string())
    }
}

impl Json {
    /// An object whose members keep their order; how many there are is known only at run time.
    pub(crate) fn members(members: Vec<(&str, Self)>) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Writes the value as Go's encoder indents it, each level by `indent` blanks, from `level` on.
    pub(crate) fn write<W: Write>(&self, out: &mut W, indent: usize, level: usize) -> io::Result<()> {
        match self {
            Self::Null => out.write_all(b"null"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Number(text) => out.write_all(text.as_bytes()),
            Self::Text(text) => string(out, text),
            Self::List(items) if items.is_empty() => out.write_all(b"[]"),
            Self::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    out.write_all(if at == 0 { b"[" } else { b"," })?;
                    line(out, indent * (level + 1))?;
                    item.write(out, indent, level + 1)?;
                }
                line(out, indent * level)?;
                out.write_all(b"]")
            }
            Self::Object(members) if members.is_empty() => out.write_all(b"{}"),
            Self::Object(members) => {
                for (at, (name, value)) in members.iter().enumerate() {
                    out.write_all(if at == 0 { b"{" } else { b"," })?;
                    line(out, indent * (level + 1))?;
                    string(out, name)?;
                    out.write_all(b": ")?;
                    value.write(out, indent, level + 1)?;
                }
                line(out, indent * level)?;
                out.write_all(b"}")
            }
        }
    }

    /// The value without white space and without the escapes of Go, as texts inside attributes hold it.
    pub(crate) fn compact(&self) -> String {
        let join = |items: Vec<String>| items.join(",");
        match self {
            Self::List(items) => format!("[{}]", join(items.iter().map(Self::compact).collect())),
            Self::Object(members) => {
                let member = |(name, value): &(String, Self)| format!("{}:{}", plain(name), value.compact());
                format!("{{{}}}", join(members.iter().map(member).collect()))
            }
            Self::Text(text) => plain(text),
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(text) => text.clone(),
        }
    }
}

/// Begins a line with so many blanks.
pub(crate) fn line<W: Write>(out: &mut W, blanks: usize) -> io::Result<()> {
    write!(out, "\n{:blanks$}", "")
}

/// Writes a string with the escapes of Go's encoder, which spares HTML from `<`, `>` and `&`.
fn string<W: Write>(out: &mut W, text: &str) -> io::Result<()> {
    out.write_all(b"\"")?;
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let escape: &[u8] = match c {
            '"' => b"\\\"",
            '\\' => b"\\\\",
            '\n' => b"\\n",
            '\r' => b"\\r",
            '\t' => b"\\t",
            '<' => b"\\u003c",
            '>' => b"\\u003e",
            '&' => b"\\u0026",
            _ => continue,
        };
        out.write_all(&text.as_bytes()[from..at])?;
        out.write_all(escape)?;
        from = at + 1;
    }
    out.write_all(&text.as_bytes()[from..])?;
    out.write_all(b"\"")
}

fn plain(text: &str) -> String {
    format!(
        "\"{}\"",
        text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t")
    )
}

#[cfg(test)]
mod tests {
    use super::{Json, list, object, sorted};

    fn written(value: &Json) -> String {
        let mut out = Vec::new();
        value.write(&mut out, 2, 0).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn layout_is_that_of_the_products() {
        let empty = object([("a", list([false; 0])), ("b", object([]))]);
        assert_eq!(written(&empty), "{\n  \"a\": [],\n  \"b\": {}\n}");
        let nested = list([object([("n", 1_usize.into())]), Json::Null]);
        assert_eq!(written(&nested), "[\n  {\n    \"n\": 1\n  },\n  null\n]");
    }

    #[test]
    fn strings_are_escaped_as_go_escapes_them() {
        assert_eq!(
            written(&"<a> & \"b\"\\\n\tö🚀".into()),
            "\"\\u003ca\\u003e \\u0026 \\\"b\\\"\\\\\\n\\tö🚀\""
        );
        assert_eq!(Json::from("<a>\"\n").compact(), "\"<a>\\\"\\n\"");
    }

    #[test]
    fn members_are_sorted_where_providers_sort_them() {
        assert_eq!(sorted([("b", true.into()), ("a", false.into())]).compact(), "{\"a\":false,\"b\":true}");
    }
}
