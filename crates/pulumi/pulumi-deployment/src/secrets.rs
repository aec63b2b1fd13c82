//! Opening and sealing the secrets of whole snapshots, in batches.

use std::collections::VecDeque;
use std::sync::Arc;

use groundstate_json::{Escapes, push_json_string_as};
use groundstate_pulumi_secrets::{
    BATCH, CryptError, Decrypter, Encrypter, Plaintext, SecretsProviders, SecretsProvidersError,
};
use groundstate_pulumi_snapshot::{
    Ciphertext, Properties, PropertyMap, PropertyValue, RawJson, Resource, SecretsProvider, Snapshot,
    StoredValue, Urn,
};

use crate::property::{
    CiphertextCheck, PropertyError, SECRET, SecretText, decode_map, decode_value, forget, open_secrets,
    rewrite_sealed, salvage_map, salvage_value, seal_secrets, sealed_secrets, unsealed_secrets,
};

/// Why the secrets of a snapshot cannot be opened or sealed. Nothing has been changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretsError {
    /// Properties cannot be read, or a value in them has no form.
    #[error("the properties of {urn} cannot be used")]
    Property {
        /// The resource.
        urn: String,
        /// Which property, and why not.
        source: PropertyError,
    },
    /// The crypter failed.
    #[error("decrypting or encrypting secret values: {0}")]
    Crypt(#[from] CryptError),
    /// The crypter gave more or fewer values than it was asked for.
    #[error("the secrets manager gave {given} values where {asked} were asked for")]
    Count {
        /// How many values it was asked for.
        asked: usize,
        /// How many it gave.
        given: usize,
    },
}

/// Opens all secrets of a snapshot, those of pending operations too, in batches. They keep their ciphertexts.
///
/// Properties without secrets stay text. Gives the number of secrets that were decrypted.
///
/// # Errors
///
/// See [`SecretsError`].
pub fn open_snapshot(snapshot: &mut Snapshot, decrypter: &dyn Decrypter) -> Result<usize, SecretsError> {
    let mut opened = decoded(snapshot)?;
    let mut texts =
        decrypted(opened.iter().flat_map(|one| sealed_secrets(&one.values)).collect(), decrypter)?;
    let count = texts.len();
    for one in &mut opened {
        open_secrets(&mut one.values, |_| texts.pop_front().ok_or("there is no text for it"))
            .map_err(|source| SecretsError::Property { urn: one.urn.clone(), source })?;
    }
    put_back(snapshot, opened);
    Ok(count)
}

/// Gives all secrets of a snapshot a ciphertext that have none, those of pending operations too, in batches.
///
/// Gives the number of secrets that were encrypted.
///
/// # Errors
///
/// See [`SecretsError`].
pub fn seal_snapshot(snapshot: &mut Snapshot, encrypter: &dyn Encrypter) -> Result<usize, SecretsError> {
    let mut sealed = decoded(snapshot)?;
    let mut texts: Vec<Plaintext> = Vec::new();
    for one in &sealed {
        let found = unsealed_secrets(&one.values);
        texts.extend(found.map_err(|source| SecretsError::Property { urn: one.urn.clone(), source })?);
    }
    let asked: Vec<&Plaintext> = texts.iter().collect();
    let mut ciphertexts: VecDeque<Ciphertext> = VecDeque::with_capacity(asked.len());
    for batch in asked.chunks(BATCH) {
        let found = encrypter.encrypt_batch(batch)?;
        check(batch.len(), found.len())?;
        ciphertexts.extend(found);
    }
    let count = ciphertexts.len();
    for one in &mut sealed {
        seal_secrets(&mut one.values, |_| ciphertexts.pop_front().ok_or("there is no ciphertext for it"))
            .map_err(|source| SecretsError::Property { urn: one.urn.clone(), source })?;
    }
    put_back(snapshot, sealed);
    Ok(count)
}

/// Forgets all ciphertexts of a snapshot, so that another manager can seal it. Gives their number.
///
/// # Errors
///
/// A secret has not been opened, so that its value would be lost; or see [`SecretsError`].
pub fn forget_ciphertexts(snapshot: &mut Snapshot) -> Result<usize, SecretsError> {
    let mut all = decoded(snapshot)?;
    let mut count = 0;
    for one in &mut all {
        count += forget(&mut one.values)
            .map_err(|source| SecretsError::Property { urn: one.urn.clone(), source })?;
    }
    put_back(snapshot, all);
    Ok(count)
}

/// What became of encrypted secrets in which names were to be changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SealedReferences {
    /// Secrets that were encrypted anew, because a name in them has changed.
    pub changed: usize,
    /// Secrets that could not be decrypted, or not encrypted again, so that old names may stand in them.
    pub unopened: usize,
}

/// How many encrypted values of a resource have not been opened, so that names inside of them are not known. Where properties
/// cannot be read, they count as one.
pub fn sealed_values(resource: &Resource) -> usize {
    values(resource).map_or(1, |values| sealed_secrets(&values).len())
}

/// Number of secrets of a resource that stand in the state without encryption, by member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadableSecrets {
    /// Secrets of the inputs.
    pub inputs: usize,
    /// Secrets of the outputs.
    pub outputs: usize,
    /// Secrets of the replacement trigger.
    pub trigger: usize,
}

impl ReadableSecrets {
    /// Returns the number of secrets in all members.
    pub fn total(self) -> usize {
        self.inputs + self.outputs + self.trigger
    }
}

/// Counts the secrets of a resource that have no ciphertext. Where values cannot be read, it counts those in the values that can.
pub fn readable_secrets(resource: &Resource) -> ReadableSecrets {
    let trigger = match &resource.replacement_trigger {
        Some(StoredValue::Raw(raw)) => readable_in(raw, |raw| match decode_value(raw) {
            Ok(value) => Some(readable(&value)),
            Err(_) => salvage_value(raw, CiphertextCheck::Unchecked).ok()?.value.as_ref().map(readable),
        }),
        Some(StoredValue::Value(value)) => readable(value),
        _ => 0,
    };
    let [inputs, outputs] = [&resource.inputs, &resource.outputs].map(|properties| match properties {
        Properties::Raw(raw) => readable_in(raw, |raw| match decode_map(raw) {
            Ok(map) => Some(map.values().map(readable).sum()),
            Err(_) => {
                let left = salvage_map(raw, CiphertextCheck::Unchecked).ok()?.value;
                Some(left.values().map(readable).sum())
            }
        }),
        Properties::Map(map) => map.values().map(readable).sum(),
        Properties::Absent => 0,
    });
    ReadableSecrets { inputs, outputs, trigger }
}

/// Returns the number of secrets of a snapshot that have no ciphertext, those of pending operations too.
pub fn readable_values(snapshot: &Snapshot) -> usize {
    let pending = snapshot.pending_operations.iter().map(|operation| &operation.resource);
    snapshot.resources.iter().chain(pending).map(|resource| readable_secrets(resource).total()).sum()
}

/// Counts in a text that has secrets. A text that cannot be read at all counts as one secret.
fn readable_in(raw: &RawJson, count: impl FnOnce(&RawJson) -> Option<usize>) -> usize {
    let text = raw.as_str().as_bytes();
    if has_secret(raw) && (memchr::memmem::find(text, b"plaintext").is_some() || hides_letters(text)) {
        return count(raw).unwrap_or(1);
    }
    0
}

fn readable(value: &PropertyValue) -> usize {
    let own = matches!(value, PropertyValue::Secret(secret) if secret.value().is_some() && secret.ciphertext().is_none());
    usize::from(own) + value.children().map(readable).sum::<usize>()
}

/// Changes the names in references to resources that stand inside of encrypted secrets, those of pending operations too.
/// Secrets in which nothing changes keep their ciphertexts, and so do those that cannot be decrypted, which are counted.
///
/// # Errors
///
/// Properties nest too deep. The snapshot is as it was.
pub fn rewrite_sealed_references(
    snapshot: &mut Snapshot,
    (decrypter, encrypter): (&dyn Decrypter, &dyn Encrypter),
    rewrite: &mut dyn FnMut(&Urn) -> Option<Urn>,
) -> Result<SealedReferences, SecretsError> {
    let mut crypt = Crypt { decrypter, encrypter, found: SealedReferences::default() };
    let mut changed = snapshot.clone();
    let operations = changed.pending_operations.iter_mut().map(|operation| &mut operation.resource);
    for shared in changed.resources.iter_mut().chain(operations) {
        let mut one = |raw: Option<&RawJson>| match raw.filter(|raw| has_secret(raw)) {
            Some(raw) => rewrite_sealed(raw, &mut crypt, rewrite)
                .map_err(|source| SecretsError::Property { urn: shared.urn.to_string(), source }),
            None => Ok(None),
        };
        let (inputs, outputs) = (one(shared.inputs.as_raw())?, one(shared.outputs.as_raw())?);
        let trigger = one(match &shared.replacement_trigger {
            Some(StoredValue::Raw(raw)) => Some(raw),
            _ => None,
        })?;
        if inputs.is_none() && outputs.is_none() && trigger.is_none() {
            continue;
        }
        let resource = Arc::make_mut(shared);
        if let Some(inputs) = inputs {
            resource.inputs = Properties::Raw(inputs);
        }
        if let Some(outputs) = outputs {
            resource.outputs = Properties::Raw(outputs);
        }
        if let Some(trigger) = trigger {
            resource.replacement_trigger = Some(StoredValue::Raw(trigger));
        }
    }
    *snapshot = changed;
    Ok(crypt.found)
}

struct Crypt<'c> {
    decrypter: &'c dyn Decrypter,
    encrypter: &'c dyn Encrypter,
    found: SealedReferences,
}

impl SecretText for Crypt<'_> {
    fn open(&mut self, ciphertext: &str) -> Option<Plaintext> {
        let opened = self.decrypter.decrypt(&Ciphertext::new(ciphertext)).ok();
        self.found.unopened += usize::from(opened.is_none());
        opened
    }

    fn seal(&mut self, text: &Plaintext) -> Option<String> {
        match self.encrypter.encrypt(text) {
            Ok(ciphertext) => {
                self.found.changed += 1;
                Some(ciphertext.as_str().to_owned())
            }
            Err(_) => {
                self.found.unopened += 1;
                None
            }
        }
    }
}

/// The outputs of the stack: those of its root resource, which alone are decoded and, with a decrypter, decrypted.
///
/// Nothing if there is no root resource.
///
/// # Errors
///
/// See [`SecretsError`].
pub fn stack_outputs(
    snapshot: &Snapshot,
    decrypter: Option<&dyn Decrypter>,
) -> Result<Option<PropertyMap>, SecretsError> {
    let Some((_, root)) = snapshot.root_stack() else { return Ok(None) };
    let error = |source| SecretsError::Property { urn: root.urn.to_string(), source };
    let mut outputs = match &root.outputs {
        Properties::Absent => PropertyMap::new(),
        Properties::Map(map) => map.clone(),
        Properties::Raw(raw) => decode_map(raw).map_err(error)?,
    };
    if let Some(decrypter) = decrypter {
        let mut texts = decrypted(sealed_secrets(&outputs), decrypter)?;
        open_secrets(&mut outputs, |_| texts.pop_front().ok_or("there is no text for it")).map_err(error)?;
    }
    Ok(Some(outputs))
}

/// The texts of ciphertexts, in batches.
fn decrypted(
    ciphertexts: Vec<&Ciphertext>,
    decrypter: &dyn Decrypter,
) -> Result<VecDeque<Plaintext>, SecretsError> {
    let mut texts = VecDeque::with_capacity(ciphertexts.len());
    for batch in ciphertexts.chunks(BATCH) {
        let found = decrypter.decrypt_batch(batch)?;
        check(batch.len(), found.len())?;
        texts.extend(found);
    }
    Ok(texts)
}

fn check(asked: usize, given: usize) -> Result<(), SecretsError> {
    if asked == given { Ok(()) } else { Err(SecretsError::Count { asked, given }) }
}

const INPUTS: &str = "inputs";
const OUTPUTS: &str = "outputs";
const TRIGGER: &str = "replacementTrigger";

/// The properties of one resource that have secrets, by the members they stand in.
struct Decoded {
    place: SecretOwner,
    urn: String,
    values: PropertyMap,
}

#[derive(Clone, Copy)]
enum SecretOwner {
    Resource(usize),
    Operation(usize),
}

/// All properties that have secrets, as values.
fn decoded(snapshot: &Snapshot) -> Result<Vec<Decoded>, SecretsError> {
    let resources =
        snapshot.resources.iter().enumerate().map(|(at, found)| (SecretOwner::Resource(at), found));
    let operations = snapshot.pending_operations.iter().enumerate();
    let operations = operations.map(|(at, operation)| (SecretOwner::Operation(at), &operation.resource));
    let mut all = Vec::new();
    for (place, resource) in resources.chain(operations) {
        let values = values(resource).map_err(|source| {
            let urn = resource.urn.to_string();
            SecretsError::Property { urn, source }
        })?;
        if !values.is_empty() {
            all.push(Decoded { place, urn: resource.urn.to_string(), values });
        }
    }
    Ok(all)
}

fn values(resource: &Resource) -> Result<PropertyMap, PropertyError> {
    let mut out = PropertyMap::new();
    for (member, properties) in [(INPUTS, &resource.inputs), (OUTPUTS, &resource.outputs)] {
        let inside = |error: PropertyError| error.inside(&Arc::from(member));
        match properties {
            Properties::Raw(raw) if has_secret(raw) => {
                out.insert(member, decode_map(raw).map_err(inside)?.into());
            }
            Properties::Map(map) if map.values().any(PropertyValue::contains_secrets) => {
                out.insert(member, map.clone().into());
            }
            _ => {}
        }
    }
    match &resource.replacement_trigger {
        Some(StoredValue::Raw(raw)) if has_secret(raw) => {
            let inside = |error: PropertyError| error.inside(&Arc::from(TRIGGER));
            out.insert(TRIGGER, decode_value(raw).map_err(inside)?);
        }
        Some(StoredValue::Value(value)) if value.contains_secrets() => {
            out.insert(TRIGGER, value.clone());
        }
        _ => {}
    }
    Ok(out)
}

fn has_secret(raw: &RawJson) -> bool {
    let text = raw.as_str().as_bytes();
    memchr::memmem::find(text, SECRET.as_bytes()).is_some() || hides_letters(text)
}

/// Returns `true` if a letter or a digit is escaped, so that a signature may be written in other bytes. Pulumi escapes neither.
fn hides_letters(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, b"\\u00").any(|at| match text.get(at + 4..at + 6) {
        Some([b'3', digit]) => digit.is_ascii_digit(),
        Some([b'6' | b'7', _]) => true,
        _ => false,
    })
}

fn put_back(snapshot: &mut Snapshot, all: Vec<Decoded>) {
    for Decoded { place, values, .. } in all {
        let resource = match place {
            SecretOwner::Resource(at) => snapshot.resources.get_mut(at),
            SecretOwner::Operation(at) => {
                snapshot.pending_operations.get_mut(at).map(|found| &mut found.resource)
            }
        };
        let Some(resource) = resource.map(Arc::make_mut) else { continue };
        for (member, value) in values {
            match (&*member, value) {
                (INPUTS, PropertyValue::Object(map)) => resource.inputs = Properties::Map(map),
                (OUTPUTS, PropertyValue::Object(map)) => resource.outputs = Properties::Map(map),
                (_, value) => resource.replacement_trigger = Some(StoredValue::Value(value)),
            }
        }
    }
}

/// The secrets provider of a snapshot in the form in which managers are opened from it.
///
/// # Errors
///
/// The state is not JSON, which no reader of this crate returns.
pub fn secrets_providers(provider: &SecretsProvider) -> Result<SecretsProviders, SecretsProvidersError> {
    let mut text = String::from("{\"type\":");
    push_json_string_as(&mut text, &provider.kind, Escapes::Plain);
    if let Some(state) = &provider.state {
        text.push_str(",\"state\":");
        text.push_str(state.as_str());
    }
    text.push('}');
    SecretsProviders::parse(&text)
}
