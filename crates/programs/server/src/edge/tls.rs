//! TLS: certificates from files, and their reload.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use thiserror::Error;

use crate::config::{ClientCertificates, TlsFiles};

/// Why TLS cannot be used with the files that are configured.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said of the file.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{} has no {what} as PEM", path.display())]
    NotPem {
        /// The file.
        path: PathBuf,
        /// What it should have.
        what: &'static str,
    },
    /// The key is another certificate's, or one of them cannot be used.
    #[error("cannot use the certificate {} with the key {}", certificate.display(), key.display())]
    Unusable {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of its key.
        key: PathBuf,
        /// What is wrong with the certificate or the key.
        source: rustls::Error,
    },
    /// The authorities of clients cannot be used.
    #[error("cannot use the authorities of clients in {}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// What is wrong with the certificates of clients' authorities.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// The protocols that are offered, the preferred one first.
pub(super) const HTTP_2: &[u8] = b"h2";
const HTTP_1: &[u8] = b"http/1.1";

/// Reads the files.
///
/// # Errors
///
/// For files that cannot be read, or do not fit together.
pub(crate) fn load(files: &TlsFiles) -> Result<ServerConfig, TlsError> {
    let certificates = certificates(&files.certificate)?;
    let key = PrivateKeyDer::from_pem_slice(&read(&files.key)?)
        .map_err(|_| TlsError::NotPem { path: files.key.clone(), what: "private key" })?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let unusable = |source| TlsError::Unusable {
        certificate: files.certificate.clone(),
        key: files.key.clone(),
        source,
    };
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some((path, mode)) => {
            let wrong = |source: Box<dyn std::error::Error + Send + Sync>| TlsError::Authorities {
                path: path.clone(),
                source,
            };
            let mut roots = RootCertStore::empty();
            for authority in self::certificates(path)? {
                roots.add(authority).map_err(|error| wrong(error.into()))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            let verifier = match mode {
                ClientCertificates::Required => verifier,
                ClientCertificates::Optional => verifier.allow_unauthenticated(),
            };
            builder.with_client_cert_verifier(verifier.build().map_err(|error| wrong(error.into()))?)
        }
    };
    let mut config = builder.with_single_cert(certificates, key).map_err(unusable)?;
    config.alpn_protocols = vec![HTTP_2.to_vec(), HTTP_1.to_vec()];
    Ok(config)
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::Unreadable { path: path.to_owned(), source })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = read(path)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err(TlsError::NotPem { path: path.to_owned(), what: "certificate" }),
    }
}

/// What is odd about the file of the key, if anything is: that every user of the machine can read it.
#[cfg(unix)]
pub fn key_note(files: &TlsFiles) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(&files.key).ok()?.permissions().mode();
    let key = files.key.display();
    (mode & 0o007 != 0)
        .then(|| format!("every user of this machine can read the key {key}; `chmod 600 {key}` ends that"))
}

/// Files have no modes here.
#[cfg(not(unix))]
pub fn key_note(_: &TlsFiles) -> Option<String> {
    None
}

/// The certificates in use, which can be replaced while connections are made.
pub(super) struct TlsSlot(RwLock<Option<Arc<ServerConfig>>>);

impl TlsSlot {
    pub(super) fn new(config: Option<ServerConfig>) -> Self {
        Self(RwLock::new(config.map(Arc::new)))
    }

    pub(super) fn get(&self) -> Option<Arc<ServerConfig>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the certificates; connections that are there keep theirs.
    pub(super) fn set(&self, config: ServerConfig) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(config));
    }
}

impl fmt::Debug for TlsSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsSlot")
    }
}
