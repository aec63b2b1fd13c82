//! What must hold for any input: the fuzz targets call it, and so does an ordinary test with the corpus.

use std::sync::Arc;

use groundstate_pulumi_secrets::passphrase::{Salt, SaltError};
use groundstate_pulumi_secrets::{
    Base64Crypter, Base64Provider, BlindingProvider, Ciphertext, Decrypter, Encrypter, Entropy, EntropyError,
    Key, Passphrase, Plaintext, Provider, SecretsProviders, SymmetricCrypter,
};

/// Always the same bytes: what is encrypted once in a test needs no more.
#[derive(Debug)]
struct Constant;

impl Entropy for Constant {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        bytes.fill(7);
        Ok(())
    }
}

/// Ciphertexts, salts and `secrets_providers` objects are read or refused, and those that are read are kept as they are.
pub(crate) fn secrets_read(data: &[u8]) {
    let passphrase = Passphrase::from_file_contents(data);
    assert!(passphrase.expose().len() <= data.len());
    let Ok(text) = std::str::from_utf8(data) else { return };
    ciphertext(text);
    if let Ok(salt) = Salt::parse(text) {
        assert_eq!(salt.as_str(), text);
        // Deriving a key takes too long for a fuzzer; a check value that is damaged is found before that.
        if !text.contains(":v1:") {
            let error =
                salt.unlock(&passphrase, Arc::new(Constant)).expect_err("the check value has no version");
            assert!(matches!(error, SaltError::Damaged(_)), "{error:?}");
        }
    }
    if let Ok(providers) = SecretsProviders::parse(text) {
        assert_eq!(providers.as_json(), text);
        let again = SecretsProviders::new(providers.kind(), providers.state()).expect("its parts are JSON");
        assert!(again.is_compatible(&providers));
        assert_eq!(
            SecretsProviders::parse(again.as_json()).map(|read| read.is_none()),
            Ok(providers.is_none())
        );
        assert!(BlindingProvider.of_type(&providers).is_ok());
        assert_eq!(Base64Provider.of_type(&providers).is_ok(), providers.kind() == "b64");
    }
}

fn ciphertext(text: &str) {
    let crypter = SymmetricCrypter::new(&Key::new([1; Key::LENGTH]), Arc::new(Constant));
    let plaintext = Plaintext::new(text);
    let encrypted = crypter.encrypt(&plaintext).expect("there is randomness");
    assert_eq!(crypter.decrypt(&encrypted).expect("the key is the same"), plaintext);
    let given = Ciphertext::new(text);
    if let Ok(found) = crypter.decrypt(&given) {
        // Only the spelling of a ciphertext is free: line ends, and bits that do not count.
        let again = crypter.encrypt(&found).expect("there is randomness");
        assert_eq!(crypter.decrypt(&again).expect("the key is the same"), found);
    }
    if let Ok(found) = Base64Crypter.decrypt(&given) {
        let again = Base64Crypter.encrypt(&found).expect("nothing can fail");
        assert_eq!(Base64Crypter.decrypt(&again).expect("it was just written"), found);
    }
}
