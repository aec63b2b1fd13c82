//! States that OpenTofu encrypts: read and written with its keys, and left alone without them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use groundstate_common::Timestamp;
use groundstate_testkit::{S3Locks, TestBackend};

use super::remote::Work;
use super::support::{Run, backups, command, groundstate, resource, state, with_resources};
use super::terraform::Product;

/// What no file may have, besides the state in the clear.
pub(crate) const SECRET: &str = "sentinel-of-the-plaintext";

pub(crate) const RESOURCES: &str = r#"
variable "secret" {
  sensitive = true
}

resource "terraform_data" "one" {
  input = var.secret
}

output "secret" {
  value     = terraform_data.one.output
  sensitive = true
}
"#;

/// A key provider with a passphrase of its name, and a method of that name.
pub(crate) fn passphrase(name: &str) -> String {
    format!(
        r#"
    key_provider "pbkdf2" "{name}" {{
      passphrase = "{}"
      iterations = 200000
    }}
    method "aes_gcm" "{name}" {{
      keys = key_provider.pbkdf2.{name}
    }}
"#,
        name.repeat(16)
    )
}

/// The inside of an `encryption` block: these parts, and the methods of states.
pub(crate) fn block(parts: &[&str], methods: &[&str]) -> String {
    let (begin, end) = methods
        .split_first()
        .map(|(first, rest)| {
            let fallbacks: String =
                rest.iter().map(|method| format!("fallback {{\nmethod = method.{method}\n")).collect();
            (format!("state {{\nmethod = method.{first}\n{fallbacks}"), "}\n".repeat(rest.len() + 1))
        })
        .unwrap();
    format!("{}\n{begin}{end}", parts.concat())
}

pub(crate) const PLAIN: &str = "method \"unencrypted\" \"plain\" {}\n";

/// A directory whose configuration has this in its `encryption` block.
pub(crate) struct Dir(tempfile::TempDir);

impl Dir {
    pub(crate) fn new(encryption: &str) -> Self {
        let dir = Self(tempfile::tempdir().unwrap());
        dir.encrypt(encryption);
        dir
    }

    pub(crate) fn encrypt(&self, encryption: &str) {
        let text = format!("{RESOURCES}\nterraform {{\nencryption {{\n{encryption}\n}}\n}}\n");
        fs::write(self.path().join("main.tf"), text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn shown(&self) -> &str {
        self.path().to_str().unwrap()
    }

    fn state(&self) -> PathBuf {
        self.path().join("terraform.tfstate")
    }

    pub(crate) fn stored(&self) -> String {
        fs::read_to_string(self.state()).unwrap()
    }

    /// The command on this directory.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(command(args).stdin(Stdio::null()).output().unwrap())
    }

    /// Applies the configuration; false if there is no tofu.
    pub(crate) fn applied(&self) -> bool {
        let tofu = Product::tofu();
        if tofu.run(self.path(), &["version"]).is_none() {
            return false;
        }
        self.tofu(&["init", "-no-color"]);
        self.tofu(&["apply", "-auto-approve", "-no-color"]);
        true
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Product::tofu().command(self.path(), args);
        command.env("TF_VAR_secret", SECRET);
        command
    }

    /// What tofu prints.
    #[track_caller]
    pub(crate) fn tofu(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Asserts that no file below the directory has the plaintext.
    #[track_caller]
    fn has_no_plaintext(&self) {
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(&path).unwrap();
                    let text = String::from_utf8_lossy(&bytes);
                    assert!(!text.contains(SECRET), "{} has the plaintext", path.display());
                }
            }
        }
    }
}

#[test]
fn a_state_that_tofu_encrypted_is_read_and_changed_and_tofu_reads_it_again() {
    let dir = Dir::new(&block(&[&passphrase("a")], &["aes_gcm.a"]));
    if !dir.applied() {
        return;
    }
    assert!(dir.stored().contains("\"encryption_version\": \"v0\""));
    assert_eq!(dir.run(&["list", dir.shown()]).clean(), "terraform_data.one\n");
    let file = dir.state();
    assert_eq!(dir.run(&["list", file.to_str().unwrap()]).clean(), "terraform_data.one\n");
    assert_eq!(dir.run(&["outputs", dir.shown(), "secret"]).clean().trim(), format!("\"{SECRET}\""));
    assert!(dir.run(&["show", dir.shown()]).clean().contains("terraform_data.one"));
    assert!(dir.run(&["pull", dir.shown()]).clean().contains(SECRET));
    let before = dir.stored();
    dir.run(&["mv", dir.shown(), "terraform_data.one", "terraform_data.two"]).clean();
    assert_ne!(dir.stored(), before);
    assert_eq!(fs::read_to_string(&backups(dir.state().to_str().unwrap())[0]).unwrap(), before);
    assert_eq!(dir.tofu(&["state", "list"]), "terraform_data.two\n");
    assert!(dir.stored().ends_with("\"encryption_version\": \"v0\"\n}\n"), "{}", dir.stored());
    dir.run(&["undo", dir.shown()]).clean();
    assert_eq!(dir.tofu(&["state", "list"]), "terraform_data.one\n");
    assert_eq!(dir.tofu(&["output", "-raw", "secret"]), SECRET);
    dir.tofu(&["plan", "-detailed-exitcode", "-no-color"]);
    dir.has_no_plaintext();
}

#[test]
fn roll_out_rotation_and_roll_back_go_on_where_tofu_stopped() {
    let (a, b) = (passphrase("a"), passphrase("b"));
    let dir = Dir::new(&block(&[PLAIN, &a], &["unencrypted.plain"]));
    if !dir.applied() {
        return;
    }
    assert!(dir.stored().contains(SECRET));
    let taint = |dir: &Dir| {
        dir.run(&["taint", dir.shown(), "terraform_data.one", "--backup", "-"]).clean();
        dir.run(&["untaint", dir.shown(), "terraform_data.one", "--backup", "-"]).clean();
    };
    // Roll out: what is in the clear is encrypted by the next write.
    dir.encrypt(&block(&[PLAIN, &a], &["aes_gcm.a", "unencrypted.plain"]));
    taint(&dir);
    assert!(dir.stored().contains("key_provider.pbkdf2.a") && !dir.stored().contains(SECRET));
    dir.encrypt(&block(&[&a], &["aes_gcm.a"]));
    assert_eq!(dir.tofu(&["output", "-raw", "secret"]), SECRET);
    // Rotation: the old key opens, the new one encrypts.
    dir.encrypt(&block(&[&b, &a], &["aes_gcm.b", "aes_gcm.a"]));
    taint(&dir);
    assert!(
        dir.stored().contains("key_provider.pbkdf2.b") && !dir.stored().contains("key_provider.pbkdf2.a")
    );
    dir.encrypt(&block(&[&b], &["aes_gcm.b"]));
    assert_eq!(dir.tofu(&["output", "-raw", "secret"]), SECRET);
    // Roll back.
    dir.encrypt(&block(&[PLAIN, &b], &["unencrypted.plain", "aes_gcm.b"]));
    taint(&dir);
    assert!(dir.stored().contains(SECRET));
    dir.encrypt("");
    assert_eq!(dir.tofu(&["output", "-raw", "secret"]), SECRET);
}

#[cfg(unix)]
#[test]
fn a_program_that_gives_keys_is_run_for_trusted_directories_only() {
    let script = r#"
echo '{"magic":"OpenTofu-External-Key-Provider","version":1}'
input=$(cat)
case "$input" in
  null) old='' ;;
  *) old=',"decryption_key":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="' ;;
esac
echo '{"keys":{"encryption_key":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="'"$old"'},"meta":{"external_data":{"id":"k"}}}'
"#;
    let program = r#"
    key_provider "external" "a" {
      command = ["sh", "key.sh"]
    }
    method "aes_gcm" "a" {
      keys = key_provider.external.a
    }
"#;
    let dir = Dir::new(&block(&[program], &["aes_gcm.a"]));
    fs::write(dir.path().join("key.sh"), script).unwrap();
    if !dir.applied() {
        return;
    }
    let refused = dir.run(&["list", dir.shown()]).failed(2);
    assert!(refused.contains("key_provider.external.a runs a program or asks a service"), "{refused}");
    assert!(refused.contains("--trust-directory"), "{refused}");
    let trusted = |args: &[&str]| dir.run(&[args, &["--trust-directory"]].concat()).clean();
    assert_eq!(trusted(&["list", dir.shown()]), "terraform_data.one\n");
    trusted(&["mv", dir.shown(), "terraform_data.one", "terraform_data.two"]);
    assert_eq!(dir.tofu(&["state", "list"]), "terraform_data.two\n");
    dir.has_no_plaintext();
}

/// A state in the clear, and a file with a configuration that encrypts it.
pub(crate) fn with_file(methods: &[&str]) -> (super::support::TempState, String) {
    let instance = format!(r#"{{"schema_version": 0, "attributes": {{"x": "{SECRET}"}}}}"#);
    let file = state(with_resources(&resource("a", "b", &instance)));
    let path = file.dir.path().join("encryption.hcl").to_str().unwrap().to_owned();
    fs::write(&path, block(&[PLAIN, &passphrase("a")], methods)).unwrap();
    (file, path)
}

#[test]
fn a_file_and_the_environment_say_how_a_state_is_encrypted() {
    let (file, keys) = with_file(&["aes_gcm.a", "unencrypted.plain"]);
    groundstate(&["taint", &file.path, "a.b", "--backup", "-", "--encryption", &keys]).clean();
    let stored = fs::read_to_string(&file.path).unwrap();
    assert!(!stored.contains(SECRET) && stored.contains("key_provider.pbkdf2.a"), "{stored}");
    assert_eq!(groundstate(&["list", &file.path, "--encryption", &keys]).clean(), "a.b\n");
    let environment = fs::read_to_string(&keys).unwrap();
    let listed = command(&["list", &file.path]).env("TF_ENCRYPTION", environment).output().unwrap();
    assert_eq!(String::from_utf8(listed.stdout).unwrap(), "a.b\n");
    // Without keys every command says what is missing, and changes nothing.
    for args in
        [&["list", &*file.path][..], &["show", &file.path], &["check", &file.path], &["pull", &file.path]]
    {
        let run = groundstate(args);
        assert_ne!(run.code, 0, "{args:?}");
        assert!(run.stderr.contains("is encrypted by OpenTofu"), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains("--encryption FILE"), "{args:?}: {}", run.stderr);
    }
    let refused = groundstate(&["mv", &file.path, "a.b", "a.c"]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("is encrypted by OpenTofu"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&file.path).unwrap(), stored);
}

#[test]
fn wrong_keys_and_damage_change_nothing() {
    let (file, keys) = with_file(&["aes_gcm.a", "unencrypted.plain"]);
    groundstate(&["taint", &file.path, "a.b", "--backup", "-", "--encryption", &keys]).clean();
    let stored = fs::read_to_string(&file.path).unwrap();
    let other = file.dir.path().join("other.hcl").to_str().unwrap().to_owned();
    fs::write(
        &other,
        block(&[&passphrase("b").replace("\"b\"", "\"a\"").replace("pbkdf2.b", "pbkdf2.a")], &["aes_gcm.a"]),
    )
    .unwrap();
    let refused = groundstate(&["list", &file.path, "--encryption", &other]).failed(5);
    assert!(refused.contains("message authentication failed"), "{refused}");
    let refused = groundstate(&["untaint", &file.path, "a.b", "--encryption", &other]);
    assert_ne!(refused.code, 0);
    assert_eq!(fs::read_to_string(&file.path).unwrap(), stored);
    let damaged = stored.replacen("\"serial\": ", "\"serial\": 9", 1);
    fs::write(&file.path, &damaged).unwrap();
    let refused = groundstate(&["list", &file.path, "--encryption", &keys]).failed(5);
    assert!(refused.contains("serial field mismatch"), "{refused}");
    let refused = groundstate(&["untaint", &file.path, "a.b", "--encryption", &keys]);
    assert_ne!(refused.code, 0);
    assert_eq!(fs::read_to_string(&file.path).unwrap(), damaged);
}

#[test]
fn resources_of_an_encrypted_state_do_not_move_into_the_clear() {
    let (file, keys) = with_file(&["aes_gcm.a", "unencrypted.plain"]);
    groundstate(&["taint", &file.path, "a.b", "--backup", "-", "--encryption", &keys]).clean();
    let configured = file.dir.path().join("main.tf");
    fs::write(
        &configured,
        format!("terraform {{\nencryption {{\n{}\n}}\n}}\n", fs::read_to_string(&keys).unwrap()),
    )
    .unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let other = elsewhere.path().join("other.tfstate").to_str().unwrap().to_owned();
    let refused = groundstate(&["mv", &file.path, "a.b", "--to", &other]).failed(6);
    assert!(refused.contains("is encrypted, and what moves to"), "{refused}");
    assert!(!fs::exists(&other).unwrap());
    groundstate(&["mv", &file.path, "a.b", "--to", &other, "--encryption", &keys]).clean();
    let moved = fs::read_to_string(&other).unwrap();
    assert!(moved.contains("encrypted_data") && !moved.contains(SECRET), "{moved}");
}

#[test]
fn a_migration_passes_the_envelope_on_untouched() {
    let (file, keys) = with_file(&["aes_gcm.a", "unencrypted.plain"]);
    groundstate(&["taint", &file.path, "a.b", "--backup", "-", "--encryption", &keys]).clean();
    let to = file.dir.path().join("copy.tfstate").to_str().unwrap().to_owned();
    let receipt = file.dir.path().join("receipt.json").to_str().unwrap().to_owned();
    let run = groundstate(&["migrate", &file.path, &to, "--receipt", &receipt]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(fs::read(&to).unwrap(), fs::read(&file.path).unwrap());
}

#[test]
fn what_a_configuration_does_not_say_in_literals_is_named_with_its_line() {
    let dir = Dir::new(
        "key_provider \"pbkdf2\" \"a\" {\n  passphrase = file(\"secret\")\n}\nmethod \"aes_gcm\" \"a\" {\n  keys = key_provider.pbkdf2.a\n}\nstate {\n  method = method.aes_gcm.a\n}",
    );
    fs::write(dir.state(), with_resources(&resource("a", "b", "{}"))).unwrap();
    // The names of methods alone tell that a state in the clear is refused.
    let refused = dir.run(&["list", dir.shown()]).failed(5);
    assert!(refused.contains("it is stored in the clear"), "{refused}");
    let refused = dir.run(&["mv", dir.shown(), "a.b", "a.c"]).failed(2);
    assert!(refused.contains("main.tf, line 18: option `passphrase` of key_provider.pbkdf2.a"), "{refused}");
    assert!(refused.contains("the function `file` is not evaluated here"), "{refused}");
}

/// The members of the first state that a command prints as JSON.
fn first(run: Run) -> serde_json::Value {
    let document: serde_json::Value = serde_json::from_str(&run.clean()).unwrap();
    document["states"][0].clone()
}

#[test]
fn status_shows_what_the_keys_tell_and_what_nothing_authenticates() {
    let (file, keys) = with_file(&["aes_gcm.a", "unencrypted.plain"]);
    let status =
        |keys: &[&str]| first(groundstate(&[&["encryption", "status", &file.path, "--json"], keys].concat()));
    let plain = status(&["--encryption", &keys]);
    assert_eq!((&plain["status"], &plain["migrates"]), (&"plain".into(), &true.into()));
    assert_eq!((&plain["fallback"], &plain["error"]), (&true.into(), &serde_json::Value::Null));
    groundstate(&["encryption", "encrypt", &file.path, "--encryption", &keys]).clean();
    let known = status(&["--encryption", &keys]);
    assert_eq!((&known["method"], &known["authenticated"]), (&"method.aes_gcm.a".into(), &true.into()));
    assert_eq!((&known["migrates"], &known["serial"]), (&false.into(), &1.into()));
    let modified = fs::metadata(&file.path).unwrap().modified().unwrap();
    let seconds = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let seconds = Timestamp::from_unix(seconds.try_into().unwrap(), 0).unwrap().to_string();
    assert!(known["modified"].as_str().unwrap().starts_with(seconds.trim_end_matches('Z')), "{known}");
    let unknown = status(&[]);
    assert_eq!((&unknown["status"], &unknown["authenticated"]), (&"encrypted".into(), &false.into()));
    assert_eq!(unknown["metadata_keys"], serde_json::json!(["key_provider.pbkdf2.a"]));
    let text = groundstate(&["encryption", "status", &file.path]).clean();
    assert!(
        text.contains("encrypted  key_provider.pbkdf2.a (not authenticated)  serial 1  written "),
        "{text}"
    );
    // Another primary method: the fallback that opens it is named as one.
    let (a, b) = (passphrase("a"), passphrase("b"));
    fs::write(&keys, block(&[&a, &b], &["aes_gcm.b", "aes_gcm.a"])).unwrap();
    let known = status(&["--encryption", &keys]);
    assert_eq!((&known["method"], &known["fallback"]), (&"method.aes_gcm.a".into(), &true.into()));
    let text = groundstate(&["encryption", "status", &file.path, "--encryption", &keys]).clean();
    assert!(text.contains("opened by a fallback; the next write encrypts it"), "{text}");
}

#[test]
fn a_state_in_the_clear_is_refused_where_only_encrypted_ones_are_accepted() {
    let a = passphrase("a");
    let dir = Dir::new(&block(&[PLAIN, &a], &["unencrypted.plain", "aes_gcm.a"]));
    let plain = with_resources(&resource("terraform_data", "one", "{}"));
    fs::write(dir.state(), &plain).unwrap();
    assert_eq!(dir.run(&["list", dir.shown()]).clean(), "terraform_data.one\n");
    dir.encrypt(&block(&[&a], &["aes_gcm.a"]));
    let file = dir.state().to_str().unwrap().to_owned();
    for args in [
        &["list", dir.shown()][..],
        &["list", &file],
        &["show", dir.shown()],
        &["outputs", dir.shown()],
        &["check", dir.shown()],
        &["graph", dir.shown()],
        &["diff", dir.shown(), &file],
        &["pull", dir.shown()],
        &["mv", dir.shown(), "terraform_data.one", "terraform_data.two"],
    ] {
        let run = dir.run(args);
        assert_eq!(run.code, 5, "{args:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains("stored in the clear"), "{args:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{args:?}");
    }
    let refused = dir.run(&["list", dir.shown()]).failed(5);
    assert!(refused.contains(&format!("`groundstate encryption encrypt {file}`")), "{refused}");
    let status = first(dir.run(&["encryption", "status", dir.shown(), "--json"]));
    assert_eq!((&status["status"], &status["fallback"]), (&"plain".into(), &false.into()));
    assert!(status["error"].as_str().unwrap().contains("stored in the clear"), "{status}");
    // tofu refuses it too.
    let tofu = Product::tofu();
    if tofu.run(dir.path(), &["version"]).is_some() {
        let refused = dir.command(&["init", "-no-color"]).output().unwrap();
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(message.contains("unencrypted payload without unencrypted method"), "{message}");
    }
    // What comes from a pipe or is pushed is not the state of a place.
    let mut piped = command(&["list", "-"]);
    piped.current_dir(dir.path()).stdin(fs::File::open(dir.state()).unwrap());
    assert_eq!(Run::of(piped.output().unwrap()).clean(), "terraform_data.one\n");
    let copy = dir.path().join("copy.json").to_str().unwrap().to_owned();
    fs::write(&copy, &plain).unwrap();
    dir.run(&["encryption", "encrypt", dir.shown()]).clean();
    assert_eq!(dir.run(&["list", dir.shown()]).clean(), "terraform_data.one\n");
    dir.run(&["push", dir.shown(), &copy]).clean();
    assert!(dir.stored().contains("encrypted_data"));
}

#[test]
fn states_are_encrypted_rotated_and_decrypted_and_a_second_run_changes_nothing() {
    let (file, keys) = with_file(&["aes_gcm.a", "unencrypted.plain"]);
    let plain = fs::read_to_string(&file.path).unwrap();
    let run = |verb: &str, more: &[&str]| {
        let args = [&["encryption", verb, &file.path, "--encryption", &keys], more].concat();
        file.mask(&groundstate(&args).clean())
    };
    assert_eq!(run("encrypt", &["--dry-run"]), "FILE: would be encrypted\n");
    assert_eq!(fs::read_to_string(&file.path).unwrap(), plain);
    assert_eq!(run("encrypt", &[]), "FILE: encrypted\n");
    let first = fs::read_to_string(&file.path).unwrap();
    assert!(first.contains("key_provider.pbkdf2.a") && !first.contains(SECRET));
    assert_eq!(run("encrypt", &[]), "FILE: unchanged\n");
    // A new key provider: what the old one encrypted is rotated once.
    fs::write(
        &keys,
        block(&[PLAIN, &passphrase("a"), &passphrase("b")], &["aes_gcm.b", "aes_gcm.a", "unencrypted.plain"]),
    )
    .unwrap();
    assert_eq!(run("rotate", &[]), "FILE: rotated\n");
    let second = fs::read_to_string(&file.path).unwrap();
    assert!(second.contains("key_provider.pbkdf2.b") && !second.contains("key_provider.pbkdf2.a"));
    assert_eq!(run("rotate", &[]), "FILE: unchanged\n");
    assert_eq!(run("rotate", &["--renew"]), "FILE: rotated\n");
    assert_ne!(fs::read_to_string(&file.path).unwrap(), second);
    assert_eq!(run("decrypt", &[]), "FILE: decrypted\n");
    assert_eq!(fs::read_to_string(&file.path).unwrap(), plain);
    assert!(backups(&file.path).is_empty(), "no copy is kept");
}

/// Why a command has failed with code 2, whatever it printed of other states.
#[track_caller]
pub(crate) fn refusal(args: &[&str]) -> String {
    let run = groundstate(args);
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    run.stderr
}

#[test]
fn verbs_refuse_what_opentofu_could_not_read_afterwards() {
    let (file, keys) = with_file(&["aes_gcm.a"]);
    let before = fs::read_to_string(&file.path).unwrap();
    groundstate(&["encryption", "encrypt", &file.path, "--encryption", &keys]).clean();
    let refused = refusal(&["encryption", "decrypt", &file.path, "--encryption", &keys]);
    assert!(refused.contains("add a `fallback` with a method of the type `unencrypted`"), "{refused}");
    fs::write(&keys, block(&[PLAIN, &passphrase("a")], &["unencrypted.plain", "aes_gcm.a"])).unwrap();
    let refused = refusal(&["encryption", "rotate", &file.path, "--encryption", &keys]);
    assert!(refused.contains("leaves states in the clear"), "{refused}");
    groundstate(&["encryption", "decrypt", &file.path, "--encryption", &keys]).clean();
    assert_eq!(fs::read_to_string(&file.path).unwrap(), before);
    let refused = refusal(&["encryption", "encrypt", &file.path]);
    assert!(refused.contains("no configuration says how"), "{refused}");
}

#[test]
fn all_workspaces_and_lists_are_converted_and_one_failure_stops_no_other() {
    let (file, keys) = with_file(&["aes_gcm.a", "unencrypted.plain"]);
    let folder = file.dir.path();
    fs::create_dir_all(folder.join("terraform.tfstate.d/dev")).unwrap();
    let dev = folder.join("terraform.tfstate.d/dev/terraform.tfstate");
    fs::copy(&file.path, &dev).unwrap();
    let shown = folder.to_str().unwrap();
    let run =
        groundstate(&["encryption", "encrypt", shown, "--all-workspaces", "--encryption", &keys]).clean();
    assert_eq!(run.lines().count(), 2, "{run}");
    for path in [Path::new(&file.path), &dev] {
        assert!(fs::read_to_string(path).unwrap().contains("encrypted_data"), "{}", path.display());
    }
    let list = folder.join("list.txt").to_str().unwrap().to_owned();
    fs::write(&list, format!("# all\n{}\n/nowhere/at.tfstate\n{}\n", file.path, dev.display())).unwrap();
    let run = groundstate(&["encryption", "decrypt", "--list", &list, "--encryption", &keys]);
    assert_eq!((run.code, run.stdout.lines().count()), (3, 2), "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("/nowhere/at.tfstate"), "{}", run.stderr);
    assert!(!fs::read_to_string(&dev).unwrap().contains("encrypted_data"));
}

#[test]
fn tofu_reads_what_the_verbs_wrote() {
    let dir = Dir::new(&block(&[PLAIN, &passphrase("a")], &["unencrypted.plain", "aes_gcm.a"]));
    if !dir.applied() {
        return;
    }
    dir.encrypt(&block(&[PLAIN, &passphrase("a")], &["aes_gcm.a", "unencrypted.plain"]));
    dir.run(&["encryption", "encrypt", dir.shown()]).clean();
    dir.encrypt(&block(&[&passphrase("a")], &["aes_gcm.a"]));
    assert_eq!(dir.tofu(&["output", "-raw", "secret"]), SECRET);
    dir.encrypt(&block(&[&passphrase("b"), &passphrase("a")], &["aes_gcm.b", "aes_gcm.a"]));
    dir.run(&["encryption", "rotate", dir.shown()]).clean();
    dir.encrypt(&block(&[&passphrase("b")], &["aes_gcm.b"]));
    assert_eq!(dir.tofu(&["output", "-raw", "secret"]), SECRET);
    dir.has_no_plaintext();
}

#[test]
fn a_rollback_in_a_bucket_goes_back_to_an_encrypted_snapshot() {
    let keys = tempfile::tempdir().unwrap();
    let keys = keys.path().join("encryption.hcl");
    fs::create_dir_all(keys.parent().unwrap()).unwrap();
    fs::write(&keys, block(&[PLAIN, &passphrase("a")], &["aes_gcm.a", "unencrypted.plain"])).unwrap();
    let keys = keys.to_str().unwrap();
    let work = Work::new(TestBackend::s3_here(S3Locks::Table)).keeping_history();
    work.push(&["one", "two"]);
    let run = |args: &[&str]| {
        let run = work.run(&[args, &["--encryption", keys]].concat());
        assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
        run.stdout
    };
    run(&["mv", ".", "a.one", "a.three"]);
    run(&["rm", ".", "a.three"]);
    let history: serde_json::Value = serde_json::from_str(&run(&["history", ".", "--json"])).unwrap();
    let id = history["snapshots"][1]["id"].as_str().unwrap();
    let unknown = work.run(&["rollback", ".", "--to", id]);
    assert!(unknown.stderr.contains("is encrypted by OpenTofu"), "{}", unknown.stderr);
    run(&["rollback", ".", "--to", id, "--yes"]);
    assert_eq!(run(&["list", "."]), "a.three\na.two\n");
    assert!(work.run(&["list", "."]).stderr.contains("is encrypted by OpenTofu"));
}
