//! The configuration file of a stack, `Pulumi.STACK.yaml`: which secrets provider it has, and its encrypted values.

use std::ops::Range;

use groundstate_pulumi_secrets::cloud::CloudState;
use groundstate_pulumi_secrets::passphrase::{self, Salt};
use groundstate_pulumi_secrets::{Ciphertext, CryptError, Manager, SecretsProviders};
use saphyr_parser::{Event, Parser, ScalarStyle};
use thiserror::Error;

/// How deep collections may be nested.
const DEEPEST: usize = 200;
/// The members that say which secrets provider a stack has.
const MEMBERS: [&str; 3] = ["secretsprovider", "encryptedkey", "encryptionsalt"];

/// Why a configuration file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the configuration of the stack cannot be used: {0}")]
pub struct StackConfigError(String);

/// The configuration of a stack, as it is written: all that is not changed keeps its bytes, comments too.
///
/// ```
/// use groundstate_pulumi_backends::StackConfig;
///
/// let text = "encryptionsalt: v1:AA==:v1:x # of 2024\nconfig:\n  shop:fish:\n    secure: v1:n:c\n  shop:n: \"1\"\n";
/// let config = StackConfig::parse(text)?;
/// assert_eq!(config.encryption_salt(), Some("v1:AA==:v1:x"));
/// assert_eq!(config.ciphertexts().collect::<Vec<_>>(), ["v1:n:c"]);
/// # Ok::<(), groundstate_pulumi_backends::StackConfigError>(())
/// ```
#[derive(Clone)]
pub struct StackConfig {
    text: String,
    /// For each of [`MEMBERS`]: where the member begins, where its value is, and the value.
    members: [Option<(usize, Range<usize>, String)>; 3],
    secrets: Vec<(Range<usize>, String)>,
    /// Where members are added.
    begin: usize,
}

/// What a stack has to get its key with.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum StackKey<'k> {
    /// The salt of a passphrase.
    Salt(&'k str),
    /// The URL of a key service, and the data key that it has wrapped.
    Cloud(&'k CloudState),
}

impl StackConfig {
    /// Reads a configuration. An empty file is one, too.
    ///
    /// # Errors
    ///
    /// For what is not YAML in the style that Pulumi writes. No text has a part of the content.
    pub fn parse(text: &str) -> Result<Self, StackConfigError> {
        let mut events = Vec::new();
        let mut depth = 0_usize;
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| {
                StackConfigError(format!("it is not YAML at line {}", error.marker().line()))
            })?;
            match event {
                Event::MappingStart(..) | Event::SequenceStart(..) => depth += 1,
                Event::MappingEnd | Event::SequenceEnd => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > DEEPEST {
                return Err(StackConfigError(format!("it is nested more than {DEEPEST} levels deep")));
            }
            events.push((event, span.start.index()..span.end.index()));
        }
        let mut config = Self {
            text: text.to_owned(),
            members: [None, None, None],
            secrets: Vec::new(),
            begin: text.len(),
        };
        config.take(&events, &offsets(text))?;
        Ok(config)
    }

    /// The URL of a key service, or `passphrase`.
    pub fn secrets_provider(&self) -> Option<&str> {
        self.member(0)
    }

    /// The data key that the key service has wrapped, in base64.
    pub fn encrypted_key(&self) -> Option<&str> {
        self.member(1)
    }

    /// The salt of a passphrase.
    pub fn encryption_salt(&self) -> Option<&str> {
        self.member(2)
    }

    fn member(&self, index: usize) -> Option<&str> {
        let (_, _, value) = self.members.get(index)?.as_ref()?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    /// The state of the manager that the configuration names, if it names one: that of a URL with its wrapped key, else that of a
    /// salt.
    ///
    /// # Errors
    ///
    /// When the salt or the wrapped key is malformed.
    pub fn providers(&self) -> Result<Option<SecretsProviders>, StackConfigError> {
        let wrong = |error: &dyn std::error::Error| StackConfigError(error.to_string());
        match self.secrets_provider().filter(|name| !matches!(*name, passphrase::TYPE | "default")) {
            Some(url) => match self.encrypted_key() {
                Some(key) => {
                    CloudState::of_texts(url, key).map(|state| Some(state.providers())).map_err(|e| wrong(&e))
                }
                None => Ok(None),
            },
            None => match self.encryption_salt() {
                Some(text) => {
                    Salt::parse(text).map(|salt| Some(passphrase::providers(&salt))).map_err(|e| wrong(&e))
                }
                None => Ok(None),
            },
        }
    }

    /// The encrypted values, in the order of the file.
    pub fn ciphertexts(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(|(_, text)| text.as_str())
    }

    /// The text with this key, and with every encrypted value encrypted anew; all is decrypted before anything is encrypted.
    ///
    /// # Errors
    ///
    /// When the old manager does not open a value, or the new one does not encrypt.
    pub fn changed(&self, key: StackKey<'_>, old: &Manager, new: &Manager) -> Result<String, CryptError> {
        let sealed: Vec<Ciphertext> = self.ciphertexts().map(Ciphertext::new).collect();
        let opened = old.decrypter().decrypt_batch(&sealed.iter().collect::<Vec<_>>())?;
        let again = new.encrypter().encrypt_batch(&opened.iter().collect::<Vec<_>>())?;
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for ((place, _), ciphertext) in self.secrets.iter().zip(&again) {
            edits.push((place.clone(), ciphertext.as_str().to_owned()));
        }
        let wanted = match key {
            StackKey::Salt(salt) => [None, None, Some(salt.to_owned())],
            StackKey::Cloud(state) => [Some(state.url().to_owned()), Some(state.encrypted_key_text()), None],
        };
        let mut added = String::new();
        for ((name, member), wanted) in MEMBERS.iter().zip(&self.members).zip(wanted) {
            match (member, wanted) {
                (None, None) => {}
                (None, Some(value)) => added.push_str(&format!("{name}: {}\n", scalar(&value))),
                (Some((_, place, _)), Some(value)) => edits.push((place.clone(), scalar(&value))),
                (Some((start, place, _)), None) => {
                    let rest = self.text.get(place.end..).unwrap_or_default();
                    let end = rest.find('\n').map_or(self.text.len(), |line| place.end + line + 1);
                    edits.push((*start..end, String::new()));
                }
            }
        }
        let is_open = self.begin == self.text.len() && !self.text.is_empty() && !self.text.ends_with('\n');
        edits.push((self.begin..self.begin, if is_open { format!("\n{added}") } else { added }));
        edits.sort_by_key(|(place, _)| (place.start, place.end));
        let (mut text, mut at) = (String::new(), 0);
        for (place, replacement) in edits {
            text.push_str(self.text.get(at..place.start).unwrap_or_default());
            text.push_str(&replacement);
            at = place.end;
        }
        text.push_str(self.text.get(at..).unwrap_or_default());
        Ok(text)
    }

    fn take(
        &mut self,
        events: &[(Event<'_>, Range<usize>)],
        offsets: &[usize],
    ) -> Result<(), StackConfigError> {
        let wrong = |why: &str| StackConfigError(why.to_owned());
        let byte = |index: usize| offsets.get(index).copied().unwrap_or(self.text.len());
        // White space behind a value may belong to its span.
        let bytes = |span: &Range<usize>| {
            let start = byte(span.start);
            let value = self.text.get(start..byte(span.end)).unwrap_or_default();
            start..start + value.trim_end().len()
        };
        let content = events.iter().position(|(event, _)| {
            !matches!(event, Event::StreamStart | Event::DocumentStart(_) | Event::Nothing)
        });
        let Some((rest, (first, span))) =
            content.and_then(|at| Some((events.get(at + 1..)?, events.get(at)?)))
        else {
            return Ok(());
        };
        match first {
            Event::MappingStart(..) if !self.text.get(bytes(span)).unwrap_or_default().starts_with('{') => {}
            Event::StreamEnd | Event::DocumentEnd => return Ok(()),
            Event::Scalar(text, ..) if text.is_empty() => return Ok(()),
            _ => return Err(wrong("it is not a mapping in the style that pulumi writes")),
        }
        let begin = byte(span.start);
        let (mut members, mut secrets) = ([None, None, None], Vec::new());
        let mut is_config = false;
        let (mut depth, mut at) = (0_usize, 0);
        let mut is_key = true;
        while let Some((event, span)) = rest.get(at) {
            match event {
                Event::MappingStart(..) | Event::SequenceStart(..) => depth += 1,
                Event::MappingEnd | Event::SequenceEnd if depth == 0 => break,
                Event::MappingEnd | Event::SequenceEnd => depth -= 1,
                Event::Alias(_) => return Err(wrong("it has aliases, which are not followed")),
                _ => {}
            }
            if let [
                (Event::MappingStart(..), _),
                (Event::Scalar(name, ..), _),
                (Event::Scalar(value, style, ..), place),
                (Event::MappingEnd, _),
                ..,
            ] = rest.get(at..).unwrap_or_default()
                && name == "secure"
                && is_config
            {
                if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                    return Err(wrong("an encrypted value is a block of lines"));
                }
                secrets.push((bytes(place), value.to_string()));
            }
            if depth == 0 {
                if is_key {
                    is_config = matches!(event, Event::Scalar(name, ..) if name == "config");
                }
                if let (true, Event::Scalar(name, ..)) = (is_key, event)
                    && let Some(index) = MEMBERS.iter().position(|member| *member == name.as_ref())
                {
                    let Some((Event::Scalar(value, style, ..), place)) = rest.get(at + 1) else {
                        return Err(StackConfigError(format!("its member `{name}` is not a text")));
                    };
                    if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                        return Err(StackConfigError(format!("its member `{name}` is a block of lines")));
                    }
                    let slot = members.get_mut(index).ok_or_else(|| wrong("it has unknown members"))?;
                    if slot.replace((byte(span.start), bytes(place), value.to_string())).is_some() {
                        return Err(StackConfigError(format!("it has the member `{name}` twice")));
                    }
                }
                is_key = !is_key;
            }
            at += 1;
        }
        (self.members, self.secrets, self.begin) = (members, secrets, begin);
        Ok(())
    }
}

impl std::fmt::Debug for StackConfig {
    /// Shows how many encrypted values there are.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StackConfig").field("secrets", &self.secrets.len()).finish_non_exhaustive()
    }
}

/// The byte at which each character begins.
fn offsets(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).collect()
}

/// A text as YAML, plain where that means the same.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !text.ends_with(':')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":/?=._&%@+-".contains(&byte));
    // Quoted JSON is quoted YAML.
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use groundstate_common::OsEntropy;
    use groundstate_pulumi_secrets::cloud::{self, CloudState};
    use groundstate_pulumi_secrets::{Ciphertext, Key, Manager, Plaintext};

    use super::{StackConfig, StackKey};

    fn manager(byte: u8) -> Manager {
        let key = Key::new([byte; 32]);
        cloud::manager(CloudState::new("awskms://k", vec![byte]).providers(), &key, Arc::new(OsEntropy))
    }

    fn sealed(manager: &Manager, text: &str) -> String {
        manager.encrypter().encrypt(&Plaintext::new(text)).unwrap().as_str().to_owned()
    }

    #[test]
    fn values_are_encrypted_anew_and_everything_else_keeps_its_bytes() {
        let (old, new) = (manager(1), manager(2));
        let (one, two) = (sealed(&old, "one"), sealed(&old, "zwei ü"));
        let text = format!(
            "# ü of ours\nencryptionsalt: v1:s:v1:x # gone\nconfig:\n  shop:a:\n    secure: {one}\n  shop:b:\n    - x: {{ secure: \"{two}\" }}\n  \
             shop:secure: \"1\"   # kept\nenvironment:\n  - base\n"
        );
        let config = StackConfig::parse(&text).unwrap();
        assert_eq!(config.ciphertexts().collect::<Vec<_>>(), [one.as_str(), two.as_str()]);
        let state = CloudState::new("awskms://alias/x?region=r&context_a=b c", b"wrapped".to_vec());
        let changed = config.changed(StackKey::Cloud(&state), &old, &new).unwrap();
        let again = StackConfig::parse(&changed).unwrap();
        assert_eq!(again.secrets_provider(), Some(state.url()));
        assert_eq!((again.encrypted_key(), again.encryption_salt()), (Some("d3JhcHBlZA=="), None));
        let opened: Vec<String> = again
            .ciphertexts()
            .map(|text| new.decrypter().decrypt(&Ciphertext::new(text)).unwrap().expose().to_owned())
            .collect();
        assert_eq!(opened, ["one", "zwei ü"]);
        let end = "  shop:secure: \"1\"   # kept\nenvironment:\n  - base\n";
        for kept in ["# ü of ours\nsecretsprovider: ", "\nconfig:\n  shop:a:\n    secure: v1:", end] {
            assert!(changed.contains(kept), "{changed}");
        }
        assert!(!changed.contains("gone"), "{changed}");
        // And back.
        let back = again.changed(StackKey::Salt("v1:t:v1:y"), &new, &old).unwrap();
        let back = StackConfig::parse(&back).unwrap();
        assert_eq!((back.secrets_provider(), back.encrypted_key()), (None, None));
        assert_eq!(back.encryption_salt(), Some("v1:t:v1:y"));
        assert!(config.changed(StackKey::Salt("v1:t:v1:y"), &new, &old).is_err());
    }

    #[test]
    fn files_without_values_get_a_key_too() {
        let state = CloudState::new("hashivault://k", b"w".to_vec());
        for text in ["", "# nothing\n", "config: {}\n", "---\nconfig:\n  a:b: c\n"] {
            let config = StackConfig::parse(text).unwrap();
            let changed = config.changed(StackKey::Cloud(&state), &manager(1), &manager(2)).unwrap();
            let again = StackConfig::parse(&changed).unwrap();
            assert_eq!(again.secrets_provider(), Some("hashivault://k"), "{changed}");
        }
    }

    #[test]
    fn what_is_not_written_by_pulumi_is_refused_without_being_shown() {
        for text in [
            "hush",
            "[hush]",
            "{secretsprovider: hush}",
            "secretsprovider: hush\nsecretsprovider: hush\n",
            "secretsprovider: [hush]\n",
            "encryptedkey: |\n  hush\n",
            "config:\n  a:b:\n    secure: >\n      hush\n",
            "a: &hush b\nc: *hush\n",
            "a: \"hush\n",
        ] {
            let error = StackConfig::parse(text).unwrap_err().to_string();
            assert!(!error.contains("hush"), "{text}: {error}");
        }
        let deep = format!("a: {}{}", "[".repeat(1_000), "]".repeat(1_000));
        assert!(StackConfig::parse(&deep).is_err());
    }
}
