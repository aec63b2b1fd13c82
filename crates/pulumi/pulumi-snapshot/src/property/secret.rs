//! Secrets: values that are stored encrypted.

use std::fmt;

use groundstate_pulumi_secrets::{Ciphertext, REDACTED};

use crate::property::PropertyValue;

/// A secret value: encrypted, readable, or both.
///
/// A secret that was read from a file is sealed: there is a ciphertext and no value. Opening it adds the value and keeps
/// the ciphertext, so that an unchanged secret is written as it was, without a new nonce. Changing the value
/// forgets the ciphertext.
///
/// `Debug` shows neither.
///
/// ```
/// use groundstate_pulumi_snapshot::{Ciphertext, PropertyValue, Secret};
///
/// let mut secret = Secret::sealed(Ciphertext::new("v1:abc:def"));
/// assert!(secret.value().is_none());
/// secret.open(PropertyValue::from("swordfish"));
/// assert!(secret.ciphertext().is_some(), "still the same secret");
/// secret.set(PropertyValue::from("opensesame"));
/// assert!(secret.ciphertext().is_none(), "to be encrypted anew");
/// ```
#[derive(Clone, PartialEq)]
pub struct Secret {
    value: Option<Box<PropertyValue>>,
    ciphertext: Option<Ciphertext>,
}

impl Secret {
    /// A secret of which only the encrypted form is known.
    pub fn sealed(ciphertext: Ciphertext) -> Self {
        Self { value: None, ciphertext: Some(ciphertext) }
    }

    /// A secret that has not been encrypted yet.
    pub fn new(value: PropertyValue) -> Self {
        Self { value: Some(Box::new(value)), ciphertext: None }
    }

    /// The value, if it is known.
    pub fn value(&self) -> Option<&PropertyValue> {
        self.value.as_deref()
    }

    /// The encrypted form of the present value, if there is one.
    pub fn ciphertext(&self) -> Option<&Ciphertext> {
        self.ciphertext.as_ref()
    }

    /// Adds what the ciphertext decrypts to.
    pub fn open(&mut self, value: PropertyValue) {
        self.value = Some(Box::new(value));
    }

    /// Adds what the value encrypts to.
    pub fn seal(&mut self, ciphertext: Ciphertext) {
        self.ciphertext = Some(ciphertext);
    }

    /// Replaces the value. The ciphertext is forgotten unless the value is the one it had.
    pub fn set(&mut self, value: PropertyValue) {
        if self.value.as_deref() != Some(&value) {
            self.ciphertext = None;
        }
        self.value = Some(Box::new(value));
    }

    /// Forgets the ciphertext, so that the value is encrypted anew, by another manager for example.
    ///
    /// False, and nothing changes, if the value is not known.
    pub fn forget_ciphertext(&mut self) -> bool {
        if self.value.is_some() {
            self.ciphertext = None;
        }
        self.value.is_some()
    }

    /// The value, if it is known, without its secrecy.
    pub fn into_value(self) -> Option<PropertyValue> {
        self.value.map(|value| *value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({REDACTED})")
    }
}
