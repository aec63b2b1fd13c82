//! Terraform's protocol, row by row of what a server has to answer.

use axum::body::Body;
use bytes::Bytes;
use groundstate_server::auth::Role;
use groundstate_server::{Check, ForceUnlock, Policies};
use http::Request;
use http_body_util::StreamBody;

use crate::support::{Server, URL, lock_document, md5, state, state_of};

fn policies(change: impl FnOnce(&mut Policies)) -> Policies {
    let mut policies = Policies::default();
    change(&mut policies);
    policies
}

#[tokio::test]
async fn a_state_is_read_back_byte_for_byte_with_its_digest_and_tag() {
    let client = Server::new().writer();
    let text = state(7) + "\n \n";
    let written = client.post("", &text).await.is(200);
    assert_eq!(written.body, "");
    let read = client.get(URL).await.is(200);
    assert_eq!(read.body, text);
    assert_eq!(read.header("content-type"), "application/json");
    assert_eq!(read.header("content-md5"), md5(text.as_bytes()));
    assert_eq!(read.header("content-length"), text.len().to_string());
    assert_eq!(read.header("etag"), written.header("etag"));
    let head = client.call("HEAD", URL, "").await.is(200);
    assert_eq!(
        (head.body.as_ref(), head.header("content-length")),
        (&b""[..], text.len().to_string().as_str())
    );
}

#[tokio::test]
async fn where_no_state_is_there_is_404() {
    let client = Server::new().writer();
    assert_eq!(client.get(URL).await.is(404).problem(), "not-found");
    client.post("", state(1)).await.is(200);
    client.get("/tf/shop/network/dev").await.is(404);
    client.get("/tf/shop/network/default").await.is(200);
}

#[tokio::test]
async fn answers_to_a_read_say_where_the_history_is_also_of_a_deleted_state() {
    let client = Server::new().writer();
    assert!(!client.get(URL).await.is(404).has_header("link"), "there was never anything");
    client.post("", state(1)).await.is(200);
    let link = "</api/v1/states/shop/network/default/versions>; rel=\"version-history\"";
    assert_eq!(client.get(URL).await.is(200).header("link"), link);
    assert_eq!(client.call("HEAD", URL, "").await.is(200).header("link"), link);
    client.get("/api/v1/states/shop/network/default/versions").await.is(200);
    client.call("DELETE", URL, "").await.is(200);
    assert_eq!(client.get(URL).await.is(404).header("link"), link);
}

#[tokio::test]
async fn nothing_is_redirected_whatever_the_url_looks_like() {
    let client = Server::new().writer();
    client.post("", state(1)).await.is(200);
    for url in [
        "/tf/shop/network/",
        "/tf//shop/network",
        "/tf/shop",
        "/tf",
        "/TF/shop/network",
        "/tf/shop/network?x=1",
    ] {
        for method in ["GET", "POST", "LOCK", "UNLOCK", "DELETE"] {
            let answer = client.call(method, url, "").await;
            assert!(!answer.status.is_redirection(), "{method} {url}: {}", answer.status);
        }
    }
}

#[tokio::test]
async fn a_body_that_is_not_what_its_digest_says_is_not_stored() {
    let client = Server::new().writer();
    for digest in [md5(b"other"), "no base64".to_owned()] {
        let request = Request::post(URL).header("content-md5", digest).body(Body::from(state(1))).unwrap();
        client.send(request).await.is(400);
    }
    client.get(URL).await.is(404);
    let lock = Request::builder().method("LOCK").uri(URL).header("content-md5", md5(b"other"));
    client.send(lock.body(Body::from(lock_document("a"))).unwrap()).await.is(400);
    client.lock("b").await.is(200);
}

#[tokio::test]
async fn a_write_without_an_id_is_accepted_unless_the_policy_wants_a_lock() {
    Server::new().writer().post("", state(1)).await.is(200);
    let client = Server::with(policies(|policies| policies.require_lock = true)).writer();
    assert_eq!(client.post("", state(1)).await.is(409).problem(), "lock-required");
    client.lock("a").await.is(200);
    client.post("?ID=a", state(1)).await.is(200);
}

#[tokio::test]
async fn a_write_without_an_id_does_not_pass_a_lock_unless_the_policy_lets_it() {
    let client = Server::new().writer();
    client.lock("a").await.is(200);
    assert_eq!(client.post("", state(1)).await.is(423).body, lock_document("a"));
    client.get(URL).await.is(404);
    let client = Server::with(policies(|policies| policies.allow_unlocked_write = true)).writer();
    client.lock("a").await.is(200);
    client.post("", state(1)).await.is(200);
}

#[tokio::test]
async fn the_holder_writes_and_another_id_meets_the_holders_document() {
    let client = Server::new().writer();
    client.lock("a").await.is(200);
    client.post("?ID=a", state(1)).await.is(200);
    client.post("?x=1&ID=a", state(2)).await.is(200);
    let refused = client.post("?ID=b", state(3)).await.is(423);
    assert_eq!(refused.body, lock_document("a"));
    assert_eq!(refused.header("content-type"), "application/json");
    assert_eq!(client.get(URL).await.body, state(2));
}

#[tokio::test]
async fn a_write_with_the_id_of_a_released_lock_is_409_unless_stale_ids_are_accepted() {
    let client = Server::new().writer();
    client.lock("a").await.is(200);
    client.unlock("a").await.is(200);
    assert_eq!(client.post("?ID=a", state(1)).await.is(409).problem(), "lock-lost");
    assert_eq!(client.post("?ID=never", state(1)).await.is(409).problem(), "lock-lost");
    let client = Server::with(policies(|policies| policies.accept_stale_id = true)).writer();
    client.lock("a").await.is(200);
    client.unlock("a").await.is(200);
    client.post("?ID=a", state(1)).await.is(200);
    client.lock("b").await.is(200);
    client.post("?ID=a", state(2)).await.is(423);
}

#[tokio::test]
async fn the_id_of_a_broken_lock_is_never_accepted_and_the_answer_says_who_broke_it() {
    let server = Server::with(policies(|policies| policies.accept_stale_id = true));
    server.writer().lock("a").await.is(200);
    server.admin().call("UNLOCK", URL, "").await.is(200);
    let refused = server.writer().post("?ID=a", state(1)).await.is(409);
    assert_eq!(refused.problem(), "lock-lost");
    assert!(refused.text().contains("admin broke the lock"), "{}", refused.text());
}

#[tokio::test]
async fn a_write_that_is_sent_again_is_not_stored_twice() {
    let client = Server::new().writer();
    client.lock("a").await.is(200);
    let first = client.post("?ID=a", state(1)).await.is(200);
    let again = client.post("?ID=a", state(1)).await.is(200);
    assert_eq!(first.header("etag"), again.header("etag"));
    // The answer got lost, the lock was released, another client took it: the write is done nevertheless.
    client.unlock("a").await.is(200);
    client.post("?ID=a", state(1)).await.is(200);
    client.lock("b").await.is(200);
    client.post("?ID=a", state(1)).await.is(200);
    client.post("?ID=a", state(2)).await.is(423);
    client.post("?ID=b", state(2)).await.is(200);
    assert_ne!(client.get(URL).await.header("etag"), first.header("etag"));
}

#[tokio::test]
async fn what_is_not_json_is_refused_and_what_is_odd_is_warned_of() {
    let client = Server::new().writer();
    for body in ["", "<html>", "{\"version\": 4", "{} {}"] {
        assert_eq!(client.post("", body).await.is(409).problem(), "content-refused", "{body}");
    }
    client.get(URL).await.is(404);
    client.post("", state(9)).await.is(200);
    // A lower serial, another lineage, another format: accepted, since clients may know better.
    client.post("", state(3)).await.is(200);
    client.post("", state_of("another", 1)).await.is(200);
    client.post("", r#"{"version": 3, "serial": 1}"#).await.is(200);
    assert_eq!(client.get(URL).await.body, r#"{"version": 3, "serial": 1}"#);
}

#[tokio::test]
async fn an_enforced_check_refuses_other_lineages_lower_serials_and_what_is_no_state() {
    let client = Server::with(policies(|policies| policies.check = Check::Enforce)).writer();
    client.post("", state(9)).await.is(200);
    for body in [state(8), state_of("another", 10)] {
        assert_eq!(client.post("", body).await.is(409).problem(), "conflict");
    }
    assert_eq!(client.post("", r#"{"version": 3}"#).await.is(409).problem(), "content-refused");
    assert_eq!(client.get(URL).await.body, state(9));
    client.post("", state(10)).await.is(200);
}

#[tokio::test]
async fn with_checks_off_any_bytes_are_a_state() {
    let odd = policies(|policies| {
        policies.check = Check::Off;
        policies.content = Check::Off;
    });
    let client = Server::with(odd).writer();
    client.post("", [0xff, 0, 1]).await.is(200);
    assert_eq!(client.get(URL).await.body, [0xff, 0, 1][..]);
}

#[tokio::test]
async fn an_encrypted_state_is_stored_as_it_is_and_its_envelope_is_checked() {
    let client = Server::with(policies(|policies| policies.check = Check::Enforce)).writer();
    let envelope = |serial| {
        format!(
            r#"{{"serial":{serial},"lineage":"l","meta":{{"k":"e30="}},"encrypted_data":"AAAA","encryption_version":"v0"}}"#
        )
    };
    client.post("", envelope(4)).await.is(200);
    assert_eq!(client.get(URL).await.body, envelope(4));
    client.post("", envelope(3)).await.is(409);
    client.post("", envelope(5)).await.is(200);
}

#[tokio::test]
async fn a_lock_is_taken_once_and_again_by_its_holder() {
    let client = Server::new().writer();
    let taken = client.lock("a").await.is(200);
    assert_eq!(taken.body, "");
    client.lock("a").await.is(200);
    let held = client.lock("b").await.is(423);
    assert_eq!(held.body, lock_document("a"), "the bytes of the holder");
    // The state itself needs not exist.
    client.get(URL).await.is(404);
}

#[tokio::test]
async fn the_holders_document_comes_back_as_it_was_sent() {
    let client = Server::new().writer();
    let odd = "{ \"id\": \"a\",\n \"Extra\": [1.0], \"Who\": \"\u{fc}\" }";
    client.call("LOCK", URL, odd).await.is(200);
    assert_eq!(client.lock("b").await.is(423).body, odd);
    assert_eq!(client.unlock("b").await.is(409).body, odd);
    client.unlock("a").await.is(200);
}

#[tokio::test]
async fn a_lock_without_an_id_is_400() {
    let client = Server::new().writer();
    for body in
        ["", "{}", r#"{"ID":""}"#, r#"{"ID":7}"#, "[]", "a", &format!(r#"{{"ID":"{}"}}"#, "a".repeat(513))]
    {
        client.call("LOCK", URL, body).await.is(400);
    }
    client.call("LOCK", URL, format!(r#"{{"ID":"a","Info":"{}"}}"#, "i".repeat(40_000))).await.is(413);
    client.lock("a").await.is(200);
}

#[tokio::test]
async fn an_unlock_releases_the_lock_that_it_names_and_no_other() {
    let client = Server::new().writer();
    client.lock("a").await.is(200);
    assert_eq!(client.unlock("b").await.is(409).body, lock_document("a"));
    client.unlock("a").await.is(200);
    // The answer got lost, or the lock never was: nothing is left to release.
    client.unlock("a").await.is(200);
    client.unlock("never").await.is(200);
    client.lock("b").await.is(200);
    assert_eq!(client.unlock("a").await.is(409).body, lock_document("b"));
}

#[tokio::test]
async fn an_unlock_with_the_id_alone_is_what_opentofu_sends_to_force_it() {
    let client = Server::new().writer();
    client.lock("a").await.is(200);
    let id_only = r#"{"ID":"a","Operation":"","Info":"","Who":"","Version":"","Created":"0001-01-01T00:00:00Z","Path":""}"#;
    client.call("UNLOCK", URL, id_only).await.is(200);
    client.lock("b").await.is(200);
}

#[tokio::test]
async fn an_empty_unlock_is_for_administrators_unless_the_policy_says_otherwise() {
    for (policy, role, status) in [
        (ForceUnlock::Admin, Role::Admin, 200),
        (ForceUnlock::Admin, Role::Write, 403),
        (ForceUnlock::Any, Role::Lock, 200),
        (ForceUnlock::Any, Role::Read, 403),
        (ForceUnlock::Deny, Role::Admin, 403),
    ] {
        let server = Server::with(policies(|policies| policies.force_unlock = policy));
        server.writer().lock("a").await.is(200);
        server.client(role).call("UNLOCK", URL, "").await.is(status);
        let after = if status == 200 { 200 } else { 423 };
        server.writer().lock("b").await.is(after);
    }
}

#[tokio::test]
async fn an_empty_body_in_chunks_is_empty() {
    let server = Server::new();
    server.writer().lock("a").await.is(200);
    let chunks =
        StreamBody::new(futures_util::stream::empty::<Result<http_body::Frame<Bytes>, std::io::Error>>());
    let request =
        Request::builder().method("UNLOCK").uri(URL).header("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==");
    server.admin().send(request.body(Body::new(chunks)).unwrap()).await.is(200);
    server.writer().lock("b").await.is(200);
}

#[tokio::test]
async fn an_unlock_without_a_body_may_name_the_id_in_its_query() {
    let client = Server::new().writer();
    client.lock("a").await.is(200);
    client.call("UNLOCK", &format!("{URL}?ID=b"), "").await.is(409);
    client.call("UNLOCK", &format!("{URL}?ID=a"), "").await.is(200);
    client.lock("c").await.is(200);
}

#[tokio::test]
async fn a_delete_leaves_nothing_to_read_and_can_be_repeated() {
    let client = Server::new().writer();
    client.call("DELETE", URL, "").await.is(200);
    client.post("", state(1)).await.is(200);
    assert_eq!(client.call("DELETE", URL, "").await.is(200).body, "");
    client.get(URL).await.is(404);
    client.call("DELETE", URL, "").await.is(200);
    client.post("", state(2)).await.is(200);
    assert_eq!(client.get(URL).await.body, state(2));
}

#[tokio::test]
async fn a_delete_with_a_condition_removes_that_version_and_no_other() {
    let client = Server::new().writer();
    let delete = async |tag: &str| {
        client.send(Request::delete(URL).header("if-match", tag).body(Body::empty()).unwrap()).await
    };
    let first = client.post("", state(1)).await.is(200).header("etag").to_owned();
    let second = client.post("", state(2)).await.is(200).header("etag").to_owned();
    assert_eq!(delete(&first).await.is(412).problem(), "precondition-failed");
    delete(&second).await.is(200);
    delete(&second).await.is(412);
}

#[tokio::test]
async fn a_delete_does_not_pass_a_lock_except_for_its_holder_and_administrators() {
    let server = Server::new();
    let client = server.writer();
    client.post("", state(1)).await.is(200);
    client.lock("a").await.is(200);
    assert_eq!(client.call("DELETE", URL, "").await.is(423).body, lock_document("a"));
    client.call("DELETE", &format!("{URL}?ID=b"), "").await.is(423);
    client.call("DELETE", &format!("{URL}?ID=a"), "").await.is(200);
    client.post("?ID=a", state(2)).await.is(200);
    server.admin().call("DELETE", URL, "").await.is(200);
    // The holder finds out, and does not bring back what was deleted.
    assert_eq!(client.post("?ID=a", state(3)).await.is(409).problem(), "lock-lost");
    client.get(URL).await.is(404);
}

#[tokio::test]
async fn nothing_is_served_without_a_principal_or_its_role() {
    let server = Server::new();
    server.writer().post("", state(1)).await.is(200);
    for (method, roles) in [
        ("GET", [false, true, true, true, true]),
        ("LOCK", [false, false, true, true, true]),
        ("UNLOCK", [false, false, true, true, true]),
        ("POST", [false, false, false, true, true]),
        ("DELETE", [false, false, false, true, true]),
    ] {
        let body = match method {
            "POST" => state(2),
            "LOCK" | "UNLOCK" => lock_document("a"),
            _ => String::new(),
        };
        let answer = server.stranger().call(method, URL, &body).await.is(401);
        assert!(answer.header("www-authenticate").starts_with("Basic "), "{method}");
        let all = [Role::Outputs, Role::Read, Role::Lock, Role::Write, Role::Admin];
        for (role, may) in all.into_iter().zip(roles) {
            let answer = server.client(role).call(method, URL, &body).await;
            assert_eq!(answer.status == 403, !may, "{method} {role:?}: {}", answer.text());
            if !may {
                assert_eq!(answer.problem(), "forbidden");
            }
            if method == "LOCK" {
                // It is that of the role before, and refused to others.
                server.admin().unlock("a").await.is(200);
            }
        }
    }
}

#[tokio::test]
async fn the_routes_of_other_hosts_work_too() {
    let client = Server::new().writer();
    let lock = format!("{URL}/lock");
    client.call("POST", &lock, lock_document("a")).await.is(200);
    assert_eq!(client.call("POST", &lock, lock_document("b")).await.is(423).body, lock_document("a"));
    client.call("PUT", &format!("{URL}?ID=a"), state(1)).await.is(200);
    client.call("DELETE", &lock, lock_document("b")).await.is(409);
    client.call("DELETE", &lock, lock_document("a")).await.is(200);
    assert_eq!(client.get(URL).await.body, state(1));
    client.call("POST", "/tf/shop/network/dev/lock", lock_document("c")).await.is(200);
    client.call("LOCK", "/tf/shop/network/dev", lock_document("d")).await.is(423);
}

#[tokio::test]
async fn other_methods_are_405_and_the_answer_names_those_that_work() {
    let client = Server::new().admin();
    for method in ["PATCH", "OPTIONS", "TRACE", "lock", "PROPFIND"] {
        let answer = client.call(method, URL, "").await.is(405);
        assert!(answer.header("allow").contains("UNLOCK"), "{method}");
    }
    client.get(&format!("{URL}/lock")).await.is(405);
}

#[tokio::test]
async fn workspaces_are_apart() {
    let client = Server::new().writer();
    for (url, serial) in
        [(URL, 1), ("/tf/shop/network/dev", 2), ("/tf/shop/network2", 3), ("/tf/shop2/network", 4)]
    {
        client.call("LOCK", url, lock_document(&serial.to_string())).await.is(200);
        client.call("POST", &format!("{url}?ID={serial}"), state(serial)).await.is(200);
    }
    for (url, serial) in
        [(URL, 1), ("/tf/shop/network/dev", 2), ("/tf/shop/network2", 3), ("/tf/shop2/network", 4)]
    {
        assert_eq!(client.get(url).await.body, state(serial));
    }
}

#[tokio::test]
async fn what_is_no_name_is_400_and_what_is_no_url_404() {
    let client = Server::new().admin();
    for url in [
        "/tf/shop/..",
        "/tf/shop/a%2Fb",
        "/tf/shop/%2e%2e%2fx",
        "/tf/shop/a%00",
        "/tf/shop/%FF",
        "/tf/shop/.x",
    ] {
        client.get(url).await.is(400);
        assert_eq!(client.call("POST", url, state(1)).await.is(400).problem(), "invalid-name", "{url}");
        client.call("LOCK", url, lock_document("a")).await.is(400);
    }
    for url in ["/tf", "/tf/", "/tf/shop", "/tf/shop/a/b/c/d", "/tf2/shop/network"] {
        assert_eq!(client.call("POST", url, state(1)).await.is(404).problem(), "no-such-route", "{url}");
    }
}

#[tokio::test]
async fn a_body_above_the_limit_is_413_with_and_without_a_length() {
    let mut parts =
        groundstate_server::Parts::new(std::sync::Arc::new(groundstate_server::blobs::MemoryBlobs::new("s")));
    parts.limits.state_bytes = 1000;
    let client = Server::of(parts).writer();
    let large = state(1) + &" ".repeat(1000);
    assert_eq!(client.post("", &large).await.is(413).problem(), "too-large");
    let pieces =
        large.as_bytes().chunks(100).map(|piece| Ok::<_, std::io::Error>(Bytes::copy_from_slice(piece)));
    let body = Body::from_stream(futures_util::stream::iter(pieces.collect::<Vec<_>>()));
    client.send(Request::post(URL).body(body).unwrap()).await.is(413);
    client.get(URL).await.is(404);
    client.post("", state(1)).await.is(200);
}

#[tokio::test]
async fn a_compressed_body_is_415() {
    let client = Server::new().writer();
    for method in ["POST", "LOCK"] {
        let request = Request::builder().method(method).uri(URL).header("content-encoding", "gzip");
        client.send(request.body(Body::from("x")).unwrap()).await.is(415);
    }
}

#[tokio::test]
async fn conditions_protect_writes_of_clients_that_send_them() {
    let client = Server::new().writer();
    let put = async |condition: (&str, &str), body: String| {
        let request = Request::put(URL).header(condition.0, condition.1).body(Body::from(body)).unwrap();
        client.send(request).await
    };
    assert_eq!(put(("if-match", "*"), state(1)).await.is(412).problem(), "precondition-failed");
    let first = put(("if-none-match", "*"), state(1)).await.is(200).header("etag").to_owned();
    put(("if-none-match", "*"), state(2)).await.is(412);
    put(("if-match", "\"other\""), state(2)).await.is(412);
    let second = put(("if-match", &first), state(2)).await.is(200).header("etag").to_owned();
    put(("if-match", &first), state(3)).await.is(412);
    // The same bytes may be another client's: only the id of a lock tells whose they are.
    put(("if-match", &first), state(2)).await.is(412);
    client.lock("a").await.is(200);
    let under = async |tag: &str| {
        let request = Request::put(format!("{URL}?ID=a")).header("if-match", tag);
        client.send(request.body(Body::from(state(3))).unwrap()).await.is(200).header("etag").to_owned()
    };
    let third = under(&second).await;
    assert_eq!(under(&second).await, third, "the same write again, whose answer got lost");
    client.unlock("a").await.is(200);
    put(("if-match", "nonsense"), state(3)).await.is(400);
    let get = async |name: &str, value: &str| {
        client.send(Request::get(URL).header(name, value).body(Body::empty()).unwrap()).await
    };
    assert_eq!(get("if-none-match", &third).await.is(304).body, "");
    get("if-none-match", &first).await.is(200);
    get("if-match", &first).await.is(412);
}

#[tokio::test]
async fn a_part_of_a_state_can_be_read() {
    let client = Server::new().writer();
    let text = state(1);
    client.post("", &text).await.is(200);
    let get = async |range: &str| {
        client.send(Request::get(URL).header("range", range).body(Body::empty()).unwrap()).await
    };
    let part = get("bytes=4-9").await.is(206);
    assert_eq!(part.text(), text[4..10]);
    assert_eq!(part.header("content-range"), format!("bytes 4-9/{}", text.len()));
    assert_eq!(part.header("content-length"), "6");
    assert_eq!(get("bytes=-5").await.is(206).text(), text[text.len() - 5..]);
    get("bytes=99999-").await.is(416);
    assert_eq!(get("bytes=9-4").await.is(200).text(), text);
}
