//! Certificates for tests, from an authority that no other program trusts.

use std::fmt;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{WantsServerCert, WebPkiClientVerifier};
use rustls::{ConfigBuilder, RootCertStore, ServerConfig, WantsVerifier};
use tokio_rustls::TlsAcceptor;

/// An authority that signs the certificates of a test.
///
/// ```
/// use groundstate_testkit::Authority;
///
/// let authority = Authority::new();
/// // What clients trust, as a file for `SSL_CERT_FILE`:
/// assert!(authority.pem().starts_with("-----BEGIN CERTIFICATE-----"));
/// let certificate = authority.certificate(&["account.blob.core.windows.net"]);
/// assert!(certificate.key_pem().contains("PRIVATE KEY"));
/// ```
pub struct Authority {
    pem: String,
    der: Vec<u8>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// A new authority with a key of its own.
    ///
    /// # Panics
    ///
    /// When the machine has no randomness to give: a test cannot go on then.
    #[expect(clippy::new_without_default, reason = "two authorities are never the same")]
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, "groundstate test authority");
        let key = KeyPair::generate().expect("the machine has randomness");
        let certificate = params.self_signed(&key).expect("the parameters are complete");
        let der = certificate.der().to_vec();
        Self { pem: certificate.pem(), der, issuer: Issuer::new(params, key) }
    }

    /// The certificate of the authority, which clients have to trust.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A certificate for a server with these names. A star may stand for one part of a name.
    ///
    /// # Panics
    ///
    /// When a name is not one of a host.
    pub fn certificate(&self, names: &[&str]) -> Certificate {
        self.sign(Self::params(names))
    }

    /// The same, not valid any more.
    ///
    /// # Panics
    ///
    /// When a name is not one of a host.
    pub fn expired_certificate(&self, names: &[&str]) -> Certificate {
        let mut params = Self::params(names);
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2021, 1, 1);
        self.sign(params)
    }

    fn params(names: &[&str]) -> CertificateParams {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        CertificateParams::new(names).expect("the names are those of hosts")
    }

    fn sign(&self, params: CertificateParams) -> Certificate {
        let key = KeyPair::generate().expect("the machine has randomness");
        let certificate = params.signed_by(&key, &self.issuer).expect("the parameters are complete");
        Certificate {
            pem: certificate.pem(),
            key_pem: key.serialize_pem(),
            der: certificate.der().to_vec(),
            key,
        }
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authority")
    }
}

/// A certificate of a server, with its key.
pub struct Certificate {
    pem: String,
    key_pem: String,
    der: Vec<u8>,
    key: KeyPair,
}

impl Certificate {
    /// The certificate, as a server that runs elsewhere wants it.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The certificate, as DER.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Its key, as a server that runs elsewhere wants it.
    pub fn key_pem(&self) -> &str {
        &self.key_pem
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.accepting(|builder| builder.with_no_client_auth())
    }

    /// Accepts clients that show a certificate of this authority.
    pub(crate) fn acceptor_for(&self, clients: &Authority) -> TlsAcceptor {
        let mut roots = RootCertStore::empty();
        roots.add(clients.der.clone().into()).expect("the certificate is that of an authority");
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider());
        let verifier = verifier.build().expect("there is an authority");
        self.accepting(|builder| builder.with_client_cert_verifier(verifier))
    }

    fn accepting(
        &self,
        clients: impl FnOnce(
            ConfigBuilder<ServerConfig, WantsVerifier>,
        ) -> ConfigBuilder<ServerConfig, WantsServerCert>,
    ) -> TlsAcceptor {
        let key = PrivateKeyDer::Pkcs8(self.key.serialize_der().into());
        let builder = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("the provider knows the versions of TLS that are safe");
        let config = clients(builder)
            .with_single_cert(vec![self.der.clone().into()], key)
            .expect("the key is that of the certificate");
        TlsAcceptor::from(Arc::new(config))
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificate")
    }
}
