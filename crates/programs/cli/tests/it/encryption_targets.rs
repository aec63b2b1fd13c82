//! Encryption beyond the states of a directory: plans, states of other configurations, new workspaces, and what the documentation does.

use std::fs;
use std::process::Stdio;

use groundstate_testkit::{S3Locks, TestBackend};

use super::encryption::{Dir, RESOURCES, SECRET, block, passphrase, refusal, with_file};
use super::remote::Work;
use super::support::{Run, command, groundstate, shell, workspace};
use super::terraform::Product;

#[test]
fn an_encrypted_plan_of_tofu_is_told_from_a_state_and_decrypted_into_a_file() {
    let a = passphrase("a");
    let plan = "plan {\nmethod = method.aes_gcm.a\n}\n";
    let dir = Dir::new(&format!("{}\n{plan}", block(&[&a], &["aes_gcm.a"])));
    if Product::tofu().run(dir.path(), &["version"]).is_none() {
        return;
    }
    dir.tofu(&["init", "-no-color"]);
    dir.tofu(&["plan", "-out", "one.tfplan", "-no-color"]);
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (encrypted, decrypted) = (at("one.tfplan"), at("plain.tfplan"));
    for verb in [&["list"][..], &["show"], &["encryption", "status"], &["encryption", "decrypt"]] {
        let run = dir.run(&[verb, &[&*encrypted]].concat());
        assert!(
            run.code != 0 && run.stderr.contains("is a plan that OpenTofu has encrypted"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("--target plan --output FILE"), "{verb:?}: {}", run.stderr);
    }
    let decrypt = ["encryption", "decrypt", &encrypted, "--target", "plan", "--output"];
    dir.run(&[&decrypt[..], &[&*decrypted]].concat()).clean();
    let archive = fs::read(&decrypted).unwrap();
    assert!(archive.starts_with(b"PK"), "{:?}", &archive[..2]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&decrypted).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let printed = command(&[&decrypt[..], &["-"]].concat()).output().unwrap();
    assert_eq!(printed.stdout, archive);
    // tofu takes it where plans are not encrypted.
    dir.encrypt(&block(&[&a], &["aes_gcm.a"]));
    assert!(dir.tofu(&["show", "-no-color", "plain.tfplan"]).contains("terraform_data.one will be created"));
    let refused = dir.run(&[&decrypt[..], &["-"]].concat()).failed(2);
    assert!(refused.contains("it has no block `plan`"), "{refused}");
}

#[test]
fn a_state_of_another_configuration_is_decrypted_by_the_block_of_its_data_source() {
    let (file, keys) = with_file(&["aes_gcm.a", "unencrypted.plain"]);
    let plain = fs::read_to_string(&file.path).unwrap();
    groundstate(&["encryption", "encrypt", &file.path, "--encryption", &keys]).clean();
    let stored = fs::read_to_string(&file.path).unwrap();
    let remote = "remote_state_data_sources {\nremote_state_data_source \"network\" {\nmethod = method.aes_gcm.a\n}\n}\n";
    fs::write(&keys, format!("{}\n{remote}", passphrase("a"))).unwrap();
    let decrypt = |name: &str| {
        let target = format!("remote_state_data_sources.{name}");
        groundstate(&[
            "encryption",
            "decrypt",
            &file.path,
            "--target",
            &target,
            "--output",
            "-",
            "--encryption",
            &keys,
        ])
    };
    assert_eq!(decrypt("network").clean(), plain);
    assert_eq!(fs::read_to_string(&file.path).unwrap(), stored);
    let refused = decrypt("other").failed(2);
    assert!(refused.contains("no block `remote_state_data_sources.other`"), "{refused}");
    let wrong = ["encryption", "decrypt", &file.path, "--target", "state", "--output", "-"];
    assert!(refusal(&wrong).contains("it has to be `plan` or `remote_state_data_sources.NAME`"));
}

#[test]
fn a_new_workspace_beside_encrypted_ones_is_encrypted_and_tofu_reads_it() {
    let work = Work::new(TestBackend::s3_here(S3Locks::File));
    let keys = block(&[&passphrase("a")], &["aes_gcm.a"]);
    let variables = [("TF_ENCRYPTION", &*keys)];
    let run = |args: &[&str]| work.run_with(args, &variables);
    run(&["workspaces", "new", ".", "dev"]).clean();
    let raw = work.run(&["encryption", "status", ".", "--workspace", "dev"]).clean();
    assert!(raw.contains("encrypted  key_provider.pbkdf2.a (not authenticated)"), "{raw}");
    assert_eq!(run(&["list", ".", "--workspace", "dev"]).clean(), "");
    let tofu = Product::tofu();
    if tofu.run(work.path(), &["version"]).is_none() {
        return;
    }
    let tofu = |args: &[&str]| {
        let output = tofu
            .command(work.path(), args)
            .env("TF_ENCRYPTION", &keys)
            .envs(work.place.environment().iter().cloned())
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    fs::remove_dir_all(work.path().join(".terraform")).ok();
    tofu(&["init", "-no-color", "-reconfigure"]);
    tofu(&["workspace", "select", "dev"]);
    let lineage = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["lineage"].clone();
    let ours = lineage(&run(&["pull", ".", "--workspace", "dev"]).clean());
    assert!(ours.is_string());
    assert_eq!(lineage(&tofu(&["state", "pull"])), ours);
}

/// The blocks of a page, in their order: which language they are in, and their text.
fn blocks_of(page: &str) -> Vec<(&str, &str)> {
    let pieces = page.split("\n```").skip(1).step_by(2);
    pieces.filter_map(|piece| piece.split_once('\n')).collect()
}

#[test]
fn roll_out_rotation_roll_back_and_recovery_are_as_the_documentation_says() {
    let dir = Dir::new("");
    if !dir.applied() {
        return;
    }
    fs::write(dir.path().join("main.tf"), RESOURCES).unwrap();
    let page = fs::read_to_string(workspace().join("docs/encryption.md")).unwrap();
    let (page, _) = page.split_once("\n## Secrets of Pulumi stacks").unwrap();
    let tofu = Product::tofu().command(dir.path(), &[]).get_program().to_owned();
    let mut ran = 0;
    for (language, text) in blocks_of(page) {
        if language == "hcl" {
            // Fewer iterations, which take less time.
            let quick = text.replace("passphrase = var.", "iterations = 200000\npassphrase = var.");
            fs::write(dir.path().join("encryption.tf"), quick).unwrap();
            continue;
        }
        assert_eq!(language, "console", "{text}");
        for line in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let mut command = shell(&line.replacen("tofu ", &format!("{} ", tofu.display()), 1));
            command.current_dir(dir.path()).stdin(Stdio::null());
            command.env("TF_VAR_secret", SECRET).env("TF_VAR_passphrase", "a".repeat(16));
            command.env("TF_VAR_new_passphrase", "b".repeat(16));
            let run = Run::of(command.output().unwrap());
            assert_eq!(run.code, 0, "{line}: {}{}", run.stdout, run.stderr);
            let shows = line.ends_with(" list");
            assert!(!shows || run.stdout.contains("terraform_data.one"), "{line}: {}", run.stdout);
            let encrypts = ["encryption encrypt", "encryption rotate"].iter().any(|verb| line.contains(verb));
            assert!(!encrypts || !dir.stored().contains(SECRET), "{line}");
            ran += 1;
        }
    }
    assert!(ran >= 11, "{ran}");
    assert!(dir.stored().contains(SECRET), "the roll-back came last");
}
