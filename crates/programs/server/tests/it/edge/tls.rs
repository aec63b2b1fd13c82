//! TLS: whom clients trust, whom the server trusts, and certificates that are replaced.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::Router;
use axum::extract::Request;
use axum::routing::get;
use groundstate_server::auth::ClientCertificate;
use groundstate_server::blobs::MemoryBlobs;
use groundstate_server::config::Config;
use groundstate_server::edge::TlsError;
use groundstate_testkit::{Authority, Certificate};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::support::{Running, config, get as get_head, header, send, start_with, status};

fn write(folder: &Path, certificate: &Certificate) {
    fs::write(folder.join("server.crt"), certificate.pem()).unwrap();
    fs::write(folder.join("server.key"), certificate.key_pem()).unwrap();
}

fn tls_config(folder: &Path, more: &str) -> Config {
    let folder = folder.display();
    config(&format!("[tls]\ncertificate = \"{folder}/server.crt\"\nkey = \"{folder}/server.key\"\n{more}"))
}

fn app() -> Router {
    let who = async |request: Request| {
        let certificate = request.extensions().get::<ClientCertificate>();
        format!("certificate: {}", certificate.is_some_and(|certificate| !certificate.der().is_empty()))
    };
    Router::new().route("/", get(who))
}

fn start(config: &Config) -> Running {
    start_with(config, app(), Arc::new(MemoryBlobs::new("states")))
}

/// What a client of this authority speaks, with a certificate of its own if it has one.
fn client(authority: &Authority, own: Option<&Certificate>, protocols: &[&str]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_root_certificates(roots);
    let mut config = match own {
        None => builder.with_no_client_auth(),
        Some(own) => {
            let chain = vec![CertificateDer::from_pem_slice(own.pem().as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(own.key_pem().as_bytes()).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    TlsConnector::from(Arc::new(config))
}

async fn connect(server: &Running, connector: &TlsConnector) -> std::io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from("localhost").unwrap();
    connector.connect(name, server.connect().await).await
}

async fn ask(server: &Running, connector: &TlsConnector) -> std::io::Result<String> {
    Ok(send(connect(server, connector).await?, get_head("/")).await)
}

#[tokio::test]
async fn clients_that_trust_the_authority_are_served_and_told_to_stay_with_tls() {
    let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::new());
    write(folder.path(), &authority.certificate(&["localhost"]));
    let server = start(&tls_config(folder.path(), ""));
    let answer = ask(&server, &client(&authority, None, &[])).await.unwrap();
    assert!(status(&answer) == 200 && answer.ends_with("certificate: false"), "{answer}");
    assert_eq!(header(&answer, "strict-transport-security"), Some("max-age=31536000"));
    // Another authority, and no TLS at all.
    assert!(ask(&server, &client(&Authority::new(), None, &[])).await.is_err());
    let plain = server.get("/").await;
    assert!(!plain.starts_with("HTTP/"), "{plain:?}");
    server.counted(r#"groundstate_connections_refused_total{reason="tls"} 2"#).await;
}

#[tokio::test]
async fn clients_do_not_accept_a_certificate_that_has_expired_or_is_for_another_name() {
    for (expired, name, expected) in
        [(true, "localhost", "expired"), (false, "other.example.com", "not valid for name")]
    {
        let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::new());
        let certificate =
            if expired { authority.expired_certificate(&[name]) } else { authority.certificate(&[name]) };
        write(folder.path(), &certificate);
        let server = start(&tls_config(folder.path(), ""));
        let error = ask(&server, &client(&authority, None, &[])).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn clients_need_a_certificate_where_the_configuration_says_so() {
    let (folder, authority, clients) = (tempfile::tempdir().unwrap(), Authority::new(), Authority::new());
    write(folder.path(), &authority.certificate(&["localhost"]));
    fs::write(folder.path().join("clients.crt"), clients.pem()).unwrap();
    let ca = format!("client_ca = \"{}/clients.crt\"\n", folder.path().display());
    let (known, unknown, old) = (
        clients.certificate(&["ci.example.com"]),
        Authority::new().certificate(&["ci.example.com"]),
        clients.expired_certificate(&["ci.example.com"]),
    );

    let required = start(&tls_config(folder.path(), &ca));
    let answer = ask(&required, &client(&authority, Some(&known), &[])).await.unwrap();
    assert!(answer.ends_with("certificate: true"), "{answer}");
    for own in [None, Some(&unknown), Some(&old)] {
        // With TLS 1.3 the client hears of it with its first read.
        let answer = ask(&required, &client(&authority, own, &[])).await.unwrap_or_default();
        assert_eq!(answer, "");
    }

    let optional = start(&tls_config(folder.path(), &format!("{ca}client_certificates = \"optional\"\n")));
    let answer = ask(&optional, &client(&authority, None, &[])).await.unwrap();
    assert!(answer.ends_with("certificate: false"), "{answer}");
    let answer = ask(&optional, &client(&authority, Some(&known), &[])).await.unwrap();
    assert!(answer.ends_with("certificate: true"), "{answer}");
    assert_eq!(ask(&optional, &client(&authority, Some(&unknown), &[])).await.unwrap_or_default(), "");
}

#[tokio::test]
async fn clients_of_http_2_are_served() {
    let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::new());
    write(folder.path(), &authority.certificate(&["localhost"]));
    let server = start(&tls_config(folder.path(), ""));
    let stream = connect(&server, &client(&authority, None, &["h2", "http/1.1"])).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let executor = hyper_util::rt::TokioExecutor::new();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(executor, hyper_util::rt::TokioIo::new(stream)).await.unwrap();
    let driver = tokio::spawn(connection);
    for _ in 0..3 {
        let uri = format!("https://localhost:{}/", server.address.port());
        let request = http::Request::builder().uri(uri).body(String::new()).unwrap();
        let answer = sender.send_request(request).await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.version()), (200, http::Version::HTTP_2));
    }
    // An idle connection ends with the server.
    server.control.stop();
    driver.await.unwrap().unwrap();
    server.ended.await.unwrap();
}

#[tokio::test]
async fn certificates_are_replaced_under_load_and_no_request_fails() {
    let (folder, old, new) = (tempfile::tempdir().unwrap(), Authority::new(), Authority::new());
    write(folder.path(), &old.certificate(&["localhost"]));
    let config = tls_config(folder.path(), "[limits]\nrequests_per_second = \"off\"\n");
    let server = Arc::new(start(&config));
    let (is_over, served) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    // Clients that trust both authorities do not notice.
    let mut roots = RootCertStore::empty();
    for authority in [&old, &new] {
        roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let both = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let both = TlsConnector::from(Arc::new(both.with_root_certificates(roots).with_no_client_auth()));
    let load: Vec<_> = (0..4)
        .map(|_| {
            let (server, both) = (Arc::clone(&server), both.clone());
            let (is_over, served) = (Arc::clone(&is_over), Arc::clone(&served));
            tokio::spawn(async move {
                while !is_over.load(Ordering::SeqCst) {
                    assert_eq!(status(&ask(&server, &both).await.unwrap()), 200);
                    served.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    let more = async |number: usize| {
        let enough = served.load(Ordering::SeqCst) + number;
        while served.load(Ordering::SeqCst) < enough {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    more(10).await;
    // A key that is not the certificate's changes nothing.
    fs::write(folder.path().join("server.key"), new.certificate(&["localhost"]).key_pem()).unwrap();
    assert!(matches!(server.reloader.reload(&config), Err(TlsError::Unusable { .. })));
    assert!(ask(&server, &client(&old, None, &[])).await.is_ok());
    more(10).await;
    write(folder.path(), &new.certificate(&["localhost"]));
    server.reloader.reload(&config).unwrap();
    assert!(ask(&server, &client(&new, None, &[])).await.is_ok());
    assert!(ask(&server, &client(&old, None, &[])).await.is_err());
    more(10).await;
    is_over.store(true, Ordering::SeqCst);
    for task in load {
        task.await.unwrap();
    }
    server.counted(r#"groundstate_reloads_total{outcome="error"} 1"#).await;
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named() {
    let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::new());
    let certificate = authority.certificate(&["localhost"]);
    let place = folder.path().display().to_string();
    let failure = |more: &str| {
        let parts = groundstate_server::edge::ServerParts::new(
            Router::new(),
            Arc::new(MemoryBlobs::new("states")),
            Arc::new(groundstate_server::common::OsIds),
            groundstate_server::edge::Metrics::new(),
        );
        let error =
            groundstate_server::edge::Server::bind(&tls_config(folder.path(), more), parts).unwrap_err();
        error.to_string().replace(&place, "DIR")
    };
    assert_eq!(failure(""), "cannot read DIR/server.crt");
    write(folder.path(), &certificate);
    fs::write(folder.path().join("server.crt"), "no certificate").unwrap();
    assert_eq!(failure(""), "DIR/server.crt has no certificate as PEM");
    write(folder.path(), &certificate);
    fs::write(folder.path().join("server.key"), certificate.pem()).unwrap();
    assert_eq!(failure(""), "DIR/server.key has no private key as PEM");
    fs::write(folder.path().join("server.key"), authority.certificate(&["localhost"]).key_pem()).unwrap();
    assert_eq!(failure(""), "cannot use the certificate DIR/server.crt with the key DIR/server.key");
    write(folder.path(), &certificate);
    fs::write(folder.path().join("clients.crt"), "").unwrap();
    let ca = format!("client_ca = \"{place}/clients.crt\"\n");
    assert_eq!(failure(&ca), "DIR/clients.crt has no certificate as PEM");
}
