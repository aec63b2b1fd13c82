//! Keys, plain and wrapped.

use std::fmt;

use zeroize::Zeroizing;

/// A key in the clear. Its memory is overwritten when it is dropped.
#[derive(Clone)]
pub struct DataKey(Zeroizing<Vec<u8>>);

impl DataKey {
    /// A key of these bytes.
    pub fn new(bytes: impl Into<Zeroizing<Vec<u8>>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes, for a cipher.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// How many bytes it has.
    #[expect(clippy::len_without_is_empty, reason = "an empty key is of no use to anything")]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Debug for DataKey {
    /// Shows the length only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DataKey({} bytes)", self.len())
    }
}

/// A wrapped key, and what the service said of it. It is no secret.
///
/// Of most services the ciphertext is all that has to be stored. Azure Key Vault also needs the version of the key, and, where
/// the key is symmetric, `iv` and `tag`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrappedKey {
    /// The ciphertext, as the service gives it. That of a transit engine is text, such as `vault:v1:…`.
    pub ciphertext: Vec<u8>,
    /// The key that wrapped it, as the service names it: an ARN, the name of a version, an address.
    pub wrapped_by: Option<String>,
    /// The version of the key that wrapped it, where unwrapping has to name it.
    pub key_version: Option<String>,
    /// The algorithm, where unwrapping has to name it.
    pub algorithm: Option<String>,
    /// The initialisation vector of a symmetric algorithm.
    pub iv: Option<Vec<u8>>,
    /// The tag of a symmetric algorithm.
    pub tag: Option<Vec<u8>>,
    /// The associated data of a symmetric algorithm.
    pub associated_data: Option<Vec<u8>>,
}

impl WrappedKey {
    /// A wrapped key of which only the ciphertext is known.
    pub fn new(ciphertext: impl Into<Vec<u8>>) -> Self {
        Self {
            ciphertext: ciphertext.into(),
            wrapped_by: None,
            key_version: None,
            algorithm: None,
            iv: None,
            tag: None,
            associated_data: None,
        }
    }

    /// Sets the key that wrapped it.
    #[must_use]
    pub fn wrapped_by(mut self, key: Option<String>) -> Self {
        self.wrapped_by = key;
        self
    }

    /// Sets the version of the key, which unwrapping names.
    #[must_use]
    pub fn key_version(mut self, version: Option<String>) -> Self {
        self.key_version = version;
        self
    }

    /// Sets the algorithm, which unwrapping names.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Option<String>) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Sets what a symmetric algorithm needs: initialisation vector, tag and associated data.
    #[must_use]
    pub fn symmetric(
        mut self,
        iv: Option<Vec<u8>>,
        tag: Option<Vec<u8>>,
        associated_data: Option<Vec<u8>>,
    ) -> Self {
        self.iv = iv;
        self.tag = tag;
        self.associated_data = associated_data;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::DataKey;

    #[test]
    fn a_key_does_not_show_itself() {
        let shown = format!("{:?}", DataKey::new(b"0123456789abcdef".to_vec()));
        assert_eq!(shown, "DataKey(16 bytes)");
    }
}
