//! Servers that lead elsewhere, send without end, or listen on the way.

use std::time::{Duration, Instant};

use groundstate_blobs::{
    BlobStore, DeleteOptions, Error, ErrorKind, GetOptions, Key, ListOptions, PutOptions, Role,
};
use groundstate_blobs_cloud::{AzureBlobs, AzureSettings, GcsBlobs, GcsSettings, S3Blobs, S3Settings};
use groundstate_testkit::{Answer, AzureServer, Fault, GcsServer, Recorder, S3Server, Server};

use crate::context::context;
use crate::{azure, gcs, s3};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// A server and a client of a container in it.
struct Case {
    name: &'static str,
    server: Box<dyn std::ops::Deref<Target = Server>>,
    store: Box<dyn BlobStore>,
}

/// All three clouds; `change` adds options by their names.
fn cases(options: &[(&str, &str)]) -> Outcome<Vec<Case>> {
    let s3 = S3Server::start_blocking();
    s3.create_bucket("b");
    let mut settings = s3::settings(&s3.endpoint(), "b");
    options.iter().try_for_each(|(name, value)| settings.set(name, value))?;
    let s3 =
        Case { name: "s3", store: Box::new(S3Blobs::open(&settings, &context())?), server: Box::new(s3) };
    let gcs = GcsServer::start_blocking();
    gcs.create_bucket("b");
    let mut settings = gcs::settings(&gcs.endpoint(), "b");
    options.iter().try_for_each(|(name, value)| settings.set(name, value))?;
    let gcs = Case { name: "gcs", store: Box::new(GcsBlobs::open(&settings)?), server: Box::new(gcs) };
    let azure = AzureServer::start_blocking();
    azure.create_container("b");
    let mut settings = azure::settings(&azure.account_endpoint(), azure::KEY, "b");
    options.iter().try_for_each(|(name, value)| settings.set(name, value))?;
    let azure =
        Case { name: "azurerm", store: Box::new(AzureBlobs::open(&settings)?), server: Box::new(azure) };
    Ok(vec![s3, gcs, azure])
}

fn key() -> Key {
    Key::parse("k").expect("it is a key")
}

async fn read(store: &dyn BlobStore) -> Outcome<Error> {
    Ok(store.get(&key(), &GetOptions::default()).await.err().ok_or("the read succeeded")?)
}

#[tokio::test]
async fn no_redirect_is_followed() -> Outcome {
    for status in [301, 302, 303, 307, 308] {
        for Case { name, server, store } in cases(&[])? {
            let thief =
                Recorder::start(Answer::new(200).header("etag", "\"1\"").header("x-goog-generation", "1"));
            let elsewhere = Answer::new(status).header("location", format!("{}/b/k", thief.endpoint()));
            server.fault(Fault::instead(elsewhere));
            let mut errors = vec![read(&*store).await?];
            errors.extend(store.head(&key()).await.err());
            errors.extend(store.put(&key(), "secret".into(), &PutOptions::default()).await.err());
            errors.extend(store.delete(&key(), &DeleteOptions::default()).await.err());
            errors.extend(store.list("", &ListOptions::default()).await.err());
            assert_eq!(errors.len(), 5, "{name} {status}: a redirect was taken for an answer");
            for error in errors {
                let text = error.to_string();
                let is_region = error.kind() == ErrorKind::WrongRegion;
                assert!(is_region || text.contains("redirects are not followed"), "{name} {status}: {text}");
            }
            assert_eq!(thief.requests().len(), 0, "{name} {status}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_length_is_not_believed() -> Outcome {
    for Case { name, server, store } in cases(&[])? {
        server.fault(Fault::instead(Answer::new(200).body(vec![b'x'; 1 << 16]).declaring(1 << 40).endless()));
        let error = read(&*store).await?;
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{name}: {error}");
        assert!(error.to_string().contains("GROUNDSTATE_MAX_STATE_SIZE"), "{name}: {error}");
    }
    Ok(())
}

#[tokio::test]
async fn states_locks_lists_and_errors_have_limits() -> Outcome {
    for Case { name, server, store } in cases(&[("max_state_size", "256KiB")])? {
        let endless = |status| {
            let answer = Answer::new(status).header("etag", "\"1\"").body(vec![b'<'; 1 << 16]).endless();
            server.clear_faults();
            server.fault(Fault::instead(answer));
        };
        endless(200);
        let lock = GetOptions::default().role(Role::Lock);
        let lock = store.get(&key(), &lock).await.err().ok_or("the lock was read")?;
        assert!(lock.to_string().contains("more than 65536 bytes"), "{name}: {lock}");
        let state = read(&*store).await?;
        assert!(state.to_string().contains("more than 262144 bytes"), "{name}: {state}");
        let list = store.list("", &ListOptions::default()).await.err().ok_or("the list was read")?;
        assert_eq!(list.kind(), ErrorKind::LimitExceeded, "{name}: {list}");
        for status in [403, 404, 500] {
            endless(status);
            let error = read(&*store).await?;
            assert!(error.to_string().contains("more than 1048576 bytes"), "{name} {status}: {error}");
            let put = store.put(&key(), "1".into(), &PutOptions::default()).await.err();
            // Nothing is known of what was made of the write.
            assert_eq!(put.map(|error| error.kind()), Some(ErrorKind::Ambiguous), "{name} {status}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_list_that_does_not_go_on_ends() -> Outcome {
    for Case { name, server, store } in cases(&[])? {
        let page = match name {
            "azurerm" => "<EnumerationResults><Blobs/><NextMarker>m</NextMarker></EnumerationResults>",
            _ => {
                "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>m</NextContinuationToken></ListBucketResult>"
            }
        };
        server.fault(Fault::instead(Answer::new(200).body(page)));
        let first = store.list("", &ListOptions::default()).await?;
        let again = store.list("", &ListOptions::default().page(first.next)).await;
        let error = again.err().ok_or("the same page was taken for the next")?;
        assert!(error.to_string().contains("the same page"), "{name}: {error}");
    }
    Ok(())
}

#[tokio::test]
async fn a_list_of_long_names_is_asked_for_in_shorter_pages() -> Outcome {
    for Case { name, server, store } in cases(&[])? {
        for number in 0..600 {
            // In a list, five bytes stand for each of these.
            let long = Key::parse(&format!("{number:0>400}{}", "&".repeat(600)))?;
            store.put(&long, "".into(), &PutOptions::default()).await?;
        }
        let (mut count, mut options) = (0, ListOptions::default());
        loop {
            let page = store.list("", &options).await?;
            count += page.blobs.len();
            options = ListOptions::default().page(page.next);
            if options.page.is_none() {
                break;
            }
        }
        assert_eq!(count, 600, "{name}");
        drop(server);
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_in_drops_ends_with_the_time() -> Outcome {
    for Case { name, server, store } in cases(&[("request_timeout", "1")])? {
        server.fault(Fault::instead(Answer::new(200).body("x").dripping(Duration::from_millis(50))));
        let started = Instant::now();
        let error = read(&*store).await?;
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{name}: {error}");
        assert!(error.to_string().contains("GROUNDSTATE_REQUEST_TIMEOUT"), "{name}: {error}");
        assert!(started.elapsed() < Duration::from_secs(20), "{name}");
    }
    Ok(())
}

/// An address of this machine that is not one of the loopback.
fn distant(server: &Server) -> String {
    format!("http://0.0.0.0:{}", server.address().port())
}

/// Stores whose every request has a secret: a session token, a customer's key, a bearer token, a shared signature.
fn secretive(endpoint: &str, options: &[(&str, &str)]) -> Outcome<Vec<Box<dyn BlobStore>>> {
    const KEY: &str = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    let s3 = |more: &[(&str, &str)]| -> Outcome<S3Settings> {
        let mut settings = s3::settings(endpoint, "b");
        more.iter().chain(options).try_for_each(|(name, value)| settings.set(name, value))?;
        Ok(settings)
    };
    let session = s3(&[("token", "hush")])?;
    let customer = s3(&[("sse_customer_key", KEY), ("encrypt", "true")])?;
    let mut google: GcsSettings = gcs::settings(endpoint, "b");
    let mut own = GcsSettings::new();
    for (name, value) in [
        ("bucket", "b"),
        ("anonymous", "true"),
        ("encryption_key", KEY),
        ("storage_custom_endpoint", endpoint),
    ] {
        own.set(name, value)?;
    }
    let mut sas = AzureSettings::new();
    for (name, value) in [
        ("storage_account_name", "acc"),
        ("container_name", "b"),
        ("sas_token", "sv=1&sig=hush"),
        ("endpoint", endpoint),
    ] {
        sas.set(name, value)?;
    }
    for (name, value) in options {
        google.set(name, value)?;
        own.set(name, value)?;
        sas.set(name, value)?;
    }
    Ok(vec![
        Box::new(S3Blobs::open(&session, &context())?),
        Box::new(S3Blobs::open(&customer, &context())?),
        Box::new(GcsBlobs::open(&google)?),
        Box::new(GcsBlobs::open(&own)?),
        Box::new(AzureBlobs::open(&sas)?),
    ])
}

#[tokio::test]
async fn no_secret_leaves_by_plain_http() -> Outcome {
    let recorder = Recorder::start(Answer::new(404));
    let endpoint = distant(&recorder);
    for store in secretive(&endpoint, &[])? {
        let error = read(&*store).await?;
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains("GROUNDSTATE_ALLOW_PLAIN_HTTP"), "{error}");
        let put = store.put(&key(), "1".into(), &PutOptions::default()).await;
        assert_eq!(put.err().map(|error| error.kind()), Some(ErrorKind::Invalid));
    }
    assert_eq!(recorder.requests().len(), 0);
    for store in secretive(&endpoint, &[("allow_plain_http", "true")])? {
        assert_eq!(store.get(&key(), &GetOptions::default()).await?, None);
    }
    assert_eq!(recorder.requests().len(), 5);
    Ok(())
}

#[tokio::test]
async fn warnings_name_what_weakens_the_connection() -> Outcome {
    let mut settings = s3::settings("http://minio.test:9000", "b");
    for (name, value) in [("insecure", "true"), ("http_proxy", "http://u:hush@proxy.test:3128")] {
        settings.set(name, value)?;
    }
    let warnings = S3Blobs::open(&settings, &context())?.warnings().join("\n");
    for says in
        ["`insecure`", "`http_proxy`", "proxy.test:3128", "requests to minio.test:9000 are not encrypted"]
    {
        assert!(warnings.contains(says), "{warnings}");
    }
    assert!(!warnings.contains("hush") && warnings.lines().count() == 3, "{warnings}");
    assert_eq!(S3Blobs::open(&s3::settings("http://127.0.0.1:1", "b"), &context())?.warnings(), [""; 0]);
    Ok(())
}

/// The errors of a read of a bucket at an address, with these options and variables.
async fn error_with(
    endpoint: &str,
    options: &[(&str, &str)],
    variables: &[(&str, &str)],
) -> Result<String, Box<dyn std::error::Error>> {
    let mut settings = s3::settings(endpoint, "b");
    for (name, value) in options {
        settings.set(name, value)?;
    }
    let find = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let store = S3Blobs::open(&settings.or_from(&find)?, &context())?;
    let error = store.get(&Key::parse("k")?, &GetOptions::default()).await.err();
    Ok(error.map(|error| error.to_string()).unwrap_or_default())
}

#[tokio::test]
async fn proxies_are_chosen_by_scheme_as_terraform_does() -> Outcome {
    let proxy = Recorder::start(Answer::new(502));
    let (url, host) = (proxy.endpoint(), proxy.address().to_string());
    let dead = "http://127.0.0.1:9";
    let plain = "http://bucket.test:7";
    let tls = "https://bucket.test:7";
    for (endpoint, options, variables, is_asked) in [
        (plain, vec![("http_proxy", url.as_str())], vec![], true),
        (plain, vec![], vec![("HTTP_PROXY", url.as_str())], true),
        (plain, vec![("http_proxy", host.as_str())], vec![], true),
        (plain, vec![("https_proxy", &url), ("http_proxy", dead)], vec![], false),
        (tls, vec![("http_proxy", &url)], vec![], true),
        (tls, vec![("http_proxy", &url), ("https_proxy", dead)], vec![], false),
        (tls, vec![("http_proxy", dead)], vec![("HTTPS_PROXY", url.as_str())], true),
        (tls, vec![("http_proxy", &url), ("https_proxy", "")], vec![("HTTPS_PROXY", url.as_str())], false),
        (tls, vec![], vec![("http_proxy", url.as_str())], false),
        (plain, vec![("http_proxy", &url), ("no_proxy", "bucket.test")], vec![], false),
        (plain, vec![("http_proxy", &url)], vec![("NO_PROXY", ".test")], false),
        (dead, vec![("http_proxy", &url)], vec![("http_proxy", url.as_str())], false),
    ] {
        let before = proxy.requests().len();
        error_with(endpoint, &options, &variables).await?;
        let said = format!("{endpoint} {options:?} {variables:?}");
        assert_eq!(proxy.requests().len() > before, is_asked, "{said}");
    }
    Ok(())
}

#[tokio::test]
async fn a_proxy_that_does_not_answer_is_named_without_its_password() -> Outcome {
    let dead = "http://user:hush@127.0.0.1:9";
    for options in [vec![("http_proxy", dead)], vec![("http_proxy", dead), ("no_proxy", "other.test")]] {
        let error = error_with("http://bucket.test:7", &options, &[]).await?;
        assert!(error.contains("the proxy 127.0.0.1:9") && !error.contains("hush"), "{error}");
    }
    // None leads to this machine.
    let error = error_with("http://127.0.0.1:9", &[("http_proxy", dead)], &[]).await?;
    assert!(error.contains("AWS_ENDPOINT_URL_S3") && !error.contains("proxy"), "{error}");
    for wrong in ["ftp://p", "http://[x", "http://a b", "p\n:1x", "http://"] {
        let error = error_with("http://127.0.0.1:9", &[("http_proxy", wrong)], &[]).await.unwrap_err();
        assert!(error.to_string().contains("`http_proxy`"), "{error}");
    }
    Ok(())
}
