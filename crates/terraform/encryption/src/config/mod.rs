//! The configuration of encryption: what `encryption` blocks and `TF_ENCRYPTION` say.

mod blocks;
mod body;
mod error;
mod evaluate;
mod files;
mod json;
mod merge;
mod options;
mod resolve;
mod scope;
mod types;
mod value;

pub use error::ConfigurationError;
pub use files::{SourceFile, Sources, read_variables};
pub use options::Options;
pub use scope::Scope;
pub use value::{Place, Value};

use body::Source;
use json::Node;

/// A block of a key provider or a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) kind: String,
    pub(crate) name: String,
    /// `encrypted_metadata_alias`, of key providers.
    pub(crate) alias: Option<String>,
    pub(crate) options: Options,
}

/// The address of a method, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MethodRef {
    pub(crate) address: String,
    pub(crate) place: Place,
}

/// What a target says: `state`, `plan`, or one of the remote states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TargetBlock {
    pub(crate) place: Place,
    pub(crate) enforced: bool,
    pub(crate) method: Option<MethodRef>,
    /// One after the other, as they are nested.
    pub(crate) fallbacks: Option<Vec<MethodRef>>,
}

/// What encrypts states and plans.
///
/// ```
/// use groundstate_encryption::{Configuration, Scope, Target, Value};
///
/// let text = r#"
///   key_provider "pbkdf2" "main" {
///     passphrase = var.passphrase
///   }
///   method "aes_gcm" "main" {
///     keys = key_provider.pbkdf2.main
///   }
///   state {
///     method   = method.aes_gcm.main
///     enforced = true
///   }
/// "#;
/// let scope = Scope::new().variable("passphrase", Value::text("correct-horse-battery"));
/// let configuration = Configuration::parse("TF_ENCRYPTION", text, &scope)?.expect("it is not blank");
/// let chain = configuration.chain(&Target::State)?.expect("there is a state block");
/// assert_eq!(chain.primary().id().to_string(), "method.aes_gcm.main");
/// assert!(configuration.chain(&Target::Plan)?.is_none());
/// # Ok::<(), groundstate_encryption::ConfigurationError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    pub(crate) providers: Vec<Declared>,
    pub(crate) methods: Vec<Declared>,
    pub(crate) state: Option<TargetBlock>,
    pub(crate) plan: Option<TargetBlock>,
    pub(crate) remote_default: Option<TargetBlock>,
    pub(crate) remote: Vec<(String, TargetBlock)>,
}

impl Configuration {
    /// Reads the inside of an `encryption` block, as `TF_ENCRYPTION` has it: JSON if it begins with a brace, else the native
    /// syntax. Blank text is no configuration. `source` names the text in errors.
    ///
    /// # Errors
    ///
    /// When it cannot be parsed, and for blocks and attributes that encryption does not have.
    pub fn parse(source: &str, text: &str, scope: &Scope) -> Result<Option<Self>, ConfigurationError> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        let source = Source::new(source, text);
        let body = if source.text.trim_start().starts_with('{') {
            Node::parse(&source)?.body(&source, blocks::IN_ENCRYPTION, scope)?
        } else {
            source.body(&source.hcl()?, scope)
        };
        Self::of_body(body).map(Some)
    }

    /// A key provider or a method that runs a program or asks a service, and where it stands: none for keys of passphrases.
    pub fn reaches_out(&self) -> Option<(&str, &Place)> {
        let providers = self.providers.iter().filter(|provider| provider.kind != "pbkdf2");
        let methods = self.methods.iter().filter(|method| method.kind == "external");
        providers.chain(methods).map(|block| (block.options.owner.as_str(), &block.options.place)).next()
    }
}
