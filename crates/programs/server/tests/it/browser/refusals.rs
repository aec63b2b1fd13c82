//! What the page does when the server refuses, has gone, or has moved on.

use super::{STATE, Site, is_clean};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_principal_without_the_role_sees_what_it_lacks_and_a_wrong_token_is_told() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    site.client.lock("lock-1").await.is(200);
    let page = site.browser.open(&site.url);
    page.shows("It stays in this tab");
    page.wait_for("document.activeElement.id === 'token'");
    page.write("hunter2");
    page.press("Enter");
    page.shows("the credentials are not valid");
    page.wait_for("document.activeElement.id === 'token'");
    page.write(site.reader.reveal());
    page.press("Enter");
    page.shows("shop/network");
    page.click(&format!("a[href='{STATE}']"));
    page.click("main button.danger");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("I want to");
    page.click("dialog button[type=submit]");
    page.shows("does not have the role admin on shop/network");
    page.press("Escape");
    page.click(&format!("a[href='{STATE}/versions']"));
    page.click("[aria-label='Roll back to version 1']");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("I want to");
    page.click("dialog button[type=submit]");
    page.shows("does not have the role write on shop/network");
    // A reload keeps the token, and an address that names nothing is told.
    page.value("location.hash = '#/states/shop/none/default'; location.reload()");
    page.shows("there is no state shop/none");
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_expires_leads_to_the_sign_in_and_from_there_back() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    site.client.lock("lock-1").await.is(200);
    let page = site.signed_in(&site.guest);
    page.click(&format!("a[href='{STATE}']"));
    page.click("main button.danger");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("the build machine is gone");
    site.clock.advance(super::STAY);
    page.click("dialog button[type=submit]");
    page.shows("the token guest has expired");
    page.wait_for("document.activeElement.id === 'token'");
    // Nothing of the state is left on the page, and the token is forgotten.
    page.shows_no("lock-1");
    page.shows_no("Sign out");
    assert_eq!(page.value("sessionStorage.length"), 0);
    assert_eq!(page.value("Boolean(document.querySelector('dialog'))"), false);
    site.client.get("/api/v1/states/shop/network/default/lock").await.is(200);

    page.write(site.reader.reveal());
    page.press("Enter");
    page.shows("lock-1");
    page.shows("Sign out");
    assert_eq!(page.value("location.hash"), STATE);
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_has_gone_is_told_and_tried_again() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    site.client.lock("lock-1").await.is(200);
    let page = site.signed_in(&site.admin);
    page.click(&format!("a[href='{STATE}']"));
    page.shows("Break the lock");
    site.stop();
    page.click(&format!("a[href='{STATE}/outputs']"));
    page.shows("the server does not answer");
    // What leads to other pages of the state is still there.
    page.wait_for(&format!("document.querySelector(\"a[href='{STATE}/versions']\")"));
    site.start_again();
    page.click("main button");
    page.shows("eu-west-1");

    page.click(&format!("a[href='{STATE}']"));
    page.click("main button.danger");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("the build machine is gone");
    site.stop();
    page.click("dialog button[type=submit]");
    page.wait_for(
        "document.querySelector('dialog .problem')?.innerText.includes('the server does not answer')",
    );
    // What was written is kept for the next try.
    assert_eq!(page.value("document.querySelector('#reason').value"), "the build machine is gone");
    site.start_again();
    page.click("dialog button[type=submit]");
    page.shows("No client holds the lock");
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_that_is_deleted_meanwhile_is_told_and_comes_back_by_a_rollback() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    let page = site.signed_in(&site.admin);
    page.click(&format!("a[href='{STATE}']"));
    page.shows("No client holds the lock");
    site.client.call("DELETE", super::API, "").await.is(204);
    page.click(&format!("a[href='{STATE}/outputs']"));
    page.shows("shop/network was deleted");
    page.click(&format!("a[href='{STATE}/versions']"));
    page.shows("deletion");
    page.click("[aria-label='Roll back to version 2']");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("it is needed");
    page.click("dialog button[type=submit]");
    page.shows("content of 2");
    page.click(&format!("a[href='{STATE}/outputs']"));
    page.shows("eu-west-1");
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_others_break_or_take_meanwhile_is_told_and_shown() {
    const BREAK: &str = "/api/v1/states/shop/network/default/lock/break";
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    site.client.lock("lock-1").await.is(200);
    let page = site.signed_in(&site.admin);
    let try_to_break = || {
        page.click("main button.danger");
        page.wait_for("document.activeElement.id === 'reason'");
        page.write("the build machine is gone");
    };
    page.click(&format!("a[href='{STATE}']"));
    try_to_break();
    // Another administrator is faster, and the next holder is there already.
    site.client.call("POST", BREAK, r#"{"reason": "me first"}"#).await.is(204);
    site.client.lock("lock-2").await.is(200);
    page.click("dialog button[type=submit]");
    page.shows("shop/network has the lock lock-2, not the one to be broken");
    page.press("Escape");
    page.wait_for("!document.querySelector('dialog, [aria-busy=true]')");
    page.shows("lock-2");
    page.shows_no("lock-1");

    try_to_break();
    site.client.unlock("lock-2").await.is(200);
    page.click("dialog button[type=submit]");
    page.shows("shop/network is not locked");
    page.press("Escape");
    page.wait_for("!document.querySelector('dialog')");
    page.shows("No client holds the lock");
    let entries = site.audited("lock.break").await;
    assert!(entries.iter().all(|(_, reason)| !reason.contains("machine is gone")), "{entries:?}");
    is_clean(&page, &site);
}
