//! Variables and locals that expressions may use.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;

use hcl_edit::expr::Expression;
use hcl_edit::template::Template;
use zeroize::Zeroizing;

use super::evaluate::{evaluate, of_template};
use super::types::{Type, of_text};
use super::value::Value;

/// How many locals may lead to each other.
const MAX_CHAIN: usize = 64;

/// How many bytes of variables and locals may be inserted: a few lines of locals that insert each other multiply.
const MAX_INSERTED: usize = 16 << 20;

/// The value of a variable that is given outside of its block.
#[derive(Clone)]
enum Given {
    Value(Value),
    /// Text of the environment or the command line. The type of the variable decides how it is read.
    Text(Zeroizing<String>),
}

/// Values of variables and locals, with which expressions are evaluated.
///
/// ```
/// use groundstate_encryption::{Scope, SourceFile, Sources, Value};
///
/// let text = r#"
///   variable "env" { default = "dev" }
///   locals { key = "${var.env}/net.tfstate" }
/// "#;
/// let scope = Sources(&[SourceFile { name: "main.tf", text }]).scope(Scope::new().text("env", "prod"))?;
/// assert_eq!(scope.template("state/${local.key}"), Value::text("state/prod/net.tfstate"));
/// # Ok::<(), groundstate_encryption::ConfigurationError>(())
/// ```
#[derive(Clone, Default)]
pub struct Scope {
    given: BTreeMap<String, Given>,
    pub(super) declared: BTreeMap<String, Value>,
    pub(super) types: BTreeMap<String, Type>,
    pub(super) locals: BTreeMap<String, Expression>,
    /// Why variables that are not given have no known value.
    doubt: Option<String>,
    active: RefCell<Vec<String>>,
    inserted: Cell<usize>,
}

impl Scope {
    /// Without variables and locals.
    pub fn new() -> Self {
        Self::default()
    }

    /// With the value of a variable, which counts more than the default in its `variable` block.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: Value) -> Self {
        self.given.insert(name.into(), Given::Value(value));
        self
    }

    /// Adds the value of a variable as the environment and the command line give it: text for primitive types, and an expression for
    /// all other types.
    #[must_use]
    pub fn text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.given.insert(name.into(), Given::Text(Zeroizing::new(text.into())));
        self
    }

    /// Removes the values that were given so far, and makes variables and locals without a later value unknown for this reason.
    #[must_use]
    pub fn doubted(mut self, why: impl Into<String>) -> Self {
        self.given.clear();
        self.doubt = Some(why.into());
        self
    }

    /// Evaluates an expression.
    pub fn evaluate(&self, expression: &Expression) -> Value {
        evaluate(expression, self)
    }

    /// Evaluates a template, as which the JSON syntax reads each text.
    pub fn template(&self, text: &str) -> Value {
        if !text.contains("${") && !text.contains("%{") {
            return Value::text(text);
        }
        match text.parse::<Template>() {
            Ok(template) => of_template(&template, self),
            Err(_) => Value::Unknown("it is not a template that can be parsed".to_owned()),
        }
    }

    pub(super) fn var(&self, name: &str) -> Value {
        let of_type = self.types.get(name);
        let value = match (self.given.get(name), &self.doubt) {
            (Some(Given::Value(value)), _) => value.clone(),
            (Some(Given::Text(text)), _) => of_text(text, of_type),
            (None, Some(doubt)) => return Value::Unknown(doubt.clone()),
            (None, None) => match self.declared.get(name) {
                Some(value) => value.clone(),
                None => {
                    return Value::Unknown(format!("the variable `{name}` has no value; set TF_VAR_{name}"));
                }
            },
        };
        self.charged(match of_type {
            Some(of_type) => of_type.converted(value),
            None => value,
        })
    }

    pub(super) fn local(&self, name: &str) -> Value {
        let Some(expression) = self.locals.get(name) else {
            let unknown = || format!("the local `{name}` is not known");
            return Value::Unknown(self.doubt.clone().unwrap_or_else(unknown));
        };
        {
            let mut active = self.active.borrow_mut();
            if active.len() >= MAX_CHAIN || active.iter().any(|one| one == name) {
                return Value::Unknown(format!("the local `{name}` leads to itself, or to too many others"));
            }
            active.push(name.to_owned());
        }
        let value = evaluate(expression, self);
        self.active.borrow_mut().pop();
        self.charged(value)
    }

    /// The value, unless too much was inserted already.
    fn charged(&self, value: Value) -> Value {
        let inserted = self.inserted.get().saturating_add(value.size());
        self.inserted.set(inserted);
        match inserted {
            0..=MAX_INSERTED => value,
            _ => Value::Unknown("variables and locals insert more than 16 MiB".to_owned()),
        }
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("given", &self.given.keys())
            .field("declared", &self.declared.keys())
            .field("locals", &self.locals.keys())
            .finish_non_exhaustive()
    }
}
