//! Property values to JSON.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groundstate_json::{Escapes, push_json_string_as};
use groundstate_pulumi_snapshot::{
    Archive, ArchiveContent, Asset, Number, PropertyMap, PropertyValue, RawJson, ResourceReference, Secret,
    UNKNOWN,
};

use super::error::{PropertyError, PropertyErrorKind as Wrong};
use super::{ARCHIVE, ASSET, BYTES, FLOAT, MAX_DEPTH, REFERENCE, SECRET, SIGNATURE};
use crate::encode::Secrets;

/// Writes inputs or outputs as compact JSON.
///
/// # Errors
///
/// A value has no form: a secret that is not sealed or not opened, as `secrets` asks for, or a text that would be taken
/// for something else.
pub fn encode_map(map: &PropertyMap, escapes: Escapes, secrets: Secrets) -> Result<RawJson, PropertyError> {
    let mut writer = Writer { out: String::new(), escapes, secrets: secrets.into() };
    writer.object(None, map, 0)?;
    Ok(RawJson::from_validated(&writer.out))
}

/// Writes a value that stands alone, such as a replacement trigger.
///
/// # Errors
///
/// As [`encode_map`].
pub fn encode_value(
    value: &PropertyValue,
    escapes: Escapes,
    secrets: Secrets,
) -> Result<RawJson, PropertyError> {
    let mut writer = Writer { out: String::new(), escapes, secrets: secrets.into() };
    writer.value(value, 0)?;
    Ok(RawJson::from_validated(&writer.out))
}

/// The text that is encrypted for a secret of this value, or shown if secrets are: always with HTML escapes.
pub(super) fn secret_text(value: &PropertyValue, shown: bool, depth: usize) -> Result<String, PropertyError> {
    let secrets = if shown { Form::Shown } else { Form::Inside };
    let mut writer = Writer { out: String::new(), escapes: Escapes::Html, secrets };
    writer.value(value, depth)?;
    Ok(writer.out)
}

/// How secrets are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// By their ciphertext.
    Sealed,
    /// Readable.
    Shown,
    /// Inside of another secret: as ciphertext by name, without being encrypted once more.
    Inside,
}

impl From<Secrets> for Form {
    fn from(secrets: Secrets) -> Self {
        match secrets {
            Secrets::Sealed => Self::Sealed,
            Secrets::Shown => Self::Shown,
        }
    }
}

struct Writer {
    out: String,
    escapes: Escapes,
    secrets: Form,
}

impl Writer {
    fn value(&mut self, value: &PropertyValue, depth: usize) -> Result<(), PropertyError> {
        if depth > MAX_DEPTH {
            return Err(Wrong::TooDeep.into());
        }
        match value {
            PropertyValue::Null => self.out.push_str("null"),
            PropertyValue::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            PropertyValue::Number(number) => self.number(number),
            PropertyValue::String(text) if **text == *UNKNOWN => return Err(Wrong::Ambiguous.into()),
            PropertyValue::String(text) => self.string(text),
            PropertyValue::Bytes(bytes) => self.signed(BYTES, "value", &STANDARD.encode(bytes)),
            PropertyValue::Array(elements) => {
                self.out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    self.comma(index > 0);
                    self.value(element, depth + 1).map_err(|error| error.at(index))?;
                }
                self.out.push(']');
            }
            PropertyValue::Object(map) => {
                if map.get(SIGNATURE).is_some() {
                    return Err(Wrong::Ambiguous.into());
                }
                self.object(None, map, depth)?;
            }
            PropertyValue::Computed(_) => self.string(UNKNOWN),
            PropertyValue::Output(output) => self.output(output, depth)?,
            PropertyValue::Asset(asset) => self.asset(asset, depth)?,
            PropertyValue::Archive(archive) => self.archive(archive, depth)?,
            PropertyValue::ResourceReference(reference) => self.reference(reference, depth)?,
            PropertyValue::Secret(secret) => self.secret(secret, depth)?,
            // Kinds of values that later versions of the model add have no form here.
            _ => return Err(Wrong::Ambiguous.into()),
        }
        Ok(())
    }

    fn comma(&mut self, needed: bool) {
        if needed {
            self.out.push(',');
        }
    }

    fn string(&mut self, text: &str) {
        push_json_string_as(&mut self.out, text, self.escapes);
    }

    fn member(&mut self, name: &str, text: &str) {
        self.comma(!self.out.ends_with('{'));
        self.string(name);
        self.out.push(':');
        self.string(text);
    }

    /// An object of a signature and one text.
    fn signed(&mut self, signature: &str, name: &str, text: &str) {
        self.out.push('{');
        self.member(SIGNATURE, signature);
        self.member(name, text);
        self.out.push('}');
    }

    fn number(&mut self, number: &Number) {
        if number.value().is_finite() || number.literal().is_some() {
            self.out.push_str(&number.to_string());
        } else {
            self.signed(FLOAT, "value", &format!("{:016x}", number.value().to_bits()));
        }
    }

    /// An object of these members, its signature among them; names are sorted already, and the signature before all
    /// letters.
    fn object(
        &mut self,
        signature: Option<&str>,
        map: &PropertyMap,
        depth: usize,
    ) -> Result<(), PropertyError> {
        if map.get(SIGNATURE).is_some() {
            return Err(Wrong::Ambiguous.into());
        }
        self.out.push('{');
        let mut signature = signature;
        for (name, value) in map.iter() {
            if name > SIGNATURE
                && let Some(signature) = signature.take()
            {
                self.member(SIGNATURE, signature);
            }
            self.comma(!self.out.ends_with('{'));
            self.string(name);
            self.out.push(':');
            self.value(value, depth + 1).map_err(|error| error.inside(&name.into()))?;
        }
        if let Some(signature) = signature {
            self.member(SIGNATURE, signature);
        }
        self.out.push('}');
        Ok(())
    }

    fn output(
        &mut self,
        output: &groundstate_pulumi_snapshot::Output,
        depth: usize,
    ) -> Result<(), PropertyError> {
        let element = if output.known { output.element.clone() } else { PropertyValue::unknown() };
        if output.secret {
            return self.secret(&Secret::new(element), depth);
        }
        self.value(&element, depth + 1)
    }

    fn asset(&mut self, asset: &Asset, depth: usize) -> Result<(), PropertyError> {
        let mut members = asset.extra.clone();
        for (name, text) in
            [("hash", &asset.hash), ("text", &asset.text), ("path", &asset.path), ("uri", &asset.uri)]
        {
            put(&mut members, name, text.as_deref());
        }
        self.object(Some(ASSET), &members, depth)
    }

    fn archive(&mut self, archive: &Archive, depth: usize) -> Result<(), PropertyError> {
        let mut members = archive.extra.clone();
        put(&mut members, "hash", archive.hash.as_deref());
        match &archive.content {
            ArchiveContent::Path(path) => put(&mut members, "path", Some(path)),
            ArchiveContent::Uri(uri) => put(&mut members, "uri", Some(uri)),
            ArchiveContent::Assets(assets) => {
                let assets = assets.iter().map(|(name, asset)| (Arc::clone(name), asset.clone()));
                members.insert("assets", PropertyValue::Object(assets.collect()));
            }
            _ => {}
        }
        self.object(Some(ARCHIVE), &members, depth)
    }

    fn reference(&mut self, reference: &ResourceReference, depth: usize) -> Result<(), PropertyError> {
        let mut members = reference.extra.clone();
        if let Some(id) = &reference.id {
            members.insert("id", PropertyValue::from(id.as_str()));
        }
        members.insert("packageVersion", PropertyValue::from(&*reference.package_version));
        members.insert("urn", PropertyValue::from(reference.urn.as_str()));
        self.object(Some(REFERENCE), &members, depth)
    }

    /// Members of a secret stand in the order of its structure, which is not that of their names.
    fn secret(&mut self, secret: &Secret, depth: usize) -> Result<(), PropertyError> {
        let (name, text) = match (self.secrets, secret.ciphertext(), secret.value()) {
            (Form::Sealed, Some(ciphertext), _) => ("ciphertext", ciphertext.as_str().to_owned()),
            (Form::Sealed, None, _) => return Err(Wrong::Unsealed.into()),
            (_, _, None) => return Err(Wrong::Sealed.into()),
            (Form::Shown, _, Some(value)) => ("plaintext", secret_text(value, true, depth + 1)?),
            (Form::Inside, _, Some(value)) => ("ciphertext", secret_text(value, false, depth + 1)?),
        };
        self.signed(SECRET, name, &text);
        Ok(())
    }
}

/// Adds a text that is there and not empty.
fn put(members: &mut PropertyMap, name: &str, text: Option<&str>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        members.insert(name, PropertyValue::from(text));
    }
}
