//! Whether a state may take the place of another, and with which bytes.

use std::borrow::Cow;

use crate::input::head::{Head, with_serial};

/// What to do with a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision<'s> {
    /// It is there already.
    Present,
    /// These bytes are to be stored.
    Copy(Cow<'s, [u8]>),
    /// Something would be lost; force gets past this.
    Refuse(String),
}

/// Decides about a state and what is stored where it is to go.
///
/// Bytes are copied as they are, unless what is overwritten has a serial that is not lower: others have seen that one.
pub(super) fn decide<'s>(source: &'s [u8], destination: Option<&[u8]>, force: bool) -> Decision<'s> {
    let Some(destination) = destination else {
        return match Head::read(source) {
            None if !force => Decision::Refuse("it is damaged: it is no JSON object".to_owned()),
            _ => Decision::Copy(source.into()),
        };
    };
    if source == destination {
        return Decision::Present;
    }
    let (new, old) = (Head::read(source), Head::read(destination));
    // Damaged ones too: force does not put plain text in the place of what is encrypted.
    let is_encrypted = |head: &Option<Head>, text: &[u8]| match head {
        Some(head) => head.is_encrypted,
        None => Head::of_damaged(text).is_encrypted,
    };
    if is_encrypted(&old, destination) && !is_encrypted(&new, source) {
        return Decision::Refuse("an encrypted state is stored there, and this one is plain text".to_owned());
    }
    match (new, old) {
        (Some(new), Some(old)) => {
            // A forced copy got a higher serial; nothing else may differ.
            if old.serial > new.serial
                && with_serial(source, old.serial).is_some_and(|copy| copy == destination)
            {
                return Decision::Present;
            }
            match obstacle(&new, &old) {
                Some(why) if !force => Decision::Refuse(why),
                _ => Decision::Copy(above(source, &new, &old)),
            }
        }
        (None, _) if !force => Decision::Refuse("it is damaged: it is no JSON object".to_owned()),
        (_, None) if !force => Decision::Refuse("what is stored there cannot be read".to_owned()),
        _ => Decision::Copy(source.into()),
    }
}

/// What speaks against it: the rules of Terraform's migrations.
fn obstacle(new: &Head, old: &Head) -> Option<String> {
    if old.is_empty {
        return None;
    }
    if !new.lineage.is_empty() && !old.lineage.is_empty() && new.lineage != old.lineage {
        return Some("a state of another lineage is stored there".to_owned());
    }
    match new.serial.cmp(&old.serial) {
        std::cmp::Ordering::Greater => None,
        std::cmp::Ordering::Equal => {
            Some(format!("another state of the same serial {} is stored there", old.serial))
        }
        std::cmp::Ordering::Less => Some(format!(
            "a newer state is stored there: serial {}, and this one has {}",
            old.serial, new.serial
        )),
    }
}

/// The state under a serial above that of what it replaces.
fn above<'s>(source: &'s [u8], new: &Head, old: &Head) -> Cow<'s, [u8]> {
    if new.serial > old.serial {
        return source.into();
    }
    // An encrypted state stays as it is: its readers check its serial.
    let higher = old.serial.checked_add(1).and_then(|serial| with_serial(source, serial));
    higher.map_or(Cow::Borrowed(source), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::{Decision, decide};

    fn state(serial: u64, lineage: &str, resources: &str) -> Vec<u8> {
        format!(
            "{{\"version\": 4, \"serial\": {serial}, \"lineage\": \"{lineage}\", \"outputs\": {{}}, \
             \"resources\": [{resources}]}}\n"
        )
        .into_bytes()
    }

    const A: &str = r#"{"mode": "managed", "type": "t", "name": "a", "provider": "provider[\"x/y/z\"]", "instances": []}"#;
    const B: &str = r#"{"mode": "managed", "type": "t", "name": "b", "provider": "provider[\"x/y/z\"]", "instances": []}"#;

    #[track_caller]
    fn copies(source: &[u8], destination: Option<&[u8]>, force: bool, expected: &[u8]) {
        match decide(source, destination, force) {
            Decision::Copy(bytes) => {
                assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(expected));
            }
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn refuses(source: &[u8], destination: Option<&[u8]>, expected: &str) {
        match decide(source, destination, false) {
            Decision::Refuse(why) => assert!(why.contains(expected), "{why}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_goes_to_an_empty_place_or_replaces_something_older_keeps_every_byte() {
        let source = state(4, "l", A);
        copies(&source, None, false, &source);
        copies(&source, Some(&state(3, "l", B)), false, &source);
        copies(&source, Some(&state(3, "other", "")), false, &source);
        let encrypted = br#"{"serial": 3, "lineage": "l", "meta": {}, "encrypted_data": "abc", "encryption_version": "v0"}"#;
        copies(encrypted, None, false, encrypted);
    }

    #[test]
    fn force_puts_nothing_damaged_in_the_place_of_an_encrypted_state() {
        let whole = br#"{"serial": 3, "lineage": "l", "encrypted_data": "abc", "encryption_version": "v0"}"#;
        for encrypted in [&whole[..], &whole[..60]] {
            for source in [&b"{ damaged"[..], b"", &state(4, "l", A)] {
                let decision = decide(source, Some(encrypted), true);
                assert!(
                    matches!(&decision, Decision::Refuse(why) if why.contains("encrypted")),
                    "{decision:?}"
                );
            }
        }
        // One damaged envelope shows no more than another.
        copies(&whole[..60], Some(whole), true, &whole[..60]);
    }

    #[test]
    fn what_is_there_already_is_left_alone() {
        let source = state(4, "l", A);
        assert_eq!(decide(&source, Some(&source), false), Decision::Present);
        // A forced copy under a higher serial, which a second run finds; a lower one is just older.
        copies(&source, Some(&state(3, "l", A)), false, &source);
        assert_eq!(decide(&source, Some(&state(10, "l", A)), true), Decision::Present);
    }

    #[test]
    fn what_would_be_lost_needs_force_and_gets_a_higher_serial() {
        let source = state(4, "l", A);
        refuses(&source, Some(&state(4, "l", B)), "the same serial 4");
        refuses(&source, Some(&state(9, "l", B)), "a newer state");
        refuses(&source, Some(&state(1, "other", B)), "another lineage");
        refuses(&source, Some(b"{"), "cannot be read");
        let encrypted = br#"{"serial": 3, "lineage": "l", "meta": {}, "encrypted_data": "abc", "encryption_version": "v0"}"#;
        refuses(&source, Some(encrypted), "an encrypted state is stored there");
        assert!(matches!(decide(&source, Some(encrypted), true), Decision::Refuse(_)));
        refuses(b"{", None, "damaged");
        refuses(b"{", Some(&source), "damaged");
        copies(&source, Some(&state(4, "l", B)), true, &state(5, "l", A));
        copies(&source, Some(&state(9, "other", B)), true, &state(10, "l", A));
        copies(&source, Some(b"{"), true, &source);
        // An empty state holds nothing to lose, but its serial has been seen.
        copies(&source, Some(&state(7, "other", "")), false, &state(8, "l", A));
    }
}
