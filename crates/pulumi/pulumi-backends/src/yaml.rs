//! What is read of a project file: its name and its backend. The rest is skipped, and nothing is expanded.

use saphyr_parser::{Event, Parser, ScalarStyle};

/// How deep collections may be nested.
const DEEPEST: usize = 200;

/// What a project file says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ProjectText {
    pub(crate) name: Option<String>,
    pub(crate) backend: Option<String>,
    /// Where the configurations of stacks are.
    pub(crate) stack_config_dir: Option<String>,
}

/// Reads YAML event by event, so that aliases cost nothing.
///
/// # Errors
///
/// What is wrong; nothing of the content but line numbers.
pub(crate) fn read(text: &str) -> Result<ProjectText, String> {
    let mut reader = Reader { events: Parser::new_from_str(text), depth: 0 };
    loop {
        match reader.next()? {
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            Event::MappingStart(..) => return reader.project(),
            Event::StreamEnd | Event::DocumentEnd => return Err("it is empty".to_owned()),
            _ => return Err("it is not a mapping".to_owned()),
        }
    }
}

struct Reader<'t> {
    events: Parser<'t, saphyr_parser::StrInput<'t>>,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Event<'t>, String> {
        let event = match self.events.next() {
            None => return Err("it ends too early".to_owned()),
            Some(Err(error)) => {
                return Err(format!("it is not YAML at line {}", error.marker().line()));
            }
            Some(Ok((event, _))) => event,
        };
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => self.depth += 1,
            Event::MappingEnd | Event::SequenceEnd => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.depth > DEEPEST {
            return Err(format!("it is nested more than {DEEPEST} levels deep"));
        }
        Ok(event)
    }

    fn project(&mut self) -> Result<ProjectText, String> {
        let (mut found, mut seen) = (ProjectText::default(), Vec::new());
        while let Some(key) = self.key(&mut seen)? {
            match key.as_deref() {
                Some("name") => found.name = self.text("name")?,
                Some("backend") => found.backend = self.backend()?,
                Some("stackConfigDir") => found.stack_config_dir = self.text("stackConfigDir")?,
                _ => {
                    let event = self.next()?;
                    self.skip(&event)?;
                }
            }
        }
        Ok(found)
    }

    fn backend(&mut self) -> Result<Option<String>, String> {
        match self.next()? {
            Event::MappingStart(..) => {}
            Event::Scalar(text, ScalarStyle::Plain, ..) if is_null(&text) => return Ok(None),
            _ => return Err("its member `backend` is not a mapping".to_owned()),
        }
        let (mut found, mut seen) = (None, Vec::new());
        while let Some(key) = self.key(&mut seen)? {
            if key.as_deref() == Some("url") {
                found = self.text("backend.url")?;
            } else {
                let event = self.next()?;
                self.skip(&event)?;
            }
        }
        Ok(found)
    }

    /// The next key of a mapping, nothing at its end; a key that is no text is `Some(None)`.
    fn key(&mut self, seen: &mut Vec<String>) -> Result<Option<Option<String>>, String> {
        let event = self.next()?;
        match event {
            Event::MappingEnd => Ok(None),
            Event::Scalar(text, ..) if text == "<<" => {
                Err("it has a merge key (`<<`), which is not followed".to_owned())
            }
            Event::Scalar(text, ..) => {
                let text = text.into_owned();
                let is_read = matches!(text.as_str(), "name" | "backend" | "url" | "stackConfigDir");
                if is_read && seen.contains(&text) {
                    return Err(format!("it has the member `{text}` twice"));
                }
                seen.extend(is_read.then(|| text.clone()));
                Ok(Some(Some(text)))
            }
            Event::Alias(_) => Err("it has an alias for a key, which is not followed".to_owned()),
            event => {
                self.skip(&event)?;
                Ok(Some(None))
            }
        }
    }

    /// A value that has to be a text.
    fn text(&mut self, member: &str) -> Result<Option<String>, String> {
        match self.next()? {
            Event::Scalar(text, ScalarStyle::Plain, _, None) if is_null(&text) => Ok(None),
            Event::Scalar(text, ScalarStyle::Plain, _, None) if is_no_text(&text) => {
                Err(format!("its member `{member}` is not a text, write it in quotes"))
            }
            Event::Scalar(text, ..) => Ok(Some(text.into_owned())),
            Event::Alias(_) => Err(format!("its member `{member}` is an alias, which is not followed")),
            _ => Err(format!("its member `{member}` is not a text")),
        }
    }

    /// Passes over the rest of a value.
    fn skip(&mut self, event: &Event<'_>) -> Result<(), String> {
        if matches!(event, Event::MappingStart(..) | Event::SequenceStart(..)) {
            let outer = self.depth - 1;
            while self.depth > outer {
                self.next()?;
            }
        }
        Ok(())
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Whether a plain scalar is a number or a boolean.
fn is_no_text(text: &str) -> bool {
    let is_flag = matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE");
    let digits = text.trim_start_matches(['+', '-']);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && (text.parse::<f64>().is_ok() || digits.starts_with("0x") || digits.starts_with("0o"));
    is_flag || is_number
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn finds_name_and_backend_among_anything() {
        let text = "# c\nname: shop\nruntime:\n  name: nodejs\n  options: {a: [1, {b: 2}]}\nbackend:\n  other: 1\n  url: s3://b?region=x\nconfig:\n  backend:\n    url: file:///elsewhere\n";
        let found = read(text).unwrap();
        assert_eq!(found.name.as_deref(), Some("shop"));
        assert_eq!(found.backend.as_deref(), Some("s3://b?region=x"));
        for (text, name) in [
            ("name: 'yes'\n", "yes"),
            ("{\"name\": \"a\"}", "a"),
            ("name: |\n  a\n", "a\n"),
            ("name: a-1", "a-1"),
        ] {
            assert_eq!(read(text).unwrap().name.as_deref(), Some(name), "{text}");
        }
        assert_eq!(read("name: ~\nbackend:\n").unwrap(), super::ProjectText::default());
    }

    #[test]
    fn refuses_what_would_hide_a_backend() {
        for (text, why) in [
            ("", "empty"),
            ("- a\n", "not a mapping"),
            ("name: 12\n", "not a text"),
            ("name: true\n", "not a text"),
            ("name: [a]\n", "not a text"),
            ("name: a\nname: b\n", "twice"),
            ("a: &a {url: x}\nbackend: *a\n", "not a mapping"),
            ("a: &a {url: x}\nbackend:\n  <<: *a\n", "merge key"),
            ("a: &a {url: x}\n<<: *a\n", "merge key"),
            ("a: &u x\nbackend:\n  url: *u\n", "alias"),
            ("backend: s3://b\n", "not a mapping"),
            ("name: \"a\n", "not YAML at line"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text:?}: {error}");
        }
        let deep = format!("a: {}{}", "[".repeat(1_000), "]".repeat(1_000));
        assert!(read(&deep).is_err());
    }

    #[test]
    fn billion_laughs_cost_nothing() {
        let mut text = "a0: &a0 [lol]\n".to_owned();
        for level in 1..40 {
            let before = level - 1;
            text.push_str(&format!("a{level}: &a{level} [{}]\n", vec![format!("*a{before}"); 9].join(",")));
        }
        text.push_str("name: shop\n");
        assert_eq!(read(&text).unwrap().name.as_deref(), Some("shop"));
    }
}
