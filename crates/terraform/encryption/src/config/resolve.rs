//! From a configuration to the methods of one target.

use std::sync::Arc;

use super::error::ConfigurationError;
use super::options::Options;
use super::value::{Place, Value};
use super::{Configuration, Declared, MethodRef, TargetBlock};
use crate::chain::{Chain, Content, Target};
use crate::method::{Cipher, Method};
use crate::pbkdf2::{
    HashFunction, MAX_ITERATIONS, MAX_KEY_LENGTH, MIN_ITERATIONS, MIN_PASSPHRASE, Pbkdf2Options, Secret,
};
use crate::provider::{BlockId, KeyProvider, Setup};
use crate::sensitive::Key;

impl Configuration {
    /// How a target is encrypted and decrypted; nothing if the configuration does not say, which leaves it in the clear.
    ///
    /// # Errors
    ///
    /// When a method or a key provider that the target needs is not declared, or has options that cannot be used.
    pub fn chain(&self, target: &Target) -> Result<Option<Chain>, ConfigurationError> {
        let Some(block) = self.block(target) else { return Ok(None) };
        let content = if *target == Target::Plan { Content::Plan } else { Content::State };
        let Some(primary) = &block.method else {
            return Err(ConfigurationError::structure(block.place.clone(), "the target has no method"));
        };
        let primary = self.method(block, primary)?;
        let fallbacks = block.fallbacks.iter().flatten().map(|reference| self.method(block, reference));
        Ok(Some(Chain { content, primary, fallbacks: fallbacks.collect::<Result<_, _>>()? }))
    }

    /// Whether what is in the clear is accepted: a method of the type `unencrypted` stands in the chain, or there is none.
    ///
    /// It looks at the names of methods alone, so it needs no options, no variables and no trust in who wrote them.
    pub fn accepts_plain(&self, target: &Target) -> bool {
        let Some(block) = self.block(target) else { return true };
        let references = block.method.iter().chain(block.fallbacks.iter().flatten());
        !block.enforced
            && references.into_iter().any(|method| method.address.starts_with("method.unencrypted."))
    }

    fn block(&self, target: &Target) -> Option<&TargetBlock> {
        match target {
            Target::State => self.state.as_ref(),
            Target::Plan => self.plan.as_ref(),
            Target::RemoteState(name) => {
                let named = self.remote.iter().find(|(known, _)| known == name).map(|(_, block)| block);
                named.or(self.remote_default.as_ref())
            }
        }
    }

    fn method(&self, block: &TargetBlock, reference: &MethodRef) -> Result<Method, ConfigurationError> {
        let MethodRef { address, place } = reference;
        let undeclared = || ConfigurationError::Undeclared { place: place.clone(), address: address.clone() };
        let is_it = |known: &&Declared| known.options.owner == *address;
        let declared = self.methods.iter().find(is_it).ok_or_else(undeclared)?;
        let options = &declared.options;
        let cipher = match declared.kind.as_str() {
            "unencrypted" => {
                options.only(&[])?;
                if block.enforced {
                    let (place, address) = (place.clone(), address.clone());
                    return Err(ConfigurationError::Forbidden { place, address });
                }
                Cipher::Unencrypted
            }
            "aes_gcm" => {
                options.only(&["keys", "aad"])?;
                let keys = self.keys(options, "keys", &mut Vec::new())?;
                Cipher::AesGcm { keys: keys.ok_or_else(|| options.missing("keys"))?, aad: aad(options)? }
            }
            "external" => {
                options.only(&["keys", "encrypt_command", "decrypt_command"])?;
                let (encrypt, decrypt) =
                    (command(options, "encrypt_command")?, command(options, "decrypt_command")?);
                Cipher::External { encrypt, decrypt, keys: self.keys(options, "keys", &mut Vec::new())? }
            }
            other => {
                let why =
                    format!("there is no method of the type `{other}`, use aes_gcm, unencrypted or external");
                return Err(ConfigurationError::structure(options.place.clone(), why));
            }
        };
        let (kind, name) = (declared.kind.clone(), declared.name.clone());
        Ok(Method { id: BlockId { block: "method", kind, name }, cipher })
    }

    /// The key provider that an option names.
    fn keys(
        &self,
        options: &Options,
        name: &str,
        active: &mut Vec<String>,
    ) -> Result<Option<Arc<KeyProvider>>, ConfigurationError> {
        let address = match options.value(name)? {
            None => return Ok(None),
            Some(Value::Reference(address)) => address.clone(),
            Some(Value::Text(text)) => text.to_string(),
            Some(_) => return Err(options.wrong(name, "it has to have the form key_provider.TYPE.NAME")),
        };
        if !address.starts_with("key_provider.") || address.split('.').count() != 3 {
            return Err(options.wrong(name, "it has to have the form key_provider.TYPE.NAME"));
        }
        let place = || place_of(options, name);
        let is_it = |known: &&Declared| known.options.owner == address;
        let Some(declared) = self.providers.iter().find(is_it) else {
            return Err(ConfigurationError::Undeclared { place: place(), address });
        };
        if active.contains(&address) {
            return Err(ConfigurationError::Circular { place: place(), address });
        }
        active.push(address);
        let setup = match declared.kind.as_str() {
            "pbkdf2" => Setup::Pbkdf2(self.pbkdf2(&declared.options, active)?),
            "external" => {
                declared.options.only(&["command"])?;
                command(&declared.options, "command")?;
                Setup::Other(declared.options.clone())
            }
            _ => Setup::Other(declared.options.clone()),
        };
        let id = BlockId { block: "key_provider", kind: declared.kind.clone(), name: declared.name.clone() };
        let metadata_key = declared.alias.clone().unwrap_or_else(|| id.to_string());
        let provider = KeyProvider { id, metadata_key, setup };
        let mut upstream = provider.upstream();
        while let Some(one) = upstream {
            if one.metadata_key == provider.metadata_key {
                let why = format!(
                    "its metadata key `{}` is that of {} too; give one of them an encrypted_metadata_alias of its own",
                    provider.metadata_key, one.id
                );
                return Err(ConfigurationError::structure(declared.options.place.clone(), why));
            }
            upstream = one.upstream();
        }
        Ok(Some(Arc::new(provider)))
    }

    fn pbkdf2(
        &self,
        options: &Options,
        active: &mut Vec<String>,
    ) -> Result<Pbkdf2Options, ConfigurationError> {
        options.only(&["passphrase", "chain", "key_length", "iterations", "hash_function", "salt_length"])?;
        let passphrase = options.text("passphrase")?;
        let secret = match (passphrase, self.keys(options, "chain", active)?) {
            (Some(text), None) if text.len() >= MIN_PASSPHRASE => {
                Secret::Passphrase(Key::new(text.as_bytes().to_vec()))
            }
            (Some(_), None) => {
                let why = format!("it is too short, and has to have {MIN_PASSPHRASE} bytes at least");
                return Err(options.wrong("passphrase", why));
            }
            (None, Some(upstream)) => Secret::Chain(upstream),
            (Some(_), Some(_)) => return Err(options.wrong("chain", "it excludes `passphrase`")),
            (None, None) => return Err(options.wrong("passphrase", "it has to be given, or `chain`")),
        };
        let within = |name: &str, default: u64, least: u64, most: u64| match options.number(name)? {
            None => Ok(default),
            Some(number) if (least..=most).contains(&number) => Ok(number),
            Some(_) => Err(options.wrong(name, format!("it has to lie between {least} and {most}"))),
        };
        let iterations = within("iterations", 600_000, u64::from(MIN_ITERATIONS), u64::from(MAX_ITERATIONS))?;
        let key_length = within("key_length", 32, 1, MAX_KEY_LENGTH as u64)?;
        let salt_length = within("salt_length", 32, 1, MAX_KEY_LENGTH as u64)?;
        let hash_function = match options.text("hash_function")? {
            None => HashFunction::default(),
            Some(name) => HashFunction::parse(name)
                .ok_or_else(|| options.wrong("hash_function", "it has to be sha512 or sha256"))?,
        };
        let size = |number: u64| usize::try_from(number).unwrap_or(MAX_KEY_LENGTH);
        Ok(Pbkdf2Options {
            secret,
            key_length: size(key_length),
            iterations: u32::try_from(iterations).unwrap_or(MAX_ITERATIONS),
            hash_function,
            salt_length: size(salt_length),
        })
    }
}

fn place_of(options: &Options, name: &str) -> Place {
    let found = options.values.iter().find(|(known, ..)| known == name);
    found.map_or(&options.place, |(.., place)| place).clone()
}

fn command(options: &Options, name: &str) -> Result<Vec<String>, ConfigurationError> {
    let words = options.texts(name)?.ok_or_else(|| options.missing(name))?;
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err(options.wrong(name, "its first item has to be a program")),
    }
}

/// Bytes as a list of numbers.
fn aad(options: &Options) -> Result<Vec<u8>, ConfigurationError> {
    let Some(value) = options.value("aad")? else { return Ok(Vec::new()) };
    let wrong = || options.wrong("aad", "it has to be a list of whole numbers from 0 to 255");
    let Value::List(items) = value else { return Err(wrong()) };
    let byte = |item: &Value| match item {
        Value::Number(digits) => digits.parse().map_err(|_| wrong()),
        _ => Err(wrong()),
    };
    items.iter().map(byte).collect()
}
