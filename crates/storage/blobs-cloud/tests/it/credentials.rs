//! Where credentials of AWS come from: files, programs and services, each as the SDKs know it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use groundstate_blobs::{BlobStore, Context, Error, ErrorKind, GetOptions, Key, Result as BlobResult};
use groundstate_blobs_cloud::{S3Blobs, S3Settings};
use groundstate_common::{FixedClock, Origin, OsIds, Timestamp};
use groundstate_testkit::{Answer, Recorder, Request, S3Server};
use tempfile::TempDir;

pub(crate) type Outcome = Result<(), Box<dyn std::error::Error>>;

const NOW: &str = "2026-11-22T08:00:00Z";
pub(crate) const LATER: &str = "2026-11-22T09:00:00Z";
/// What services and programs give.
pub(crate) const GIVEN: (&str, &str, &str) = ("ASIAGIVEN", "giv3n/s3cr3t", "s3ssion");

/// A home, a server with a bucket, and a clock.
pub(crate) struct World {
    pub(crate) home: TempDir,
    pub(crate) server: S3Server,
    pub(crate) clock: Arc<FixedClock>,
    variables: Vec<(&'static str, String)>,
    options: Vec<(&'static str, String)>,
}

impl World {
    pub(crate) async fn new() -> Self {
        let server = S3Server::start().await;
        server.create_bucket("b");
        server.require_key(GIVEN.0, GIVEN.1);
        let home = tempfile::tempdir().expect("there is room for a directory");
        std::fs::create_dir_all(home.path().join(".aws/sso/cache")).expect("there is room");
        let clock = Arc::new(FixedClock::new(Timestamp::parse(NOW).expect("it is a time")));
        let world = Self { home, server, clock, variables: Vec::new(), options: Vec::new() };
        let endpoint = world.server.endpoint();
        world.option("bucket", "b").option("region", "us-east-1").option("endpoints.s3", &endpoint)
    }

    pub(crate) fn variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    pub(crate) fn option(mut self, name: &'static str, value: &str) -> Self {
        self.options.push((name, value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.options.retain(|(known, _)| *known != name);
        self
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        std::fs::write(self.home.path().join(path), text).expect("there is room");
        self
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    pub(crate) fn context(&self) -> Context {
        Context::new(Arc::clone(&self.clock) as _, Arc::clone(&self.clock) as _, Arc::new(OsIds))
    }

    pub(crate) fn settings(&self) -> BlobResult<S3Settings> {
        let mut settings = S3Settings::new();
        for (name, value) in &self.options {
            settings.set(name, value)?;
        }
        self.with_variables(settings)
    }

    fn with_variables(&self, settings: S3Settings) -> BlobResult<S3Settings> {
        let find = |name: &str| {
            let found = self.variables.iter().rev().find(|(known, _)| *known == name);
            let home = (name == "HOME").then(|| self.home.path().display().to_string());
            found.map(|(_, value)| value.clone()).or(home)
        };
        settings.or_from(&find)
    }

    pub(crate) fn open(&self) -> BlobResult<S3Blobs> {
        S3Blobs::open(&self.settings()?, &self.context())
    }

    /// The error of a read that is not to succeed.
    pub(crate) async fn error(&self) -> Error {
        match self.open() {
            Ok(store) => read(&store).await.expect_err("the credentials are not to be had"),
            Err(error) => error,
        }
    }

    /// The token that arrived with the last request to the bucket.
    fn session(&self) -> Option<String> {
        self.server.requests().last()?.header("x-amz-security-token").map(str::to_owned)
    }
}

pub(crate) async fn read(store: &S3Blobs) -> BlobResult<()> {
    store.get(&Key::parse("k")?, &GetOptions::default()).await.map(|_| ())
}

/// All the words of an error and its causes.
pub(crate) fn words(error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        text.push('\n');
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

fn document() -> String {
    let (id, secret, session) = GIVEN;
    format!(
        r#"{{"Version":1,"AccessKeyId":"{id}","SecretAccessKey":"{secret}","SessionToken":"{session}","Token":"{session}","Expiration":"{LATER}"}}"#
    )
}

#[tokio::test]
async fn a_program_of_the_profile_gives_credentials_until_they_end() -> Outcome {
    let world = World::new().await.file("answer", &document());
    let command = format!("echo x >> '{0}/runs'; cat '{0}/answer'", world.home.path().display());
    let world = world
        .file(".aws/config", &format!("[profile p]\ncredential_process = {command}\n"))
        .variable("AWS_PROFILE", "p");
    let runs = || std::fs::read_to_string(world.path("runs")).unwrap_or_default().lines().count();
    let store = world.open()?;
    assert_eq!(runs(), 0);
    for _ in 0..3 {
        read(&store).await?;
    }
    assert_eq!((runs(), world.session().as_deref()), (1, Some(GIVEN.2)));
    world.clock.advance(Duration::from_secs(54 * 60));
    read(&store).await?;
    assert_eq!(runs(), 1);
    world.clock.advance(Duration::from_secs(2 * 60));
    read(&store).await?;
    assert_eq!(runs(), 2);
    // A program that fails does no harm while its last credentials are good.
    std::fs::write(world.path("answer"), "")?;
    read(&store).await?;
    world.clock.advance(Duration::from_secs(10 * 60));
    assert_eq!(read(&store).await.unwrap_err().kind(), ErrorKind::Unauthenticated);
    Ok(())
}

#[tokio::test]
async fn a_program_that_a_directory_names_is_not_run() -> Outcome {
    let world = World::new().await;
    let config = format!("[default]\ncredential_process = touch '{}'\n", world.path("ran"));
    let world = world.file("theirs", &config);
    for origin in [Origin::Directory, Origin::Block] {
        let block = serde_json::json!({"bucket": "b", "region": "us-east-1", "shared_config_files": [world.path("theirs")],
            "endpoints": {"s3": world.server.endpoint()}});
        let mut settings = S3Settings::new();
        settings.read_from(block, origin)?;
        let error = match S3Blobs::open(&world.with_variables(settings)?, &world.context()) {
            Ok(store) => read(&store).await.unwrap_err(),
            Err(error) => error,
        };
        assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
        assert!(error.to_string().contains("AWS_CONFIG_FILE"), "{error}");
    }
    assert!(!Path::new(&world.path("ran")).exists());
    // The same file is the user's own choice in a variable.
    let theirs = world.path("theirs");
    let world = world.variable("AWS_CONFIG_FILE", &theirs);
    world.error().await;
    assert!(Path::new(&theirs).with_file_name("ran").exists());
    Ok(())
}

#[tokio::test]
async fn what_a_program_prints_is_checked_and_not_shown() -> Outcome {
    for (command, expected) in [
        ("printf %s '{\"Version\":1,\"AccessKeyId\":\"hunter2\"}'", "prints something else"),
        ("echo hunter2", "prints something else"),
        (r#"printf %s '{"Version":2,"AccessKeyId":"hunter2","SecretAccessKey":"hunter2"}'"#, "version 2"),
        (
            r#"printf %s '{"Version":1,"AccessKeyId":"hun\nter2","SecretAccessKey":"hunter2"}'"#,
            "no key or token",
        ),
        (r#"printf %s '{"Version":1,"AccessKeyId":"hunter2","SecretAccessKey":""}'"#, "is empty"),
        (
            r#"printf %s '{"Version":1,"AccessKeyId":"a","SecretAccessKey":"b","Expiration":"hunter2"}'"#,
            "`Expiration`",
        ),
        ("echo hunter2 >&2; exit 3", "exit status: 3"),
        ("head -c 70000 /dev/zero", "64 KiB"),
    ] {
        let config = format!("[default]\ncredential_process = {command}\n");
        let error = World::new().await.file(".aws/config", &config).error().await;
        let text = words(&error);
        assert_eq!(error.kind(), ErrorKind::Unauthenticated, "{text}");
        assert!(text.contains(expected) && !text.contains("hunter2"), "{command}: {text}");
    }
    Ok(())
}

#[tokio::test]
async fn containers_are_asked_with_a_token_from_a_file_or_a_variable() -> Outcome {
    let given = Recorder::start(Answer::new(200).body(document()));
    let url = format!("{}/v1/role", given.endpoint());
    let world =
        World::new().await.file("token", "t0ken\r\n").variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", &url);
    let path = world.path("token");
    let world = world.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &path);
    read(&world.open()?).await?;
    assert_eq!(given.requests()[0].header("authorization"), Some("t0ken"));
    assert_eq!(world.session().as_deref(), Some(GIVEN.2));
    let world = World::new().await.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", &url);
    read(&world.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN", "Basic dTpw\n").open()?).await?;
    assert_eq!(given.requests()[1].header("authorization"), Some("Basic dTpw"));
    Ok(())
}

#[tokio::test]
async fn containers_are_asked_at_hosts_of_the_machine_or_by_tls_only() -> Outcome {
    for url in [
        "http://169.254.170.2/x",
        "http://169.254.170.23/x",
        "http://[fd00:ec2::23]/x",
        "http://localhost:1/x",
        "https://h/x",
    ] {
        World::new()
            .await
            .variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", url)
            .open()
            .map_err(|error| format!("{url}: {error}"))?;
    }
    for url in [
        "http://[x",
        "http://10.0.0.1/",
        "http://169.254.169.254/",
        "http://localhost.evil.test/",
        "http://[fd00:ec2::24]/",
        "ftp://127.0.0.1/",
        "http://127.0.0.1@evil.test/",
        "http://0.0.0.0/",
        "http://a b/",
    ] {
        let world = World::new().await.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
        let error = world.open().expect_err(url);
        assert_eq!(error.kind(), ErrorKind::Invalid, "{url}: {error}");
        assert!(
            error.to_string().contains("AWS_CONTAINER_CREDENTIALS_FULL_URI")
                || error.to_string().contains("https"),
            "{error}"
        );
    }
    for path in ["@evil.test/", "x", ":80@evil.test/"] {
        let world = World::new().await.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", path);
        assert_eq!(world.open().expect_err(path).kind(), ErrorKind::Invalid);
    }
    Ok(())
}

fn metadata(request: &Request) -> Answer {
    match (request.method(), request.path().as_str()) {
        ("PUT", "/latest/api/token") => Answer::new(200).body("s3ss"),
        _ if request.header("x-aws-ec2-metadata-token") != Some("s3ss") => Answer::new(401),
        ("GET", "/latest/meta-data/iam/security-credentials/") => {
            Answer::new(200).body("my role\n".replace(' ', "-"))
        }
        ("GET", "/latest/meta-data/iam/security-credentials/my-role") => Answer::new(200).body(document()),
        _ => Answer::new(404),
    }
}

#[tokio::test]
async fn machines_are_asked_by_session_unless_that_is_switched_off() -> Outcome {
    let service = Recorder::answering(metadata);
    let with = |world: World| world.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT", &service.endpoint());
    let world = with(World::new().await);
    read(&world.open()?).await?;
    assert_eq!((service.requests().len(), world.session().as_deref()), (3, Some(GIVEN.2)));
    for value in ["true", "True", "1"] {
        let error = with(World::new().await).variable("AWS_EC2_METADATA_DISABLED", value).error().await;
        assert!(error.to_string().contains("AWS_ACCESS_KEY_ID"), "{error}");
    }
    assert_eq!(service.requests().len(), 3);
    // Anything else switches nothing off, as with the SDKs; an option counts before the variable.
    read(&with(World::new().await).variable("AWS_EC2_METADATA_DISABLED", "no").open()?).await?;
    let world = with(World::new().await).variable("AWS_EC2_METADATA_DISABLED", "true");
    read(&world.option("skip_metadata_api_check", "false").open()?).await?;
    Ok(())
}

#[tokio::test]
async fn a_machine_without_role_is_no_reason_to_try_again() -> Outcome {
    let service = Recorder::start(Answer::new(404));
    let world = World::new().await.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT", &service.endpoint());
    let error = world.error().await;
    assert!(!error.kind().is_transient(), "{error}");
    assert!(error.to_string().contains("AWS_ACCESS_KEY_ID"), "{}", words(&error));
    Ok(())
}

const SSO: &str = "[profile a]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = dev\n\
    [sso-session corp]\nsso_region = us-east-1\nsso_start_url = https://corp.test/start\n\
    [profile b]\nsso_start_url = https://corp.test/start\nsso_region = us-east-1\nsso_account_id = 1\nsso_role_name = dev\n";

/// SHA-1 of `corp`, and of the address.
const LOGINS: [(&str, &str); 2] = [("a", "corp"), ("b", "https://corp.test/start")];

fn login(key: &str, ends: &str) -> (String, String) {
    use sha1::{Digest, Sha1};
    let name: String = Sha1::digest(key).iter().map(|byte| format!("{byte:02x}")).collect();
    (format!(".aws/sso/cache/{name}.json"), format!(r#"{{"accessToken":"log1n","expiresAt":"{ends}"}}"#))
}

#[tokio::test]
async fn logins_by_sso_give_the_role_of_the_profile() -> Outcome {
    let (id, secret, session) = GIVEN;
    let answer = format!(
        r#"{{"roleCredentials":{{"accessKeyId":"{id}","secretAccessKey":"{secret}","sessionToken":"{session}","expiration":1795338000000}}}}"#
    );
    let portal = Recorder::start(Answer::new(200).body(answer));
    for (profile, key) in LOGINS {
        let (path, text) = login(key, "2026-11-22T08:30:00UTC");
        let world = World::new().await.file(".aws/config", SSO).file(&path, &text);
        let world = world.variable("AWS_ENDPOINT_URL_SSO", &portal.endpoint()).option("profile", profile);
        read(&world.open()?).await?;
        let requests = portal.requests();
        let request = requests.last().ok_or("nothing arrived")?;
        assert_eq!(request.header("x-amz-sso_bearer_token"), Some("log1n"));
        assert!(request.query.contains("role_name=dev") && request.path == "/federation/credentials");
        // The login has ended.
        world.clock.advance(Duration::from_secs(3600));
        let error = world.error().await;
        assert!(
            error.to_string().contains(&format!("aws sso login --profile {profile}")),
            "{}",
            words(&error)
        );
        assert!(!words(&error).contains("log1n"));
    }
    let world = World::new().await.file(".aws/config", SSO).option("profile", "a");
    assert!(world.error().await.to_string().contains("aws sso login --profile a"));
    Ok(())
}

#[tokio::test]
async fn files_of_profiles_that_cannot_be_opened_are_only_missed_where_they_are_named() -> Outcome {
    let with = |world: World| world.option("access_key", GIVEN.0).option("secret_key", GIVEN.1);
    // A home that is not a directory, as services have it.
    let world = with(World::new().await).file("home", "");
    let home = world.path("home");
    read(&world.variable("HOME", &home).open()?).await?;
    // A file that is not there may be named, and something else than a file may not.
    let world = with(World::new().await);
    let missing = world.path("home/none");
    read(&world.variable("AWS_CONFIG_FILE", &missing).open()?).await?;
    let world = with(World::new().await);
    let folder = world.home.path().display().to_string();
    let error = world.variable("AWS_CONFIG_FILE", &folder).error().await;
    assert!(error.to_string().contains("cannot be read"), "{error}");
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn pipes_that_a_directory_names_are_not_waited_for() -> Outcome {
    let world = World::new().await;
    let pipe = world.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status()?.success());
    for option in ["shared_config_files", "shared_credentials_files", "web_identity_token_file"] {
        let mut block = serde_json::json!({"bucket": "b", "region": "us-east-1"});
        match option {
            "web_identity_token_file" => {
                block["assume_role_with_web_identity"] =
                    serde_json::json!({"role_arn": "arn:r", option: pipe});
            }
            _ => block[option] = serde_json::json!([pipe]),
        }
        let mut settings = S3Settings::new();
        settings.read_from(block, Origin::Block)?;
        let error = S3Blobs::open(&world.with_variables(settings)?, &world.context()).expect_err(option);
        assert!(words(&error).contains("not a regular file"), "{}", words(&error));
    }
    Ok(())
}
