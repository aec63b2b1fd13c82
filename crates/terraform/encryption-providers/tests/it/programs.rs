//! Programs that give keys, encrypt, hang, and print what they should not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use groundstate_encryption_providers::common::OsEntropy;
use groundstate_encryption_providers::encryption::{Chain, EnvelopeLayout};
use groundstate_encryption_providers::{KeyRing, Programs};

use crate::support::{STATE, chain};

const HEADER: &str = r#"echo '{"magic":"OpenTofu-External-Key-Provider","version":1}'"#;

/// A key provider that keeps its input in a file, and gives the key that all its metadata lead to.
const PROVIDER: &str = r#"
input=$(cat)
echo "$input" >> asked
case "$input" in
  null) old='' ;;
  *) old=',"decryption_key":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="' ;;
esac
echo '{"keys":{"encryption_key":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="'"$old"'},"meta":{"external_data":{"id":"k1"}}}'
"#;

fn script(folder: &Path, text: &str) {
    let path = folder.join("provider.sh");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn by_program() -> Chain {
    chain(
        r#"
        key_provider "external" "k" { command = ["sh", "provider.sh"] }
        method "aes_gcm" "m" { keys = key_provider.external.k }
        state { method = method.aes_gcm.m }
        "#,
    )
}

fn ring(folder: &Path, timeout: Duration) -> KeyRing {
    let programs = Programs::new().folder(folder).timeout(timeout);
    KeyRing::new(Arc::new(OsEntropy)).programs(programs)
}

/// The whole text of an error and its causes.
async fn refusal(text: &str, timeout: Duration) -> String {
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), text);
    let ring = ring(folder.path(), timeout);
    let error = ring.seal(&by_program(), STATE, EnvelopeLayout::Compact).await.unwrap_err();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_program_gives_keys_for_null_and_for_what_it_stored() {
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), &format!("{HEADER}\n{PROVIDER}"));
    let chain = by_program();
    let sealed = ring(folder.path(), LONG).seal(&chain, STATE, EnvelopeLayout::Compact).await.unwrap();
    let opened = ring(folder.path(), LONG).open(&chain, &sealed).await.unwrap();
    assert_eq!(opened.plaintext.expose(), STATE);
    let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
    assert_eq!(asked, "null\n{\"external_data\":{\"id\":\"k1\"}}\n");
}

#[tokio::test]
async fn a_program_that_hangs_is_killed() {
    let started = Instant::now();
    let text = refusal(&format!("{HEADER}\nexec sleep 600"), Duration::from_millis(300)).await;
    assert!(text.contains("the program `sh` did not end within 0.3 seconds, and was killed"), "{text}");
    assert!(started.elapsed() < Duration::from_secs(120));
}

#[tokio::test]
async fn a_program_that_breaks_the_protocol_is_ended_at_its_first_line() {
    let text = refusal("echo hello; exec sleep 600", LONG).await;
    assert!(text.contains("the program `sh` breaks the protocol: the first line is not a header"), "{text}");
    let text = refusal(&format!("{HEADER}\necho nonsense"), LONG).await;
    assert!(text.contains("breaks the protocol: the output is not JSON"), "{text}");
    let text = refusal("yes", LONG).await;
    assert!(text.contains("breaks the protocol"), "{text}");
    let text = refusal(&format!("{HEADER}\nyes"), LONG).await;
    assert!(text.contains("printed more than 1048576 bytes, and was killed"), "{text}");
}

#[tokio::test]
async fn a_program_that_fails_is_shown_with_what_it_says_and_without_control_characters() {
    let text = refusal(&format!("{HEADER}\nprintf 'no \\033[31mcard\\n' >&2\nexit 3"), LONG).await;
    assert!(text.contains("the program `sh` failed (exit status: 3): no "), "{text}");
    assert!(text.contains("card") && !text.contains('\u{1b}'), "{text}");
    let chain = chain(
        r#"
        key_provider "external" "k" { command = ["/nowhere/at-all"] }
        method "aes_gcm" "m" { keys = key_provider.external.k }
        state { method = method.aes_gcm.m }
        "#,
    );
    let ring = KeyRing::new(Arc::new(OsEntropy)).programs(Programs::new());
    let error = ring.seal(&chain, STATE, EnvelopeLayout::Compact).await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("the program `/nowhere/at-all` cannot be run"), "{cause}");
}

#[tokio::test]
async fn no_program_runs_unless_it_is_allowed() {
    let ring = KeyRing::new(Arc::new(OsEntropy));
    let error = ring.seal(&by_program(), STATE, EnvelopeLayout::Compact).await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "programs that a configuration names are not run here");
}

#[tokio::test]
async fn a_program_encrypts_a_state_that_is_larger_than_any_pipe() {
    let folder = tempfile::tempdir().unwrap();
    // Reads everything, and gives the payload back: what a program does with it is its own business.
    let text = r#"
echo '{"magic":"OpenTofu-External-Encryption-Method","version":1}'
sed -e 's/.*"payload":"\([^"]*\)".*/{"payload":"\1"}/'
"#;
    script(folder.path(), text);
    let chain = chain(
        r#"
        method "external" "m" {
          encrypt_command = ["sh", "provider.sh"]
          decrypt_command = ["sh", "provider.sh"]
        }
        state { method = method.external.m }
        "#,
    );
    let mut state = STATE.to_vec();
    state.extend_from_slice(&[b' '; 1 << 20]);
    let ring = ring(folder.path(), LONG);
    let sealed = ring.seal(&chain, &state, EnvelopeLayout::Compact).await.unwrap();
    let opened = ring.open(&chain, &sealed).await.unwrap();
    assert_eq!(opened.plaintext.expose(), state);
}
