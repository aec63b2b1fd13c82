//! How servers are checked, by `sslmode`.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::settings::Settings;

/// What TLS asks of the server, and shows of us.
pub(crate) fn client_config(settings: &Settings) -> Result<ClientConfig> {
    let mut config = without_options(settings)?;
    // Some poolers choose the server by this name; others fail on one.
    config.enable_sni = settings.word("sslsni") != Some("0");
    Ok(config)
}

fn without_options(settings: &Settings) -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(ErrorKind::Internal, Op::Open, settings).with_source(error))?;
    let roots = settings.word("sslrootcert").filter(|file| *file != "system");
    let mode = settings.word("sslmode").unwrap_or("require");
    let builder = if mode == "verify-full" {
        builder.with_root_certificates(root_certificates(settings, roots)?)
    } else {
        let chain = match (mode, roots) {
            ("verify-ca", _) | ("require", Some(_)) => {
                let roots = Arc::new(root_certificates(settings, roots)?);
                let verifier =
                    WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider)).build();
                Some(verifier.map_err(|error| invalid(settings, "sslrootcert", error))?)
            }
            _ => None,
        };
        builder.dangerous().with_custom_certificate_verifier(Arc::new(NameUnchecked { chain, provider }))
    };
    match (settings.word("sslcert"), settings.word("sslkey")) {
        (Some(certificate), Some(key)) => {
            let certificates = certificates(settings, "sslcert", certificate)?;
            let key =
                PrivateKeyDer::from_pem_file(key).map_err(|error| invalid(settings, "sslkey", error))?;
            builder
                .with_client_auth_cert(certificates, key)
                .map_err(|error| invalid(settings, "sslcert", error))
        }
        (None, None) => Ok(builder.with_no_client_auth()),
        _ => Err(invalid(settings, "sslcert", std::io::Error::other("sslcert and sslkey go together"))),
    }
}

fn root_certificates(settings: &Settings, file: Option<&str>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let found = match file {
        Some(file) => certificates(settings, "sslrootcert", file)?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    roots.add_parsable_certificates(found);
    if roots.is_empty() {
        return Err(invalid(settings, "sslrootcert", std::io::Error::other("there is no root certificate")));
    }
    Ok(roots)
}

fn certificates(settings: &Settings, word: &str, file: &str) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(Path::new(file)).and_then(Iterator::collect);
    read.map_err(|error| invalid(settings, word, error))
}

fn invalid(settings: &Settings, word: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Invalid, Op::Open, settings)
        .because(format!("the certificates of {word} cannot be used"))
        .with_source(error)
}

/// Takes a server of any name, with a certificate from these roots or, without any, of every kind: what the modes `verify-ca` and
/// `require` mean to the original.
#[derive(Debug)]
struct NameUnchecked {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for NameUnchecked {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
