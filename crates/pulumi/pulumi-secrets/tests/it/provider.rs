//! Managers by type.

use std::sync::Arc;

use groundstate_pulumi_secrets::passphrase::GivenPassphrase;
use groundstate_pulumi_secrets::{
    Base64Provider, BlindingProvider, CachePolicy, Ciphertext, DefaultProvider, Manager, Plaintext, Provider,
    ProviderError, SecretId, SecretsProviders,
};

use crate::support::{Typing, counting};

const SALT: &str = "v1:fozI5u6B030=:v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==";

fn parse(text: &str) -> SecretsProviders {
    SecretsProviders::parse(text).unwrap()
}

fn passphrase() -> SecretsProviders {
    parse(&format!(r#"{{"type":"passphrase","state":{{"salt":"{SALT}"}}}}"#))
}

fn typing<const N: usize>(answers: [&'static str; N]) -> (Arc<Typing>, DefaultProvider) {
    let source = Typing::new(answers);
    let provider = DefaultProvider::new(Arc::<Typing>::clone(&source), counting());
    (source, provider)
}

#[test]
fn types_of_key_services_are_refused_by_name_and_their_state_is_kept() {
    let (_, provider) = typing([]);
    for (kind, state) in [
        ("cloud", r#"{"url":"awskms://alias/x?region=eu","encryptedkey":"AAAA"}"#),
        ("service", r#"{"url":"https://api.example","owner":"o","project":"p","stack":"s"}"#),
    ] {
        let text = format!(r#"{{"type":"{kind}","state":{state}}}"#);
        let providers = parse(&text);
        let error = provider.of_type(&providers).unwrap_err();
        assert!(matches!(error, ProviderError::NotSupportedYet { .. }), "{error:?}");
        let start = format!("constructing secrets manager of type \"{kind}\": its key is not at hand");
        assert!(error.to_string().starts_with(&start), "{error}");
        assert_eq!(providers.as_json(), text);
    }
}

#[test]
fn unknown_types_are_refused_with_those_that_are_known() {
    let (_, provider) = typing([]);
    for kind in ["b64", "", "Passphrase", "x\\ny"] {
        let error = provider.of_type(&parse(&format!(r#"{{"type":"{kind}"}}"#))).unwrap_err().to_string();
        let expected = format!(
            "no known secrets provider for type \"{kind}\"; known ones are passphrase, cloud, service"
        );
        assert_eq!(error, expected);
    }
}

#[test]
fn a_salt_is_asked_for_once_also_by_the_provider_of_another_stack() {
    let (source, provider) = typing(["password"]);
    let named = provider.for_stack("dev");
    for provider in [&named, &provider, &named] {
        assert_eq!(provider.of_type(&passphrase()).unwrap().lock_reason(), None);
    }
    let heard = source.heard.lock().unwrap();
    assert_eq!(heard.len(), 1);
    assert!(
        heard[0].starts_with("Enter your passphrase to unlock config/secrets for stack dev\n"),
        "{heard:?}"
    );
}

#[test]
fn a_wrong_passphrase_is_not_remembered() {
    let wrong = DefaultProvider::new(Arc::new(GivenPassphrase::new().with_variable(Some("no"))), counting());
    for _ in 0..2 {
        assert!(wrong.of_type(&passphrase()).unwrap().lock_reason().is_some());
    }
}

#[test]
fn other_types_can_be_added_also_in_the_place_of_those_that_are_not_supported_yet() {
    #[derive(Debug)]
    struct Fake;
    impl Provider for Fake {
        fn of_type(&self, providers: &SecretsProviders) -> Result<Manager, ProviderError> {
            match providers.state() {
                Some(_) => BlindingProvider.of_type(providers),
                None => Err(ProviderError::construct(providers.kind(), "the key service is away")),
            }
        }
    }
    let (_, provider) = typing([]);
    let provider =
        provider.with_provider("cloud", Arc::new(Fake)).with_provider("b64", Arc::new(Base64Provider));
    assert!(provider.of_type(&parse(r#"{"type":"cloud","state":{}}"#)).is_ok());
    assert!(provider.of_type(&parse(r#"{"type":"b64"}"#)).is_ok());
    let error = provider.of_type(&parse(r#"{"type":"cloud"}"#)).unwrap_err();
    assert_eq!(
        crate::support::chain(&error),
        "constructing secrets manager of type \"cloud\": the key service is away"
    );
    let error = provider.of_type(&parse(r#"{"type":"x"}"#)).unwrap_err();
    assert!(error.to_string().ends_with("known ones are passphrase, cloud, service, b64"), "{error}");
}

#[test]
fn the_policy_of_the_provider_is_that_of_its_managers() {
    let (_, provider) = typing([]);
    let provider =
        provider.with_provider("b64", Arc::new(Base64Provider)).with_cache_policy(CachePolicy::Off);
    assert!(format!("{:?}", provider.of_type(&parse(r#"{"type":"b64"}"#)).unwrap()).contains("policy: Off"));
}

#[test]
fn the_blinding_provider_opens_everything_and_shows_nothing() {
    for text in [r#"{"type":"cloud","state":{}}"#, r#"{"type":"later"}"#] {
        let manager = BlindingProvider.of_type(&parse(text)).unwrap();
        let mut batch = manager.begin_decrypt();
        batch.enqueue(Some(&SecretId::new()), Ciphertext::new("v1:x:y"), ()).unwrap();
        assert_eq!(batch.complete().unwrap(), [((), Plaintext::new("\"[secret]\""))]);
    }
}

#[test]
fn the_provider_for_tests_opens_states_that_are_empty_or_null() {
    for text in [r#"{"type":"b64","state":{}}"#, r#"{"type":"b64","state":null}"#, r#"{"type":"b64"}"#] {
        let manager = Base64Provider.of_type(&parse(text)).unwrap();
        assert_eq!(manager.decrypter().decrypt(&Ciphertext::new("YQ==")).unwrap().expose(), "a");
        assert_eq!(manager.providers().as_json(), text);
    }
    assert_eq!(Manager::base64().providers().as_json(), r#"{"type":"b64","state":{}}"#);
    assert!(Base64Provider.of_type(&passphrase()).is_err());
}
