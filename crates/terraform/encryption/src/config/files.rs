//! The configuration in the files of a directory: `encryption` blocks, and the variables and locals that they use.

use super::body::Source;
use super::error::ConfigurationError;
use super::evaluate::evaluate;
use super::json::{Blocks, Node};
use super::scope::Scope;
use super::types::Type;
use super::{Configuration, blocks};

static IN_VARIABLES: Blocks = Blocks(&[]);

/// A file of a configuration, such as `main.tf`.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// Its name; one that ends in `.json` is in the JSON syntax.
    pub name: &'a str,
    /// The content of the file.
    pub text: &'a str,
}

impl SourceFile<'_> {
    fn is_json(&self) -> bool {
        self.name.ends_with(".json")
    }

    /// Whether it replaces parts of the others.
    fn is_override(&self) -> bool {
        let stem = ["json", "tf", "tofu"].iter().fold(self.name, |name, ending| {
            name.strip_suffix(ending).and_then(|name| name.strip_suffix('.')).unwrap_or(name)
        });
        let stem = stem.rsplit(['/', '\\']).next().unwrap_or(stem);
        stem == "override" || stem.ends_with("_override")
    }

    /// Whether it may have a block that matters here. Names of blocks have no other spelling.
    fn matters(&self) -> bool {
        ["encryption", "variable", "locals"].iter().any(|word| self.text.contains(word))
    }
}

/// The files of a directory that OpenTofu reads, in the order of their names.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a>(pub &'a [SourceFile<'a>]);

impl Sources<'_> {
    /// Whether an `encryption` block may be in one of them.
    pub fn mention_encryption(&self) -> bool {
        self.0.iter().any(|file| file.text.contains("encryption"))
    }

    /// Adds the defaults of variables, and the locals, to a scope.
    ///
    /// # Errors
    ///
    /// When a file cannot be parsed.
    pub fn scope(&self, mut scope: Scope) -> Result<Scope, ConfigurationError> {
        // Overrides count more than the other files, whatever their names are.
        let (overrides, plain): (Vec<&SourceFile<'_>>, Vec<_>) =
            self.0.iter().filter(|file| file.matters()).partition(|file| file.is_override());
        for file in plain.into_iter().chain(overrides) {
            let source = Source::new(file.name, file.text);
            if file.is_json() {
                json_scope(&source, &mut scope)?;
            } else {
                hcl_scope(&source, &mut scope)?;
            }
        }
        Ok(scope)
    }

    /// The configuration that the `encryption` block says, if there is one.
    ///
    /// # Errors
    ///
    /// When a file cannot be parsed, when there is a second block, and as [`Configuration::parse`].
    pub fn configuration(&self, scope: &Scope) -> Result<Option<Configuration>, ConfigurationError> {
        let (mut found, mut replaced) = (None, None::<Configuration>);
        for file in self.0.iter().filter(|file| file.text.contains("encryption")) {
            let source = Source::new(file.name, file.text);
            for (configuration, place) in encryption_blocks(&source, file.is_json(), scope)? {
                if file.is_override() {
                    replaced = Some(match replaced.take() {
                        Some(known) => known.merged(configuration),
                        None => configuration,
                    });
                } else if found.replace(configuration).is_some() {
                    let why = "this is the second encryption block, and there is one at most";
                    return Err(ConfigurationError::structure(place, why));
                }
            }
        }
        Ok(match (found, replaced) {
            (Some(found), Some(replaced)) => Some(found.merged(replaced)),
            (found, replaced) => found.or(replaced),
        })
    }
}

/// Reads the values of a file of variables, such as `terraform.tfvars`.
///
/// # Errors
///
/// When it cannot be parsed.
pub fn read_variables(file: SourceFile<'_>, mut scope: Scope) -> Result<Scope, ConfigurationError> {
    let source = Source::new(file.name, file.text);
    let literals = Scope::new();
    let body = match file.is_json() {
        true => Node::parse(&source)?.body(&source, &IN_VARIABLES, &literals)?,
        false => source.body(&source.hcl()?, &literals),
    };
    for (name, value, _) in body.attributes {
        scope = scope.variable(name, value);
    }
    Ok(scope)
}

fn hcl_scope(source: &Source<'_>, scope: &mut Scope) -> Result<(), ConfigurationError> {
    let literals = Scope::new();
    for block in source.hcl()?.blocks() {
        match (block.ident.as_str(), &block.labels[..]) {
            ("variable", [name]) => {
                if let Some(of_type) = block.body.get_attribute("type") {
                    scope.types.insert(name.as_str().to_owned(), Type::of(&of_type.value));
                }
                if let Some(default) = block.body.get_attribute("default") {
                    scope.declared.insert(name.as_str().to_owned(), evaluate(&default.value, &literals));
                }
            }
            ("locals", []) => {
                for local in block.body.attributes() {
                    scope.locals.insert(local.key.as_str().to_owned(), local.value.clone());
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn json_scope(source: &Source<'_>, scope: &mut Scope) -> Result<(), ConfigurationError> {
    let file = Node::parse(source)?;
    let literals = Scope::new();
    for variables in file.each("variable") {
        for (name, variable) in variables.members() {
            for (member, node) in variable.items().into_iter().flat_map(Node::members) {
                match member {
                    "default" => drop(scope.declared.insert(name.to_owned(), node.value(&literals))),
                    "type" => {
                        let text = node.text().unwrap_or_default();
                        let inner = text.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
                        scope.types.insert(name.to_owned(), Type::named(inner.unwrap_or(text).trim()));
                    }
                    _ => {}
                }
            }
        }
    }
    for locals in file.each("locals") {
        for (name, local) in locals.members() {
            scope.locals.insert(name.to_owned(), local.expression());
        }
    }
    Ok(())
}

/// The `encryption` blocks of a file.
fn encryption_blocks(
    source: &Source<'_>,
    is_json: bool,
    scope: &Scope,
) -> Result<Vec<(Configuration, super::Place)>, ConfigurationError> {
    let mut found = Vec::new();
    if is_json {
        for settings in Node::parse(source)?.each("terraform") {
            for block in settings.each("encryption") {
                let body = block.body(source, blocks::IN_ENCRYPTION, scope)?;
                found.push((Configuration::of_body(body)?, block.place(source)));
            }
        }
        return Ok(found);
    }
    let file = source.hcl()?;
    for settings in file.get_blocks("terraform") {
        for block in settings.body.get_blocks("encryption") {
            let body = source.body(&block.body, scope);
            let at = hcl_edit::Span::span(block).map_or(0, |span| span.start);
            found.push((Configuration::of_body(body)?, source.place(at)));
        }
    }
    Ok(found)
}
