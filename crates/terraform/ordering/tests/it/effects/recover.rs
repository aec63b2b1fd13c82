//! What is judged after a crash before and after each step of one operation.

use groundstate_ordering::effects::{Finding, Intent, Operation, apply, recover};
use groundstate_ordering::{ApplyKind, OpKind};

use super::{K, applying, create_then_delete, key, operation, show, state};

#[test]
fn every_row_of_the_crash_matrix() {
    let rows: &[(Operation, &str, Finding, &str)] = &[
        // operation, stored, finding, after the recovery
        (applying(ApplyKind::Create), "", Finding::UnknownCreate, ""),
        (applying(ApplyKind::Create), "k:a0", Finding::UnknownCreate, "k:a0"),
        (applying(ApplyKind::Create), "a1", Finding::Settled, "a1"),
        (applying(ApplyKind::ReplaceCreate), "", Finding::UnknownCreate, ""),
        (applying(ApplyKind::ForgetCreate), "", Finding::UnknownCreate, ""),
        // The intent was noted, and the old object not deposed yet; or it was restored, and the note not struck out.
        (create_then_delete(), "a1", Finding::UnknownCreate, "a1"),
        (create_then_delete(), "k:a1", Finding::UnknownCreate, "a1"),
        (create_then_delete(), "a2 k:a1", Finding::Settled, "a2 k:a1"),
        (create_then_delete(), "a2! k:a1", Finding::Settled, "a2! k:a1"),
        (create_then_delete(), "", Finding::UnknownCreate, ""),
        (applying(ApplyKind::Update), "a1", Finding::UnknownUpdate, "a1"),
        (operation(OpKind::Destroy), "a1", Finding::UnknownDestroy, "a1"),
        (operation(OpKind::Destroy), "", Finding::Settled, ""),
        (operation(OpKind::Destroy), "k:a0", Finding::Settled, "k:a0"),
        (operation(OpKind::DestroyDeposed(key(K))), "a1 k:a0", Finding::UnknownDestroy, "a1 k:a0"),
        (operation(OpKind::DestroyDeposed(key(K))), "a1", Finding::Settled, "a1"),
        (operation(OpKind::Forget), "a1", Finding::Repeat, "a1"),
        (operation(OpKind::Forget), "", Finding::Settled, ""),
        (operation(OpKind::ForgetDeposed(key(K))), "k:a0", Finding::Repeat, "k:a0"),
        (operation(OpKind::ForgetDeposed(key(K))), "a1", Finding::Settled, "a1"),
        (applying(ApplyKind::Read), "", Finding::Settled, ""),
        (applying(ApplyKind::Check), "a1", Finding::Settled, "a1"),
    ];
    for (operation, stored, finding, after) in rows {
        let mut state = state(stored);
        let intents = [Intent::of(operation)];
        let recovered = recover(&state, &intents);
        assert_eq!(recovered.len(), 1);
        assert_eq!(recovered[0].finding, *finding, "{:?} on {stored:?}", operation.kind);
        apply(&mut state, &recovered[0].intent.to_operation(), &recovered[0].mutations).unwrap();
        assert_eq!(show(&state), *after, "{:?} on {stored:?}", operation.kind);
        // A crash during the recovery does no harm, and what was to be reported is reported again.
        let again = recover(&state, &intents);
        assert_eq!(again[0].finding, *finding);
        assert!(again[0].mutations.is_empty(), "nothing is left to do: {:?}", again[0]);
    }
}

#[test]
fn reports_name_the_address_and_the_next_step() {
    for (operation, stored, words) in [
        (applying(ApplyKind::Create), "", &["vm.a", "example.org/acme/x", "import"][..]),
        (applying(ApplyKind::Update), "a1", &["vm.a", "refresh"]),
        (operation(OpKind::Destroy), "a1", &["vm.a", "refresh"]),
        (operation(OpKind::Forget), "a1", &["vm.a", "plan"]),
        (applying(ApplyKind::Read), "", &["vm.a"]),
    ] {
        let text = recover(&state(stored), &[Intent::of(&operation)])[0].to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
}
