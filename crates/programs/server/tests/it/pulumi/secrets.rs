//! Secrets of stacks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::calls::{PROJECT, STACK, Service, ask, error, gzip};

async fn encrypted(service: &Service, stack: &str, value: &str) -> String {
    let body = json!({"plaintext": STANDARD.encode(value)});
    let answer = service.post(&format!("{stack}/encrypt"), &body).await.is(200).json();
    answer["ciphertext"].as_str().unwrap().to_owned()
}

fn base64(value: &str) -> Value {
    STANDARD.encode(value).into()
}

#[tokio::test]
async fn a_value_is_decrypted_by_its_stack_and_by_no_other() {
    let service = Service::with_stack().await;
    let sealed = encrypted(&service, STACK, "hunter2").await;
    assert_ne!(sealed, encrypted(&service, STACK, "hunter2").await);
    let body = json!({"ciphertext": sealed});
    let answer = service.post(&format!("{STACK}/decrypt"), &body).await.is(200).json();
    assert_eq!(answer, json!({"plaintext": base64("hunter2")}));
    service.create("other").await;
    let other = format!("{PROJECT}/other");
    error(service.post(&format!("{other}/decrypt"), &body).await, 400);
    error(service.post(&format!("{other}/batch-decrypt"), &json!({"ciphertexts": [sealed]})).await, 400);
    let raw = STANDARD.decode(&sealed).unwrap();
    let mut changed = raw.clone();
    *changed.last_mut().unwrap() ^= 1;
    for wrong in [&raw[..raw.len() - 1], &raw[..1], &[], &changed] {
        let body = json!({"ciphertext": STANDARD.encode(wrong)});
        error(service.post(&format!("{STACK}/decrypt"), &body).await, 400);
    }
}

#[tokio::test]
async fn many_values_are_encrypted_in_order_and_decrypted_once_each() {
    let service = Service::with_stack().await;
    let values: Vec<String> = (0..300).map(|number| format!("value {}", number % 299)).collect();
    let plain: Vec<Value> = values.iter().map(|value| base64(value)).collect();
    let body = json!({"plaintexts": plain}).to_string();
    let url = format!("{STACK}/batch-encrypt");
    let packed = [("content-encoding", "gzip")];
    let answer = ask(&service.user, "POST", &url, &packed, gzip(body.as_bytes())).await.is(200).json();
    let mut sealed = answer["ciphertexts"].as_array().unwrap().clone();
    assert_eq!(sealed.len(), 300);
    sealed.push(sealed[7].clone());
    let url = format!("{STACK}/batch-decrypt");
    let opened = service.post(&url, &json!({"ciphertexts": sealed})).await.is(200).json();
    let opened = opened["plaintexts"].as_object().unwrap();
    assert_eq!(opened.len(), 300);
    for (sealed, plain) in sealed.iter().zip(&plain) {
        assert_eq!(&opened[sealed.as_str().unwrap()], plain);
    }
}

#[tokio::test]
async fn nothing_to_encrypt_is_an_empty_answer() {
    let service = Service::with_stack().await;
    for body in ["", "{}", r#"{"plaintexts":null}"#, r#"{"plaintexts":[]}"#] {
        let answer = ask(&service.user, "POST", &format!("{STACK}/batch-encrypt"), &[], body).await.is(200);
        assert_eq!(answer.json(), json!({"ciphertexts": []}), "{body}");
    }
    for body in ["", "{}", r#"{"ciphertexts":null}"#, r#"{"ciphertexts":[]}"#] {
        let answer = ask(&service.user, "POST", &format!("{STACK}/batch-decrypt"), &[], body).await.is(200);
        assert_eq!(answer.json(), json!({"plaintexts": {}}), "{body}");
    }
    let answer = service.post(&format!("{STACK}/encrypt"), &json!({"plaintext": null})).await.is(200).json();
    let opened = service.post(&format!("{STACK}/decrypt"), &answer).await.is(200).json();
    assert_eq!(opened["plaintext"], "");
}

#[tokio::test]
async fn a_value_that_is_no_base64_is_refused_and_not_repeated() {
    let service = Service::with_stack().await;
    for (path, member) in [("encrypt", "plaintext"), ("decrypt", "ciphertext")] {
        for value in [json!("hunter2 !"), json!(7), json!(["hunter2 !"])] {
            let message = error(service.post(&format!("{STACK}/{path}"), &json!({member: value})).await, 400);
            assert!(!message.contains("hunter2"), "{message}");
            let batch = json!({format!("{member}s"): [value]});
            let message = error(service.post(&format!("{STACK}/batch-{path}"), &batch).await, 400);
            assert!(!message.contains("hunter2"), "{message}");
        }
    }
}

#[tokio::test]
async fn secrets_outlive_a_rename_by_the_old_name_and_the_new_one() {
    let service = Service::with_stack().await;
    let sealed = encrypted(&service, STACK, "hunter2").await;
    service.post(&format!("{STACK}/rename"), &json!({"newName": "prod"})).await.is(204);
    for stack in [STACK.to_owned(), format!("{PROJECT}/prod")] {
        let answer = service.post(&format!("{stack}/decrypt"), &json!({"ciphertext": sealed})).await.is(200);
        assert_eq!(answer.json()["plaintext"], base64("hunter2"));
    }
    // Another stack of the old name has a key of its own, and versions of the first one name that name.
    service.create("dev").await;
    let second = encrypted(&service, STACK, "trout").await;
    for (sealed, text) in [(&sealed, "hunter2"), (&second, "trout")] {
        let answer = service.post(&format!("{STACK}/decrypt"), &json!({"ciphertext": sealed})).await.is(200);
        assert_eq!(answer.json()["plaintext"], base64(text));
    }
    let both = json!({"ciphertexts": [sealed, second]});
    let answer = service.post(&format!("{STACK}/batch-decrypt"), &both).await.is(200).json();
    assert_eq!(answer["plaintexts"].as_object().unwrap().len(), 2);
    // The new name does not open what the other stack has encrypted.
    error(service.post(&format!("{PROJECT}/prod/decrypt"), &json!({"ciphertext": second})).await, 400);
}

#[tokio::test]
async fn key_of_a_removed_stack_opens_states_that_name_it() {
    let service = Service::with_stack().await;
    let sealed = encrypted(&service, STACK, "hunter2").await;
    ask(&service.user, "DELETE", &format!("{STACK}?force=true"), &[], "").await.is(204);
    let answer = service.post(&format!("{STACK}/decrypt"), &json!({"ciphertext": sealed})).await.is(200);
    assert_eq!(answer.json()["plaintext"], base64("hunter2"));
    error(service.post(&format!("{STACK}/encrypt"), &json!({"plaintext": "eA=="})).await, 404);
    error(service.post(&format!("{PROJECT}/none/decrypt"), &json!({"ciphertext": sealed})).await, 404);
}

#[tokio::test]
async fn without_a_key_the_service_says_what_is_missing() {
    let service = Service::with(|parts| parts.secrets_key = None);
    service.create("dev").await;
    let message = error(service.post(&format!("{STACK}/encrypt"), &json!({"plaintext": "eA=="})).await, 400);
    assert!(message.contains("pulumi.secrets_key_file"), "{message}");
}

#[tokio::test]
async fn clients_may_tell_that_they_show_secrets() {
    let service = Service::with_stack().await;
    for (path, body) in [
        ("log-decryption", json!({"secretName": "password"})),
        ("log-batch-decryption", json!({"commandName": "pulumi config"})),
    ] {
        service.post(&format!("{STACK}/decrypt/{path}"), &body).await.is(204);
        error(service.post(&format!("{PROJECT}/none/decrypt/{path}"), &body).await, 404);
    }
}
