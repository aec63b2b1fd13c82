//! Large states, and windows of all sizes in light and dark.

use std::path::Path;

use serde_json::{Value, json};

use super::stacks::STACK;
use super::{STATE, Site, button, instance, is_clean, resource, state};

const RESOURCES: usize = 5000;
const CLUSTER: &str = "#/states/shop/cluster/default";
/// Where pictures of the page go that a reviewer wants to look at.
const PICTURES: &str = "GROUNDSTATE_PICTURES";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_megabytes_and_five_thousand_resources_are_shown_in_parts() {
    let Some(site) = Site::start().await else { return };
    let large = |serial: u64| {
        let machines: Vec<Value> = (0..RESOURCES)
            .map(|at| {
                let attributes =
                    json!({"id": format!("i-{at}"), "generation": serial, "user_data": "#".repeat(2000)});
                let name = format!("worker-{at:04}");
                let module = "module.cluster[\"europe-west-1\"]";
                resource(Some(module), "acme_machine_of_a_long_name", &name, &[instance(&attributes)])
            })
            .collect();
        state(serial, &json!({}), &machines)
    };
    assert!(large(1).to_string().len() > 10_000_000);
    for serial in [1, 2] {
        site.write("/tf/shop/cluster", &large(serial)).await;
    }
    let page = site.signed_in(&site.admin);
    let elements = |most: u64| {
        let count = page.value("document.querySelectorAll('*').length").as_u64().unwrap();
        assert!(count < most, "{count} elements");
    };
    page.value(&format!("location.hash = '{CLUSTER}/resources'"));
    page.shows("1 to 250 of 5,000 instances");
    elements(5000);
    page.value(&format!("{}.click()", button("Last")));
    page.shows("4,751 to 5,000 of 5,000");
    page.shows("worker-4999");
    page.value(&format!("{}.click()", button("Previous")));
    page.shows("4,501 to 4,750 of 5,000");
    assert_eq!(page.value("location.hash.endsWith('offset=4500')"), true);
    page.click("input[type=search]");
    page.write("worker-1234");
    page.shows("1 to 1 of 1 instances");
    page.click("tbody a");
    page.shows("\"i-1234\"");
    // Everything differs between the versions; 200 differences are shown at a time.
    page.value(&format!("location.hash = '{CLUSTER}/diff?from=1&to=2'"));
    page.shows("200 of 5,001 shown");
    page.shows("5,001 changed");
    elements(5000);
    page.value(&format!("{}.click()", button("Show more")));
    page.shows("400 of 5,001 shown");
    page.value(&format!("location.hash = '{CLUSTER}/graph'"));
    page.shows("the state has 5000 resources, and at most 2000 are drawn");
    page.click(&format!("a[href='{CLUSTER}/versions']"));
    page.shows("present");
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_fit_wide_and_narrow_windows_in_light_and_dark() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    site.client.lock("lock-1").await.is(200);
    let machines: Vec<Value> = (0..300)
        .map(|at| {
            let name = format!("worker-{at:04}");
            let mut one = instance(&json!({"id": format!("i-{at}")}));
            if at > 0 {
                one["dependencies"] =
                    json!([format!("module.cluster.acme_machine_of_a_long_name.worker-{:04}", (at - 1) / 4)]);
            }
            resource(Some("module.cluster[\"europe-west-1\"]"), "acme_machine_of_a_long_name", &name, &[one])
        })
        .collect();
    site.write("/tf/shop/cluster", &state(7, &json!({}), &machines)).await;
    for at in 0..30 {
        let url = format!("/tf/team-{}/service-{at}/production", at % 7);
        site.write(&url, &super::network(at + 1, "small")).await;
    }
    super::stacks::running(&site).await;
    let page = site.signed_in(&site.admin);
    let pictures = std::env::var_os(PICTURES);
    let addresses = [
        ("states", "#/"),
        ("locks", "#/locks"),
        ("overview", STATE),
        ("projects", "#/projects"),
        ("resources", &format!("{CLUSTER}/resources")),
        ("resource", &format!("{STATE}/resource?address=module.app.vm.web%5B0%5D")),
        ("tree", &format!("{CLUSTER}/graph")),
        ("problem", &format!("{CLUSTER}/diff?from=1&to=9")),
        ("outputs", &format!("{STATE}/outputs")),
        ("versions", &format!("{STATE}/versions")),
        ("diff", &format!("{STATE}/diff?from=1&to=2")),
        ("graph", &format!("{STATE}/graph")),
        ("stacks", "#/stacks"),
        ("stack", STACK),
        ("stack-resources", &format!("{STACK}/resources")),
        ("stack-outputs", &format!("{STACK}/outputs")),
        ("stack-updates", &format!("{STACK}/updates")),
        ("stack-journal", &format!("{STACK}/journal")),
        ("stack-problem", &format!("{STACK}/events?update=none")),
        ("dialog", STATE),
    ];
    for (width, height, colours) in
        [(1280, 800, "light"), (1280, 800, "dark"), (400, 800, "light"), (400, 800, "dark")]
    {
        page.look(width, height, colours);
        for (name, address) in addresses {
            // Through another page, so that the same address is shown anew.
            page.value("location.hash = '#/nothing'");
            page.shows("There is no such page");
            page.value(&format!("location.hash = {}", json!(address)));
            page.wait_for("document.querySelector('main:not([aria-busy]) h1')?.innerText !== 'Not found' && !document.querySelector('[aria-busy=true]')");
            if name == "dialog" {
                page.click("main button.danger");
                page.wait_for("document.querySelector('dialog[open]')");
            }
            let too_wide = page.value("document.documentElement.scrollWidth > innerWidth");
            assert_eq!(too_wide, false, "{name} at {width}");
            if let Some(folder) = &pictures {
                let file = Path::new(folder).join(format!("{name}-{width}-{colours}.png"));
                std::fs::write(file, page.picture()).unwrap();
            }
        }
        page.press("Escape");
    }
    is_clean(&page, &site);
}
