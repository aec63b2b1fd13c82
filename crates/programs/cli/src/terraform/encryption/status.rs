//! `groundstate encryption status`: which states are encrypted, with which keys.

use groundstate_backends::Purpose;
use groundstate_common::Timestamp;
use groundstate_encryption::{Chain, Envelope, KeyProvider, Method, Opened, Options, Status};
use groundstate_encryption_providers::Encryption;

use super::places;
use crate::args::EncryptionStatusArgs;
use crate::input::encryption;
use crate::input::family::{Family, is_packed};
use crate::input::head::Head;
use crate::input::location::StateLocation;
use crate::input::packed;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::{age, columns};
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
    /// The version of that key, where the provider stores it.
    key_version: Option<String>,
    /// A fallback opens it, and not the primary method.
    by_fallback: Option<bool>,
    /// When it was last written, if its place says.
    modified: Option<Timestamp>,
    /// The next write changes how it is encrypted.
    migrates: Option<bool>,
    /// Why other commands refuse it, although there is a configuration.
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
        let rows: Vec<_> = found.iter().map(row).collect();
        columns(&rows).iter().try_for_each(|line| out.line(line))?;
    }
    out.finish()?;
    Ok(outcome)
}

fn look(location: StateLocation) -> Result<Found> {
    let configured = encryption::of_located(location.located());
    let opened = ManagedState::open_raw(location, None, false)?;
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
        key_version: None,
        by_fallback: None,
        modified: None,
        migrates: None,
        error: None,
    };
    let Some(stored) = stored else { return Ok(found) };
    found.modified = stored.modified;
    let text = match is_packed(&stored.bytes) {
        true => packed::unpack(&stored.bytes).map_err(|error| {
            let message = format!("{} is compressed by gzip and cannot be unpacked: {error}", found.state);
            Failure::new(Kind::NotState, message)
        })?,
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
        match configured {
            Ok(Some(known)) => plain(&mut found, known.chain()),
            Ok(None) => {}
            Err(failure) => found.error = Some(failure.message),
        }
        return Ok(found);
    };
    if !envelope.is_of_state() {
        return Err(encryption::plan(&found.state));
    }
    found.status = "encrypted";
    found.serial = envelope.serial().map(str::to_owned);
    found.lineage = envelope.lineage().to_owned();
    found.providers = envelope.metadata().keys().cloned().collect();
    match configured {
        Ok(None) => {}
        Ok(Some(known)) => decrypt(&mut found, &known, &text, &envelope)?,
        Err(failure) => found.error = Some(failure.message),
    }
    Ok(found)
}

/// Adds what a configuration says of a state in the clear.
fn plain(found: &mut Found, chain: &Chain) {
    if !chain.methods().any(Method::is_unencrypted) {
        found.error = Some(encryption::IN_THE_CLEAR.to_owned());
    }
    let is_primary = chain.primary().is_unencrypted();
    (found.migrates, found.by_fallback) = (Some(!is_primary), Some(!is_primary && found.error.is_none()));
}

/// Adds what only the keys tell.
fn decrypt(found: &mut Found, known: &Encryption, text: &[u8], envelope: &Envelope<'_>) -> Result<()> {
    match encryption::opened(known, text)? {
        Ok(Opened { status, method, key_provider, .. }) => {
            found.migrates = Some(status == Status::Migration);
            found.by_fallback = method.as_ref().map(|method| method != known.chain().primary().id());
            found.method = method.map(|method| method.to_string());
            let is_it = |known: &&KeyProvider| Some(known.id()) == key_provider.as_ref();
            let provider = known.chain().methods().filter_map(Method::key_provider).find(is_it);
            found.key = provider.and_then(KeyProvider::options).and_then(key);
            found.key_version = provider.and_then(|provider| envelope.key_version(provider.metadata_key()));
            found.key_provider = key_provider.map(|provider| provider.to_string());
        }
        Err(error) => found.error = Some(error.to_string()),
    }
    Ok(())
}

/// What names the key of a service, by the option of its key provider.
fn key(options: &Options) -> Option<String> {
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
        ("key_version", &found.key_version),
        ("modified", &found.modified.map(|time| time.to_string())),
        ("error", &found.error),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            json.text(name, text);
        }
    }
    for (name, flag) in [("fallback", found.by_fallback), ("migrates", found.migrates)] {
        if let Some(flag) = flag {
            json.raw(name, flag);
        }
    }
}

/// The cells of a state: its name, its status, what encrypts it, its serial, its age, and what is to be known besides.
fn row(found: &Found) -> [String; 6] {
    let mut how = String::new();
    if let Some(method) = &found.method {
        how.push_str(method);
        how.extend(found.key_provider.iter().map(|provider| format!(" with {provider}")));
        let version = found.key_version.iter().map(|version| format!("version {version}"));
        let key: Vec<String> = found.key.iter().cloned().chain(version).collect();
        how.extend((!key.is_empty()).then(|| format!(" ({})", key.join(", "))));
    } else if found.status == "encrypted" {
        how = format!("{} (not authenticated)", found.providers.join(", "));
    }
    let mut notes = Vec::new();
    if found.by_fallback == Some(true) {
        notes.push("opened by a fallback".to_owned());
    }
    if found.migrates == Some(true) && found.error.is_none() {
        notes.push("the next write encrypts it with the primary method".to_owned());
    }
    notes.extend(found.error.iter().cloned());
    let serial = found.serial.as_ref().map(|serial| format!("serial {serial}")).unwrap_or_default();
    let age = found.modified.map(|time| format!("written {} ago", age(time))).unwrap_or_default();
    [found.state.clone(), found.status.to_owned(), how, serial, age, notes.join("; ")]
}
