//! `groundstate-bench encryption`: what encrypting and decrypting a state costs beside the cipher alone, and the status of many states.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit, Nonce};
use clap::{Args, ValueEnum};
use groundstate_bench::{Format, Recipe};
use groundstate_common::OsEntropy;
use groundstate_encryption::{
    BoxError, Chain, Configuration, EnvelopeLayout, Key, KeyRequest, KeySource, KeyUse, PassphraseKeys,
    Plaintext, ProgramRequest, ProvidedKey, Scope, Target,
};

use super::child::{Cost, measure, tell};
use super::{Failure, Outcome, machine, median, state};

/// Bytes of an instance of an invented state, about.
const INSTANCE: usize = 2280;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Megabytes of the state that is encrypted
    #[arg(long, default_value_t = 200)]
    megabytes: usize,
    /// States whose status is asked for
    #[arg(long, default_value_t = 1000)]
    states: usize,
    /// Instances in each of them
    #[arg(long, default_value_t = 20)]
    instances: usize,
    /// How often each thing is run
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// The program to measure; the one built for release beside this one if missing
    #[arg(long, env = "GROUNDSTATE_BIN")]
    program: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct StepOptions {
    step: Step,
    file: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Read the file
    Read,
    /// Encrypt and decrypt it in place with AES-GCM
    Cipher,
    /// Make the envelope of it
    Seal,
    /// Decrypt the envelope in it
    Open,
    /// Derive a key from a passphrase
    Derive,
}

/// What is told of a step, and the words of the table for it.
const FIGURES: [(Step, &str, &str); 6] = [
    (Step::Read, "read", "reading the file"),
    (Step::Cipher, "encrypt", "AES-256-GCM alone: encrypt in place"),
    (Step::Cipher, "decrypt", "AES-256-GCM alone: decrypt in place"),
    (Step::Seal, "seal", "library: encrypt into an envelope"),
    (Step::Open, "open", "library: decrypt the envelope"),
    (Step::Derive, "derive", "library: a key of 600,000 iterations"),
];

/// Measures and prints tables.
pub(crate) fn run(options: &Options) -> Outcome {
    if cfg!(debug_assertions) {
        let message = "figures of a debug build say nothing: run `cargo xtask bench encryption`";
        return Err(Failure::Missing(message.to_owned()));
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => state::built()?,
    };
    let folder =
        tempfile::tempdir().map_err(|source| Failure::Write { path: std::env::temp_dir(), source })?;
    let folder = folder.path();
    let configuration = folder.join("encryption.hcl");
    put(&configuration, COMMAND.as_bytes())?;
    println!("- machine: {}", machine::line());
    println!("- runs of each: {}, medians\n", options.runs);
    println!("| what | time | MB/s | peak MB | peak / file |\n| --- | ---: | ---: | ---: | ---: |");
    one_state(options, folder, &program, &configuration)?;
    println!("\n| {} states | time | for each | peak MB |\n| --- | ---: | ---: | ---: |", options.states);
    many_states(options, folder, &program, &configuration)
}

fn one_state(options: &Options, folder: &Path, program: &Path, configuration: &Path) -> Outcome {
    let (plain, envelope) = (folder.join("plain.tfstate"), folder.join("envelope.json"));
    write_state(options.megabytes * 1_000_000 / INSTANCE, 1, &plain)?;
    let text = fs::read(&plain).map_err(|source| Failure::Read { path: plain.clone(), source })?;
    let sealed = chain()?.seal(&text, EnvelopeLayout::Compact, &mut OneKey, &OsEntropy).map_err(failed)?;
    let bytes = text.len() as f64;
    put(&envelope, &sealed)?;
    drop((text, sealed));
    let row = |what: &str, seconds: f64, peak: f64, is_of_file: bool| {
        let speed = if is_of_file { format!("{:.0}", bytes / seconds / 1e6) } else { String::new() };
        let share = if is_of_file { format!("{:.2}", peak / bytes) } else { String::new() };
        println!("| {what} | {:.0} ms | {speed} | {:.0} | {share} |", seconds * 1e3, peak / 1e6);
    };
    println!("| a state of {:.0} MB | | | | |", bytes / 1e6);
    for step in [Step::Read, Step::Cipher, Step::Seal, Step::Open, Step::Derive] {
        let file = if step == Step::Open { &envelope } else { &plain };
        let costs = (0..options.runs).map(|_| measured(step, file)).collect::<Outcome<Vec<_>>>()?;
        for (_, name, what) in FIGURES.iter().filter(|(known, ..)| *known == step) {
            let seconds = median(costs.iter().map(|cost| cost.told(name).as_secs_f64()).collect());
            row(what, seconds, peak(&costs), step != Step::Derive);
        }
    }
    let verbs: [(&str, &[&str], &str); 3] = [
        ("plain.tfstate", &["encryption", "encrypt"], "`groundstate encryption encrypt`"),
        ("encrypted.tfstate", &["list"], "`groundstate list` of it, encrypted"),
        ("encrypted.tfstate", &["encryption", "decrypt"], "`groundstate encryption decrypt`"),
    ];
    let (work, encrypted) = (folder.join("work"), folder.join("work/encrypted.tfstate"));
    fs::create_dir(&work).map_err(|source| Failure::Write { path: work.clone(), source })?;
    copy(&plain, &encrypted)?;
    measure(command(program, &["encryption", "encrypt"], configuration).arg(&encrypted), false)?;
    for (file, verb, what) in verbs {
        let mut costs = Vec::new();
        for _ in 0..options.runs {
            let at = work.join("one.tfstate");
            copy(&if file == "plain.tfstate" { plain.clone() } else { encrypted.clone() }, &at)?;
            costs.push(measure(command(program, verb, configuration).arg(&at), false)?);
        }
        row(what, median(costs.iter().map(|cost| cost.wall.as_secs_f64()).collect()), peak(&costs), true);
    }
    fs::remove_dir_all(&work).map_err(|source| Failure::Write { path: work, source })
}

fn many_states(options: &Options, folder: &Path, program: &Path, configuration: &Path) -> Outcome {
    let list = folder.join("states.txt");
    let mut names = String::new();
    for number in 0..options.states {
        let path = folder.join(format!("{number}.tfstate"));
        write_state(options.instances, number as u64, &path)?;
        names.push_str(&format!("{}\n", path.display()));
    }
    put(&list, names.as_bytes())?;
    let ask = |verb: &[&str], configuration: Option<&Path>, what: &str, runs: usize| {
        let mut costs = Vec::new();
        for _ in 0..runs {
            let mut command = Command::new(program);
            command.args(["encryption"]).args(verb).arg("--list").arg(&list);
            command.args(configuration.map(|_| "--encryption")).args(configuration);
            costs.push(measure(&command, false)?);
        }
        let seconds = median(costs.iter().map(|cost| cost.wall.as_secs_f64()).collect());
        let each = seconds / options.states as f64;
        println!("| {what} | {:.2} s | {:.2} ms | {:.0} |", seconds, each * 1e3, peak(&costs) / 1e6);
        Ok(())
    };
    ask(&["status"], None, "`encryption status`, in the clear", options.runs)?;
    ask(&["encrypt"], Some(configuration), "`encryption encrypt`, all under one key", 1)?;
    ask(&["status"], None, "`encryption status`, encrypted, without keys", options.runs)?;
    ask(&["status"], Some(configuration), "`encryption status`, encrypted, with keys", options.runs)?;
    ask(&["rotate", "--renew"], Some(configuration), "`encryption rotate --renew`, all under one new key", 1)
}

/// Does one thing inside this process and says how long it took.
pub(crate) fn run_step(options: &StepOptions) -> Outcome {
    if options.step == Step::Derive {
        let start = Instant::now();
        let mut keys = PassphraseKeys::new(OsEntropy);
        let configuration = parsed(&COMMAND.replace("iterations = 200000", ""))?;
        let state = br#"{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"l"}"#;
        black_box(configuration.seal(state, EnvelopeLayout::Compact, &mut keys, &OsEntropy).map_err(failed)?);
        tell("derive", start.elapsed());
        return Ok(());
    }
    let start = Instant::now();
    let mut text =
        fs::read(&options.file).map_err(|source| Failure::Read { path: options.file.clone(), source })?;
    if options.step == Step::Read {
        tell("read", start.elapsed());
        black_box(text);
        return Ok(());
    }
    let start = Instant::now();
    match options.step {
        Step::Cipher => {
            let cipher = Aes256Gcm::new_from_slice(&[1; 32]).map_err(failed)?;
            let nonce = Nonce::from([7; 12]);
            let tag =
                cipher.encrypt_inout_detached(&nonce, &[], InOutBuf::from(&mut *text)).map_err(failed)?;
            tell("encrypt", start.elapsed());
            let start = Instant::now();
            cipher.decrypt_inout_detached(&nonce, &[], InOutBuf::from(&mut *text), &tag).map_err(failed)?;
            tell("decrypt", start.elapsed());
            black_box(text);
        }
        Step::Seal => {
            let sealed = chain()?.seal(&text, EnvelopeLayout::Compact, &mut OneKey, &OsEntropy);
            black_box(sealed.map_err(failed)?);
            tell("seal", start.elapsed());
        }
        _ => {
            black_box(chain()?.open(&text, &mut OneKey).map_err(failed)?);
            tell("open", start.elapsed());
        }
    }
    Ok(())
}

/// The configuration of commands: the least work for a key that OpenTofu allows.
const COMMAND: &str = r#"
key_provider "pbkdf2" "main" {
  passphrase = "correct-horse-battery"
  iterations = 200000
}
method "aes_gcm" "main" {
  keys = key_provider.pbkdf2.main
}
method "unencrypted" "plain" {}
state {
  method = method.aes_gcm.main
  fallback {
    method = method.unencrypted.plain
  }
}
"#;

/// A chain whose key needs no work.
fn chain() -> Outcome<Chain> {
    parsed(
        r#"
        key_provider "aws_kms" "k" {}
        method "aes_gcm" "m" { keys = key_provider.aws_kms.k }
        state { method = method.aes_gcm.m }
        "#,
    )
}

fn parsed(text: &str) -> Outcome<Chain> {
    let missing = || Failure::Step("the configuration says nothing".to_owned());
    let configuration = Configuration::parse("the configuration", text, &Scope::new()).map_err(failed)?;
    let chain = configuration.ok_or_else(missing)?.chain(&Target::State).map_err(failed)?;
    chain.ok_or_else(missing)
}

/// One key for everything.
struct OneKey;

impl KeySource for OneKey {
    fn key(&mut self, request: &KeyRequest) -> Result<ProvidedKey, BoxError> {
        let key = Key::new(vec![1; 32]);
        Ok(match request.key_use() {
            KeyUse::Encrypt => ProvidedKey::with_metadata(key, b"{}".to_vec()),
            KeyUse::Decrypt(_) => ProvidedKey::new(key),
        })
    }

    fn run(&mut self, _: &ProgramRequest) -> Result<Plaintext, BoxError> {
        Err("no programs".into())
    }
}

fn measured(step: Step, file: &Path) -> Outcome<Cost> {
    let own = std::env::current_exe()
        .map_err(|source| Failure::Start { program: "this program".to_owned(), source })?;
    let name = step.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    measure(Command::new(own).arg("encryption-step").arg(name).arg(file), true)
}

fn command(program: &Path, verb: &[&str], configuration: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(verb).arg("--encryption").arg(configuration);
    command
}

fn peak(costs: &[Cost]) -> f64 {
    median(costs.iter().map(|cost| cost.peak as f64).collect())
}

fn write_state(instances: usize, seed: u64, path: &Path) -> Outcome {
    let write = || {
        let mut out = BufWriter::new(File::create(path)?);
        Recipe::new(instances).seed(seed).write(Format::Terraform, &mut out)?;
        out.flush()
    };
    write().map_err(|source| Failure::Write { path: path.to_owned(), source })
}

fn put(path: &Path, bytes: &[u8]) -> Outcome {
    fs::write(path, bytes).map_err(|source| Failure::Write { path: path.to_owned(), source })
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to).map(drop).map_err(|source| Failure::Write { path: to.to_owned(), source })
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Step(error.to_string())
}
