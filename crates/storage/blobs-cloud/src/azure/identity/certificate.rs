//! A certificate by which an application proves itself, as PEM.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use groundstate_blobs::{Error, ErrorKind, Op, Result};
use rustls::SignatureScheme;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::SigningKey;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use groundstate_common::{Origin, hex, shell_word};

use crate::settings::Values;

/// How long a proof is good; it is used at once.
const SECONDS: u64 = 600;

pub(super) struct ClientCertificate {
    key: Arc<dyn SigningKey>,
    /// The SHA-256 of the certificate, by which Azure finds it.
    thumbprint: String,
}

impl ClientCertificate {
    /// Reads `client_certificate`, which is base64, or the file that `client_certificate_path` names.
    pub(super) fn read(values: &Values) -> Result<Self> {
        let (option, bytes) =
            match (values.text("client_certificate"), values.text("client_certificate_path")) {
                (Some(text), _) if text.trim_start().starts_with("-----") => {
                    ("client_certificate", text.as_bytes().to_vec())
                }
                (Some(text), _) => {
                    let packed: String = text.split_ascii_whitespace().collect();
                    let wrong = |_| values.invalid("client_certificate", "it is neither base64 nor PEM");
                    ("client_certificate", BASE64_STANDARD.decode(packed).map_err(wrong)?)
                }
                (None, Some(path)) => {
                    let unreadable = |error: std::io::Error| {
                        values
                            .invalid("client_certificate_path", format!("{path} cannot be read"))
                            .with_source(error)
                    };
                    ("client_certificate_path", std::fs::read(path).map_err(unreadable)?)
                }
                (None, None) => return Err(values.invalid("client_certificate", "it is not set")),
            };
        if let Some(format) = Encrypted::of(&bytes) {
            return Err(format.refusal(values, option));
        }
        Self::parse(&bytes).map_err(|why| values.invalid(option, why))
    }

    fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let (key, certificate) = from_pem(bytes)?;
        let key = rustls::crypto::ring::sign::any_supported_type(&key)
            .map_err(|_| "its key is of a kind that cannot sign")?;
        if key.choose_scheme(&[SignatureScheme::RSA_PSS_SHA256]).is_none() {
            return Err("its key is not one of RSA, which Azure needs");
        }
        Ok(Self { key, thumbprint: BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&certificate)) })
    }

    /// A proof for the service at `url`: a JSON Web Token that the key signs.
    pub(super) fn assertion(&self, client: &str, url: &str) -> Result<String> {
        let failed = || Error::new(ErrorKind::Internal, Op::Sign, "a proof for Azure");
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_err(|error| failed().with_source(error))?
            .as_secs();
        let mut random = [0; 16];
        let provider = rustls::crypto::ring::default_provider();
        provider.secure_random.fill(&mut random).map_err(|_| failed().because("there is no randomness"))?;
        let id = hex(&random);
        let header = serde_json::json!({"alg": "PS256", "typ": "JWT", "x5t#S256": self.thumbprint});
        let claims = serde_json::json!({
            "aud": url, "exp": now + SECONDS, "iat": now, "iss": client, "jti": id, "nbf": now, "sub": client,
        });
        let part = |value: &serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let signer = self.key.choose_scheme(&[SignatureScheme::RSA_PSS_SHA256]).ok_or_else(failed)?;
        let signature = signer.sign(signed.as_bytes()).map_err(|error| failed().with_source(error))?;
        Ok(format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// What a password is needed for, or may be, and what is not read here.
enum Encrypted {
    Pkcs12,
    Pem,
}

impl Encrypted {
    fn of(bytes: &[u8]) -> Option<Self> {
        let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        if !has(b"-----BEGIN") {
            return Some(Self::Pkcs12);
        }
        (has(b"-----BEGIN ENCRYPTED PRIVATE KEY") || has(b"Proc-Type: 4,ENCRYPTED")).then_some(Self::Pem)
    }

    /// The error with the command that makes of it what is read.
    fn refusal(&self, values: &Values, option: &'static str) -> Error {
        let path = values.text("client_certificate_path").filter(|_| option == "client_certificate_path");
        let (file, out) = match path {
            Some(path) => (shell_word(path), shell_word(&format!("{path}.pem")).into_owned()),
            None => ("FILE".into(), "FILE.pem".to_owned()),
        };
        // The command asks for the password itself where no variable has it.
        let password = match values.origin("client_certificate_password") {
            Some(Origin::Environment) => " -passin env:ARM_CLIENT_CERTIFICATE_PASSWORD",
            _ => "",
        };
        let (why, command) = match self {
            Self::Pkcs12 => (
                "PKCS#12 is not supported, with or without `client_certificate_password`",
                format!("openssl pkcs12 -nodes -in {file}{password} -out {out}"),
            ),
            Self::Pem => (
                "an encrypted private key is not supported, and `client_certificate_password` has no effect",
                format!("(openssl pkey -in {file}{password}; openssl x509 -in {file}) > {out}"),
            ),
        };
        values.invalid(option, why).next_step(format!("run `{command}`, and set {option} to {out}"))
    }
}

type Pair = (PrivateKeyDer<'static>, Vec<u8>);

fn from_pem(bytes: &[u8]) -> Result<Pair, &'static str> {
    let key = PrivateKeyDer::from_pem_slice(bytes).map_err(|_| "it has no private key")?;
    let certificate = CertificateDer::from_pem_slice(bytes).map_err(|_| "it has no certificate")?;
    Ok((key, certificate.to_vec()))
}
