//! What is no service, and what lies.

use groundstate_pulumi_http::http_client::ClientOptions;
use groundstate_pulumi_http::{AccessToken, ErrorKind, ServiceAddress};
use groundstate_testkit::{Answer, Recorder};

use crate::support::{TOKEN, options, service, service_with, stack};

#[tokio::test]
async fn pages_and_other_programs_are_no_service() {
    for answer in [
        Answer::new(200).header("content-type", "text/html").body("<html>log in</html>"),
        Answer::new(200).body("[]"),
        Answer::new(200).body(""),
        Answer::new(404).text("404 page not found"),
        Answer::new(404).body("<html>"),
        Answer::new(405),
    ] {
        let server = Recorder::start(answer);
        let error = stack(&server).get().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotService, "{error}");
        assert!(error.to_string().contains("check the address"), "{error}");
    }
    // Whether an answer that is none belongs to what was done is not known.
    let page = Recorder::start(Answer::new(200).body("<html>"));
    let deployment = br#"{"version":3,"deployment":{}}"#;
    let error = stack(&page).import(deployment.to_vec().into()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
}

#[tokio::test]
async fn redirects_take_the_token_nowhere() {
    let elsewhere = Recorder::start(Answer::new(200));
    let server =
        Recorder::start(Answer::new(302).header("location", format!("{}/login", elsewhere.endpoint())));
    let error = service(&server).user().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotService);
    assert!(elsewhere.requests().is_empty());
    assert!(error.to_string().contains("no other address"), "{error}");
}

#[tokio::test]
async fn words_of_a_service_are_one_line_without_the_token() {
    let message = format!("no\\u001b[31m\\n{TOKEN} {}", "x".repeat(5000));
    for status in [403, 500] {
        let body = format!(r#"{{"code":{status},"message":"{message}"}}"#);
        let server = Recorder::start(Answer::new(status).body(body));
        let error = service(&server).user().await.unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(
            !text.contains(TOKEN) && text.chars().all(|c| !c.is_control()) && text.len() < 3000,
            "{text}"
        );
    }
}

#[tokio::test]
async fn answers_end_at_their_limit() {
    let endless = Recorder::start(Answer::new(200).body(vec![b' '; 1 << 12]).endless());
    let error = service(&endless).user().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
    let options = options().state_limit(1 << 16);
    let path = groundstate_pulumi_http::protocol::StackPath::new("o", "p", "s");
    let small = service_with(&endless.endpoint(), options).stack(path);
    assert_eq!(small.export().await.unwrap_err().kind(), ErrorKind::TooLarge);
    let long = Recorder::start(Answer::new(404).body(vec![b'x'; 1 << 12]).endless());
    assert_eq!(stack(&long).get().await.unwrap_err().kind(), ErrorKind::NotService);
}

#[tokio::test]
async fn a_token_does_not_leave_by_plain_http() {
    let server = Recorder::start(Answer::new(200).body(r#"{"githubLogin":"ana"}"#));
    let distant = format!("http://0.0.0.0:{}", server.address().port());
    let error = service_with(&distant, options()).user().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.to_string().contains("GROUNDSTATE_ALLOW_PLAIN_HTTP"), "{error}");
    assert!(server.requests().is_empty());
    let allowed = options().client(ClientOptions::new().allow_plain_http(true));
    service_with(&distant, allowed).user().await.unwrap();
}

#[test]
fn addresses_and_tokens_that_cannot_be_sent_are_refused() {
    for text in [
        "",
        "api",
        "ftp://h",
        "https://",
        "https://a:hush@h/",
        "https://h/?hush",
        "https://h/#hush",
        "https://h\n",
    ] {
        if let Err(error) = ServiceAddress::parse(text) {
            assert!(!format!("{error} {error:?}").contains("hush"), "{error}");
        } else {
            assert_eq!(text, "https://h\n");
        }
    }
    for text in ["", "hush\n", "hush\u{1b}"] {
        let error = AccessToken::new(text).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hush"), "{error}");
    }
    assert!(!format!("{:?}", AccessToken::new("hush").unwrap()).contains("hush"));
}
