//! `groundstate encryption encrypt|decrypt|rotate`: states in another form, with the same content.

use std::fs;

use bytes::Bytes;
use groundstate_backends::Purpose;
use groundstate_encryption::{Envelope, Method, Status};
use groundstate_encryption_providers::Encryption;
use groundstate_statemgr::{Expect, Manager, Stored, WriteOptions};

use super::places;
use crate::args::EncryptionChangeArgs;
use crate::input::encryption;
use crate::input::family::{Family, is_packed};
use crate::input::location::StateLocation;
use crate::input::packed;
use crate::input::remote::Located;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::backup::logged;
use crate::session::interrupt::Interrupts;
use crate::session::locked::{lock_info, locked, unlocked};
use crate::session::managed_state::ManagedState;
use crate::session::state_error::StateError;

/// What a state is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    Encrypted,
    Plain,
    Rotated { renew: bool },
}

impl Goal {
    /// What became of a state, in a word.
    fn done(self) -> &'static str {
        match self {
            Self::Encrypted => "encrypted",
            Self::Plain => "decrypted",
            Self::Rotated { .. } => "rotated",
        }
    }

    /// What the lock is for.
    fn operation(self) -> &'static str {
        match self {
            Self::Encrypted => "encryption encrypt",
            Self::Plain => "encryption decrypt",
            Self::Rotated { .. } => "encryption rotate",
        }
    }
}

/// A state, and what became of it.
struct Done {
    state: String,
    outcome: &'static str,
}

pub(super) fn run(args: &EncryptionChangeArgs, goal: Goal) -> Result {
    let mut outcome = Outcome::Clean;
    let mut done = Vec::new();
    for location in places::each(&args.states, Purpose::Change)? {
        match location.and_then(|location| convert(location, args, goal)) {
            Ok(each) => done.push(each),
            Err(failure) if matches!(failure.kind, Kind::Signal(_)) => {
                report(args, &done)?;
                return Err(failure.hint("the same command goes on from here"));
            }
            // The others are converted nevertheless; the same command tries this one again.
            Err(failure) => {
                Messages::stderr().failure(&failure);
                outcome = outcome.and(failure.kind);
            }
        }
    }
    report(args, &done)?;
    Ok(outcome)
}

fn report(args: &EncryptionChangeArgs, done: &[Done]) -> Result<()> {
    let mut out = Output::stdout();
    if args.states.json {
        out.json(&Json::document(|json| {
            json.raw("dry_run", args.dry_run);
            json.objects("states", done, |json, each| {
                json.text("state", &each.state);
                json.text("outcome", each.outcome);
            });
        }))?;
    } else {
        let would = if args.dry_run { "would be " } else { "" };
        for Done { state, outcome } in done {
            match *outcome {
                "unchanged" => out.line(&format!("{state}: unchanged"))?,
                outcome => out.line(&format!("{state}: {would}{outcome}"))?,
            }
        }
    }
    Ok(out.finish()?)
}

fn convert(location: StateLocation, args: &EncryptionChangeArgs, goal: Goal) -> Result<Done> {
    let name = location.name().to_owned();
    let known = encryption::of_located(location.located())?.ok_or_else(|| {
        Failure::new(Kind::Usage, format!("no configuration says how {name} is encrypted"))
            .hint("name its directory, or give the `encryption` block in TF_ENCRYPTION or in a file with `--encryption FILE`")
    })?;
    refuse(&name, &known, goal).map_err(|failure| match location.located() {
        Located::File(path, _) if fs::read(path).is_ok_and(|text| encryption::is_plan(&text)) => {
            encryption::plan(&name)
        }
        _ => failure,
    })?;
    // A backup of what is encrypted now would be plain text on another disk.
    let keep = logged(&location, goal.operation());
    let opened = ManagedState::open_raw(location, Some(keep), !args.lock.no_lock)?;
    let outcome = match args.dry_run {
        true => unlocked(&opened, async |manager| change(manager, &name, &known, goal, None).await)?,
        false => {
            let info = lock_info(&opened, goal.operation())?;
            locked(&opened, &args.lock, info, async |manager, interrupts| {
                change(manager, &name, &known, goal, Some(interrupts)).await
            })?
        }
    };
    Ok(Done { state: name, outcome })
}

/// Refuses what the configuration does not provide for.
fn refuse(name: &str, known: &Encryption, goal: Goal) -> Result<()> {
    let is_plain = known.chain().primary().is_unencrypted();
    let failure = |message: String| Err(Failure::new(Kind::Usage, message));
    match goal {
        Goal::Encrypted | Goal::Rotated { .. } if is_plain => failure(format!(
            "the primary method for {name} leaves states in the clear; name another `method` in the block `state`"
        )),
        Goal::Plain if !known.chain().methods().any(Method::is_unencrypted) => failure(format!(
            "no method for {name} reads states in the clear; add a `fallback` with a method of the type `unencrypted`"
        )),
        _ => Ok(()),
    }
}

/// Reads, converts, verifies, writes and reads back.
async fn change(
    manager: &Manager,
    name: &str,
    known: &Encryption,
    goal: Goal,
    interrupts: Option<&Interrupts>,
) -> Result<&'static str, StateError> {
    let store = manager.store();
    let nothing = || Failure::new(Kind::NoState, format!("no state is stored in {name}"));
    let Stored { bytes, version, .. } = store.read().await?.ok_or_else(nothing)?;
    let is_packed = is_packed(&bytes);
    let text = match is_packed {
        true => packed::unpack(&bytes).map_err(|error| unreadable(name, &error))?,
        false => bytes,
    };
    let Some(converted) = converted(name, &text, known, goal).await? else { return Ok("unchanged") };
    let Some(interrupts) = interrupts else { return Ok(goal.done()) };
    let converted = match is_packed {
        true => packed::pack(&converted).map_err(|error| unreadable(name, &error))?,
        false => converted,
    };
    interrupts.check()?;
    let expect = match store.capabilities().conditional_write {
        true => Expect::Version(version),
        false => Expect::Any,
    };
    let converted = Bytes::from(converted);
    store.write(converted.clone(), &WriteOptions::expecting(expect)).await?;
    match store.read().await? {
        Some(read) if read.bytes == converted => Ok(goal.done()),
        _ => {
            let message = format!("{name} is not what was written: another process has changed it meanwhile");
            Err(Failure::new(Kind::Conflict, message).into())
        }
    }
}

fn unreadable(name: &str, error: &std::io::Error) -> Failure {
    Failure::new(Kind::NotState, format!("{name} is compressed by gzip and cannot be converted: {error}"))
}

/// What is to be stored; nothing if it stays as it is.
async fn converted(name: &str, text: &[u8], known: &Encryption, goal: Goal) -> Result<Option<Vec<u8>>> {
    if Family::sniff(text) != Some(Family::Terraform) {
        let message = format!("{name} is not a state of Terraform or OpenTofu");
        return Err(Failure::new(Kind::NotState, message));
    }
    let unusable = |message: String| Failure::new(Kind::Unusable, message);
    let envelope = Envelope::parse(text).map_err(|error| unusable(format!("{name}: {error}")))?;
    if encryption::is_plan(text) {
        return Err(encryption::plan(name));
    }
    match (goal, envelope.is_some()) {
        (Goal::Encrypted, true) | (Goal::Plain, false) => return Ok(None),
        (Goal::Encrypted, false) => return sealed(name, text, known).await.map(Some),
        _ => {}
    }
    let opened = known.keys().open(known.chain(), text).await;
    let opened = opened.map_err(|error| unusable(format!("cannot decrypt {name}: {error}")))?;
    match goal {
        Goal::Rotated { renew: false } if opened.status == Status::Satisfied => Ok(None),
        Goal::Plain => Ok(Some(opened.plaintext.into_bytes())),
        _ => sealed(name, opened.plaintext.expose(), known).await.map(Some),
    }
}

/// The envelope of a state, which keys have opened that were asked for anew.
async fn sealed(name: &str, plaintext: &[u8], known: &Encryption) -> Result<Vec<u8>> {
    let failed = |why: String| Failure::new(Kind::Unusable, format!("cannot encrypt {name}: {why}"));
    let sealed = known.keys().seal(known.chain(), plaintext, known.envelope_layout()).await;
    let sealed = sealed.map_err(|error| failed(chain(&error)))?;
    let again = encryption::with_new_keys(known).keys().open(known.chain(), &sealed).await;
    match again {
        Ok(opened) if opened.plaintext.expose() == plaintext && opened.status == Status::Satisfied => {
            Ok(sealed)
        }
        Ok(_) => Err(failed("what was encrypted does not decrypt to the same".to_owned())),
        Err(error) => Err(failed(format!("what was encrypted cannot be decrypted: {error}"))),
    }
}
