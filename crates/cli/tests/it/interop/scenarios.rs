//! What has to hold in every back end alike.

use super::place::Place;
use super::workdir::Workdir;

/// Makes a test of each scenario for each place, skipped where the place is not to be had.
macro_rules! scenarios {
    ($($scenario:ident)*) => {
        $(
            mod $scenario {
                scenarios!(@ $scenario: local s3_lockfile s3_dynamodb s3_both gcs);
            }
        )*
    };
    (@ $scenario:ident: $($place:ident)*) => {
        $(
            #[test]
            fn $place() {
                if let Some(place) = super::Place::$place() {
                    super::$scenario(&place);
                }
            }
        )*
    };
}

scenarios! {
    terraform_excludes_terraform
}

/// The server itself is good for the other scenarios: its conditions are kept.
fn terraform_excludes_terraform(place: &Place) {
    let first = Workdir::applied(place);
    // Files are only shared by those who work in the same directory.
    let second = (place.kind != "local").then(|| Workdir::new(place));
    let held = first.terraform_holds();
    let refused = second.as_ref().unwrap_or(&first).terraform(&["plan", "-no-color"]).fails();
    assert!(refused.contains("Error acquiring the state lock"), "{refused}");
    assert!(refused.contains("OperationTypeApply"), "{refused}");
    let locks = place.locks();
    assert_eq!(locks.len(), place.expected_locks());
    assert!(locks.iter().all(|lock| lock["Operation"] == "OperationTypeApply"), "{locks:?}");
    held.release().succeeds();
    assert_eq!(place.locks().len(), 0);
    first.plan_is_clean();
    let seen = second.as_ref().unwrap_or(&first).terraform(&["state", "list"]).succeeds();
    assert!(seen.lines().any(|address| address == "terraform_data.hold"), "{seen}");
}
