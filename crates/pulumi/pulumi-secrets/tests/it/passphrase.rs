//! Passphrases: where they come from, what they open, and what happens when they are wrong.

use std::sync::Arc;

use groundstate_pulumi_secrets::passphrase::{
    GivenPassphrase, PassphraseRequest, PassphraseSource, PassphraseSourceError, Purpose, Salt, SaltError,
    UnlockError, create, create_from_source, open, unlock,
};
use groundstate_pulumi_secrets::{CryptError, Passphrase, Plaintext, SecretsProviders};

use crate::support::{Replay, Typing, chain, counting};

const SALT: &str = "v1:fozI5u6B030=:v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==";
const PROMPT: &str = "Enter your passphrase to unlock config/secrets\n    \
    (set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to remember)";

fn given(passphrase: &str) -> GivenPassphrase {
    GivenPassphrase::new().with_variable(Some(passphrase))
}

fn providers(salt: &str) -> SecretsProviders {
    SecretsProviders::parse(&format!(
        r#"{{ "type":"passphrase", "state":{{ "salt": "{salt}", "later":[1] }} }}"#
    ))
    .unwrap()
}

fn request(purpose: Purpose) -> PassphraseRequest<'static> {
    PassphraseRequest::new(purpose, None)
}

#[test]
fn a_salt_of_pulumi_opens_with_its_passphrase_only() {
    let salt = Salt::parse(SALT).unwrap();
    assert_eq!(salt.as_str(), SALT);
    assert!(salt.unlock(&Passphrase::new("password"), counting()).is_ok());
    let error = salt.unlock(&Passphrase::new("password123"), counting()).unwrap_err();
    assert_eq!(error.to_string(), "incorrect passphrase");
    assert!(error.is_locked());
}

#[test]
fn a_locked_manager_keeps_its_state() {
    let providers = providers(SALT);
    let manager = open(&providers, &given("wrong"), None, counting()).unwrap();
    assert!(manager.lock_reason().unwrap().starts_with("incorrect passphrase, please set"));
    assert_eq!(manager.providers().as_json(), providers.as_json());
    assert!(manager.is_compatible(&open(&providers, &given("password"), None, counting()).unwrap()));
}

#[test]
fn a_locked_manager_refuses_to_encrypt() {
    let manager = open(&providers(SALT), &given("wrong"), None, counting()).unwrap();
    let error = manager.encrypter().encrypt(&Plaintext::new("x")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to encrypt: incorrect passphrase, please set PULUMI_CONFIG_PASSPHRASE to the correct passphrase or set \
         PULUMI_CONFIG_PASSPHRASE_FILE to a file containing the passphrase"
    );
}

#[test]
fn a_damaged_check_locks_the_manager_and_says_that_no_passphrase_fits() {
    let source = Typing::new(["password", "never asked for"]);
    let manager = open(&providers("v1:fozI5u6B030=:v1:AAAA"), &source, None, counting()).unwrap();
    assert!(manager.lock_reason().unwrap().contains("none can be right"), "{:?}", manager.lock_reason());
    assert_eq!(source.heard.lock().unwrap().len(), 1);

    let damaged = Salt::parse("v1:fozI5u6B030=:").unwrap();
    let error = damaged.unlock(&Passphrase::new("password"), counting()).unwrap_err();
    assert!(matches!(error, SaltError::Damaged(CryptError::Parts { found: 1 })), "{error:?}");
}

#[test]
fn an_empty_variable_is_an_empty_passphrase() {
    let source = given("").with_file(|| Err("must not be read".into()));
    let answer = source.passphrase(&request(Purpose::Unlock)).unwrap();
    assert!(answer.passphrase.expose().is_empty() && !answer.interactive);
}

#[test]
fn passphrases_come_from_the_variable_the_file_and_a_question_in_this_order() {
    let file = || GivenPassphrase::new().with_file(|| Ok(b" from file\n".to_vec()));
    let typing = || Typing::new(["typed"]);
    for (source, expected, interactive) in [
        (file().with_variable(Some("variable")).with_prompt(typing()), &b"variable"[..], false),
        (file().with_variable(None::<&str>).with_prompt(typing()), b"from file", false),
        (GivenPassphrase::new().with_prompt(typing()), b"typed", true),
    ] {
        let answer = source.passphrase(&request(Purpose::Unlock)).unwrap();
        assert_eq!((answer.passphrase.expose(), answer.interactive), (expected, interactive), "{source:?}");
    }
}

#[test]
fn a_passphrase_that_is_not_there_is_an_error_that_says_where_to_put_it() {
    for (source, expected) in [
        (
            GivenPassphrase::new(),
            "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment \
             variables",
        ),
        (
            GivenPassphrase::new().with_file(|| Err("no such file".into())),
            "unable to read PULUMI_CONFIG_PASSPHRASE_FILE: no such file",
        ),
    ] {
        assert_eq!(chain(&source.passphrase(&request(Purpose::Unlock)).unwrap_err()), expected);
        let error = open(&providers(SALT), &source, None, counting()).unwrap_err();
        assert_eq!(chain(&error), format!("constructing secrets manager: {expected}"));
    }
}

#[test]
fn the_old_passphrase_of_the_environment_does_not_count_for_a_new_one() {
    let error = given("old").passphrase(&request(Purpose::Rotate)).unwrap_err();
    assert!(matches!(error, PassphraseSourceError::Unset));
    let source = given("old").with_prompt(Typing::new(["new"]));
    assert_eq!(source.passphrase(&request(Purpose::Rotate)).unwrap().passphrase.expose(), b"new");
}

#[test]
fn a_prompt_repeats_until_the_passphrase_is_right() {
    let source = Typing::new(["wrong", "password"]);
    let manager = open(&providers(SALT), &source, Some("dev"), counting()).unwrap();
    assert_eq!(manager.lock_reason(), None);
    let prompt = PROMPT.replace("secrets\n", "secrets for stack dev\n");
    assert_eq!(*source.heard.lock().unwrap(), [&*prompt, "incorrect passphrase", &prompt]);

    let error = open(&providers(SALT), &Typing::new(["wrong"]), None, counting()).unwrap_err();
    assert_eq!(chain(&error), "constructing secrets manager: the passphrase cannot be asked for: gave up");
}

#[test]
fn a_wrong_passphrase_is_an_error_for_the_configuration_of_a_stack() {
    let salt = Salt::parse(SALT).unwrap();
    let error = unlock(&salt, &given("wrong"), None, counting()).unwrap_err();
    assert!(matches!(error, UnlockError::Salt(SaltError::Incorrect)), "{error:?}");
}

#[test]
fn a_new_passphrase_is_typed_twice() {
    let source = Typing::new(["one", "two", "three", "three"]);
    let (salt, manager) = create_from_source(Purpose::Protect, &source, counting()).unwrap();
    assert_eq!(manager.lock_reason(), None);
    assert!(salt.unlock(&Passphrase::new("three"), counting()).is_ok());
    let (enter, again) =
        ("Enter your passphrase to protect config/secrets", "Re-enter your passphrase to confirm");
    assert_eq!(*source.heard.lock().unwrap(), [enter, again, "passphrases do not match", enter, again]);
}

#[test]
fn a_new_passphrase_of_the_environment_is_taken_at_once() {
    let (_, manager) = create_from_source(Purpose::Protect, &given("p"), counting()).unwrap();
    let reopened = open(manager.providers(), &given("p"), None, counting()).unwrap();
    let ciphertext = manager.encrypter().encrypt(&Plaintext::new("x")).unwrap();
    assert_eq!(reopened.decrypter().decrypt(&ciphertext).unwrap().expose(), "x");
}

#[test]
fn a_new_passphrase_needs_randomness() {
    let error = create(&Passphrase::new("p"), Replay::of([])).unwrap_err();
    assert!(matches!(error, CryptError::Entropy(_)), "{error:?}");
}

#[test]
fn questions_are_those_of_the_original() {
    for (purpose, confirm, expected) in [
        (Purpose::Unlock, false, PROMPT),
        (Purpose::Protect, false, "Enter your passphrase to protect config/secrets"),
        (Purpose::Protect, true, "Re-enter your passphrase to confirm"),
        (Purpose::Rotate, false, "Enter your new passphrase to protect config/secrets"),
        (Purpose::Rotate, true, "Re-enter your new passphrase to confirm"),
    ] {
        let mut request = request(purpose);
        request.confirm = confirm;
        assert_eq!(request.prompt(), expected);
        assert_eq!(request.complaint(), None);
    }
}

#[test]
fn sources_show_no_passphrase() {
    let source = given("hunter2").with_file(|| Ok(Vec::new())).with_prompt(given("hunter2"));
    assert!(!format!("{source:?}").contains("hunter2"));
}

#[test]
fn salts_and_managers_are_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&Salt::parse(SALT).unwrap());
    shared(&Arc::new(open(&providers(SALT), &given("x"), None, counting()).unwrap()));
}
