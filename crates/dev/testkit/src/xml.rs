//! As much of XML as the services' small documents need.

use quick_xml::escape::{escape, unescape};

/// Text as an element may hold it.
pub(crate) fn escaped(text: &str) -> String {
    escape(text).into_owned()
}

/// An element that holds text.
pub(crate) fn element(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", escaped(text))
}

/// What stands in each element of this name, from one of its tags to the other. Elements of one name do not nest.
pub(crate) fn inside<'a>(document: &'a str, name: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut found = Vec::new();
    let mut rest = document;
    while let Some(at) = rest.find(&open) {
        rest = &rest[at + open.len()..];
        // A longer name may begin with this one, and there may be attributes.
        if !rest.starts_with(|next: char| next == '>' || next.is_whitespace()) {
            continue;
        }
        let Some((_, content)) = rest.split_once('>') else { break };
        let Some((content, after)) = content.split_once(&close) else { break };
        found.push(content);
        rest = after;
    }
    found
}

/// The text of each element of this name.
pub(crate) fn texts(document: &str, name: &str) -> Vec<String> {
    inside(document, name)
        .into_iter()
        .map(|text| unescape(text).map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned))
        .collect()
}

/// The text of the first element of this name.
pub(crate) fn text(document: &str, name: &str) -> Option<String> {
    texts(document, name).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::{element, inside, text, texts};

    #[test]
    fn elements_are_found_by_their_whole_names() {
        let document = "<Delete xmlns=\"x\"><Object><Key>a&amp;b</Key></Object><Object><Key>c</Key>\
            <KeyMarker>m</KeyMarker></Object></Delete>";
        assert_eq!(texts(document, "Key"), ["a&b", "c"]);
        assert_eq!(inside(document, "Object").len(), 2);
        assert_eq!(text(document, "Quiet"), None);
        assert_eq!(inside(document, "Delete").len(), 1);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let name = "<a> & \"b\" 'c'";
        assert_eq!(text(&element("Key", name), "Key").as_deref(), Some(name));
    }
}
