//! Tokens of an issuer of OpenID Connect, whose server may be slow or hostile.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use groundstate_server::auth::AuthSettings;
use groundstate_testkit::{Answer, TestIssuer};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{Ask, Guarded, NETWORK};

/// 2026-03-01T12:00:00Z, which the clock of the server shows.
const NOW: u64 = 1_772_366_400;

fn server(issuer: &TestIssuer) -> Guarded {
    let settings = format!(
        r#"
        [[issuer]]
        name = "test"
        issuer = "{}"
        audiences = ["https://states.example.com"]

        [[issuer.rules]]
        claims = {{ repository = "acme/*", ref = "refs/heads/main" }}
        grants = [{{ role = "lock", project = "shop", state = "net*" }}]

        [[issuer.rules]]
        claims = {{ repository = "acme/web" }}
        grants = [{{ role = "read", project = "*", state = "*" }}]
        "#,
        issuer.url()
    );
    Guarded::with(&AuthSettings::parse(&settings).unwrap(), None)
}

fn claims(issuer: &TestIssuer) -> Value {
    json!({
        "iss": issuer.url(),
        "sub": "repo:acme/web:ref:refs/heads/main",
        "aud": "https://states.example.com",
        "exp": NOW + 300,
        "iat": NOW - 5,
        "nbf": NOW - 5,
        "repository": "acme/web",
        "ref": "refs/heads/main",
    })
}

fn with(issuer: &TestIssuer, name: &str, value: Value) -> Value {
    let mut claims = claims(issuer);
    claims[name] = value;
    claims
}

async fn status(server: &Guarded, token: &str) -> u16 {
    server.status(&Ask::lock(NETWORK).bearer(token)).await
}

#[tokio::test]
async fn tokens_of_every_algorithm_that_is_accepted_have_the_roles_of_their_claims() {
    let issuer = TestIssuer::start();
    let server = server(&issuer);
    for algorithm in ["RS256", "RS512", "PS256", "ES256", "ES384", "EdDSA"] {
        let token = issuer.sign(algorithm, &claims(&issuer));
        assert_eq!(status(&server, &token).await, 200, "{algorithm}");
    }
    // As a password, for Terraform's client.
    let token = issuer.sign("RS256", &claims(&issuer));
    assert_eq!(server.status(&Ask::get(NETWORK).basic("ci", &token)).await, 404);
    // Keys are got once.
    assert_eq!(issuer.count("GET", "/keys"), 1);

    let branch = issuer.sign("RS256", &with(&issuer, "ref", json!("refs/heads/x")));
    assert_eq!(status(&server, &branch).await, 403);
    assert_eq!(server.status(&Ask::get(NETWORK).bearer(&branch)).await, 404);
    for (name, value) in
        [("repository", json!("evil/web")), ("repository", json!(["x"])), ("repository", Value::Null)]
    {
        let token = issuer.sign("RS256", &with(&issuer, name, value));
        assert_eq!(server.status(&Ask::get(NETWORK).bearer(&token)).await, 403);
    }
}

#[tokio::test]
async fn tokens_for_others_of_others_and_of_other_times_are_refused() {
    let issuer = TestIssuer::start();
    let server = server(&issuer);
    let mut no_end = claims(&issuer);
    no_end.as_object_mut().unwrap().remove("exp");
    for (why, claims) in [
        ("audience", with(&issuer, "aud", json!("https://other.example.com"))),
        ("audience", with(&issuer, "aud", json!([]))),
        ("expired", with(&issuer, "exp", json!(NOW - 60))),
        ("no end", no_end),
        ("early", with(&issuer, "nbf", json!(NOW + 90))),
        ("issuer", with(&issuer, "iss", json!("https://other.example.com"))),
        ("issuer", with(&issuer, "iss", json!(format!("{}/", issuer.url())))),
        ("issuer", with(&issuer, "iss", json!(7))),
        ("subject", with(&issuer, "sub", Value::Null)),
    ] {
        // Another address each time, so that none has failed too often.
        let token = issuer.sign("RS256", &claims);
        assert_eq!(status(&server, &token).await, 401, "{why}: {claims}");
    }
}

#[tokio::test]
async fn the_algorithm_is_that_of_the_key_and_no_other() {
    let issuer = TestIssuer::start();
    let server = server(&issuer);
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let (claims, kid) = (claims(&issuer), issuer.key_id("RS256"));

    // Without a signature.
    for algorithm in ["none", "None", "NONE", ""] {
        let token = format!("{}.{}.AA", part(&json!({ "alg": algorithm, "kid": kid })), part(&claims));
        assert_eq!(status(&server, &token).await, 401, "{algorithm}");
    }
    // Signed with the public key as a shared secret.
    let message = format!("{}.{}", part(&json!({ "alg": "HS256", "kid": kid })), part(&claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(&issuer.rsa_modulus()).unwrap();
    mac.update(message.as_bytes());
    let token = format!("{message}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()));
    assert_eq!(status(&server, &token).await, 401);
    // The key of one algorithm and the name of another, both ways.
    for (signed, said) in
        [("RS256", "ES256"), ("ES256", "RS256"), ("RS256", "PS256"), ("RS256", "RS512"), ("EdDSA", "RS256")]
    {
        let server = self::server(&issuer);
        let header = json!({ "alg": said, "kid": issuer.key_id(signed) });
        assert_eq!(
            status(&server, &issuer.sign_with(signed, &header, &claims)).await,
            401,
            "{signed} as {said}"
        );
    }
}

#[tokio::test]
async fn a_header_cannot_bring_its_own_key_and_extensions_are_not_ignored() {
    let issuer = TestIssuer::start();
    let attacker = TestIssuer::start();
    let server = server(&issuer);
    let kid = attacker.key_id("ES256");
    let keys = format!("{}/keys", attacker.url());
    for header in [
        json!({ "alg": "ES256", "kid": kid, "jku": keys }),
        json!({ "alg": "ES256", "kid": kid, "x5u": keys }),
        json!({ "alg": "ES256", "jwk": { "kty": "EC", "crv": "P-256", "x": "AA", "y": "AA" } }),
    ] {
        let token = attacker.sign_with("ES256", &header, &claims(&issuer));
        assert_eq!(status(&server, &token).await, 401, "{header}");
    }
    assert_eq!(attacker.requests().len(), 0);
    let header = json!({ "alg": "ES256", "kid": kid, "crit": ["b64"], "b64": false });
    let token = issuer.sign_with("ES256", &header, &claims(&issuer));
    assert_eq!(status(&server, &token).await, 401);
}

#[tokio::test]
async fn one_changed_byte_is_found() {
    let issuer = TestIssuer::start();
    let token = issuer.sign("RS256", &claims(&issuer));
    for at in (0..token.len()).step_by(40) {
        let server = server(&issuer);
        let other = if &token[at..=at] == "A" { "B" } else { "A" };
        let changed = format!("{}{other}{}", &token[..at], &token[at + 1..]);
        assert_eq!(status(&server, &changed).await, 401, "{at}");
    }
}

#[tokio::test]
async fn new_keys_are_got_when_a_token_names_one_and_not_for_every_made_up_name() {
    let issuer = TestIssuer::start();
    let server = server(&issuer);
    assert_eq!(status(&server, &issuer.sign("RS256", &claims(&issuer))).await, 200);
    for number in 0..5 {
        let header = json!({ "alg": "RS256", "kid": format!("made-up-{number}") });
        let token = issuer.sign_with("RS256", &header, &claims(&issuer));
        assert_eq!(status(&server, &token).await, 401);
    }
    // The first was the one of the start; a name that is not known is asked for at most twice in a minute.
    assert_eq!(issuer.count("GET", "/keys"), 1);
    // Those that are known go on to be used.
    assert_eq!(status(&server, &issuer.sign("ES256", &claims(&issuer))).await, 200);
}

#[tokio::test]
async fn huge_and_malformed_tokens_cost_nothing_and_are_refused() {
    let issuer = TestIssuer::start();
    let server = server(&issuer);
    let padded = issuer.sign("RS256", &with(&issuer, "padding", json!("x".repeat(20_000))));
    assert_eq!(status(&server, &padded).await, 401);
    let deep = format!("{}{}", "[".repeat(3000), "]".repeat(3000));
    for claims in ["", "7", "[]", "{", &deep] {
        let part = URL_SAFE_NO_PAD.encode(claims);
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256"}"#);
        let token = format!("{header}.{}.AA", if part.is_empty() { "A" } else { &part });
        assert_eq!(status(&server, &token).await, 401, "{claims}");
    }
    assert_eq!(issuer.requests().len(), 0);
}

#[tokio::test]
async fn an_issuer_that_fails_is_answered_with_503_and_not_asked_again_at_once() {
    let hostile = [
        ("/keys", Answer::new(500)),
        ("/keys", Answer::new(302).header("Location", "https://example.com/keys")),
        ("/keys", Answer::new(200).text("<html>")),
        ("/keys", Answer::new(200).text("{").endless()),
        ("/.well-known/openid-configuration", Answer::new(404)),
        ("/.well-known/openid-configuration", Answer::new(200).text("{}")),
        (
            "/.well-known/openid-configuration",
            Answer::new(200).text(
                r#"{"issuer":"https://other.example.com","jwks_uri":"https://other.example.com/keys"}"#,
            ),
        ),
    ];
    for (path, answer) in hostile {
        let issuer = TestIssuer::start();
        let server = server(&issuer);
        issuer.answer_instead(path, answer);
        let token = issuer.sign("RS256", &claims(&issuer));
        let refused = server.send(&Ask::get(NETWORK).bearer(&token)).await.is(503);
        assert_eq!(refused.problem(), "unavailable");
        assert!(!refused.text().contains("127.0.0.1"), "{}", refused.text());
        let asked = issuer.requests().len();
        assert_eq!(status(&server, &token).await, 503);
        assert_eq!(issuer.requests().len(), asked, "{path}");
    }
}

#[tokio::test]
async fn keys_at_an_address_that_is_not_protected_are_not_got() {
    let issuer = TestIssuer::start();
    let server = server(&issuer);
    let document = json!({ "issuer": issuer.url(), "jwks_uri": "http://keys.example.com/keys" });
    issuer.answer_instead("/.well-known/openid-configuration", Answer::new(200).text(&document.to_string()));
    assert_eq!(status(&server, &issuer.sign("RS256", &claims(&issuer))).await, 503);
}

#[tokio::test]
async fn a_slow_issuer_delays_its_own_tokens_and_no_others() {
    let issuer = TestIssuer::start();
    let server = std::sync::Arc::new(server(&issuer));
    let (token, _) = server.token("ci", groundstate_server::auth::Role::Read, "*", "*").await;
    issuer.answer_instead("/keys", Answer::new(200).text("{ }").endless().dripping(Duration::from_secs(1)));
    let slow = issuer.sign("RS256", &claims(&issuer));
    let waiting = {
        let server = std::sync::Arc::clone(&server);
        tokio::spawn(async move { server.status(&Ask::get(NETWORK).bearer(&slow)).await })
    };
    while issuer.count("GET", "/keys") == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(server.status(&Ask::get(NETWORK).bearer(token.reveal())).await, 404);
    assert!(!waiting.is_finished());
    assert_eq!(waiting.await.unwrap(), 503);
}
