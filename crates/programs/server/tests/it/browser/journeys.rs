//! What users do with the page, by mouse and by keyboard.

use serde_json::json;

use super::{STATE, Site, is_clean, tab_to};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_finds_a_state_compares_it_breaks_its_lock_rolls_it_back_and_sees_a_secret() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    site.client.lock("lock-1").await.is(200);
    let page = site.signed_in(&site.admin);

    page.click("a[href='#/projects']");
    page.shows("1 project");
    page.click("main .names a");
    page.wait_for("document.querySelector('select')?.value === 'shop'");
    page.shows("shop/dns/staging");
    page.shows("locked by ana@build-7");
    page.click("input[type=search]");
    page.write("NETW");
    page.shows_no("shop/dns/staging");
    page.click(&format!("a[href='{STATE}']"));
    page.shows("OperationTypeApply");
    page.shows("l-1");
    // The whole block: with the address alone Terraform would lock nothing.
    for member in
        ["address        = \"http", "lock_address   = \"http", "unlock_address = \"http", "backend \"http\""]
    {
        page.shows(member);
    }
    page.wait_for(
        "[...document.querySelectorAll('main button')].some((it) => it.innerText === 'Copy the block')",
    );

    page.click(&format!("a[href='{STATE}/resources']"));
    page.shows("1 to 2 of 2");
    page.click("input[type=search]");
    page.write("VM.web");
    page.shows("1 to 1 of 1");
    page.shows("module.app.vm.web[0]");
    page.shows_no("net.main");
    page.click("tbody a");
    page.shows("Current object");
    page.wait_for("[...document.querySelectorAll('tbody tr')].some((it) => it.innerText.startsWith('size'))");
    page.shows("\"large\"");

    page.click(&format!("a[href='{STATE}/versions']"));
    page.shows("present");
    page.click("form button[type=submit]");
    page.shows("Version 1 → version 2");
    page.shows("attributes.size");
    page.shows("\"small\"");
    page.shows("\"large\"");
    page.shows_no("key-small");
    page.wait_for("document.querySelector('.change').innerText.includes('changed')");

    // The lock refuses the rollback, and the dialog says so.
    page.click(&format!("a[href='{STATE}/versions']"));
    page.click("[aria-label='Roll back to version 1']");
    page.shows("Roll back to version 1?");
    page.shows("It replaces version 2");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("too large");
    page.click("dialog button[type=submit]");
    page.shows("another holder has the lock");
    page.press("Escape");
    page.wait_for("!document.querySelector('dialog, [aria-busy=true]')");

    page.click(&format!("a[href='{STATE}']"));
    page.click("main button.danger");
    page.shows("Break the lock?");
    page.shows("lock-1");
    // Without a reason nothing happens.
    page.click("dialog button[type=submit]");
    assert_eq!(page.value("Boolean(document.querySelector('dialog[open]'))"), true);
    page.click("#reason");
    page.write("the build machine is gone");
    page.click("dialog button[type=submit]");
    page.shows("No client holds the lock");
    site.client.get("/api/v1/states/shop/network/default/lock").await.is(404);

    page.click(&format!("a[href='{STATE}/versions']"));
    page.click("[aria-label='Roll back to version 1']");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("too large");
    page.click("dialog button[type=submit]");
    page.shows("content of 1");
    let found = site.client.get("/api/v1/states/shop/network/default").await.is(200).json();
    assert_eq!((&found["version"]["number"], &found["version"]["serial"]), (&json!(3), &json!(6)));
    assert!(found["version"]["by"].as_str().unwrap().contains("admin"), "{found}");

    page.click(&format!("a[href='{STATE}/outputs']"));
    page.shows("\"eu-west-1\"");
    // More digits than a number of JavaScript has.
    page.shows("12345678901234567");
    page.shows_no("s3cret");
    page.click("[aria-label='Reveal password']");
    page.shows("\"s3cret\"");
    page.click("[aria-label='Hide password']");
    page.shows_no("s3cret");

    page.click(&format!("a[href='{STATE}/graph']"));
    page.wait_for("document.querySelector('.picture img')?.naturalWidth > 50");
    let width = page.value("document.querySelector('.picture img').clientWidth").as_u64().unwrap();
    page.click("[aria-label=Larger]");
    page.wait_for(&format!("document.querySelector('.picture img').clientWidth > {width}"));
    page.wait_for("document.querySelector('.tools button').ariaPressed === 'false'");
    page.click("main .tools button");
    page.wait_for(&format!("document.querySelector('.picture img').clientWidth === {width}"));
    is_clean(&page, &site);

    page.click("#session");
    page.shows("It stays in this tab");
    assert_eq!(page.value("sessionStorage.length"), 0);
    page.shows_no("shop/network");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keyboard_reaches_everything_and_escape_leaves_a_dialog() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    site.client.lock("lock-1").await.is(200);
    let page = site.signed_in(&site.admin);
    page.shows("shop/network");

    page.press("/");
    page.wait_for("document.activeElement.type === 'search'");
    page.write("network");
    page.shows_no("shop/dns");
    tab_to(&page, &format!("document.activeElement.getAttribute('href') === '{STATE}'"));
    let outline = page.value("getComputedStyle(document.activeElement).outlineStyle");
    assert_eq!(outline, "solid");
    page.press("Enter");
    page.shows("Break the lock");
    page.wait_for("document.activeElement.tagName === 'H1'");

    tab_to(&page, "document.activeElement.innerText.startsWith('Break')");
    page.press("Enter");
    page.wait_for("document.activeElement.id === 'reason'");
    // The focus stays in the dialog.
    for _ in 0..4 {
        page.press("Tab");
        assert_eq!(
            page.value("document.activeElement === document.body || Boolean(document.activeElement.closest('dialog'))"),
            true
        );
    }
    page.press("Escape");
    page.wait_for("!document.querySelector('dialog')");
    assert_eq!(page.value("document.activeElement.innerText.startsWith('Break')"), true);
    site.client.get("/api/v1/states/shop/network/default/lock").await.is(200);

    page.press("Space");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("its machine is gone");
    tab_to(&page, "document.activeElement.type === 'submit'");
    page.press("Enter");
    page.shows("No client holds the lock");
    page.wait_for("document.activeElement.tagName === 'H1'");

    for tab in ["resources", "outputs", "versions", "graph"] {
        tab_to(&page, &format!("document.activeElement.getAttribute('href') === '{STATE}/{tab}'"));
        page.press("Enter");
        page.wait_for(&format!("document.querySelector(\"a[aria-current][href='{STATE}/{tab}']\")"));
        page.wait_for("document.activeElement.tagName === 'H1'");
    }
    // Every control has a name, and nothing but links, buttons and fields waits for a click.
    let nameless = page.value("[...document.querySelectorAll('button, a, input, select')].filter((it) => !(it.innerText || it.ariaLabel || it.labels?.length)).map((it) => it.outerHTML)");
    assert_eq!(nameless, json!([]));
    is_clean(&page, &site);
}
