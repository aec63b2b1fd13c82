//! From the URL of a secrets provider to its service, with credentials as Pulumi finds them.

use std::sync::Arc;

use groundstate_key_services::{ErrorKind, KeyContext, KeyService, Op};

use super::url::KeyUrl;
#[cfg(any(feature = "s3", feature = "azblob", feature = "gcs", feature = "hashivault"))]
use super::url::Kind;
use super::{CloudSecretsError, Variables};

type Service = Arc<dyn KeyService>;

#[cfg_attr(
    not(any(feature = "s3", feature = "azblob", feature = "gcs", feature = "hashivault")),
    expect(unused_variables, reason = "no service is built in")
)]
pub(super) fn open(
    url: &KeyUrl,
    variables: &Variables,
    context: &KeyContext,
) -> Result<Service, CloudSecretsError> {
    match &url.kind {
        #[cfg(feature = "s3")]
        Kind::Aws { options, context: members } => aws(&url.key, options, members, variables, context),
        #[cfg(feature = "azblob")]
        Kind::Azure { vault, version, algorithm } => {
            azure((vault, &url.key), version.clone(), algorithm.as_deref(), variables, context)
        }
        #[cfg(feature = "gcs")]
        Kind::Gcp { associated_data } => gcp(&url.key, associated_data, variables, context),
        #[cfg(feature = "hashivault")]
        Kind::Vault { mount } => vault(&url.key, mount.as_deref(), variables, context),
        #[cfg(not(all(feature = "s3", feature = "azblob", feature = "gcs", feature = "hashivault")))]
        _ => Err(groundstate_key_services::Error::new(ErrorKind::Unsupported, Op::Use, &url.key)
            .because("this build has no client for its service")
            .next_step("use a build with it")
            .into()),
    }
}

/// A variable that is set to something.
#[cfg(any(feature = "s3", feature = "azblob", feature = "gcs", feature = "hashivault"))]
fn given(variables: &Variables, name: &str) -> Option<String> {
    variables(name).filter(|text| !text.is_empty())
}

/// An option or a variable that cannot be used.
#[cfg(any(feature = "s3", feature = "azblob", feature = "gcs"))]
fn refused(error: groundstate_blobs::Error) -> CloudSecretsError {
    let kind = match error.kind() {
        groundstate_blobs::ErrorKind::Unsupported => ErrorKind::Unsupported,
        _ => ErrorKind::Invalid,
    };
    let why = error.reason();
    groundstate_key_services::Error::new(kind, Op::Use, error.target()).because(why).with_source(error).into()
}

#[cfg(feature = "s3")]
fn aws(
    key: &str,
    options: &[(&'static str, String)],
    members: &std::collections::BTreeMap<String, String>,
    variables: &Variables,
    context: &KeyContext,
) -> Result<Service, CloudSecretsError> {
    use groundstate_key_services::AwsKms;
    use groundstate_key_services::blobs_cloud::AwsSettings;
    let mut settings = AwsSettings::new();
    for (name, value) in options {
        settings.set(name, value).map_err(refused)?;
    }
    // The SDK takes both names.
    let lookup = |name: &str| {
        let other = match name {
            "AWS_ACCESS_KEY_ID" => Some("AWS_ACCESS_KEY"),
            "AWS_SECRET_ACCESS_KEY" => Some("AWS_SECRET_KEY"),
            _ => None,
        };
        given(variables, name).or_else(|| given(variables, other?))
    };
    let settings = settings.or_from(&lookup).map_err(refused)?;
    let kms = AwsKms::open(&settings, key, context)?;
    Ok(Arc::new(kms.encryption_context(members.clone())))
}

#[cfg(feature = "azblob")]
fn azure(
    (vault, key): (&str, &str),
    version: Option<String>,
    algorithm: Option<&str>,
    variables: &Variables,
    context: &KeyContext,
) -> Result<Service, CloudSecretsError> {
    use groundstate_key_services::AzureKeyVault;
    use groundstate_key_services::blobs_cloud::AzureIdentitySettings;
    let variable = |name: &str| given(variables, name);
    let mut settings = AzureIdentitySettings::new();
    for (name, value) in crate::azblob::identity(&variable) {
        settings.set(name, &value).map_err(refused)?;
    }
    // The variables of Terraform's backend mean nothing to Pulumi.
    let lookup = |name: &str| (!name.starts_with("ARM_")).then(|| variable(name)).flatten();
    let settings = settings.or_from(&lookup).map_err(refused)?;
    let service = AzureKeyVault::open(&settings, vault, key, context)?.version(version);
    Ok(Arc::new(match algorithm {
        Some(algorithm) => service.algorithm(algorithm)?,
        None => service,
    }))
}

#[cfg(feature = "gcs")]
fn gcp(
    name: &str,
    associated_data: &[u8],
    variables: &Variables,
    context: &KeyContext,
) -> Result<Service, CloudSecretsError> {
    use groundstate_key_services::GcpKms;
    use groundstate_key_services::blobs_cloud::GcpSettings;
    let mut settings = GcpSettings::new();
    // Credentials count before a token, the reverse of what the settings have.
    let credentials = given(variables, "GOOGLE_CREDENTIALS");
    if let Some(text) = &credentials {
        settings.set("credentials", text).map_err(refused)?;
    }
    let lookup = |name: &str| match name {
        "GOOGLE_OAUTH_ACCESS_TOKEN" if credentials.is_some() => None,
        // Those of Terraform's backend mean nothing to Pulumi.
        name if name.starts_with("GOOGLE_BACKEND_") || name.contains("IMPERSONATE") => None,
        name => given(variables, name),
    };
    let settings = settings.or_from(&lookup).map_err(refused)?;
    Ok(Arc::new(GcpKms::open(&settings, name, context)?.associated_data(associated_data)?))
}

#[cfg(feature = "hashivault")]
fn vault(
    key: &str,
    mount: Option<&str>,
    variables: &Variables,
    context: &KeyContext,
) -> Result<Service, CloudSecretsError> {
    use groundstate_key_services::{Transit, TransitNames, TransitSettings};
    let mut settings = TransitSettings::from_variables(TransitNames::Vault, &|name| given(variables, name))?;
    match (given(variables, "VAULT_SERVER_URL"), given(variables, "VAULT_ADDR")) {
        (Some(url), _) => settings = settings.with_address(&url)?,
        (None, Some(_)) => {}
        (None, None) => {
            let error = groundstate_key_services::Error::new(
                ErrorKind::Invalid,
                Op::Use,
                format_args!("the key {key} of a transit engine"),
            );
            let why = "neither VAULT_SERVER_URL nor VAULT_ADDR environment variables are set";
            return Err(error.because(why).next_step("set VAULT_ADDR to the address of the server").into());
        }
    }
    if let Some(token) = given(variables, "VAULT_SERVER_TOKEN") {
        settings = settings.token(&token)?;
    }
    let transit = Transit::open(settings, key, context)?;
    Ok(Arc::new(match mount {
        Some(mount) => transit.mount(mount)?,
        None => transit,
    }))
}
