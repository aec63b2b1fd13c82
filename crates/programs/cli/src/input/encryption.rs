//! Which configuration of OpenTofu encrypts the states of a place, and which keys there are.

use std::collections::BTreeMap;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use async_trait::async_trait;
use groundstate_backends::ConfigurationFiles;
use groundstate_common::{Entropy, OsEntropy, shell_command};
use groundstate_encryption::{
    BoxError, Configuration, ConfigurationError, Envelope, EnvelopeLayout, KeyRequest, OpenError, Opened,
    ProvidedKey, Scope, SourceFile, Sources, Target,
};
use groundstate_encryption_providers::{Encryption, KeyRing, KeyService, Programs};
use tokio::runtime::{Builder, Handle};

use crate::input::environment::Environment;
use crate::input::remote::Located;
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Result, chain as chain_of};
use crate::report::messages::Messages;

/// What `--encryption` names; it holds for the whole run.
static CHOSEN: OnceLock<PathBuf> = OnceLock::new();

/// Keys of this run, by the folder in which programs run.
static RINGS: Mutex<BTreeMap<PathBuf, Arc<KeyRing>>> = Mutex::new(BTreeMap::new());

const VARIABLE: &str = "TF_ENCRYPTION";

/// How large a file that `--encryption` names may be.
const LARGEST: u64 = 1 << 20;

/// Has the configuration in this file count in this run.
pub(crate) fn choose(path: PathBuf) {
    // Set once; later calls are ignored.
    CHOSEN.get_or_init(|| path);
}

/// How the states of a place are encrypted; nothing if no configuration says so.
pub(crate) fn of_located(located: &Located) -> Result<Option<Encryption>> {
    let layout = match located {
        Located::File(..) => EnvelopeLayout::Indented,
        Located::Remote(_) => EnvelopeLayout::Compact,
    };
    Ok(of_folder(folder_of(located).as_deref())?.map(|encryption| encryption.layout(layout)))
}

/// The same for states that belong to a folder, or to none.
pub(crate) fn of_folder(folder: Option<&Path>) -> Result<Option<Encryption>> {
    of_target(folder, &Target::State)
}

/// The same for what is not the state of the configuration itself.
pub(crate) fn of_target(folder: Option<&Path>, target: &Target) -> Result<Option<Encryption>> {
    let trusts = Environment::of_process().trusts;
    let Some(configuration) = configuration(folder, trusts)? else { return Ok(None) };
    let Some(chain) = configuration.chain(target).map_err(unusable)? else { return Ok(None) };
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut rings = RINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let ring = rings.entry(folder.to_owned()).or_insert_with(|| {
        Arc::new(with_services(KeyRing::new(Arc::new(OsEntropy))).programs(Programs::new().folder(folder)))
    });
    Ok(Some(Encryption::new(chain, Arc::clone(ring))))
}

/// Keys from the services that this program was built with, too.
#[cfg(any(feature = "azurerm", feature = "gcs", feature = "s3", feature = "vault"))]
fn with_services(keys: KeyRing) -> KeyRing {
    use groundstate_common::{OsIds, SystemClock};
    use groundstate_encryption_providers::KeyServices;
    use groundstate_encryption_providers::key_services::KeyContext;
    use groundstate_statemgr::TokioSleeper;

    let (clock, sleeper) = (Arc::new(SystemClock), Arc::new(TokioSleeper));
    let context = KeyContext::new(clock, sleeper, Arc::new(OsIds), Arc::new(OsEntropy));
    let services = KeyServices::new(context, |name| std::env::var(name).ok());
    keys.service(Arc::new(services)).service(Arc::new(NotBuiltIn))
}

#[cfg(not(any(feature = "azurerm", feature = "gcs", feature = "s3", feature = "vault")))]
fn with_services(keys: KeyRing) -> KeyRing {
    keys.service(Arc::new(NotBuiltIn))
}

/// Stands in for the services that this program was built without, to say with which feature it has them.
#[derive(Debug)]
struct NotBuiltIn;

#[async_trait]
impl KeyService for NotBuiltIn {
    fn handles(&self, kind: &str) -> bool {
        feature_of(kind).is_some()
    }

    async fn key(&self, request: &KeyRequest, _: &dyn Entropy) -> Result<ProvidedKey, BoxError> {
        Err(not_built_in(request.provider().id().kind()).into())
    }
}

fn not_built_in(kind: &str) -> String {
    let feature = feature_of(kind).unwrap_or_default();
    format!(
        "this groundstate was built without key providers of the type `{kind}`; \
         `cargo install groundstate-cli --features {feature}` builds one with them"
    )
}

/// The feature of this program that a type of key providers needs.
fn feature_of(kind: &str) -> Option<&'static str> {
    const FEATURES: [(&str, &str); 4] =
        [("aws_kms", "s3"), ("gcp_kms", "gcs"), ("azure_vault", "azurerm"), ("openbao", "vault")];
    FEATURES.iter().find(|(known, _)| *known == kind).map(|(_, feature)| *feature)
}

/// Whether a state in the clear may be read at a place: no configuration has a chain for states without a method of the type
/// `unencrypted`.
///
/// That needs no keys and runs nothing, so directories are not asked for trust. One whose files cannot be read says nothing,
/// unless the user's own configuration changes it.
pub(crate) fn accepts_plain(located: &Located) -> Result<bool> {
    match configuration(folder_of(located).as_deref(), true) {
        Ok(configuration) => Ok(configuration.is_none_or(|known| known.accepts_plain(&Target::State))),
        Err(_) if CHOSEN.get().is_none() && std::env::var_os(VARIABLE).is_none() => Ok(true),
        Err(failure) => Err(failure),
    }
}

/// What is wrong with a state in the clear where only encrypted ones are accepted.
pub(crate) const IN_THE_CLEAR: &str =
    "it is stored in the clear, and the configuration accepts encrypted states only";

/// The failure for a state in the clear where only encrypted ones are accepted.
pub(crate) fn in_the_clear(name: &str, located: &Located) -> Failure {
    let argument = match located {
        Located::File(path, _) => path.display().to_string(),
        Located::Remote(remote) => remote.argument.clone(),
    };
    let encrypt = shell_command("groundstate encryption encrypt", &[&argument]);
    Failure::new(Kind::Unusable, format!("{name} cannot be trusted: {IN_THE_CLEAR}"))
        .hint(format!("`{encrypt}` encrypts it, if it is the state that it should be"))
        .hint("a `fallback` with a method of the type `unencrypted` accepts it until the next write")
}

/// Whether a text is a plan that OpenTofu has encrypted.
pub(crate) fn is_plan(text: &[u8]) -> bool {
    matches!(Envelope::parse(text), Ok(Some(envelope)) if !envelope.is_of_state())
}

/// The failure for an encrypted plan in the place of a state.
pub(crate) fn plan(name: &str) -> Failure {
    let decrypt = shell_command("groundstate encryption decrypt", &[name]);
    Failure::new(Kind::NotState, format!("{name} is a plan that OpenTofu has encrypted, and no state"))
        .hint(format!("`{decrypt} --target plan --output FILE` decrypts it"))
}

/// Whether a text is an envelope. What is damaged is told by its reader.
pub(crate) fn is_envelope(text: &[u8]) -> bool {
    Envelope::parse(text).is_ok_and(|envelope| envelope.is_some())
}

/// The state in an envelope.
pub(crate) fn decrypted(name: &str, text: &[u8], encryption: Option<&Encryption>) -> Result<Vec<u8>> {
    if is_plan(text) {
        return Err(plan(name));
    }
    let Some(encryption) = encryption else { return Err(no_configuration(name)) };
    let opened = opened(encryption, text)?.map_err(|error| {
        let failure = Failure::new(Kind::Unusable, format!("cannot decrypt {name}: {error}"));
        failure.hint(STATUS)
    })?;
    if opened.is_weak {
        Messages::stderr().warning(&format!(
            "{name}: its passphrase is hashed fewer than 200000 times; `groundstate encryption rotate` makes a new key"
        ));
    }
    Ok(opened.plaintext.into_bytes())
}

/// What the keys show of a text, whatever it is of.
pub(crate) fn opened(encryption: &Encryption, text: &[u8]) -> Result<std::result::Result<Opened, OpenError>> {
    waited(encryption.keys().open(encryption.chain(), text))
}

/// The envelope of a new state.
pub(crate) fn encrypted(name: &str, state: &[u8], encryption: &Encryption) -> Result<Vec<u8>> {
    let sealed = encryption.keys().seal(encryption.chain(), state, encryption.envelope_layout());
    runtime()?
        .block_on(sealed)
        .map_err(|error| Failure::new(Kind::Unusable, format!("cannot encrypt {name}: {}", chain_of(&error))))
}

/// The outcome of what waits for a service or a program: on a thread of its own where a verb is waiting for its store meanwhile.
fn waited<T: Send>(work: impl Future<Output = T> + Send) -> Result<T> {
    if Handle::try_current().is_err() {
        return Ok(runtime()?.block_on(work));
    }
    let done = thread::scope(|scope| {
        let run = || Ok(Builder::new_current_thread().enable_io().enable_time().build()?.block_on(work));
        scope.spawn(run).join()
    });
    match done {
        Ok(done) => done.map_err(|error: std::io::Error| {
            Failure::new(Kind::Unreachable, format!("the command cannot wait for a key: {error}"))
        }),
        Err(panic) => resume_unwind(panic),
    }
}

/// What tells more about an encrypted state.
pub(crate) const STATUS: &str =
    "`groundstate encryption status` shows which key providers it was encrypted with";

/// The same keys in another ring, which asks for them anew.
pub(crate) fn with_new_keys(encryption: &Encryption) -> Encryption {
    let ring = encryption.keys().without_keys();
    Encryption::new(encryption.chain().clone(), Arc::new(ring)).layout(encryption.envelope_layout())
}

/// The failure for an encrypted state without keys.
pub(crate) fn no_configuration(name: &str) -> Failure {
    let message = format!("{name} is encrypted by OpenTofu, and no configuration says with which keys");
    Failure::new(Kind::Unusable, message)
        .hint("name its directory, or give the `encryption` block in TF_ENCRYPTION or in a file with `--encryption FILE`")
        .hint(STATUS)
}

/// The folder whose configuration a place belongs to, if there is one.
fn folder_of(located: &Located) -> Option<PathBuf> {
    match located {
        Located::File(file, directory) => Some(directory.clone().unwrap_or_else(|| folder_of_file(file))),
        Located::Remote(remote) => remote.place.directory.clone(),
    }
}

/// The same for a file: for the state of a workspace, that above the folder of all workspaces.
fn folder_of_file(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    let above = folder.parent().filter(|above| above.ends_with("terraform.tfstate.d"));
    above.and_then(Path::parent).unwrap_or(folder).to_owned()
}

/// What the directory says, changed by the environment, and that by the file of the command line.
///
/// `may_reach_out` permits the directory's own block to run programs and to ask services. The user's configuration sees variables and
/// locals of the directory only if the user trusts the directory.
fn configuration(folder: Option<&Path>, may_reach_out: bool) -> Result<Option<Configuration>> {
    let environment = Environment::of_process();
    let variable = environment.variables.get(VARIABLE).unwrap_or_default();
    let is_given = CHOSEN.get().is_some() || !variable.trim().is_empty();
    let own = match folder {
        Some(folder) => OfDirectory::read(folder, &environment, is_given)?,
        None => OfDirectory::default(),
    };
    let OfDirectory { configuration: own, scope } = own;
    if let Some((address, place)) =
        own.as_ref().filter(|_| !may_reach_out).and_then(Configuration::reaches_out)
    {
        let message = format!("{place}: {address} runs a program or asks a service that the directory names");
        return Err(Failure::new(Kind::Usage, message)
            .hint("`--trust-directory` accepts it; use it for your own directories only"));
    }
    let scope = match scope {
        Some(scope) => scope,
        None => environment.variables.scope().map_err(unusable)?,
    };
    let variable = Configuration::parse(VARIABLE, variable, &scope).map_err(unusable)?;
    let chosen = CHOSEN.get().map(|path| of_file(path, &scope)).transpose()?.flatten();
    let parts = [own, variable, chosen].into_iter().flatten();
    Ok(parts.reduce(Configuration::merged))
}

/// The configuration of a directory.
#[derive(Default)]
struct OfDirectory {
    configuration: Option<Configuration>,
    /// Its variables and locals, if the user's own configuration sees them.
    scope: Option<Scope>,
}

impl OfDirectory {
    /// Reads the files of a directory. If `is_given` is `true`, the user has a configuration that may use its variables.
    fn read(folder: &Path, environment: &Environment, is_given: bool) -> Result<Self> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if !folder.is_dir() {
            return Ok(Self::default());
        }
        let files = ConfigurationFiles::read(folder)?;
        let names: Vec<String> = files.sources.iter().map(|file| file.path.display().to_string()).collect();
        let sources = files.sources.iter().zip(&names);
        let sources: Vec<_> = sources.map(|(file, name)| SourceFile { name, text: &file.text }).collect();
        let is_shared = environment.trusts && is_given;
        // Variables and locals of a directory matter only for what refers to them.
        if !Sources(&sources).mention_encryption() && !is_shared {
            return Ok(Self::default());
        }
        let scope = files.scope(&environment.variables).map_err(unusable)?;
        let configuration = Sources(&sources).configuration(&scope).map_err(unusable)?;
        Ok(Self { configuration, scope: is_shared.then_some(scope) })
    }
}

/// The configuration in a file that the user names: the inside of an `encryption` block, or a file with such a block.
fn of_file(path: &Path, scope: &Scope) -> Result<Option<Configuration>> {
    let size = fs::metadata(path).map_err(|error| Failure::unreadable(path, &error))?.len();
    if size > LARGEST {
        let message = format!("{} is larger than {LARGEST} bytes, so it is no configuration", path.display());
        return Err(Failure::new(Kind::Usage, message));
    }
    let text = fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error))?;
    let name = path.display().to_string();
    let file = [SourceFile { name: &name, text: &text }];
    match Sources(&file).configuration(scope) {
        Ok(Some(configuration)) => Ok(Some(configuration)),
        _ => Configuration::parse(&name, &text, scope).map_err(unusable),
    }
}

fn unusable(error: ConfigurationError) -> Failure {
    Failure::new(Kind::Usage, format!("the encryption cannot be set up: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{feature_of, not_built_in};

    #[test]
    fn what_was_left_out_is_named_with_its_feature() {
        let text = not_built_in("aws_kms");
        assert!(text.contains("`aws_kms`") && text.contains("--features s3"), "{text}");
        assert_eq!((feature_of("openbao"), feature_of("gpg")), (Some("vault"), None));
    }
}
