//! Names of resources inside of properties, changed where they stand.

use std::ops::Range;

use groundstate_json::{Cursor, Escapes, Kind, Stop, push_json_string_as};
use groundstate_pulumi_secrets::Plaintext;
use groundstate_pulumi_snapshot::{RawJson, Urn};

use super::error::{PropertyError, PropertyErrorKind as Wrong};
use super::{MAX_DEPTH, OUTPUT, REFERENCE, SECRET, SIGNATURE};

/// Changes the names in all references to resources, and leaves every other byte as it is.
///
/// References are looked for in elements and members, in what outputs hold and depend on, and in secrets whose text can be
/// read: those that are shown, and those that are not encrypted because they stand inside of another. Plain text is never
/// taken for a name. Nothing if nothing changes.
///
/// ```
/// use groundstate_pulumi_deployment::rewrite_references;
/// use groundstate_pulumi_snapshot::{RawJson, Urn};
///
/// let text = r#"{"a":{"4dabf18193072939515e22adb298388d":"5cf8f73096256a8f31e491e813e4eb8e","urn":"x"},"b":"x"}"#;
/// let changed = rewrite_references(&RawJson::parse_as_written(text)?, &mut |_| Some(Urn::from("y")))?;
/// assert_eq!(changed.unwrap().as_str(), text.replace(r#""urn":"x""#, r#""urn":"y""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The text is not JSON, or nests too deep.
pub fn rewrite_references(
    raw: &RawJson,
    rewrite: &mut dyn FnMut(&Urn) -> Option<Urn>,
) -> Result<Option<RawJson>, PropertyError> {
    let text = rewritten(raw.as_str(), Escapes::Plain, rewrite, None, 0)?;
    Ok(text.map(|text| RawJson::from_validated(&text)))
}

/// What opens the ciphertexts of secrets, and closes them again.
pub(crate) trait SecretText {
    /// What a ciphertext holds, if it can be decrypted.
    fn open(&mut self, ciphertext: &str) -> Option<Plaintext>;
    /// The ciphertext of a text, if it can be encrypted.
    fn seal(&mut self, text: &Plaintext) -> Option<String>;
}

/// The same, with what is encrypted.
pub(crate) fn rewrite_sealed(
    raw: &RawJson,
    secrets: &mut dyn SecretText,
    rewrite: &mut dyn FnMut(&Urn) -> Option<Urn>,
) -> Result<Option<RawJson>, PropertyError> {
    let text = rewritten(raw.as_str(), Escapes::Plain, rewrite, Some(secrets), 0)?;
    Ok(text.map(|text| RawJson::from_validated(&text)))
}

fn rewritten(
    text: &str,
    escapes: Escapes,
    rewrite: &mut dyn FnMut(&Urn) -> Option<Urn>,
    secrets: Option<&mut dyn SecretText>,
    depth: usize,
) -> Result<Option<String>, PropertyError> {
    // Most properties have no signature at all, and need no second look.
    if memchr::memmem::find(text.as_bytes(), SIGNATURE.as_bytes()).is_none() {
        return Ok(None);
    }
    let mut walk = Walk { patches: Vec::new(), escapes, rewrite, secrets };
    let mut cursor = Cursor::new(text.as_bytes());
    walk.value(&mut cursor, depth)?;
    cursor.end().map_err(syntax)?;
    let patches = walk.patches;
    if patches.is_empty() {
        return Ok(None);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (range, with) in patches {
        out.push_str(text.get(from..range.start).unwrap_or_default());
        out.push_str(&with);
        from = range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Ok(Some(out))
}

fn syntax(stop: Stop) -> PropertyError {
    Wrong::Syntax(stop.offset).into()
}

struct Walk<'w, 's> {
    /// What opens ciphertexts, where there are any.
    secrets: Option<&'s mut dyn SecretText>,
    /// Ranges of the text and what takes their place, in order.
    patches: Vec<(Range<usize>, String)>,
    escapes: Escapes,
    rewrite: &'w mut dyn FnMut(&Urn) -> Option<Urn>,
}

impl Walk<'_, '_> {
    fn value(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<(), PropertyError> {
        if depth > MAX_DEPTH {
            return Err(Wrong::TooDeep.into());
        }
        match cursor.kind().map_err(syntax)? {
            Kind::Array => {
                cursor.open(b'[').map_err(syntax)?;
                let mut first = true;
                while cursor.element(&mut first).map_err(syntax)? {
                    self.value(cursor, depth + 1)?;
                }
                Ok(())
            }
            Kind::Object => self.object(cursor, depth),
            _ => cursor.skip().map_err(syntax),
        }
    }

    fn object(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<(), PropertyError> {
        let signature = signature(cursor.clone()).map_err(syntax)?;
        cursor.open(b'{').map_err(syntax)?;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first).map_err(syntax)? {
            let name = name.decode();
            let is_text = cursor.kind().map_err(syntax)? == Kind::String;
            match (signature.as_deref(), &*name) {
                (Some(REFERENCE), "urn") if is_text => self.name(cursor)?,
                (Some(SECRET), "plaintext" | "ciphertext") if is_text => {
                    self.secret(cursor, name == "ciphertext", depth)?;
                }
                (Some(OUTPUT), "dependencies") => self.names(cursor, depth)?,
                _ => self.value(cursor, depth + 1)?,
            }
        }
        Ok(())
    }

    /// A string that names a resource.
    fn name(&mut self, cursor: &mut Cursor<'_>) -> Result<(), PropertyError> {
        let start = cursor.offset();
        let text = cursor.string().map_err(syntax)?.decode();
        let old = Urn::from(&*text);
        if let Some(new) = (self.rewrite)(&old).filter(|new| *new != old) {
            let mut literal = String::new();
            push_json_string_as(&mut literal, new.as_str(), self.escapes);
            self.patches.push((start..cursor.offset(), literal));
        }
        Ok(())
    }

    /// A list of names; what else stands in it is let be.
    fn names(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<(), PropertyError> {
        if cursor.kind().map_err(syntax)? != Kind::Array {
            return self.value(cursor, depth + 1);
        }
        cursor.open(b'[').map_err(syntax)?;
        let mut first = true;
        while cursor.element(&mut first).map_err(syntax)? {
            match cursor.kind().map_err(syntax)? {
                Kind::String => self.name(cursor)?,
                _ => self.value(cursor, depth + 2)?,
            }
        }
        Ok(())
    }

    /// The text of a secret, if it can be read. What is inside always has HTML escapes.
    fn secret(
        &mut self,
        cursor: &mut Cursor<'_>,
        is_ciphertext: bool,
        depth: usize,
    ) -> Result<(), PropertyError> {
        let start = cursor.offset();
        let text = cursor.string().map_err(syntax)?.decode();
        let inside = match rewritten(&text, Escapes::Html, self.rewrite, None, depth + 1) {
            Ok(None) if is_ciphertext => self.sealed(&text, depth)?,
            Ok(inside) => inside,
            // An encrypted text is not JSON.
            Err(error) if matches!(error.kind(), Wrong::Syntax(_)) => None,
            Err(error) => return Err(error),
        };
        if let Some(inside) = inside {
            let mut literal = String::new();
            push_json_string_as(&mut literal, &inside, self.escapes);
            self.patches.push((start..cursor.offset(), literal));
        }
        Ok(())
    }
}

impl Walk<'_, '_> {
    /// The ciphertext with other names inside, if it can be opened and anything in it changes.
    fn sealed(&mut self, ciphertext: &str, depth: usize) -> Result<Option<String>, PropertyError> {
        let Some(secrets) = self.secrets.as_deref_mut() else { return Ok(None) };
        let Some(text) = secrets.open(ciphertext) else { return Ok(None) };
        let inside = match rewritten(text.expose(), Escapes::Html, self.rewrite, None, depth + 1) {
            Ok(inside) => inside,
            // What was encrypted is no value, which is for others to find.
            Err(error) if matches!(error.kind(), Wrong::Syntax(_)) => None,
            Err(error) => return Err(error),
        };
        Ok(inside.and_then(|inside| secrets.seal(&Plaintext::new(inside))))
    }
}

/// The signature of the object at the cursor, if it has one.
fn signature(mut cursor: Cursor<'_>) -> Result<Option<String>, Stop> {
    cursor.open(b'{')?;
    let mut first = true;
    let mut found = None;
    while let Some(name) = cursor.member(&mut first)? {
        let is_signature = name.decode() == SIGNATURE;
        if is_signature && cursor.kind()? == Kind::String {
            found = Some(cursor.string()?.decode().into_owned());
        } else {
            cursor.skip()?;
        }
    }
    Ok(found)
}
