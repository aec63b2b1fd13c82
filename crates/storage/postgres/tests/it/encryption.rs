//! Which servers are believed, by `sslmode` and `sslrootcert`.

use std::sync::Arc;

use groundstate_postgres::{ErrorKind, Pool, Session, Settings};
use groundstate_testkit::{Authority, Certificate};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// What servers send when they refuse a login.
const REFUSAL: &[u8] = b"E\0\0\0\x27SFATAL\0VFATAL\0C28P01\0Mwrong login\0\0";

/// Takes one connection: turns TLS on, reads the beginning of the login, and refuses it.
async fn refuse_one_login(listener: &TcpListener, acceptor: &TlsAcceptor) -> std::io::Result<()> {
    let (mut stream, _): (TcpStream, _) = listener.accept().await?;
    let mut request = [0; 8];
    stream.read_exact(&mut request).await?;
    assert_eq!(request, [0, 0, 0, 8, 4, 210, 22, 47], "it asks for TLS");
    stream.write_all(b"S").await?;
    let mut stream = acceptor.accept(stream).await?;
    stream.read_exact(&mut request).await?;
    assert_eq!(request[4..], [0, 3, 0, 0], "it logs in with version 3.0");
    stream.write_all(REFUSAL).await?;
    stream.shutdown().await
}

fn acceptor(certificate: &Certificate) -> TlsAcceptor {
    let chain =
        CertificateDer::pem_slice_iter(certificate.pem().as_bytes()).collect::<Result<_, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_slice(certificate.key_pem().as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    TlsAcceptor::from(Arc::new(builder.with_no_client_auth().with_single_cert(chain, key).unwrap()))
}

#[tokio::test]
async fn modes_of_tls_believe_what_the_original_believes() {
    let folder = tempfile::tempdir().unwrap();
    let (authority, other) = (Authority::new(), Authority::new());
    let (roots, foreign) = (folder.path().join("roots.pem"), folder.path().join("foreign.pem"));
    std::fs::write(&roots, authority.pem()).unwrap();
    std::fs::write(&foreign, other.pem()).unwrap();
    let (roots, foreign) = (roots.display(), foreign.display());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for (names, parameters, is_believed) in [
        ("localhost", "sslmode=require".to_owned(), true),
        ("localhost", format!("sslmode=verify-full&sslrootcert={roots}"), true),
        ("localhost", format!("sslmode=verify-full&sslrootcert={foreign}"), false),
        ("other.example.com", format!("sslmode=verify-full&sslrootcert={roots}"), false),
        ("other.example.com", format!("sslmode=verify-ca&sslrootcert={roots}"), true),
        ("localhost", format!("sslmode=verify-ca&sslrootcert={foreign}"), false),
        ("localhost", format!("sslrootcert={foreign}"), false),
        ("localhost", "sslmode=verify-full&sslrootcert=system".to_owned(), false),
    ] {
        let acceptor = acceptor(&authority.certificate(&[names]));
        let url = format!("postgres://u:p@localhost:{port}/d?{parameters}");
        let settings = Settings::parse(&url, &[], &|_| None).unwrap();
        let kind = if is_believed { ErrorKind::Unauthenticated } else { ErrorKind::Invalid };
        let pool = Pool::open(&settings, 1).unwrap();
        let (server, answer) = tokio::join!(refuse_one_login(&listener, &acceptor), pool.get());
        let error = answer.unwrap_err();
        assert_eq!(error.kind(), kind, "{names} {parameters}: {error:?} {server:?}");
        let session = Session::connect(&settings);
        let (server, answer) = tokio::join!(refuse_one_login(&listener, &acceptor), session);
        let error = answer.unwrap_err();
        assert_eq!(error.kind(), kind, "{names} {parameters}: {error:?} {server:?}");
    }
}

#[test]
fn certificates_that_cannot_be_read_are_named() {
    let url = "postgres://h/d?sslmode=verify-full&sslrootcert=/none/such.pem";
    let settings = Settings::parse(url, &[], &|_| None).unwrap();
    let error = Pool::open(&settings, 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("the certificates of sslrootcert cannot be used"), "{error}");
}
