//! Who the store is to Azure.

use std::sync::Arc;

use groundstate_blobs::Result;
use object_store::azure::{AzureAccessKey, AzureCredential, split_sas};

use super::AzureSettings;
use super::identity::{Credentials, Identity};
use super::location::Location;
use crate::cloud::{Wire, token};

pub(super) use super::identity::NO_CREDENTIALS;

/// The order of the original: the key, the signature, and then identities, the most particular first.
pub(super) fn credentials(settings: &AzureSettings) -> Result<Credentials> {
    let values = &settings.0;
    // The causes have parts of what they are about, so they are left out.
    if let Some(key) = values.text("access_key") {
        let key = AzureAccessKey::try_new(key.trim())
            .map_err(|_| values.invalid("access_key", "it is not base64"))?;
        return Ok(Credentials::Fixed(Arc::new(AzureCredential::AccessKey(key))));
    }
    if let Some(signature) = values.text("sas_token") {
        let signature = token(signature).map_err(|why| values.invalid("sas_token", why))?;
        let pairs = split_sas(signature).map_err(|_| values.invalid("sas_token", "it is not a query"))?;
        return Ok(Credentials::Fixed(Arc::new(AzureCredential::SASToken(pairs))));
    }
    Ok(Credentials::Identity(Arc::new(Identity::new(values)?)))
}

impl Credentials {
    /// What requests for the container are signed with.
    pub(super) async fn get(&self, wire: &Wire, location: &Location) -> Result<Arc<AzureCredential>> {
        match self {
            Self::Fixed(credential) => Ok(Arc::clone(credential)),
            Self::Identity(identity) => {
                let cloud = location.cloud(wire).await?;
                let token = identity.storage_token(wire, cloud).await?;
                Ok(Arc::new(AzureCredential::BearerToken(token)))
            }
        }
    }
}
