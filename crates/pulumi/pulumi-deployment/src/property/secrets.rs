//! Opening and sealing the secrets of a map. The holder of the keys decrypts, one by one or in batches.

use std::fmt;

use groundstate_pulumi_secrets::Plaintext;
use groundstate_pulumi_snapshot::{ArchiveContent, Ciphertext, PropertyMap, PropertyValue, Secret};

use super::MAX_DEPTH;
use super::decode::secret_content;
use super::encode::secret_text;
use super::error::{PropertyError, PropertyErrorKind as Wrong};

/// The ciphertexts of all secrets that have not been opened, in the order in which [`open_secrets`] asks for them.
pub fn sealed_secrets(map: &PropertyMap) -> Vec<&Ciphertext> {
    let mut found = Vec::new();
    map.values().for_each(|value| collect(value, &mut found));
    found
}

fn collect<'a>(value: &'a PropertyValue, found: &mut Vec<&'a Ciphertext>) {
    if let PropertyValue::Secret(secret) = value
        && secret.value().is_none()
    {
        found.extend(secret.ciphertext());
    }
    value.children().for_each(|child| collect(child, found));
}

/// Opens all secrets that have not been opened, with what the function decrypts. They keep their ciphertexts.
///
/// ```
/// use groundstate_pulumi_deployment::{decode_map, encode_map, open_secrets, Secrets};
/// use groundstate_pulumi_snapshot::RawJson;
/// use groundstate_json::Escapes;
/// use groundstate_pulumi_secrets::Plaintext;
///
/// let text = r#"{"key":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"v1:xyz"}}"#;
/// let raw = RawJson::parse_as_written(text)?;
/// let mut map = decode_map(&raw)?;
/// open_secrets(&mut map, |_ciphertext| Ok::<_, String>(Plaintext::new("\"swordfish\"")))?;
/// assert_eq!(encode_map(&map, Escapes::Plain, Secrets::Sealed)?, raw, "it was not changed");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The function fails, or what it gives is not a value. Secrets before that one have been opened.
pub fn open_secrets<E: fmt::Display>(
    map: &mut PropertyMap,
    mut decrypt: impl FnMut(&Ciphertext) -> Result<Plaintext, E>,
) -> Result<usize, PropertyError> {
    let mut count = 0;
    let mut open = |secret: &mut Secret, depth: usize| {
        if secret.value().is_some() {
            return Ok(());
        }
        let Some(ciphertext) = secret.ciphertext() else { return Ok(()) };
        let text = decrypt(ciphertext).map_err(|error| Wrong::Decrypt(error.to_string()))?;
        secret.open(secret_content(text.expose(), depth + 1)?);
        count += 1;
        Ok(())
    };
    each(map, 0, &mut open)?;
    Ok(count)
}

/// The texts of all secrets that have no ciphertext, in the order in which [`seal_secrets`] asks for their encryption.
///
/// # Errors
///
/// A value has no form.
pub fn unsealed_secrets(map: &PropertyMap) -> Result<Vec<Plaintext>, PropertyError> {
    let mut found = Vec::new();
    seal_secrets(&mut map.clone(), |text| {
        found.push(text.clone());
        Ok::<_, std::convert::Infallible>(Ciphertext::new(""))
    })?;
    Ok(found)
}

/// Gives all secrets a ciphertext that have none, by what the function encrypts. Outputs become what files have for them.
///
/// # Errors
///
/// The function fails, or a value has no form. Secrets before that one have been sealed.
pub fn seal_secrets<E: fmt::Display>(
    map: &mut PropertyMap,
    mut encrypt: impl FnMut(&Plaintext) -> Result<Ciphertext, E>,
) -> Result<usize, PropertyError> {
    let mut count = 0;
    let mut seal = |secret: &mut Secret, depth: usize| {
        let Some(value) = secret.value().filter(|_| secret.ciphertext().is_none()) else { return Ok(()) };
        let text = Plaintext::new(secret_text(value, false, depth + 1)?);
        let ciphertext = encrypt(&text).map_err(|error| Wrong::Encrypt(error.to_string()))?;
        secret.seal(ciphertext);
        count += 1;
        Ok(())
    };
    each(map, 0, &mut seal)?;
    Ok(count)
}

/// Forgets the ciphertexts of all secrets, each of which must have been opened.
pub(crate) fn forget(map: &mut PropertyMap) -> Result<usize, PropertyError> {
    let mut count = 0;
    let mut forget = |secret: &mut Secret, _: usize| {
        let had_one = secret.ciphertext().is_some();
        if !secret.forget_ciphertext() {
            return Err(Wrong::Sealed.into());
        }
        count += usize::from(had_one);
        Ok(())
    };
    each(map, 0, &mut forget)?;
    Ok(count)
}

type Visit<'a> = dyn FnMut(&mut Secret, usize) -> Result<(), PropertyError> + 'a;

/// Calls the function for each outermost secret.
fn each(map: &mut PropertyMap, depth: usize, visit: &mut Visit<'_>) -> Result<(), PropertyError> {
    for (name, value) in map.iter_mut() {
        let name: std::sync::Arc<str> = name.into();
        each_in(value, depth + 1, visit).map_err(|error| error.inside(&name))?;
    }
    Ok(())
}

fn each_in(value: &mut PropertyValue, depth: usize, visit: &mut Visit<'_>) -> Result<(), PropertyError> {
    if depth > MAX_DEPTH {
        return Err(Wrong::TooDeep.into());
    }
    if let PropertyValue::Output(output) = value {
        let known = std::mem::take(&mut output.element);
        let element = if output.known { known } else { PropertyValue::unknown() };
        *value = if output.secret { element.into_secret() } else { element };
        // What was inside may be an output again, one level further in than before.
        return each_in(value, depth + 1, visit);
    }
    match value {
        PropertyValue::Secret(secret) => visit(secret, depth),
        PropertyValue::Array(elements) => {
            for (index, element) in elements.iter_mut().enumerate() {
                each_in(element, depth + 1, visit).map_err(|error| error.at(index))?;
            }
            Ok(())
        }
        PropertyValue::Object(map) => each(map, depth, visit),
        PropertyValue::Archive(archive) => match &mut archive.content {
            ArchiveContent::Assets(assets) => {
                for (name, asset) in assets.iter_mut() {
                    each_in(asset, depth + 2, visit).map_err(|error| error.inside(name))?;
                }
                Ok(())
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}
