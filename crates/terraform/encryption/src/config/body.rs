//! Blocks and attributes, whichever syntax they are written in.

use std::sync::Arc;

use hcl_edit::Span;
use hcl_edit::structure::{Body as HclBody, Structure};

use super::error::ConfigurationError;
use super::evaluate::evaluate;
use super::scope::Scope;
use super::value::{Place, Value};

/// What stands between the braces of a block.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) attributes: Vec<(String, Value, Place)>,
    pub(super) blocks: Vec<Block>,
}

#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: String,
    pub(super) labels: Vec<String>,
    pub(super) body: Body,
    pub(super) place: Place,
}

impl Body {
    /// All options: attributes, and blocks as objects.
    pub(super) fn into_options(self) -> Vec<(String, Value, Place)> {
        let mut options = self.attributes;
        for block in self.blocks {
            let members = block.body.into_options().into_iter().map(|(name, value, _)| (name, value));
            options.push((block.kind, Value::Map(members.collect()), block.place));
        }
        options
    }
}

/// A text and its name.
pub(super) struct Source<'a> {
    pub(super) name: Arc<str>,
    pub(super) text: &'a str,
}

impl<'a> Source<'a> {
    pub(super) fn new(name: &str, text: &'a str) -> Self {
        Self { name: Arc::from(name), text: text.strip_prefix('\u{feff}').unwrap_or(text) }
    }

    pub(super) fn place(&self, at: usize) -> Place {
        let before = self.text.as_bytes().get(..at.min(self.text.len())).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Place { source: Arc::clone(&self.name), line }
    }

    /// Parses the native syntax.
    pub(super) fn hcl(&self) -> Result<HclBody, ConfigurationError> {
        self.text.parse().map_err(|error: hcl_edit::parser::Error| ConfigurationError::Syntax {
            place: Place { source: Arc::clone(&self.name), line: error.location().line() },
        })
    }

    /// Evaluates a body of the native syntax.
    pub(super) fn body(&self, body: &HclBody, scope: &Scope) -> Body {
        let mut out = Body::default();
        for structure in body.iter() {
            let place = self.place(structure.span().map_or(0, |span| span.start));
            match structure {
                Structure::Attribute(attribute) => {
                    let value = evaluate(&attribute.value, scope);
                    out.attributes.push((attribute.key.as_str().to_owned(), value, place));
                }
                Structure::Block(block) => {
                    let labels = block.labels.iter().map(|label| label.as_str().to_owned()).collect();
                    let (kind, body) = (block.ident.as_str().to_owned(), self.body(&block.body, scope));
                    out.blocks.push(Block { kind, labels, body, place });
                }
            }
        }
        out
    }
}
