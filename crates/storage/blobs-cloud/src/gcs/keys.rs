//! Keys that customers bring along, and keys of KMS.

use std::fs;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groundstate_blobs::{Result, Role};
use sha2::{Digest, Sha256};

use super::GcsSettings;

type Headers = Vec<(String, String)>;

/// The headers that go with states, and never with locks.
#[derive(Clone)]
pub(super) struct Keys {
    write: Headers,
    read: Headers,
}

impl Keys {
    pub(super) fn new(settings: &GcsSettings) -> Result<Self> {
        let values = &settings.0;
        let (own, kms) = (values.text("encryption_key"), values.text("kms_encryption_key"));
        if own.is_some() && kms.is_some() {
            let why = "`encryption_key` (or GOOGLE_ENCRYPTION_KEY) is set too, and one excludes the other";
            return Err(values.invalid("kms_encryption_key", why));
        }
        let mut read = Headers::new();
        if let Some(own) = own {
            let wrong =
                || values.invalid("encryption_key", "it is neither 32 bytes in base64 nor a file with them");
            let decode = |text: &str| BASE64_STANDARD.decode(text.trim()).ok().filter(|key| key.len() == 32);
            // The original takes both, a path first.
            let from_file = fs::read_to_string(own).ok();
            let key = from_file.as_deref().map_or_else(|| decode(own), decode).ok_or_else(wrong)?;
            for (name, value) in [
                ("x-goog-encryption-algorithm", "AES256".to_owned()),
                ("x-goog-encryption-key", BASE64_STANDARD.encode(&key)),
                ("x-goog-encryption-key-sha256", BASE64_STANDARD.encode(Sha256::digest(&key))),
            ] {
                read.push((name.to_owned(), value));
            }
        }
        let kms = kms.map(|kms| ("x-goog-encryption-kms-key-name".to_owned(), kms.to_owned()));
        Ok(Self { write: read.iter().cloned().chain(kms).collect(), read })
    }

    /// Whether there is a key of the customer, which goes with requests as it is.
    pub(super) fn has_secret(&self) -> bool {
        !self.read.is_empty()
    }

    pub(super) fn write(&self, role: Role) -> &[(String, String)] {
        if role == Role::State { &self.write } else { &[] }
    }

    pub(super) fn read(&self, role: Role) -> &[(String, String)] {
        if role == Role::State { &self.read } else { &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::{GcsSettings, Keys};
    use groundstate_blobs::Role;

    const KEY: &str = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

    fn keys(name: &str, value: &str) -> groundstate_blobs::Result<Keys> {
        Keys::new(&GcsSettings::new().with(name, value)?)
    }

    #[test]
    fn keys_of_customers_go_with_states_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, format!("{KEY}\n")).unwrap();
        for value in [KEY, path.to_str().unwrap()] {
            let keys = keys("encryption_key", value).unwrap();
            assert_eq!(keys.read(Role::State)[1], ("x-goog-encryption-key".to_owned(), KEY.to_owned()));
            assert_eq!((keys.write(Role::State).len(), keys.read(Role::State).len()), (3, 3));
            assert_eq!((keys.write(Role::Lock).len(), keys.read(Role::Lock).len()), (0, 0));
        }
    }

    #[test]
    fn keys_of_kms_go_with_writes_of_states_alone() {
        let keys = keys("kms_encryption_key", "projects/p/k").unwrap();
        assert_eq!(
            (keys.write(Role::State).len(), keys.read(Role::State).len(), keys.write(Role::Lock).len()),
            (1, 0, 0)
        );
    }

    #[test]
    fn keys_that_do_not_fit_are_refused_without_being_shown() {
        let error = keys("encryption_key", "c2hvcnQ=").err().unwrap().to_string();
        assert!(error.contains("GOOGLE_ENCRYPTION_KEY") && !error.contains("c2hvcnQ"), "{error}");
    }
}
