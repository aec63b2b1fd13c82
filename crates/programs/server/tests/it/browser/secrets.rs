//! Secrets are hidden until they are asked for, and the audit log has each look.

use groundstate_conformance::Fault;
use groundstate_testkit::Page;

use super::{STATE, Site, is_clean};

const SECRETS: [&str; 3] = ["s3cret", "key-small", "key-large"];

/// No secret is anywhere in the page, shown or not.
#[track_caller]
fn has_no_secret(page: &Page) {
    let html = page.value("document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map((it) => it.value)");
    for secret in SECRETS {
        assert!(!html.as_str().unwrap().contains(secret), "{secret}");
    }
}

/// Goes to a page of the state.
#[track_caller]
fn open(page: &Page, rest: &str) {
    page.value(&format!("location.hash = \"{STATE}{rest}\""));
    page.wait_for("!document.querySelector('[aria-busy=true]')");
    page.shows("hidden");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_is_hidden_until_it_is_asked_for_and_each_look_is_audited() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    let page = site.signed_in(&site.admin);
    let web = "/resource?address=module.app.vm.web%5B0%5D";
    for (rest, button, action, reason, secret) in [
        ("/outputs", "[aria-label='Reveal password']", "outputs.reveal", "version 2: password", "s3cret"),
        (web, "main section button", "resources.reveal", "version 2: module.app.vm.web[0]", "key-large"),
        ("/diff?from=1&to=2", "main section button", "history.reveal", "versions 1 and 2", "key-small"),
    ] {
        open(&page, rest);
        has_no_secret(&page);
        assert_eq!(site.audited(action).await, [], "{rest}");
        page.click(button);
        page.shows(secret);
        let seen = site.audited(action).await;
        assert_eq!(seen.len(), 1, "{rest}: {seen:?}");
        assert!(seen[0].0.contains("admin") && seen[0].1 == reason, "{rest}: {seen:?}");
        // Hidden again, it is not in the page any more, and the next look is another one.
        page.wait_for("document.activeElement.innerText.startsWith('Hide')");
        page.press("Enter");
        page.shows_no(secret);
        has_no_secret(&page);
        page.wait_for("document.activeElement.innerText.startsWith('Reveal')");
        page.press("Enter");
        page.shows(secret);
        assert_eq!(site.audited(action).await.len(), 2, "{rest}");
        // Another page, and the way back, do not show what was revealed.
        page.value("location.hash = '#/locks'");
        page.shows("no state is locked");
        open(&page, rest);
        has_no_secret(&page);
        assert_eq!(site.audited(action).await.len(), 2, "{rest}");
    }
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_audit_log_no_secret_is_shown_and_the_page_says_why() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    let page = site.signed_in(&site.admin);
    open(&page, "/outputs");
    site.audit_blobs.fail_at(0, Fault::Down);
    page.click("[aria-label='Reveal password']");
    page.shows("the audit log does not take the entry, so nothing is shown");
    has_no_secret(&page);
    open(&page, "/diff?from=1&to=2");
    page.click("main section button");
    page.shows("the audit log does not take the entry, so nothing is shown");
    has_no_secret(&page);
    is_clean(&page, &site);
}
