//! Module paths, with keys (`ModuleInstance`) and without (`Module`).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::error::Fault;
use super::grammar::{self, parse_whole};
use super::lexer::Steps;
use super::{AddrError, AddrErrorKind, InstanceKey, plain};

const INSTANCE: &str = "module address";
const PATH: &str = "module path";

/// One step of a module instance path: a call's name and the key of the instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleStep {
    /// Name of the module call.
    pub name: Arc<str>,
    /// Which instance of the call.
    pub key: InstanceKey,
}

/// The address of a module instance, for example `module.store["eu"].module.db`; the root has no steps.
///
/// Ordered as lists are: shorter paths first, then step by step by name and key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModuleInstance(Arc<[ModuleStep]>);

impl ModuleInstance {
    /// The root module.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The instance `key` of the module called `name` inside this one.
    #[must_use]
    pub fn child(&self, name: &str, key: InstanceKey) -> Self {
        let step = ModuleStep { name: name.into(), key };
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    /// The steps from the root, outermost first.
    #[must_use]
    pub fn steps(&self) -> &[ModuleStep] {
        &self.0
    }

    /// Whether this is the root module.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads an address such as `module.store["eu"].module.db`. The root has no text, so it cannot be read.
    ///
    /// # Errors
    /// Where and why the text is no module address.
    pub fn parse(text: &str) -> Result<Self, AddrError> {
        parse_whole(INSTANCE, text, |steps| {
            let module = grammar::module_instance(steps)?;
            expect_module(module.is_root(), steps)?;
            Ok(module)
        })
    }

    /// Whether `text` is a module address in plain characters, spelled as it would be printed.
    ///
    /// True promises that [`parse`](Self::parse) succeeds and that the result prints as `text`; false promises nothing.
    #[must_use]
    pub fn is_plain(text: impl AsRef<[u8]>) -> bool {
        plain::is_module_instance(text.as_ref())
    }

    /// The module instance that contains this one; nothing for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (_, parents) = self.0.split_last()?;
        Some(parents.iter().cloned().collect())
    }

    /// The path without keys.
    #[must_use]
    pub fn to_config(&self) -> Module {
        if self.is_root() {
            Module::root()
        } else {
            self.0.iter().map(|step| Arc::clone(&step.name)).collect()
        }
    }

    /// Compares by the printed text, as state files order modules.
    #[must_use]
    pub fn cmp_printed(&self, other: &Self) -> Ordering {
        let common = self.0.iter().zip(&*other.0).take_while(|(a, b)| a == b).count();
        // Equal steps print alike, so only what differs has to be printed.
        printed(&self.0[common..]).cmp(&printed(&other.0[common..]))
    }
}

/// The rule for a text that must be a module path and no more.
fn expect_module(is_root: bool, steps: &mut Steps<'_>) -> Result<(), Fault> {
    let next = "write `module.NAME`";
    if is_root {
        let reason = "a module path begins with `module.`";
        return Err(Fault::new(AddrErrorKind::ModulePath, steps.position(), reason, next));
    }
    match steps.peek()? {
        None => Ok(()),
        Some(step) => {
            let reason = "something else follows the module path";
            Err(Fault::new(AddrErrorKind::Trailing, step.at, reason, "end the address with the module"))
        }
    }
}

fn printed(steps: &[ModuleStep]) -> String {
    let mut out = String::new();
    for step in steps {
        out.push_str(&step.to_string());
        out.push('.');
    }
    out.pop();
    out
}

impl fmt::Display for ModuleStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "module.{}{}", self.name, self.key)
    }
}

impl fmt::Display for ModuleInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            step.fmt(f)?;
        }
        Ok(())
    }
}

impl FromStr for ModuleInstance {
    type Err = AddrError;

    fn from_str(text: &str) -> Result<Self, AddrError> {
        Self::parse(text)
    }
}

impl FromIterator<ModuleStep> for ModuleInstance {
    fn from_iter<I: IntoIterator<Item = ModuleStep>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl Ord for ModuleInstance {
    fn cmp(&self, other: &Self) -> Ordering {
        // Resources of one module mostly share its path.
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for ModuleInstance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The path of a module in configuration, without keys.
///
/// Ordered as lists are: shorter paths first, then step by step by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Module(Arc<[Arc<str>]>);

impl Module {
    /// The root module.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The module called `name` inside this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self(self.0.iter().cloned().chain([Arc::from(name)]).collect())
    }

    /// The names of the calls from the root, outermost first.
    #[must_use]
    pub fn steps(&self) -> &[Arc<str>] {
        &self.0
    }

    /// Whether this is the root module.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a path such as `module.store.module.db`. The root has no text, so it cannot be read.
    ///
    /// # Errors
    /// Where and why the text is no module path; keys are refused.
    pub fn parse(text: &str) -> Result<Self, AddrError> {
        parse_whole(PATH, text, |steps| {
            let module = grammar::module(steps)?;
            expect_module(module.is_root(), steps)?;
            Ok(module)
        })
    }

    /// The module that contains this one; nothing for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (_, parents) = self.0.split_last()?;
        Some(parents.iter().cloned().collect())
    }

    /// The one instance of this path that has no key at any step.
    #[must_use]
    pub fn without_keys(&self) -> ModuleInstance {
        self.0.iter().map(|name| ModuleStep { name: Arc::clone(name), key: InstanceKey::None }).collect()
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "module.{name}")?;
        }
        Ok(())
    }
}

impl FromStr for Module {
    type Err = AddrError;

    fn from_str(text: &str) -> Result<Self, AddrError> {
        Self::parse(text)
    }
}

impl FromIterator<Arc<str>> for Module {
    fn from_iter<I: IntoIterator<Item = Arc<str>>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}

impl Ord for Module {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Module {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
