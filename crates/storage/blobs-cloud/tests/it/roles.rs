//! Roles, tokens of other issuers and accounts, endpoints of profiles, and which source counts.

use groundstate_blobs::{BlobStore, ErrorKind, ListOptions};
use groundstate_blobs_cloud::{S3Blobs, S3Settings};
use groundstate_common::Origin;
use groundstate_testkit::{Answer, Recorder, Request};

use crate::credentials::{GIVEN, LATER, Outcome, World, read, words};

fn sts(request: &Request) -> Answer {
    let form = String::from_utf8_lossy(request.body()).into_owned();
    let (id, secret, session) = GIVEN;
    let action = if form.contains("Action=AssumeRoleWithWebIdentity") {
        "AssumeRoleWithWebIdentity"
    } else if form.contains("Action=AssumeRole&") {
        "AssumeRole"
    } else {
        return Answer::new(200).body(
            "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>",
        );
    };
    Answer::new(200).body(format!(
        "<{action}Response><{action}Result><Credentials><AccessKeyId>{id}</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>\
         <SessionToken>{session}</SessionToken><Expiration>{LATER}</Expiration></Credentials></{action}Result></{action}Response>"
    ))
}

/// The pairs of a form that arrived.
fn form(recorder: &Recorder, number: usize) -> Vec<(String, String)> {
    url::form_urlencoded::parse(&recorder.requests()[number].body).into_owned().collect()
}

fn has(form: &[(String, String)], name: &str, value: &str) -> bool {
    form.iter().any(|(n, v)| n == name && v == value)
}

#[tokio::test]
async fn roles_of_profiles_are_assumed_with_the_profiles_they_name() -> Outcome {
    let service = Recorder::answering(sts);
    let config = "[profile top]\nrole_arn = arn:aws:iam::123456789012:role/top\nsource_profile = middle\nexternal_id = e\n\
        duration_seconds = 1800\nrole_session_name = me\n\
        [profile middle]\nrole_arn = arn:aws:iam::123456789012:role/middle\nsource_profile = own\n\
        [profile own]\naws_access_key_id = AKIAOWN\naws_secret_access_key = own\n\
        [profile env]\nrole_arn = arn:aws:iam::123456789012:role/env\ncredential_source = Environment\n\
        [profile x]\nrole_arn = r\nsource_profile = y\n[profile y]\nrole_arn = r\nsource_profile = x\n\
        [profile self]\nrole_arn = r\nsource_profile = self\naws_access_key_id = AKIASELF\naws_secret_access_key = s\n";
    let with = |world: World, profile: &str| {
        let world = world.file(".aws/config", config).option("profile", profile);
        world.variable("AWS_ENDPOINT_URL_STS", &service.endpoint())
    };
    read(&with(World::new().await, "top").open()?).await?;
    let (first, second) = (form(&service, 0), form(&service, 1));
    assert!(has(&first, "RoleArn", "arn:aws:iam::123456789012:role/middle"));
    let signed = |number: usize, key: &str| {
        service.requests()[number].header("authorization").is_some_and(|text| text.contains(key))
    };
    assert!(signed(0, "AKIAOWN") && signed(1, GIVEN.0));
    for (name, value) in [
        ("RoleArn", "arn:aws:iam::123456789012:role/top"),
        ("ExternalId", "e"),
        ("DurationSeconds", "1800"),
        ("RoleSessionName", "me"),
    ] {
        assert!(has(&second, name, value), "{name}: {second:?}");
    }
    let world = with(World::new().await, "env")
        .variable("AWS_ACCESS_KEY_ID", "AKIAENV")
        .variable("AWS_SECRET_ACCESS_KEY", "e");
    read(&world.open()?).await?;
    assert!(signed(2, "AKIAENV"));
    read(&with(World::new().await, "self").open()?).await?;
    assert!(signed(3, "AKIASELF"));
    let error = with(World::new().await, "x").error().await;
    assert!(error.to_string().contains("circle"), "{error}");
    Ok(())
}

#[tokio::test]
async fn blocks_of_roles_are_sent_whole() -> Outcome {
    let service = Recorder::answering(sts);
    let block = serde_json::json!({"bucket": "b", "region": "us-east-1", "access_key": "AKIA", "secret_key": "s",
        "assume_role": {"role_arn": "arn:r", "duration": "1h", "tags": {"Team, A": "x=y,z", "empty": ""}, "transitive_tag_keys": ["Team, A"],
            "policy_arns": ["arn:p1", "arn:p2"], "policy": "{\"a\":1}", "source_identity": "me"}});
    let world = World::new().await;
    let mut settings = S3Settings::new();
    settings.read_from(block, Origin::CommandLine)?;
    settings.set("endpoints.s3", &world.server.endpoint())?;
    settings.set("endpoints.sts", &service.endpoint())?;
    read(&S3Blobs::open(&settings, &world.context())?).await?;
    let form = form(&service, 0);
    for (name, value) in [
        ("RoleArn", "arn:r"),
        ("DurationSeconds", "3600"),
        ("Tags.member.1.Key", "Team, A"),
        ("Tags.member.1.Value", "x=y,z"),
        ("Tags.member.2.Key", "empty"),
        ("Tags.member.2.Value", ""),
        ("PolicyArns.member.1.arn", "arn:p1"),
        ("PolicyArns.member.2.arn", "arn:p2"),
        ("Policy", "{\"a\":1}"),
        ("SourceIdentity", "me"),
    ] {
        assert!(has(&form, name, value), "{name}: {form:?}");
    }
    Ok(())
}

#[tokio::test]
async fn tokens_of_other_issuers_give_a_role_over_http_on_this_machine() -> Outcome {
    let service = Recorder::answering(sts);
    let world = World::new().await.file("token", "eyJ0.t0ken.x\n");
    let path = world.path("token");
    let world = world
        .variable("AWS_ROLE_ARN", "arn:r")
        .variable("AWS_WEB_IDENTITY_TOKEN_FILE", &path)
        .variable("AWS_ENDPOINT_URL_STS", &service.endpoint());
    read(&world.open()?).await?;
    let sent = form(&service, 0);
    assert!(has(&sent, "WebIdentityToken", "eyJ0.t0ken.x") && has(&sent, "RoleArn", "arn:r"), "{sent:?}");
    assert_eq!(service.requests()[0].header("authorization"), None);
    // The block counts before keys of the environment, and may have the token itself.
    let world =
        World::new().await.variable("AWS_ACCESS_KEY_ID", "AKIAENV").variable("AWS_SECRET_ACCESS_KEY", "e");
    let world = world
        .option("assume_role_with_web_identity.role_arn", "arn:block")
        .option("assume_role_with_web_identity.web_identity_token", "t0k")
        .option("assume_role_with_web_identity.duration", "30m")
        .option("assume_role_with_web_identity.policy_arns", "arn:p")
        .option("endpoints.sts", &service.endpoint());
    read(&world.open()?).await?;
    let sent = form(&service, 1);
    for (name, value) in [
        ("RoleArn", "arn:block"),
        ("WebIdentityToken", "t0k"),
        ("DurationSeconds", "1800"),
        ("PolicyArns.member.1.arn", "arn:p"),
    ] {
        assert!(has(&sent, name, value), "{name}: {sent:?}");
    }
    Ok(())
}

#[tokio::test]
async fn endpoints_of_profiles_are_honoured_unless_they_are_to_be_ignored() -> Outcome {
    let keys = |world: World| {
        world
            .without("endpoints.s3")
            .variable("AWS_ACCESS_KEY_ID", GIVEN.0)
            .variable("AWS_SECRET_ACCESS_KEY", GIVEN.1)
    };
    let dead = "http://127.0.0.1:9";
    for (config, variable) in [
        ("[default]\nendpoint_url = HERE\n", None),
        (
            "[default]\nendpoint_url = http://127.0.0.1:9\nservices = x\n[services x]\ns3 =\n  endpoint_url = HERE\n",
            None,
        ),
        (
            "[default]\nservices = x\n[services x]\ns3 =\n  endpoint_url = http://127.0.0.1:9\n",
            Some("AWS_ENDPOINT_URL"),
        ),
        ("[default]\nendpoint_url = http://127.0.0.1:9\n", Some("AWS_ENDPOINT_URL_S3")),
        (
            "[default]\nendpoint_url = http://127.0.0.1:9\nignore_configured_endpoint_urls = true\n",
            Some("AWS_ENDPOINT_URL_S3"),
        ),
    ] {
        let world = keys(World::new().await);
        let endpoint = world.server.endpoint();
        let world = world.file(".aws/config", &config.replace("HERE", &endpoint));
        let world = match variable {
            Some(name) => world.variable(name, &endpoint),
            None => world,
        };
        let store = world.open()?;
        store
            .list("", &ListOptions::default())
            .await
            .map_err(|error| format!("{config} {variable:?}: {error}"))?;
        assert_eq!(world.server.requests().len(), 1, "{config} {variable:?}");
    }
    // Ignored, it is AWS itself that would be asked.
    for (config, name) in [
        ("[default]\nendpoint_url = http://127.0.0.1:9\n", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"),
        ("[default]\nignore_configured_endpoint_urls = True\nendpoint_url = http://127.0.0.1:9", "X"),
    ] {
        let world = keys(World::new().await)
            .file(".aws/config", config)
            .variable(name, "TRUE")
            .variable("AWS_ENDPOINT_URL", dead);
        assert!(
            format!("{:?}", world.open()?).contains("https://b.s3.us-east-1.amazonaws.com"),
            "{:?}",
            world.open()?
        );
    }
    let world = keys(World::new().await).file(".aws/config", "[default]\nservices = gone\n");
    assert!(world.error().await.to_string().contains("[services gone]"));
    Ok(())
}

#[tokio::test]
async fn a_profile_of_the_options_counts_before_keys_of_the_environment() -> Outcome {
    let files = format!("[p]\naws_access_key_id = {}\naws_secret_access_key = {}\n", GIVEN.0, GIVEN.1);
    let with = |world: World| {
        world
            .file(".aws/credentials", &files)
            .variable("AWS_ACCESS_KEY_ID", "AKIAENV")
            .variable("AWS_SECRET_ACCESS_KEY", "e")
    };
    read(&with(World::new().await).option("profile", "p").open()?).await?;
    // The profile of the environment does not.
    let error = with(World::new().await).variable("AWS_PROFILE", "p").error().await;
    assert!(error.to_string().contains("access key"), "{error}");
    Ok(())
}

#[tokio::test]
async fn accounts_are_checked_before_the_first_request() -> Outcome {
    let service = Recorder::answering(sts);
    let with = |world: World, option, ids| {
        let world = world.option("access_key", GIVEN.0).option("secret_key", GIVEN.1);
        world.option("endpoints.sts", &service.endpoint()).option(option, ids)
    };
    for (option, ids) in
        [("allowed_account_ids", "210987654321,123456789012"), ("forbidden_account_ids", "210987654321")]
    {
        let world = with(World::new().await, option, ids);
        let store = world.open()?;
        read(&store).await?;
        read(&store).await?;
    }
    assert_eq!(service.requests().len(), 2);
    for (option, ids) in
        [("allowed_account_ids", "210987654321"), ("forbidden_account_ids", "210987654321,123456789012")]
    {
        let world = with(World::new().await, option, ids);
        let error = world.error().await;
        assert_eq!(error.kind(), ErrorKind::Denied);
        let text = words(&error);
        assert!(text.contains("123456789012") && text.contains(option), "{text}");
        assert!(world.server.requests().is_empty());
    }
    let world = with(World::new().await, "allowed_account_ids", "12345");
    assert_eq!(world.error().await.kind(), ErrorKind::Invalid);
    Ok(())
}

#[tokio::test]
async fn refusals_of_roles_are_worded_without_secrets() -> Outcome {
    let refused = |code: &str, message: &str| {
        let text = format!(
            "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error><RequestId>r</RequestId></ErrorResponse>"
        );
        Recorder::start(Answer::new(403).body(text))
    };
    for (code, kind) in [
        ("AccessDenied", ErrorKind::Denied),
        ("ExpiredTokenException", ErrorKind::Unauthenticated),
        ("InvalidClientTokenId", ErrorKind::Unauthenticated),
        ("RegionDisabledException", ErrorKind::Denied),
    ] {
        let service = refused(code, "User: arn:me is not authorized");
        let world = World::new().await.option("access_key", "AKIA").option("secret_key", "hunter2");
        let world =
            world.option("assume_role.role_arn", "arn:r").option("endpoints.sts", &service.endpoint());
        let error = world.error().await;
        let text = words(&error);
        assert_eq!(error.kind(), kind, "{text}");
        assert!(
            text.contains("arn:r") && text.contains("not authorized") && !text.contains("hunter2"),
            "{text}"
        );
    }
    // A service that fails is asked again, since nothing has happened.
    let service = Recorder::start(Answer::new(503));
    let world = World::new().await.option("access_key", "AKIA").option("secret_key", "s");
    let world = world.option("assume_role.role_arn", "arn:r").option("endpoints.sts", &service.endpoint());
    assert!(world.error().await.kind().is_transient());
    for answer in [Answer::new(200).body("hunter2"), Answer::new(200).body("<A><AssumeRoleResult><Credentials><AccessKeyId>hunter2</AccessKeyId></Credentials></AssumeRoleResult></A>")] {
        let service = Recorder::start(answer);
        let world = World::new().await.option("access_key", "AKIA").option("secret_key", "s");
        let world = world.option("assume_role.role_arn", "arn:r").option("endpoints.sts", &service.endpoint());
        let text = words(&world.error().await);
        assert!(text.contains("not the expected document") && !text.contains("hunter2"), "{text}");
    }
    Ok(())
}

/// An address at which nothing listens.
fn closed() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    format!("http://{}", listener.local_addr().expect("it is bound"))
}

#[tokio::test]
async fn an_unreachable_service_is_named_by_its_own_option() -> Outcome {
    let keys = || async { World::new().await.option("access_key", "AKIA").option("secret_key", "s") };
    let world = keys().await.option("assume_role.role_arn", "arn:r").option("endpoints.sts", &closed());
    let accounts =
        keys().await.option("allowed_account_ids", "111122223333").option("endpoints.sts", &closed());
    let container = World::new().await.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", &closed());
    for (world, variable) in [
        (world, "AWS_ENDPOINT_URL_STS"),
        (accounts, "AWS_ENDPOINT_URL_STS"),
        (container, "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
    ] {
        let text = words(&world.error().await);
        assert!(text.contains(variable) && !text.contains("endpoints.s3"), "{variable}: {text}");
    }
    Ok(())
}

#[tokio::test]
async fn profiles_in_commands_are_quoted_for_the_shell() -> Outcome {
    const NAME: &str = "$(id)'s";
    let (start, session) = (closed(), "sso_account_id = 1\nsso_role_name = r\nsso_region = us-east-1\n");
    for members in [
        "login_session = x\n".to_owned(),
        "role_arn = r\nsource_profile = x\nmfa_serial = m\n".to_owned(),
        format!("sso_start_url = {start}\n{session}"),
    ] {
        let config = format!(
            "[profile {NAME}]\n{members}[profile x]\naws_access_key_id = a\naws_secret_access_key = b\n"
        );
        let world = World::new().await.file(".aws/config", &config).variable("AWS_PROFILE", NAME);
        let text = words(&world.error().await);
        assert!(text.contains(r"--profile '$(id)'\''s'"), "{members}: {text}");
    }
    Ok(())
}
