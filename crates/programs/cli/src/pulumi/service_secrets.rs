//! Secrets that a Pulumi service encrypts: each batch is a request, on a thread of its own.

use std::sync::Arc;

use groundstate_common::one_line;
use groundstate_pulumi_backends::pulumi_http::ServiceStack;
use groundstate_pulumi_backends::{PulumiHome, ServiceSecrets, ServiceSecretsError};
use groundstate_pulumi_secrets::{
    Ciphertext, CryptError, Decrypter, Encrypter, Manager, Plaintext, SecretsProviders,
};

use groundstate_statemgr::TokioSleeper;

use super::secrets::waited;
use crate::report::error::{Failure, Kind, Result, chain};

/// The manager whose key a service keeps, for the user who has logged in there.
pub(super) fn manager(providers: &SecretsProviders) -> Result<Manager> {
    let variable = |name: &str| std::env::var(name).ok();
    let secrets =
        ServiceSecrets::open(providers, &PulumiHome::of(&variable), &variable, Arc::new(TokioSleeper));
    let secrets =
        secrets.map_err(|error| Failure::new(Kind::Unusable, one_line(&chain(&error)).into_owned()))?;
    Ok(Manager::new(providers.clone(), Arc::new(ServiceCrypter(secrets))))
}

/// The manager of a stack of a service that is open: the one that secrets move to.
pub(super) fn of_stack(stack: &ServiceStack) -> Result<Manager> {
    // It is asked on threads of its own, while the verb waits.
    let service = stack.service().reconnected();
    let service = service.map_err(|error| Failure::new(Kind::Unusable, chain(&error)))?;
    let secrets = ServiceSecrets::of_stack(service.stack(stack.path().clone()));
    let providers = secrets.providers().map_err(|error| Failure::new(Kind::Unusable, chain(&error)))?;
    Ok(Manager::new(providers, Arc::new(ServiceCrypter(secrets))))
}

#[derive(Debug)]
struct ServiceCrypter(ServiceSecrets);

impl ServiceCrypter {
    fn asked<T: Send>(
        ask: impl AsyncFnOnce() -> Result<T, ServiceSecretsError> + Send,
    ) -> Result<T, CryptError> {
        waited(ask).map_err(CryptError::other)?.map_err(CryptError::other)
    }
}

impl Decrypter for ServiceCrypter {
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext, CryptError> {
        let found = self.decrypt_batch(&[ciphertext])?.pop();
        found.ok_or(CryptError::Count { found: 0, expected: 1 })
    }

    fn decrypt_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError> {
        Self::asked(async || self.0.decrypt(ciphertexts).await)
    }
}

impl Encrypter for ServiceCrypter {
    fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, CryptError> {
        let found = self.encrypt_batch(&[plaintext])?.pop();
        found.ok_or(CryptError::Count { found: 0, expected: 1 })
    }

    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        Self::asked(async || self.0.encrypt(plaintexts).await)
    }
}
