//! Secret values show nothing of themselves.

use groundstate_pulumi_secrets::{Ciphertext, Key, Passphrase, Plaintext, REDACTED, SecretsProviders};

use crate::support::{Replay, counting, key};

#[test]
fn no_debug_text_holds_a_secret() {
    assert_eq!(REDACTED, "[secret]");
    for (text, expected) in [
        (format!("{:?}", Plaintext::new("hunter2")), "Plaintext([secret])"),
        (format!("{:?}", Passphrase::new("hunter2")), "Passphrase([secret])"),
        (format!("{:?}", key()), "Key([secret])"),
        (format!("{:?}", Ciphertext::new("hunter2")), "Ciphertext(7 bytes)"),
        (
            format!("{:?}", SecretsProviders::new("passphrase", Some(r#"{"salt":"hunter2"}"#)).unwrap()),
            "SecretsProviders { kind: \"passphrase\", .. }",
        ),
    ] {
        assert_eq!(text, expected);
    }
}

#[test]
fn a_passphrase_in_a_file_has_no_white_space_around_it() {
    for (contents, expected) in [
        (&b" pass word\r\n"[..], &b"pass word"[..]),
        ("\u{a0}\u{2028}p\u{85}\t".as_bytes(), b"p"),
        (b"\x0b\x0c", b""),
        (b"", b""),
        // White space around bytes that are not UTF-8 is that of ASCII.
        (b"\t\xff \xfe\n", b"\xff \xfe"),
    ] {
        assert_eq!(Passphrase::from_file_contents(contents).expose(), expected, "{contents:?}");
    }
}

#[test]
fn keys_are_generated_from_the_given_randomness() {
    assert_eq!(Key::generate(&*Replay::of([&[7; 32]])).unwrap().expose(), &[7; 32]);
    assert_ne!(Key::generate(&*counting()).unwrap().expose(), &[0; 32]);
    let error = Key::generate(&*Replay::of([])).unwrap_err();
    assert_eq!(error.to_string(), "the random generator does not answer, so nothing can be encrypted");
}

#[cfg(feature = "os")]
#[test]
fn the_operating_system_gives_other_bytes_each_time() {
    let keys = [(); 2].map(|()| Key::generate(&groundstate_pulumi_secrets::OsEntropy).unwrap());
    assert_ne!(keys[0].expose(), keys[1].expose());
}
