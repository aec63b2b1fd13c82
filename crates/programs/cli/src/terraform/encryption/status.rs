//! `groundstate encryption status`: which states are encrypted, with which keys.

use groundstate_backends::Purpose;
use groundstate_encryption::{Chain, Envelope, Opened, Options, Status};
use groundstate_encryption_providers::Encryption;
use groundstate_statemgr_fs::Backup;

use super::places;
use crate::args::EncryptionStatusArgs;
use crate::input::encryption;
use crate::input::family::{Family, is_packed};
use crate::input::head::Head;
use crate::input::location::StateLocation;
use crate::input::packed;
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::locked::unlocked;
use crate::session::managed_state::ManagedState;

/// What is known of one state.
struct Found {
    state: String,
    /// `plain`, `encrypted` or `absent`.
    status: &'static str,
    serial: Option<String>,
    lineage: String,
    /// The metadata keys of the envelope: addresses of key providers, or their aliases.
    providers: Vec<String>,
    /// What decrypting showed.
    method: Option<String>,
    key_provider: Option<String>,
    key: Option<String>,
    /// The next write changes how it is encrypted.
    migrates: Option<bool>,
    /// Why it could not be decrypted, although there is a configuration.
    error: Option<String>,
}

pub(super) fn run(args: &EncryptionStatusArgs) -> Result {
    let mut outcome = Outcome::Clean;
    let mut found = Vec::new();
    for location in places::each(&args.states, Purpose::Read)? {
        match location.and_then(look) {
            Ok(each) => found.push(each),
            // One state that is not there is no reason not to look at the others.
            Err(failure) => {
                Messages::stderr().failure(&failure);
                outcome = outcome.and(failure.kind);
            }
        }
    }
    let mut out = Output::stdout();
    if args.states.json {
        out.json(&Json::document(|json| json.objects("states", &found, members)))?;
    } else {
        let width = found.iter().map(|each| each.state.chars().count()).max().unwrap_or_default();
        found.iter().try_for_each(|each| out.line(&line(each, width)))?;
    }
    out.finish()?;
    Ok(outcome)
}

fn look(location: StateLocation) -> Result<Found> {
    let configured = encryption::of_located(location.located());
    let opened = ManagedState::open_raw(location, Backup::None, false)?;
    let stored = unlocked(&opened, async |manager| Ok(manager.store().read().await?))?;
    let mut found = Found {
        state: opened.name.clone(),
        status: "absent",
        serial: None,
        lineage: String::new(),
        providers: Vec::new(),
        method: None,
        key_provider: None,
        key: None,
        migrates: None,
        error: None,
    };
    let Some(stored) = stored else { return Ok(found) };
    let text = match is_packed(&stored.bytes) {
        true => packed::unpack(&stored.bytes).unwrap_or(stored.bytes),
        false => stored.bytes,
    };
    if Family::sniff(&text) == Some(Family::Pulumi) {
        let message = format!("{} is Pulumi's, and this command is for states of OpenTofu", found.state);
        return Err(Failure::new(Kind::Usage, message));
    }
    let envelope = Envelope::parse(&text);
    let envelope =
        envelope.map_err(|error| Failure::new(Kind::Unusable, format!("{}: {error}", found.state)))?;
    let Some(envelope) = envelope else {
        let head = Head::read(&text).unwrap_or_default();
        (found.status, found.serial, found.lineage) = ("plain", Some(head.serial.to_string()), head.lineage);
        found.migrates = configured.ok().flatten().map(|known| !known.chain().primary().is_unencrypted());
        return Ok(found);
    };
    found.status = "encrypted";
    found.serial = envelope.serial().map(str::to_owned);
    found.lineage = envelope.lineage().to_owned();
    found.providers = envelope.metadata().keys().cloned().collect();
    match configured {
        Ok(None) => {}
        Ok(Some(known)) => decrypt(&mut found, &known, &text)?,
        Err(failure) => found.error = Some(failure.message),
    }
    Ok(found)
}

/// Adds what only the keys tell.
fn decrypt(found: &mut Found, known: &Encryption, text: &[u8]) -> Result<()> {
    match runtime()?.block_on(known.keys().open(known.chain(), text)) {
        Ok(Opened { status, method, key_provider, .. }) => {
            found.migrates = Some(status == Status::Migration);
            found.method = method.map(|method| method.to_string());
            found.key_provider = key_provider.map(|provider| provider.to_string());
            found.key = found.key_provider.as_deref().and_then(|provider| key(known.chain(), provider));
        }
        Err(error) => found.error = Some(error.to_string()),
    }
    Ok(())
}

/// What names the key of a service, by the option of its key provider.
fn key(chain: &Chain, provider: &str) -> Option<String> {
    let is_it = |known: &&groundstate_encryption::KeyProvider| known.id().to_string() == provider;
    let options: &Options =
        chain.methods().filter_map(|method| method.key_provider()).find(is_it)?.options()?;
    let names = ["kms_key_id", "kms_encryption_key", "vault_key_name", "key_name"];
    names.into_iter().find_map(|name| options.text(name).ok().flatten().map(|text| text.to_string()))
}

fn members(json: &mut Json, found: &Found) {
    json.text("state", &found.state);
    json.text("status", found.status);
    if let Some(serial) = &found.serial {
        json.raw("serial", serial);
    }
    if !found.lineage.is_empty() {
        json.text("lineage", &found.lineage);
    }
    if found.status == "encrypted" {
        json.raw("authenticated", found.method.is_some());
        json.texts("metadata_keys", &found.providers);
    }
    let texts = [
        ("method", &found.method),
        ("key_provider", &found.key_provider),
        ("key", &found.key),
        ("error", &found.error),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            json.text(name, text);
        }
    }
    if let Some(migrates) = found.migrates {
        json.raw("migrates", migrates);
    }
}

fn line(found: &Found, width: usize) -> String {
    let mut text = format!("{:width$}  {}", found.state, found.status);
    if let Some(method) = &found.method {
        text.push_str(&format!("  {method}"));
        text.extend(found.key_provider.iter().map(|provider| format!(" with {provider}")));
        text.extend(found.key.iter().map(|key| format!(" ({key})")));
    } else if found.status == "encrypted" {
        text.push_str(&format!("  {} (not authenticated)", found.providers.join(", ")));
    }
    text.extend(found.serial.iter().map(|serial| format!("  serial {serial}")));
    if found.migrates == Some(true) {
        text.push_str("  the next write encrypts it with the primary method");
    }
    text.extend(found.error.iter().map(|error| format!("  {error}")));
    text
}
