//! The page for browsers, as its service answers.

use axum::body::Body;
use groundstate_server::auth::Role;
use http::Request;

use crate::support::{Client, Server};

/// The names of files that the page loads first, and those that they load.
async fn files(client: &Client) -> Vec<String> {
    let mut files = vec!["/".to_owned()];
    let mut at = 0;
    while at < files.len() {
        let text = client.get(&files[at]).await.is(200).text();
        for name in text.split('"') {
            let name = name.replacen("./", "/assets/", 1);
            if name.starts_with("/assets/") && !files.contains(&name) {
                files.push(name);
            }
        }
        at += 1;
    }
    files
}

async fn with_header(client: &Client, url: &str, name: &str, value: &str) -> crate::support::Answer {
    client.send(Request::get(url).header(name, value).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn address_that_the_pulumi_cli_prints_leads_to_the_page() {
    let client = Server::new().stranger();
    let answer = client.get("/acme/shop/dev/updates/3").await.is(302);
    assert_eq!(answer.header("location"), "/#/stacks/acme/shop/dev/updates");
    let elsewhere = with_header(&client, "/acme/shop/dev", "sec-fetch-site", "cross-site").await.is(302);
    assert_eq!(elsewhere.header("location"), "/#/stacks/acme/shop/dev");
    let posted = Request::post("/acme/shop/dev").body(Body::empty()).unwrap();
    assert_eq!(client.send(posted).await.is(404).problem(), "no-such-route");
    assert_eq!(client.get("/acme/shop").await.is(404).problem(), "no-such-route");
}

#[tokio::test]
async fn the_page_is_there_for_strangers_and_says_what_may_be_in_it() {
    let client = Server::new().stranger();
    let files = files(&client).await;
    assert!(files.len() > 8, "{files:?}");
    for file in &files {
        let answer = client.get(file).await.is(200);
        let expected = match file.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "text/html; charset=utf-8",
        };
        let types: Vec<_> = answer.headers.get_all("content-type").iter().collect();
        assert_eq!(types, [expected], "{file}");
        let policy = answer.header("content-security-policy");
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ] {
            assert!(policy.split("; ").any(|found| found == rule), "{file}: {policy}");
        }
        assert_eq!(
            (answer.header("x-content-type-options"), answer.header("referrer-policy")),
            ("nosniff", "no-referrer")
        );
        assert!(!answer.headers.contains_key("set-cookie"), "{file}");
    }
    client.get("/api/v1/states").await.is(401);
}

#[tokio::test]
async fn a_file_that_the_browser_has_is_not_sent_again() {
    let client = Server::new().stranger();
    for file in ["/", "/assets/main.js"] {
        let first = client.get(file).await.is(200);
        assert_eq!(first.header("cache-control"), "no-cache");
        let tag = first.header("etag");
        let again = with_header(&client, file, "if-none-match", tag).await.is(304);
        assert_eq!((again.header("etag"), again.body.len()), (tag, 0));
        with_header(&client, file, "if-none-match", "\"another\"").await.is(200);
        with_header(&client, file, "if-none-match", "no tag").await.is(200);
        let head = client.call("HEAD", file, "").await.is(200);
        assert_eq!((head.header("etag"), head.body.len()), (tag, 0));
    }
    assert_ne!(client.get("/").await.header("etag"), client.get("/assets/main.js").await.header("etag"));
}

#[tokio::test]
async fn what_is_no_file_of_the_page_is_404_and_other_methods_are_405() {
    let client = Server::new().stranger();
    for url in ["/assets", "/assets/", "/assets/none.js", "/assets/../main.js", "/index.html"] {
        assert_eq!(client.get(url).await.is(404).problem(), "no-such-route", "{url}");
    }
    for url in ["/", "/assets/main.js"] {
        let answer = client.call("POST", url, "x").await.is(405);
        assert_eq!((answer.problem().as_str(), answer.header("allow")), ("method-not-allowed", "GET, HEAD"));
    }
}

#[tokio::test]
async fn a_page_of_another_site_cannot_use_the_server_with_the_rights_of_the_machine() {
    let server = Server::new();
    let client = server.client(Role::Admin);
    client.lock("a").await.is(200);
    let break_lock = "/api/v1/states/shop/network/default/lock/break";
    for site in ["cross-site", "same-site", "", "unknown"] {
        for url in [break_lock, "/tf/shop/network"] {
            // A script of another site can send this without being asked for leave: the body has no type.
            let request = Request::post(url).header("sec-fetch-site", site);
            let answer = client.send(request.body(Body::from(r#"{"reason": "x"}"#)).unwrap()).await;
            assert_eq!(answer.is(403).problem(), "forbidden", "{site} {url}");
        }
        with_header(&client, "/api/v1/states", "sec-fetch-site", site).await.is(403);
        // A link of another site may lead to the page.
        with_header(&client, "/", "sec-fetch-site", site).await.is(200);
    }
    assert_eq!(client.get("/api/v1/states/shop/network/default/lock").await.is(200).json()["id"], "a");
    for site in ["same-origin", "none"] {
        with_header(&client, "/api/v1/states", "sec-fetch-site", site).await.is(200);
    }
}
