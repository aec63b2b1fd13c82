//! Data keys of stacks that the real pulumi shares: by AWS KMS in moto, and by a transit engine in a real OpenBao.

use std::collections::HashMap;
use std::sync::Arc;

use groundstate_common::{FixedClock, OsEntropy, OsIds, Timestamp};
use groundstate_pulumi_backends::key_services::{self, ErrorKind, KeyContext};
use groundstate_pulumi_backends::pulumi_secrets::cloud::CloudState;
use groundstate_pulumi_backends::pulumi_secrets::{Ciphertext, Plaintext, SecretsProviders};
use groundstate_pulumi_backends::{CloudSecrets, CloudSecretsError, StackConfig, StackKey};
use groundstate_testkit::{
    Answer, Fault, FaultProxy, PulumiPlace, PulumiProject, new_kms_key, new_transit_key, pulumi_takes_part,
    server_of_peer,
};
use serde_json::Value;

const PROGRAM: &str = "outputs:\n  y: { \"fn::secret\": \"swordfish<&>\" }\n";

/// A key service, the URL of a key there, and the variables by which it is found.
struct Place {
    proxy: FaultProxy,
    url: String,
    variables: Vec<(&'static str, String)>,
}

fn context() -> KeyContext {
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    let sleeper = Arc::<FixedClock>::clone(&clock);
    KeyContext::new(clock, sleeper, Arc::new(OsIds), Arc::new(OsEntropy))
}

impl Place {
    /// A new key in moto.
    fn aws() -> Option<Self> {
        let proxy = FaultProxy::in_front_of(&server_of_peer("moto", "GROUNDSTATE_KMS_ENDPOINT")?);
        let endpoint = proxy.endpoint();
        let id = new_kms_key(&proxy.address().to_string());
        let url = format!("awskms://{id}?context_team=a%26b&region=us-east-1");
        let variables = [
            ("AWS_ACCESS_KEY_ID", "a"),
            ("AWS_SECRET_ACCESS_KEY", "b"),
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("AWS_ENDPOINT_URL_KMS", &endpoint),
        ];
        let variables = variables.map(|(name, value)| (name, value.to_owned())).to_vec();
        Some(Self { proxy, url, variables })
    }

    /// A new key in a mount of its own.
    fn openbao() -> Option<Self> {
        let proxy = FaultProxy::in_front_of(&server_of_peer("openbao", "GROUNDSTATE_OPENBAO")?);
        let mount = new_transit_key(&proxy.address().to_string(), "stacks");
        let variables = vec![("VAULT_ADDR", proxy.endpoint()), ("VAULT_TOKEN", "groundstate".to_owned())];
        Some(Self { url: format!("hashivault://stacks?engine={mount}"), proxy, variables })
    }

    fn secrets(&self) -> CloudSecrets {
        let variables: HashMap<String, String> =
            self.variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        CloudSecrets::new(context(), move |name| variables.get(name).cloned())
    }

    fn unwraps(&self) -> usize {
        let is_unwrap = |request: &groundstate_testkit::Recorded| {
            request.path.contains("/decrypt/")
                || request.header("x-amz-target") == Some("TrentService.Decrypt")
        };
        self.proxy.requests().iter().filter(|request| is_unwrap(request)).count()
    }
}

/// The first ciphertext in a deployment.
fn ciphertext(value: &mut Value) -> Option<&mut Value> {
    match value {
        Value::Object(members) => members.iter_mut().find_map(|(name, value)| match name.as_str() {
            "ciphertext" => Some(value),
            _ => ciphertext(value),
        }),
        Value::Array(items) => items.iter_mut().find_map(ciphertext),
        _ => None,
    }
}

async fn both_open_what_the_other_has_sealed(place: &Place) {
    let folder = tempfile::tempdir().unwrap();
    let mut project = PulumiProject::new(&PulumiPlace::folder(folder.path()));
    place.variables.iter().for_each(|(name, value)| project.set(name, value));
    project.program(PROGRAM);
    project.pulumi(&["stack", "init", "dev", "--secrets-provider", &place.url]).succeeds();
    project.up("dev");
    let mut export = project.exported("dev");
    let providers = SecretsProviders::parse(&export["deployment"]["secrets_providers"].to_string()).unwrap();
    let secrets = place.secrets();
    place.proxy.clear_requests();
    let manager = secrets.open(&providers).await.unwrap();
    let sealed = ciphertext(&mut export["deployment"]).unwrap();
    let plain = manager.decrypter().decrypt(&Ciphertext::new(sealed.as_str().unwrap())).unwrap();
    assert_eq!(plain.expose(), "\"swordfish\\u003c\\u0026\\u003e\"");
    secrets.open(&providers).await.unwrap();
    assert_eq!(place.unwraps(), 1, "a data key is unwrapped once");

    // What we seal pulumi opens: under its data key in the state, and under one of ours in the configuration.
    let changed = manager.encrypter().encrypt(&Plaintext::new("\"trout\"")).unwrap();
    *sealed = changed.as_str().into();
    project.write("stack.json", &export.to_string());
    project.pulumi(&["stack", "import", "--stack", "dev", "--file", "stack.json"]).succeeds();
    let shown = project.pulumi(&["stack", "output", "y", "--show-secrets", "--stack", "dev"]).succeeds();
    assert_eq!(shown.trim(), "trout");
    let (state, manager, notes) = secrets.create(&place.url).await.unwrap();
    assert_eq!((state.url(), notes), (place.url.as_str(), Vec::new()));
    let sealed = manager.encrypter().encrypt(&Plaintext::new("perch")).unwrap();
    let configuration = format!(
        "secretsprovider: {}\nencryptedkey: {}\nconfig:\n  shop:fish:\n    secure: {}\n",
        place.url,
        state.encrypted_key_text(),
        sealed.as_str()
    );
    project.write("Pulumi.dev.yaml", &configuration);
    assert_eq!(project.pulumi(&["config", "get", "fish", "--stack", "dev"]).succeeds().trim(), "perch");
}

#[tokio::test]
async fn data_keys_of_aws_are_shared_with_pulumi() {
    let Some(place) = Place::aws() else { return };
    if pulumi_takes_part() {
        both_open_what_the_other_has_sealed(&place).await;
    }
}

#[tokio::test]
async fn data_keys_of_transit_engines_are_shared_with_pulumi() {
    let Some(place) = Place::openbao() else { return };
    if pulumi_takes_part() {
        both_open_what_the_other_has_sealed(&place).await;
    }
}

/// The configuration of a stack gets another key and all values encrypted anew, and pulumi goes on.
#[tokio::test]
async fn pulumi_reads_a_configuration_whose_key_was_changed() {
    let (Some(aws), Some(openbao)) = (Place::aws(), Place::openbao()) else { return };
    if !pulumi_takes_part() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut project = PulumiProject::new(&PulumiPlace::folder(folder.path()));
    aws.variables.iter().chain(&openbao.variables).for_each(|(name, value)| project.set(name, value));
    project.program("");
    project.pulumi(&["stack", "init", "dev", "--secrets-provider", &aws.url]).succeeds();
    project.pulumi(&["config", "set", "fish", "perch", "--secret", "--stack", "dev"]).succeeds();
    project
        .pulumi(&["config", "set", "--path", "all[0].name", "trout", "--secret", "--stack", "dev"])
        .succeeds();
    project.pulumi(&["config", "set", "plain", "carp # fish", "--stack", "dev"]).succeeds();
    let path = project.path().join("Pulumi.dev.yaml");
    let mut places = [&aws, &openbao];
    for _ in 0..2 {
        let [from, to] = places;
        let config = StackConfig::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!((config.secrets_provider(), config.ciphertexts().count()), (Some(from.url.as_str()), 2));
        let state = CloudState::of_texts(&from.url, config.encrypted_key().unwrap()).unwrap();
        let old = from.secrets().open(&state.providers()).await.unwrap();
        let (state, new, _) = to.secrets().create(&to.url).await.unwrap();
        std::fs::write(&path, config.changed(StackKey::Cloud(&state), &old, &new).unwrap()).unwrap();
        for (arguments, value) in [
            (&["config", "get", "fish", "--stack", "dev"][..], "perch"),
            (&["config", "get", "--path", "all[0].name", "--stack", "dev"], "trout"),
            (&["config", "get", "plain", "--stack", "dev"], "carp # fish"),
        ] {
            assert_eq!(project.pulumi(arguments).succeeds().trim(), value, "{}", to.url);
        }
        places.reverse();
    }
}

#[tokio::test]
async fn refusals_keep_their_kind_and_show_no_secret() {
    let Some(place) = Place::openbao() else { return };
    let (state, _, _) = place.secrets().create(&place.url).await.unwrap();
    let kind = |error: &CloudSecretsError| match error {
        CloudSecretsError::Service(error) => Some(error.kind()),
        _ => None,
    };
    for (answer, expected) in [
        (Answer::new(403).body(r#"{"errors":["permission denied"]}"#), ErrorKind::Denied),
        (Answer::new(503).body(r#"{"errors":["Vault is sealed"]}"#), ErrorKind::Unavailable),
        // A success without a body, as mounts of other kinds answer.
        (Answer::new(204), ErrorKind::Unsupported),
    ] {
        place.proxy.fault(Fault::instead(answer));
        let error = place.secrets().open(&state.providers()).await.unwrap_err();
        assert_eq!(kind(&error), Some(expected), "{error:?}");
        assert!(!format!("{error:?}").contains("groundstate\""), "{error:?}");
        place.proxy.clear_faults();
    }
    let short = r#"{"data":{"plaintext":"AAAAAAAAAAAAAAAAAAAAAA=="}}"#;
    place.proxy.fault(Fault::instead(Answer::new(200).body(short)));
    let error = place.secrets().open(&state.providers()).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("16 bytes instead of 32"), "{source}");
    place.proxy.clear_faults();
    // Another mount has another key, and a missing one is not made.
    let other = CloudState::new(place.url.replace("stacks?", "none?"), state.encrypted_key());
    let error = place.secrets().open(&other.providers()).await.unwrap_err();
    assert_eq!(kind(&error), Some(ErrorKind::KeyGone), "{error:?}");
    let error = place.secrets().create(other.url()).await.unwrap_err();
    assert_eq!(kind(&error), Some(ErrorKind::NotFound), "{error:?}");
}

#[tokio::test]
async fn without_an_address_no_engine_is_asked() {
    let secrets = CloudSecrets::new(context(), |_| None);
    let error = secrets.create("hashivault://k").await.unwrap_err();
    let CloudSecretsError::Service(error) = error else { panic!("{error:?}") };
    let text = key_services::Error::to_string(&error);
    assert!(text.contains("neither VAULT_SERVER_URL nor VAULT_ADDR environment variables are set"), "{text}");
}

/// What pulumi writes when it goes on with the engine of the URL before: the URL in the variable opens it, and is stored nowhere.
#[tokio::test]
async fn a_data_key_of_a_former_engine_is_opened_by_the_url_in_the_variable() {
    let Some(mut place) = Place::openbao() else { return };
    let (state, manager, _) = place.secrets().create(&place.url).await.unwrap();
    let sealed = manager.encrypter().encrypt(&Plaintext::new("perch")).unwrap();
    let broken = CloudState::new("hashivault://stacks", state.encrypted_key()).providers();
    let refused = place.secrets().open(&broken).await.unwrap_err();
    assert!(matches!(refused, CloudSecretsError::Mount(_)), "{refused:?}");
    assert!(refused.to_string().contains("PULUMI_CLOUD_SECRET_OVERRIDE='hashivault://KEY?engine=MOUNT'"));
    place.variables.push(("PULUMI_CLOUD_SECRET_OVERRIDE", place.url.clone()));
    let opened = place.secrets().open(&broken).await.unwrap();
    assert_eq!(opened.providers().as_json(), broken.as_json(), "the URL of the stack stays");
    assert_eq!(opened.decrypter().decrypt(&sealed).unwrap().expose(), "perch");
    // A new key is that of the URL it is asked for, and the engine before has no say.
    let refused = place.secrets().create("hashivault://stacks").await;
    assert!(refused.is_err(), "no key is made in another engine");
    // Another key is refused.
    let other = place.url.replace("//stacks", "//other");
    place.variables.push(("PULUMI_CLOUD_SECRET_OVERRIDE", other));
    let refused = place.secrets().open(&broken).await.unwrap_err();
    assert!(matches!(refused, CloudSecretsError::Override(_)), "{refused:?}");
}

#[tokio::test]
async fn an_address_that_only_a_state_names_is_not_asked() {
    let secrets = CloudSecrets::new(context(), |_| None);
    for url in [
        "awskms://k?endpoint=http%3A%2F%2F127.0.0.1%3A1",
        "awskms://k?profile=p",
        "azurekeyvault://127.0.0.1:1/p.vault.x/keys/k",
    ] {
        let providers = CloudState::new(url, b"wrapped".to_vec()).providers();
        let refused = secrets.open(&providers).await.unwrap_err();
        assert!(matches!(refused, CloudSecretsError::Untrusted { .. }), "{url}: {refused:?}");
        let trusted = CloudSecrets::new(context(), |_| None).trusting(move |known| known == url);
        let refused = trusted.open(&providers).await.unwrap_err();
        assert!(!matches!(refused, CloudSecretsError::Untrusted { .. }), "{url}: {refused:?}");
    }
}
