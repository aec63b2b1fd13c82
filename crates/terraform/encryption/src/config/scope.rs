//! Variables and locals that expressions may use.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;

use hcl_edit::expr::Expression;

use super::evaluate::evaluate;
use super::value::Value;

/// How many locals may lead to each other.
const MAX_CHAIN: usize = 64;

/// How many bytes of variables and locals may be inserted: a few lines of locals that insert each other multiply.
const MAX_INSERTED: usize = 16 << 20;

/// Values of variables and locals.
#[derive(Clone, Default)]
pub struct Scope {
    pub(super) given: BTreeMap<String, Value>,
    pub(super) declared: BTreeMap<String, Value>,
    pub(super) locals: BTreeMap<String, Expression>,
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
        self.given.insert(name.into(), value);
        self
    }

    pub(super) fn var(&self, name: &str) -> Value {
        match self.given.get(name).or_else(|| self.declared.get(name)) {
            Some(value) => self.charged(value.clone()),
            None => Value::Unknown(format!("the variable `{name}` has no value; set TF_VAR_{name}")),
        }
    }

    pub(super) fn local(&self, name: &str) -> Value {
        let Some(expression) = self.locals.get(name) else {
            return Value::Unknown(format!("the local `{name}` is not known"));
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
