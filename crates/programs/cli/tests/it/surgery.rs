//! `groundstate mv`, `rm`, `replace-provider`, `taint`, `untaint` and `edit`.

use std::fs;
use std::path::Path;

use super::support::{TempState, backups, groundstate, groundstate_with, state, workspace};

/// A copy of one of the example states.
pub(crate) fn webshop() -> TempState {
    state(fs::read(workspace().join("tests/fixtures/states/webshop-v4-terraform.tfstate")).unwrap())
}

pub(crate) fn serial(path: impl AsRef<Path>) -> u64 {
    let value: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    value["serial"].as_u64().unwrap()
}

/// Names and contents of all files of a directory, with the times of their last change.
pub(crate) fn everything(dir: &Path) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
    let mut files: Vec<_> = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(
                everything(&entry.path())
                    .into_iter()
                    .map(|(inner, bytes, time)| (format!("{name}/{inner}"), bytes, time)),
            ),
            false => files.push((
                name,
                fs::read(entry.path()).unwrap(),
                entry.metadata().unwrap().modified().unwrap(),
            )),
        }
    }
    files.sort();
    files
}

#[test]
fn moves_a_module_with_a_backup_and_the_next_serial() {
    let file = webshop();
    let before = fs::read(&file.path).unwrap();
    let text = groundstate(&["mv", &file.path, "module.network", "module.net"]).clean();
    insta::assert_snapshot!(file.mask(&text));
    let listed = groundstate(&["list", &file.path]).clean();
    assert!(listed.contains("module.net.") && !listed.contains("module.network."), "{listed}");
    assert_eq!(serial(&file.path), 88);
    let [backup] = backups(&file.path).try_into().unwrap();
    assert_eq!(fs::read(backup).unwrap(), before);
    let names: Vec<String> = everything(file.dir.path()).into_iter().map(|(name, ..)| name).collect();
    assert!(names.len() == 3 && names[0] == ".terraform.tfstate.groundstate-backups/.gitignore", "{names:?}");
}

#[test]
fn finds_the_state_of_a_directory_and_keeps_what_it_does_not_touch() {
    let file = webshop();
    let before = fs::read_to_string(&file.path).unwrap();
    let dir = file.dir.path().to_str().unwrap();
    groundstate(&["rm", dir, "random_id.suffix"]).clean();
    let after = fs::read_to_string(&file.path).unwrap();
    let kept = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let (before, after) = (kept(&before), kept(&after));
    let new: Vec<&String> = after.iter().filter(|line| !before.contains(line)).collect();
    assert_eq!(new, ["  \"serial\": 88,"]);
    assert!(after.len() < before.len());
}

#[test]
fn previews_leave_every_byte_and_time() {
    let file = webshop();
    let before = everything(file.dir.path());
    let script = "mv module.network module.n\nrm random_id.*\n";
    for args in [
        &["mv", &file.path, "random_id.suffix", "random_id.other", "--dry-run"][..],
        &["rm", &file.path, "module.network", "--dry-run", "--json"],
        &["taint", &file.path, "random_id.suffix", "--dry-run"],
        &["replace-provider", &file.path, "hashicorp/aws", "example/aws", "--dry-run"],
        &["edit", &file.path, "--script", "-", "--dry-run"],
    ] {
        let text = groundstate_with(args, script.as_bytes()).clean();
        assert!(text.contains("Would ") || text.contains("\"dry_run\":true"), "{text}");
        assert!(everything(file.dir.path()) == before, "{args:?}");
    }
    let text = groundstate(&["mv", &file.path, "random_id.suffix", "random_id.other", "--dry-run"]).clean();
    insta::assert_snapshot!(text);
}

#[test]
fn refusals_have_codes_and_change_nothing() {
    let file = webshop();
    let before = everything(file.dir.path());
    for (args, code) in [
        (&["mv", &file.path, "random_id.nope", "random_id.b"][..], 7),
        (&["mv", &file.path, "random_id.suffix", "aws_s3_bucket.assets"], 2),
        (&["mv", &file.path, "random_id.suffix", "module.a"], 2),
        (&["mv", &file.path, "random_id", "random_id.b"], 2),
        (&["mv", "-", "random_id.suffix", "random_id.b"], 2),
        (&["rm", &file.path, "random_id.nope"], 7),
        (&["rm", &file.path], 2),
        (&["untaint", &file.path, "random_id.suffix"], 9),
        (&["taint", &file.path, "random_id.suffix", "random_id.nope"], 7),
        (&["taint", &file.path, "module.network"], 2),
        (&["replace-provider", &file.path, "hashicorp/aws", "a/b/c/d"], 2),
        (&["mv", &file.path, "random_id.suffix", "random_id.b", "--lock-timeout", "soon"], 2),
        (&["mv", "no/such/terraform.tfstate", "a_b.c", "a_b.d"], 3),
    ] {
        let run = groundstate(args);
        assert_eq!((run.code, &*run.stdout), (code, ""), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains("error"), "{}", run.stderr);
        assert!(everything(file.dir.path()) == before, "{args:?}");
    }
}

#[test]
fn a_destination_that_is_taken_is_a_conflict() {
    let file = webshop();
    let from = "module.network.aws_subnet.private[\"eu-central-1a\"]";
    let to = "module.network.aws_subnet.private[\"eu-central-1b\"]";
    let message = groundstate(&["mv", &file.path, from, to]).failed(9);
    assert!(message.contains("is in the state already"), "{message}");
}

#[test]
fn points_into_a_damaged_script() {
    let file = webshop();
    let before = everything(file.dir.path());
    let script = "# tidy up\nmv random_id.suffix random_id.b\n  rm aws_s3_bucket..x\n";
    let message = groundstate_with(&["edit", &file.path, "--script", "-"], script.as_bytes()).failed(2);
    insta::assert_snapshot!(message);
    let script = "mv random_id.suffix random_id.b\nrm random_id.suffix\n";
    let message = groundstate_with(&["edit", &file.path, "--script", "-"], script.as_bytes()).failed(7);
    insta::assert_snapshot!(message);
    assert!(everything(file.dir.path()) == before);
}

#[test]
fn a_script_has_to_be_text() {
    let file = webshop();
    let before = everything(file.dir.path());
    let message = groundstate_with(&["edit", &file.path, "--script", "-"], b"rm a.b\n# \xff\n").failed(2);
    assert!(message.contains("the script <stdin> is not valid UTF-8 from byte 10 on"), "{message}");
    assert!(everything(file.dir.path()) == before);
}

#[test]
fn carries_out_a_script_in_one_write() {
    let file = webshop();
    let script = file.dir.path().join("script");
    fs::write(
        &script,
        "mv module.network.aws_subnet.*[*] module.net.aws_subnet.$1[$2]\nrm no_such.thing\ntaint random_id.suffix\n",
    )
    .unwrap();
    let script = script.to_str().unwrap();
    groundstate(&["edit", &file.path, "--script", script]).failed(7);
    let run = groundstate(&["edit", &file.path, "--script", script, "--skip-missing"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains(":2: passed over: "), "{}", run.stderr);
    assert!(run.stdout.contains("Resource instance random_id.suffix has been marked as tainted."));
    assert_eq!(serial(&file.path), 88, "one write");
    groundstate(&["untaint", &file.path, "random_id.suffix"]).clean();
}

#[test]
fn replaces_providers_and_finds_nothing_to_replace() {
    let file = webshop();
    let text = groundstate(&["replace-provider", &file.path, "hashicorp/random", "example/random"]).clean();
    assert!(text.contains("Successfully replaced provider for 3 resources."), "{text}");
    let text = groundstate(&["replace-provider", &file.path, "hashicorp/random", "example/random"]).failed(7);
    assert!(text.contains("registry.terraform.io/hashicorp/random"), "{text}");
    assert_eq!(serial(&file.path), 88);
}

#[test]
fn tells_in_json_what_it_did() {
    let file = webshop();
    let text = groundstate(&["mv", &file.path, "random_id.suffix", "random_id.b", "--json"]).clean();
    let mut value: serde_json::Value = serde_json::from_str(&file.mask(&text)).unwrap();
    assert!(value["backup"].as_str().is_some_and(|path| Path::new(path).is_file()), "{value}");
    value["backup"] = "BACKUP".into();
    insta::assert_json_snapshot!(value);
}

#[test]
fn keeps_the_backup_where_it_is_told_to() {
    let file = webshop();
    let before = fs::read(&file.path).unwrap();
    let kept = file.dir.path().join("kept");
    groundstate(&["rm", &file.path, "random_id.suffix", "--backup", kept.to_str().unwrap()]).clean();
    assert_eq!(fs::read(&kept).unwrap(), before);
    groundstate(&["rm", &file.path, "module.network", "--backup", "-"]).clean();
    assert!(backups(&file.path).is_empty());
}

#[test]
fn old_formats_are_upgraded_by_a_change() {
    let file = state(fs::read(workspace().join("tests/fixtures/states/webshop-v3.tfstate")).unwrap());
    let listed = groundstate(&["list", &file.path]).clean();
    let first = listed.lines().find(|line| !line.starts_with("data.")).unwrap();
    groundstate(&["rm", &file.path, first]).clean();
    assert!(fs::read_to_string(&file.path).unwrap().starts_with("{\n  \"version\": 4,"));
}

#[test]
fn explains_a_damaged_state_with_its_place() {
    let file = state("{\n  \"version\": 4,\n  \"serial\": \"x\"\n}");
    let message = groundstate(&["rm", &file.path, "a_b.c"]).failed(5);
    assert!(message.contains("error[GS") && message.contains(":3:13"), "{message}");
    let message = groundstate(&["rm", &state("").path, "a_b.c"]).failed(3);
    assert!(message.contains("no state"), "{message}");
    groundstate(&["rm", &state("[]").path, "a_b.c"]).failed(4);
}

#[test]
fn refuses_providers_that_the_product_would_drop() {
    let file = webshop();
    for to in ["acme_corp/aws", "acme/a_ws", "registry.opentofu.org/-/aws"] {
        groundstate(&["replace-provider", &file.path, "hashicorp/aws", to]).failed(2);
    }
    assert_eq!(serial(&file.path), 87);
}

#[test]
fn words_of_expressions_are_no_resources() {
    let file = webshop();
    for word in ["count", "each", "path", "self", "terraform", "var", "local", "template", "lazy", "arg"] {
        for address in [format!("{word}.x"), format!("module.network.{word}.x[0]")] {
            let message = groundstate(&["rm", &file.path, &address]).failed(2);
            assert!(message.contains("is a word of expressions"), "{message}");
        }
        groundstate(&["mv", &file.path, "random_id.suffix", &format!("{word}.x")]).failed(2);
        // A resource may have such a type nevertheless, and then it can be named.
        groundstate(&["rm", &file.path, &format!("resource.{word}.x")]).failed(7);
    }
    groundstate(&["rm", &file.path, "data.count.x"]).failed(7);
    groundstate_with(&["edit", &file.path, "--script", "-"], b"rm count.x\n").failed(2);
}
