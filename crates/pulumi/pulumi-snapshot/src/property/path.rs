//! Paths to properties, as lists such as `hideDiff` name them.

use std::fmt;
use std::sync::Arc;

/// One step of a [`PropertyPath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PropertyPathStep {
    /// A member of an object.
    Name(Arc<str>),
    /// An element of a list.
    Index(u64),
}

/// Where a value stands inside the properties of a resource.
///
/// ```
/// use groundstate_pulumi_snapshot::PropertyPath;
///
/// let path = PropertyPath::parse(r#"a.b[0]["k.x"]"#)?;
/// assert_eq!(path.steps().len(), 4);
/// assert_eq!(path.to_string(), r#"a.b[0]["k.x"]"#);
/// # Ok::<(), groundstate_pulumi_snapshot::PropertyPathError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PropertyPath(Vec<PropertyPathStep>);

/// Why a text is not a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PropertyPathError {
    /// A dot has no name behind it, or a bracket nothing inside.
    #[error("a name is missing at byte {0} of the property path")]
    MissingName(usize),
    /// A bracket or quote that is not closed.
    #[error("a bracket or quote is not closed at byte {0} of the property path")]
    Unclosed(usize),
    /// What stands in brackets is neither a number nor a quoted name.
    #[error("expected a number or a quoted name in brackets at byte {0} of the property path")]
    BadIndex(usize),
}

impl PropertyPath {
    /// A path of these steps.
    pub fn new(steps: Vec<PropertyPathStep>) -> Self {
        Self(steps)
    }

    /// The steps, from the outermost.
    pub fn steps(&self) -> &[PropertyPathStep] {
        &self.0
    }

    /// Reads names joined by dots, numbers in brackets, and quoted names in brackets.
    ///
    /// # Errors
    ///
    /// The text has another form; the error names the byte.
    pub fn parse(text: &str) -> Result<Self, PropertyPathError> {
        let mut steps = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            if let Some(inside) = rest.strip_prefix('[') {
                let (step, length) = bracketed(inside, at + 1)?;
                steps.push(step);
                at += 1 + length;
                continue;
            }
            let name = if at == 0 { rest } else { rest.strip_prefix('.').unwrap_or(rest) };
            at += rest.len() - name.len();
            let length = name.find(['.', '[']).unwrap_or(name.len());
            if length == 0 {
                // A dot in front of a bracket is let through, as in `a.["b"]`.
                if name.starts_with('[') {
                    continue;
                }
                return Err(PropertyPathError::MissingName(at));
            }
            steps.push(PropertyPathStep::Name(name[..length].into()));
            at += length;
        }
        Ok(Self(steps))
    }
}

/// Reads what stands behind an opening bracket; gives the length with the closing one.
fn bracketed(inside: &str, at: usize) -> Result<(PropertyPathStep, usize), PropertyPathError> {
    if let Some(quoted) = inside.strip_prefix('"') {
        let mut name = String::new();
        let mut chars = quoted.char_indices();
        while let Some((index, c)) = chars.next() {
            match c {
                '\\' => name.extend(chars.next().map(|(_, escaped)| escaped)),
                '"' => {
                    if !quoted[index + 1..].starts_with(']') {
                        return Err(PropertyPathError::Unclosed(at + index + 2));
                    }
                    return Ok((PropertyPathStep::Name(name.into()), index + 3));
                }
                c => name.push(c),
            }
        }
        return Err(PropertyPathError::Unclosed(at));
    }
    let Some(end) = inside.find(']') else { return Err(PropertyPathError::Unclosed(at)) };
    let digits = &inside[..end];
    if digits.is_empty() {
        return Err(PropertyPathError::MissingName(at));
    }
    if digits == "*" {
        return Ok((PropertyPathStep::Name(digits.into()), end + 1));
    }
    match digits.parse() {
        Ok(index) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            Ok((PropertyPathStep::Index(index), end + 1))
        }
        _ => Err(PropertyPathError::BadIndex(at)),
    }
}

impl fmt::Display for PropertyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                PropertyPathStep::Index(index) => write!(f, "[{index}]")?,
                PropertyPathStep::Name(name)
                    if name.is_empty() || name.contains(['.', '[', ']', '"', '\\']) =>
                {
                    write!(f, "[\"{}\"]", name.replace('\\', "\\\\").replace('"', "\\\""))?;
                }
                PropertyPathStep::Name(name) if position == 0 => f.write_str(name)?,
                PropertyPathStep::Name(name) => write!(f, ".{name}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> PropertyPathStep {
        PropertyPathStep::Name(name.into())
    }

    #[test]
    fn paths_are_written_as_they_are_read() {
        for (text, steps) in [
            ("", vec![]),
            ("a", vec![name("a")]),
            ("a.b[0]", vec![name("a"), name("b"), PropertyPathStep::Index(0)]),
            (r#"["k.x"]"#, vec![name("k.x")]),
            (r#"a["\"\\"][2].c"#, vec![name("a"), name("\"\\"), PropertyPathStep::Index(2), name("c")]),
            (r#"[""]"#, vec![name("")]),
            ("[1][2]", vec![PropertyPathStep::Index(1), PropertyPathStep::Index(2)]),
            ("é.ü", vec![name("é"), name("ü")]),
        ] {
            let path = PropertyPath::parse(text).unwrap();
            assert_eq!(path.steps(), steps, "{text}");
            assert_eq!(path.to_string(), text);
            assert_eq!(PropertyPath::new(steps).to_string(), text);
        }
        assert_eq!(PropertyPath::parse("a[*].b").unwrap().steps(), [name("a"), name("*"), name("b")]);
    }

    #[test]
    fn what_is_no_path_is_refused_at_its_byte() {
        use PropertyPathError::{BadIndex, MissingName, Unclosed};
        for (text, error) in [
            ("a..b", MissingName(2)),
            ("a.", MissingName(2)),
            (".a", MissingName(0)),
            ("a[]", MissingName(2)),
            ("a[0", Unclosed(2)),
            ("a[\"b", Unclosed(2)),
            ("a[\"b\"", Unclosed(5)),
            ("a[\"b\"x]", Unclosed(5)),
            ("a[-1]", BadIndex(2)),
            ("a[b]", BadIndex(2)),
            ("a[99999999999999999999]", BadIndex(2)),
        ] {
            assert_eq!(PropertyPath::parse(text), Err(error), "{text}");
        }
    }
}
