//! A state in a bucket: outputs by ranges, and a change under the lock object.
#![cfg(feature = "s3")]

use groundstate_client::edit::states::addr::Target;
use groundstate_client::{Error, blocking};
use groundstate_testkit::{S3Locks, TestBackend};

/// The address of the bucket's state, with the settings of its `backend` block as options.
fn address(place: &TestBackend) -> String {
    let settings = place.settings();
    let text = |name: &str| settings[name].as_str().expect("it is a text").to_owned();
    let mut options = Vec::new();
    for (name, value) in settings.iter().filter(|(name, _)| !["bucket", "key"].contains(&name.as_str())) {
        match value {
            serde_json::Value::Object(members) => {
                let members =
                    members.iter().map(|(member, value)| format!("{name}.{member}={}", plain(value)));
                options.extend(members);
            }
            value => options.push(format!("{name}={}", plain(value))),
        }
    }
    format!("s3://{}/{}?{}", text("bucket"), text("key"), options.join("&"))
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[test]
fn outputs_are_read_by_ranges_and_changes_are_locked() {
    let place = TestBackend::s3_here(S3Locks::File);
    // Larger than what is read at once, so that ranges show.
    let filler = format!("\"check_results\": null,\n  \"filler\": \"{}\"", "x".repeat(4 << 20));
    let text = include_str!("../fixtures/shop.tfstate").replace("\"check_results\": null", &filler);
    place.put_state(text.as_bytes());
    let state = blocking::open(&address(&place)).unwrap();
    let server = place.server().unwrap();
    let before = server.mark();
    assert_eq!(state.outputs().unwrap().get::<String>("region").unwrap(), "eu-west-1");
    let requests = server.requests_since(before);
    assert!(
        !requests.is_empty() && requests.iter().all(|request| request.header("range").is_some()),
        "{requests:?}"
    );
    let old = [Target::parse("terraform_data.old").unwrap()];
    state.change(|editor| Ok::<_, Error>(editor.remove(&old).unwrap())).unwrap();
    assert_eq!(state.resources().unwrap().len(), 1);
    assert_eq!(place.locks(), [""; 0]);
}
