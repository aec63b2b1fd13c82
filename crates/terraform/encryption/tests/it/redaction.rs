//! Nothing shows a secret.

use groundstate_encryption::{Key, Plaintext, Scope, Step, Value};

use crate::support::{Counting, STATE, chain, configuration, seal};

const TEXT: &str = r#"
    key_provider "pbkdf2" "main" { passphrase = "hunter2-hunter2-hunter2" }
    key_provider "openbao" "other" { token = "hunter2" }
    method "aes_gcm" "main" { keys = key_provider.pbkdf2.main }
    method "external" "program" {
      encrypt_command = ["hsm", "--pin=hunter2"]
      decrypt_command = ["hsm", "--pin=hunter2"]
    }
    state {
      method = method.aes_gcm.main
      fallback { method = method.external.program }
    }
"#;

#[test]
fn debug_texts_have_no_secrets() {
    let chain = chain(TEXT);
    let stored = seal(&chain, STATE);
    let mut opening = chain.opening(&stored).unwrap();
    let Step::Key(request) = opening.step().unwrap() else { panic!("a key is needed") };
    let key = request.derive(&Counting).unwrap().unwrap();
    let scope = Scope::new().variable("passphrase", Value::text("hunter2"));
    let shown = [
        format!("{:?}", configuration(TEXT)),
        format!("{chain:?} {opening:?} {request:?} {key:?} {scope:?}"),
        format!("{:?} {:?}", Key::new(b"hunter2".to_vec()), Plaintext::new(b"hunter2".to_vec())),
        format!("{:?}", Value::Map(vec![("a".to_owned(), Value::text("hunter2"))])),
    ];
    for text in shown {
        assert!(!text.contains("hunter2") && !text.contains("104, 117"), "{text}");
    }
    opening.provide(Ok(key));
    let Step::Done(opened) = opening.step().unwrap() else { panic!("the key is right") };
    assert!(!format!("{opened:?}").contains("lineage"));
}
