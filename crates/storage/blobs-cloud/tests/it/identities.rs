//! The identities of Google and Azure: what is asked of which service, and what opens the data then.

use std::path::{Path, PathBuf};

use groundstate_blobs::{BlobStore, ErrorKind, GetOptions, Key};
use groundstate_blobs_cloud::{AzureBlobs, AzureSettings, GcsBlobs, GcsSettings};
use groundstate_common::Origin;
use groundstate_testkit::{Answer, AzureServer, Fault, GcsServer, Recorded, Recorder, Server};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The account of the test kit's server.
const ACCOUNT: &str = "devstoreaccount1";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/azure").join(name)
}

/// A server that gives these documents for these paths, and 404 for others.
fn services(answers: &[(&str, &str, &str)]) -> Recorder {
    let recorder = Recorder::start(Answer::new(404));
    for (method, path, json) in answers {
        let answer = Answer::new(200).header("content-type", "application/json").body((*json).to_owned());
        recorder.fault(Fault::instead(answer).on(method, path));
    }
    recorder
}

fn asked(server: &Server, path: &str) -> Vec<Recorded> {
    server.requests().into_iter().filter(|request| request.path == path).collect()
}

fn form(request: &Recorded) -> String {
    String::from_utf8_lossy(&request.body).into_owned()
}

async fn read(store: &dyn BlobStore) -> Outcome {
    store.get(&Key::parse("k")?, &GetOptions::default()).await?;
    store.get(&Key::parse("k")?, &GetOptions::default()).await?;
    Ok(())
}

fn azure(server: &AzureServer, login: &Recorder, options: &[(&str, &str)]) -> Outcome<AzureSettings> {
    let mut settings = AzureSettings::new();
    for (name, value) in [
        ("storage_account_name", ACCOUNT),
        ("container_name", "b"),
        ("endpoint", &server.account_endpoint()),
        ("authority_host", &login.endpoint()),
        ("tenant_id", "tenant"),
        ("client_id", "app"),
    ] {
        settings.set(name, value)?;
    }
    options.iter().try_for_each(|(name, value)| settings.set(name, value))?;
    Ok(settings)
}

const TOKEN: (&str, &str, &str) = (
    "POST",
    "/tenant/oauth2/v2.0/token",
    r#"{"access_token":"t0ken","expires_in":3599,"token_type":"Bearer"}"#,
);

/// Reads with these options, and gives the form that the token was asked for with.
async fn azure_form(options: &[(&str, &str)], answers: &[(&str, &str, &str)]) -> Outcome<(Recorder, String)> {
    let server = AzureServer::start().await;
    server.create_container("b");
    let login = services(&[&[TOKEN], answers].concat());
    let here = login.endpoint();
    let options: Vec<(&str, String)> =
        options.iter().map(|(name, value)| (*name, value.replace("HERE", &here))).collect();
    let options: Vec<(&str, &str)> = options.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let store = AzureBlobs::open(&azure(&server, &login, &options)?)?;
    read(&store).await?;
    let last = server.requests().pop().ok_or("nothing was read")?;
    assert_eq!(last.header("authorization"), Some("Bearer t0ken"));
    let asked = asked(&login, "/tenant/oauth2/v2.0/token");
    assert_eq!(asked.len(), 1, "a token is used again");
    let form = form(&asked[0]);
    assert!(form.contains("scope=https%3A%2F%2Fstorage.azure.com%2F.default"), "{form}");
    assert!(form.contains("client_id=app"), "{form}");
    Ok((login, form))
}

#[tokio::test]
async fn an_application_has_a_secret_or_a_file_with_it() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("secret");
    std::fs::write(&file, "s3cr3t\n")?;
    let path = file.to_str().ok_or("it is text")?;
    for options in [&[("client_secret", "s3cr3t")], &[("client_secret_file_path", path)]] {
        let (_, form) = azure_form(options, &[]).await?;
        assert!(form.contains("client_secret=s3cr3t"), "{form}");
    }
    let both = azure_form(&[("client_secret", "other"), ("client_secret_file_path", path)], &[]).await;
    let error = both.err().ok_or("one of two secrets was chosen")?.to_string();
    assert!(error.contains("another value") && !error.contains("s3cr3t"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_workload_has_a_token_of_another_service() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("token");
    std::fs::write(&file, "asserti0n\n")?;
    let path = file.to_str().ok_or("it is text")?;
    let (oidc, bearer) = (("use_oidc", "true"), ("oidc_request_token", "b3arer"));
    let url = ("oidc_request_url", "HERE/request?x=1");
    let github = ("GET", "/request", r#"{"value":"asserti0n","count":1}"#);
    let devops = ("POST", "/request", r#"{"oidcToken":"asserti0n"}"#);
    for (options, answers) in [
        (vec![oidc, ("oidc_token", "asserti0n")], vec![]),
        (vec![oidc, ("oidc_token_file_path", path)], vec![]),
        (vec![("use_aks_workload_identity", "true"), ("aks_token_file", path)], vec![]),
        (vec![oidc, bearer, url], vec![github]),
        (vec![oidc, bearer, url, ("ado_pipeline_service_connection_id", "c0nnection")], vec![devops]),
    ] {
        let (login, form) = azure_form(&options, &answers).await?;
        assert!(form.contains("client_assertion=asserti0n"), "{form}");
        for request in asked(&login, "/request") {
            assert_eq!(request.header("authorization"), Some("Bearer b3arer"));
            let says = match request.method.as_str() {
                "GET" => "x=1&audience=api%3A%2F%2FAzureADTokenExchange",
                _ => "x=1&api-version=7.1&serviceConnectionId=c0nnection",
            };
            assert_eq!(request.query, says);
        }
        assert_eq!(asked(&login, "/request").len(), answers.len());
    }
    Ok(())
}

#[tokio::test]
async fn an_application_has_a_certificate() -> Outcome {
    use base64::Engine;
    use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
    let path = fixture("client.pem").display().to_string();
    let text = std::fs::read_to_string(&path)?;
    let inline = BASE64_STANDARD.encode(&text);
    for option in
        [("client_certificate_path", &path), ("client_certificate", &text), ("client_certificate", &inline)]
    {
        let options = [(option.0, option.1.as_str())];
        let (login, form) = azure_form(&options, &[]).await?;
        let proof =
            form.split('&').find_map(|pair| pair.strip_prefix("client_assertion=")).ok_or("no proof")?;
        let parts: Vec<&str> = proof.split('.').collect();
        let part = |n: usize| -> Outcome<serde_json::Value> {
            Ok(serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(parts[n])?)?)
        };
        let (header, claims) = (part(0)?, part(1)?);
        assert_eq!(
            (&header["alg"], &header["x5t#S256"]),
            (&"PS256".into(), &"gJcbySkQ-UdfbY1xNdkvmHEG591u_UDIpgk79iHBzAg".into()),
            "{header}"
        );
        assert_eq!((&claims["iss"], &claims["sub"]), (&"app".into(), &"app".into()));
        assert_eq!(claims["aud"], format!("{}/tenant/oauth2/v2.0/token", login.endpoint()));
        assert_eq!(BASE64_URL_SAFE_NO_PAD.decode(parts[2])?.len(), 256);
    }
    let folder = tempfile::tempdir()?;
    let other = folder.path().join("client.pfx");
    std::fs::write(&other, [0x30, 0x82, 0x0a, 0x14])?;
    let other = [("client_certificate_path", other.to_str().ok_or("it is text")?)];
    let error = azure_form(&other, &[]).await.err().ok_or("it was taken")?.to_string();
    assert!(error.contains("client_certificate_path") && error.contains("openssl pkcs12"), "{error}");
    Ok(())
}

#[tokio::test]
async fn an_encrypted_certificate_is_refused_with_the_command_that_opens_it() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).map(|()| path.display().to_string())
    };
    let packed = file("it's.pfx", &[0x30, 0x82, 0x0a, 0x14])?;
    let modern =
        file("a.pem", b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nMII=\n-----END ENCRYPTED PRIVATE KEY-----\n")?;
    let old = file(
        "b.pem",
        b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMII=\n-----END RSA PRIVATE KEY-----\n",
    )?;
    let quoted = |path: &str| path.replace('\'', r"'\''");
    for (path, command) in [
        (
            &packed,
            format!(
                "openssl pkcs12 -nodes -in '{}' -passin env:ARM_CLIENT_CERTIFICATE_PASSWORD",
                quoted(&packed)
            ),
        ),
        (&modern, format!("openssl pkey -in {modern} -passin env:ARM_CLIENT_CERTIFICATE_PASSWORD")),
        (&old, format!("openssl pkey -in {old} -passin")),
    ] {
        let settings = AzureSettings::new()
            .with("storage_account_name", "acc")?
            .with("container_name", "c")?
            .with("tenant_id", "t")?
            .with("client_id", "app")?
            .with("client_certificate_path", path)?;
        let variable = |name: &str| (name == "ARM_CLIENT_CERTIFICATE_PASSWORD").then(|| "hush".to_owned());
        let error = AzureBlobs::open(&settings.or_from(&variable)?).err().ok_or("it was taken")?.to_string();
        assert!(error.contains(&command) && error.contains("client_certificate_password"), "{error}");
        assert!(!error.contains("hush"), "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn a_machine_has_an_identity() -> Outcome {
    let answer = r#"{"access_token":"t0ken","expires_in":"3599"}"#;
    for (options, version) in [
        (vec![("msi_endpoint", "/msi")], "2018-02-01"),
        (vec![("identity_endpoint", "/msi"), ("identity_header", "h3ader")], "2019-08-01"),
    ] {
        let server = AzureServer::start().await;
        server.create_container("b");
        let machine = services(&[("GET", "/msi", answer)]);
        let mut settings = azure(&server, &machine, &[("use_msi", "true")])?;
        for (name, value) in options {
            let is_path = value.starts_with('/');
            settings.set(
                name,
                &if is_path { format!("{}{value}", machine.endpoint()) } else { value.to_owned() },
            )?;
        }
        read(&AzureBlobs::open(&settings)?).await?;
        let requests = asked(&machine, "/msi");
        assert_eq!(requests.len(), 1);
        let says = format!("api-version={version}&resource=https%3A%2F%2Fstorage.azure.com&client_id=app");
        assert_eq!(
            (requests[0].query.as_str(), requests[0].header("metadata")),
            (says.as_str(), Some("true"))
        );
        let secret = requests[0].header("x-identity-header");
        assert_eq!(secret.is_some(), version == "2019-08-01");
    }
    Ok(())
}

#[tokio::test]
async fn the_services_of_azure_say_where_an_account_is() -> Outcome {
    let server = AzureServer::start().await;
    server.create_container("b");
    let services = services(&[TOKEN]);
    let here = services.endpoint();
    let answer = |json: serde_json::Value| Fault::instead(Answer::new(200).body(json.to_string()));
    let resource = format!(
        "/subscriptions/sub/resourceGroups/group/providers/Microsoft.Storage/storageAccounts/{ACCOUNT}"
    );
    services.fault(
        answer(serde_json::json!({
            "authentication": {"loginEndpoint": here, "audiences": ["a"]},
            "resourceManager": here,
            "suffixes": {"storage": "core.test"},
        }))
        .on("GET", "/metadata/endpoints"),
    );
    services.fault(
        answer(serde_json::json!({"properties": {"primaryEndpoints": {"blob": server.account_endpoint()}}}))
            .on("GET", &resource),
    );
    let mut settings = AzureSettings::new();
    for (name, value) in [
        ("storage_account_name", ACCOUNT),
        ("container_name", "b"),
        ("metadata_host", &here),
        ("lookup_blob_endpoint", "true"),
        ("subscription_id", "sub"),
        ("resource_group_name", "group"),
        ("tenant_id", "tenant"),
        ("client_id", "app"),
        ("client_secret", "s3cr3t"),
    ] {
        settings.set(name, value)?;
    }
    read(&AzureBlobs::open(&settings)?).await?;
    assert_eq!(asked(&services, "/metadata/endpoints").len(), 1);
    let lookups = asked(&services, &resource);
    assert_eq!((lookups.len(), lookups[0].header("authorization")), (1, Some("Bearer t0ken")));
    // One token is for the management, one for the data.
    let scopes: Vec<String> = asked(&services, "/tenant/oauth2/v2.0/token").iter().map(form).collect();
    assert_eq!(scopes.len(), 2, "{scopes:?}");
    assert_eq!(server.requests().len(), 2);
    Ok(())
}

#[tokio::test]
async fn refusals_of_token_services_are_told_without_secrets() -> Outcome {
    let server = AzureServer::start().await;
    let login = Recorder::start(
        Answer::new(401)
            .body(r#"{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret\r\nTrace ID: x"}"#),
    );
    let store = AzureBlobs::open(&azure(&server, &login, &[("client_secret", "s3cr3t")])?)?;
    let error = store.get(&Key::parse("k")?, &GetOptions::default()).await.err().ok_or("it was read")?;
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    let text = error.to_string();
    assert!(text.contains("invalid_client: AADSTS7000215") && !text.contains("s3cr3t"), "{text}");
    assert_eq!(server.requests().len(), 0);
    Ok(())
}

fn google(server: &GcsServer, options: &[(&str, &str)]) -> Outcome<GcsSettings> {
    let endpoint = format!("{}/storage/v1/", server.endpoint());
    let mut settings = GcsSettings::new().with("bucket", "b")?.with("storage_custom_endpoint", &endpoint)?;
    options.iter().try_for_each(|(name, value)| settings.set(name, value))?;
    Ok(settings)
}

/// Reads with these options, and gives the token that the data was asked for with.
async fn google_token(options: &[(&str, &str)]) -> Outcome<Option<String>> {
    let server = GcsServer::start().await;
    server.create_bucket("b");
    server.clear_requests();
    read(&GcsBlobs::open(&google(&server, options)?)?).await?;
    let last = server.requests().pop().ok_or("nothing was read")?;
    Ok(last.header("authorization").map(str::to_owned))
}

#[tokio::test]
async fn a_user_of_google_stands_in_for_an_account() -> Outcome {
    let services = services(&[
        ("POST", "/token", r#"{"access_token":"us3r","expires_in":3599}"#),
        ("POST", "/v1/projects/*", r#"{"accessToken":"acc0unt","expireTime":"2026-11-22T10:00:00Z"}"#),
    ]);
    let here = services.endpoint();
    let user = serde_json::json!({
        "type": "authorized_user", "client_id": "id", "client_secret": "s3cr3t", "refresh_token": "r3fresh",
        "token_uri": format!("{here}/token"),
    });
    let user = user.to_string();
    assert_eq!(google_token(&[("credentials", &user)]).await?.as_deref(), Some("Bearer us3r"));
    let iam = format!("{here}/v1");
    let options = [
        ("credentials", user.as_str()),
        ("impersonate_service_account", "a@p.iam.gserviceaccount.com"),
        ("impersonate_service_account_delegates", "b@p.iam.gserviceaccount.com,c@p.iam.gserviceaccount.com"),
        ("iam_credentials_custom_endpoint", &iam),
    ];
    assert_eq!(google_token(&options).await?.as_deref(), Some("Bearer acc0unt"));
    let path = "/v1/projects/-/serviceAccounts/a@p.iam.gserviceaccount.com:generateAccessToken";
    let requests = asked(&services, path);
    assert_eq!((requests.len(), requests[0].header("authorization")), (1, Some("Bearer us3r")));
    let body: serde_json::Value = serde_json::from_slice(&requests[0].body)?;
    assert_eq!(
        body,
        serde_json::json!({
            "delegates": [
                "projects/-/serviceAccounts/b@p.iam.gserviceaccount.com",
                "projects/-/serviceAccounts/c@p.iam.gserviceaccount.com",
            ],
            "lifetime": "3600s",
            "scope": ["https://www.googleapis.com/auth/devstorage.read_write"],
        })
    );
    assert!(form(&asked(&services, "/token")[0]).contains("refresh_token=r3fresh"));
    Ok(())
}

#[tokio::test]
async fn a_workload_of_another_cloud_exchanges_its_token() -> Outcome {
    let services = services(&[
        ("GET", "/subject", r#"{"value":"subj3ct"}"#),
        ("POST", "/sts", r#"{"access_token":"f3derated","expires_in":3599}"#),
        ("POST", "/impersonate", r#"{"accessToken":"acc0unt","expireTime":"2026-11-22T10:00:00Z"}"#),
    ]);
    let here = services.endpoint();
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("token");
    std::fs::write(&file, "subj3ct\n")?;
    let url = serde_json::json!({
        "url": format!("{here}/subject"), "headers": {"Authorization": "Bearer j0b"},
        "format": {"type": "json", "subject_token_field_name": "value"},
    });
    let file = serde_json::json!({"file": file, "format": {"type": "text"}});
    for (source, account, expected) in
        [(&url, None, "Bearer f3derated"), (&file, Some(format!("{here}/impersonate")), "Bearer acc0unt")]
    {
        let credentials = serde_json::json!({
            "type": "external_account", "audience": "//iam/pool", "token_url": format!("{here}/sts"),
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "credential_source": source,
            "service_account_impersonation_url": account,
        });
        let path = folder.path().join("credentials.json");
        std::fs::write(&path, credentials.to_string())?;
        let path = path.to_str().ok_or("it is text")?;
        assert_eq!(google_token(&[("application_credentials", path)]).await?.as_deref(), Some(expected));
    }
    let subject = asked(&services, "/subject");
    assert_eq!((subject.len(), subject[0].header("authorization")), (1, Some("Bearer j0b")));
    for request in asked(&services, "/sts") {
        assert!(form(&request).contains("subject_token=subj3ct"), "{}", form(&request));
    }
    assert_eq!(asked(&services, "/impersonate")[0].header("authorization"), Some("Bearer f3derated"));
    Ok(())
}

#[tokio::test]
async fn a_machine_of_google_has_an_account() -> Outcome {
    let answer = r#"{"access_token":"mach1ne","expires_in":3599,"token_type":"Bearer"}"#;
    let services = services(&[("GET", "/computeMetadata/*", answer)]);
    let host = services.endpoint().replace("http://", "");
    assert_eq!(google_token(&[("metadata_host", &host)]).await?.as_deref(), Some("Bearer mach1ne"));
    let request = services.requests().pop().ok_or("nothing was asked")?;
    assert_eq!(request.header("metadata-flavor"), Some("Google"));
    Ok(())
}

#[test]
fn a_directory_does_not_choose_who_gets_the_token() -> Outcome {
    for (name, value) in
        [("storage_custom_endpoint", "https://evil.test/storage/v1/"), ("universe_domain", "evil.test")]
    {
        let mut settings = GcsSettings::new().with("access_token", "t0ken")?;
        let block = serde_json::json!({"bucket": "b", name: value});
        settings.read_from(block, Origin::Directory)?;
        let error = GcsBlobs::open(&settings).err().ok_or("it was opened")?.to_string();
        assert!(error.contains("a directory does not decide"), "{error}");
        // The user may.
        assert!(GcsBlobs::open(&settings.with(name, value)?).is_ok());
    }
    Ok(())
}

#[tokio::test]
async fn line_breaks_in_identities_are_errors() -> Outcome {
    let server = AzureServer::start().await;
    let login = Recorder::start(Answer::new(404));
    for (name, more) in [
        ("tenant_id", ("client_secret", "s")),
        ("client_id", ("client_secret", "s")),
        ("authority_host", ("client_secret", "s")),
        ("msi_endpoint", ("use_msi", "true")),
        ("identity_endpoint", ("use_msi", "true")),
        ("oidc_token", ("use_oidc", "true")),
        ("sas_token", ("use_cli", "false")),
        ("metadata_host", ("client_secret", "s")),
    ] {
        for text in ["a\nb", "http://a\r\nb/", "http://[x"] {
            let settings = azure(&server, &login, &[more, (name, text)])?;
            let outcome = match AzureBlobs::open(&settings) {
                Ok(store) => store.get(&Key::parse("k")?, &GetOptions::default()).await.map(drop),
                Err(error) => Err(error),
            };
            let error = outcome.err().ok_or_else(|| format!("{name} {text:?}"))?;
            assert_ne!(error.kind(), ErrorKind::Internal, "{name} {text:?}: {error}");
        }
    }
    assert_eq!(server.requests().len(), 0);
    Ok(())
}
