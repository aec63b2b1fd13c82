//! `groundstate mv --to` and `groundstate split`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use groundstate_testkit::{Fault, S3Locks, TestBackend};

use super::remote::Work;
use super::support::{backups, command, groundstate, resource, state, with_resources, workspace};
use super::surgery::{everything, serial, webshop};
use super::terraform::{printed, terraform};

fn listed(path: &str) -> BTreeSet<String> {
    groundstate(&["list", path]).clean().lines().map(str::to_owned).collect()
}

#[test]
fn a_module_moves_to_a_state_that_is_made_for_it() {
    let file = webshop();
    let before = (fs::read(&file.path).unwrap(), listed(&file.path));
    let other = file.dir.path().join("network.tfstate").to_str().unwrap().to_owned();
    let preview = groundstate(&["mv", &file.path, "module.network", "--to", &other, "--dry-run"]).clean();
    insta::assert_snapshot!("preview", file.mask(&preview).replace(&other, "OTHER"));
    assert!(!fs::exists(&other).unwrap());
    let text = groundstate(&["mv", &file.path, "module.network", "--to", &other]).clean();
    insta::assert_snapshot!("moved", file.mask(&text).replace(&other, "OTHER"));
    let (left, joined) = (listed(&file.path), listed(&other));
    assert!(!joined.is_empty() && left.is_disjoint(&joined));
    assert_eq!(&left | &joined, before.1);
    assert_eq!((serial(&file.path), serial(&other)), (88, 1));
    assert_eq!(fs::read(&backups(&file.path)[0]).unwrap(), before.0);
    // Both are states as the release that wrote the first one writes them.
    let version = |path: &str| {
        let text = fs::read_to_string(path).unwrap();
        text.lines().find(|line| line.contains("terraform_version")).map(str::to_owned)
    };
    assert_eq!((version(&file.path).is_some(), version(&file.path)), (true, version(&other)));
    // And back, under another address.
    groundstate(&["mv", &other, "module.network", "module.net", "--to", &file.path]).clean();
    assert_eq!(listed(&other), BTreeSet::new());
    let back: BTreeSet<_> =
        listed(&file.path).iter().map(|line| line.replace("module.net.", "module.network.")).collect();
    assert_eq!(back, before.1);
}

#[test]
fn patterns_split_a_state_and_json_says_what_became_of_both() {
    let file = webshop();
    let before = listed(&file.path);
    let other = file.dir.path().join("split.tfstate").to_str().unwrap().to_owned();
    let args = ["split", &file.path, &other, "module.network", "random_*.*", "random_id.suffix", "--json"];
    let json: serde_json::Value = serde_json::from_str(&groundstate(&args).clean()).unwrap();
    assert_eq!((&json["written"], &json["to"]["written"]), (&true.into(), &true.into()));
    assert_eq!(json["to"]["state"], other.as_str());
    let (left, joined) = (listed(&file.path), listed(&other));
    assert!(joined.contains("random_id.suffix") && left.is_disjoint(&joined), "{joined:?}");
    assert!(!left.iter().any(|line| line.starts_with("module.network") || line.starts_with("random_")));
    assert_eq!(&left | &joined, before);
}

#[test]
fn refusals_change_neither_state() {
    let (file, other) = (webshop(), webshop());
    let fixture = workspace().join("tests/fixtures/pulumi/states/export-pretty.json");
    let pulumi = state(fs::read(fixture).unwrap());
    let before = (everything(file.dir.path()), everything(other.dir.path()));
    let same = format!("{}/./terraform.tfstate", file.dir.path().display());
    for (args, code, said) in [
        (&["mv", &file.path, "random_id.suffix", "--to", &same][..], 2, "both the state to move from"),
        (
            &["mv", &file.path, "random_id.suffix", "aws_s3_bucket.x", "--to", &other.path],
            2,
            "resource types differ",
        ),
        (&["mv", &file.path, "random_id.nope", "--to", &other.path], 7, "matches nothing"),
        (&["mv", &file.path, "random_id.suffix"], 2, "<DST>"),
        (&["split", &file.path, &other.path, "module.*.nope_*.x"], 2, "matches nothing"),
        (&["split", &file.path, &other.path, "random_id.["], 2, "column"),
        (&["mv", &file.path, "random_id.suffix", "--to", &pulumi.path], 2, "Pulumi"),
    ] {
        let message = groundstate(args).failed(code);
        assert!(message.contains(said), "{args:?}: {message}");
    }
    // Another object has the address.
    groundstate(&["taint", &other.path, "random_id.suffix", "--backup", "-"]).clean();
    let after = everything(other.dir.path());
    let message = groundstate(&["mv", &file.path, "random_id.suffix", "--to", &other.path]).failed(2);
    assert!(message.contains("the other state has random_id.suffix already"), "{message}");
    assert!(everything(file.dir.path()) == before.0 && everything(other.dir.path()) == after);
    // The other state is locked.
    let lock = format!("{}/.terraform.tfstate.lock.info", other.dir.path().display());
    let mut holder = command(&["lock", &other.path, "--", "sleep", "60"]).spawn().unwrap();
    super::locks::until("the lock is taken", || fs::exists(&lock).unwrap());
    let message = groundstate(&["mv", &file.path, "module.network", "--to", &other.path]).failed(8);
    assert!(message.contains(&other.path), "{message}");
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(everything(file.dir.path()) == before.0);
}

/// Whenever the command is killed, everything is in one of the two states at least, and the same command ends the move.
#[test]
fn a_kill_at_any_moment_loses_nothing() {
    let mut both = 0;
    for round in 0..60 {
        let (file, other) = (webshop(), webshop());
        groundstate(&["rm", &other.path, "module.network", "--backup", "-"]).clean();
        let before = listed(&file.path);
        let args = ["mv", &file.path, "module.network", "--to", &other.path];
        let mut child = command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(500 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let (left, joined) = (listed(&file.path), listed(&other.path));
        assert_eq!(&left | &joined, before, "round {round}");
        both += usize::from(left == before && joined == before);
        let again = groundstate(&args);
        assert!(again.code == 0 || (again.code == 7 && left != before), "{}", again.stderr);
        assert!(!listed(&file.path).iter().any(|line| line.starts_with("module.network")));
        assert_eq!(listed(&other.path), before);
    }
    println!("{both} kills came between the two writes");
}

#[test]
fn a_move_that_stopped_between_the_two_writes_is_ended_by_the_same_command() {
    let (file, other) = (webshop(), webshop());
    let before = listed(&file.path);
    groundstate(&["rm", &other.path, "module.network", "--backup", "-"]).clean();
    let source = fs::read(&file.path).unwrap();
    let args = ["mv", &file.path, "module.network", "--to", &other.path];
    groundstate(&args).clean();
    fs::write(&file.path, source).unwrap();
    let added = fs::read(&other.path).unwrap();
    groundstate(&args).clean();
    assert_eq!(fs::read(&other.path).unwrap(), added);
    assert_eq!(listed(&other.path), before);
    assert!(!listed(&file.path).iter().any(|line| line.starts_with("module.network")));
}

#[test]
fn terraform_plans_nothing_in_both_directories_afterwards() {
    let write = |dir: &Path, text: &str| fs::write(dir.join("main.tf"), text).unwrap();
    const STAYS: &str = "resource \"terraform_data\" \"stays\" {\n  input = \"one\"\n}\n";
    const MOVES: &str =
        "resource \"terraform_data\" \"moves\" {\n  count = 2\n  input = \"two\"\n  DEPENDS\n}\n";
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [from, to] = dirs.each_ref().map(|dir| dir.path());
    write(from, &format!("{STAYS}{}", MOVES.replace("DEPENDS", "depends_on = [terraform_data.stays]")));
    if terraform(from, &["version"]).is_none() {
        return;
    }
    printed(from, &["init", "-no-color"]);
    printed(from, &["apply", "-auto-approve", "-no-color"]);
    let target = to.join("terraform.tfstate");
    groundstate(&["mv", from.to_str().unwrap(), "terraform_data.moves", "--to", target.to_str().unwrap()])
        .clean();
    write(from, STAYS);
    write(to, &MOVES.replace("DEPENDS", ""));
    printed(to, &["init", "-no-color"]);
    for dir in [from, to] {
        let plan = terraform(dir, &["plan", "-detailed-exitcode", "-no-color"]).unwrap();
        assert_eq!(plan.status.code(), Some(0), "{}", String::from_utf8_lossy(&plan.stdout));
    }
}

/// A state in a service or beside it, by which another directory names it.
struct Place {
    work: Work,
    /// The state is in a file of the directory, and not in the service.
    is_file: bool,
}

impl Place {
    fn remote(place: TestBackend) -> Self {
        Self { work: Work::new(place), is_file: false }
    }

    fn file() -> Self {
        Self { work: Work::new(TestBackend::gcs_here()), is_file: true }
    }

    fn argument(&self) -> String {
        let path = self.work.path();
        let path = if self.is_file { path.join("local.tfstate") } else { path.to_owned() };
        path.to_str().unwrap().to_owned()
    }

    fn store(&self, names: &[&str]) {
        if !self.is_file {
            return self.work.push(names);
        }
        let resources: Vec<String> = names.iter().map(|name| resource("a", name, "{}")).collect();
        fs::write(self.argument(), with_resources(&resources.join(","))).unwrap();
    }

    fn list(&self) -> String {
        self.work.run(&["list", &self.argument()]).clean()
    }

    /// Frees what a killed command has left locked.
    fn free(&self) {
        let run = self.work.run(&["unlock", &self.argument(), "--if-stale"]);
        assert!(run.code == 0 || self.work.place.locks().is_empty(), "{}", run.stderr);
    }
}

/// A kill between the two writes, and one before the first: everything is in one of the states at least, and the same command
/// ends the move, from a service to another and between a service and a file.
#[test]
fn a_kill_between_two_services_loses_nothing() {
    let s3 = || Place::remote(TestBackend::s3_here(S3Locks::File));
    let gcs = || Place::remote(TestBackend::gcs_here());
    for (from, to) in
        [(s3(), s3()), (s3(), gcs()), (gcs(), s3()), (s3(), Place::file()), (Place::file(), s3())]
    {
        from.store(&["one", "two"]);
        to.store(&["other"]);
        let (source, dest) = (from.argument(), to.argument());
        let args = ["mv", &source, "a.one", "--to", &dest];
        for held in [&to, &from].into_iter().filter(|place| !place.is_file) {
            let server = held.work.place.server().unwrap();
            let writes = server.count("PUT", "*.tfstate");
            server.fault(Fault::delay(Duration::from_secs(60)).on("PUT", "*.tfstate"));
            let mut child = command(&args);
            child.current_dir(from.work.path()).stdin(Stdio::null());
            child.envs(from.work.place.environment().iter().chain(to.work.place.environment()).cloned());
            let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // The write that is held up has been sent, and nothing of it is done.
            super::locks::until("the write is sent", || server.count("PUT", "*.tfstate") > writes);
            child.kill().unwrap();
            child.wait().unwrap();
            server.clear_faults();
            assert_eq!(from.list(), "a.one\na.two\n", "{source} to {dest}");
            let joined = if std::ptr::eq(held, &to) { "a.other\n" } else { "a.one\na.other\n" };
            assert_eq!(to.list(), joined, "{source} to {dest}");
            from.free();
            to.free();
        }
        let settings = to.work.place.environment();
        let settings: Vec<_> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let run = from.work.run_with(&args, &settings);
        assert_eq!(run.code, 0, "{source} to {dest}: {}", run.stderr);
        assert_eq!((from.list(), to.list()), ("a.two\n".to_owned(), "a.one\na.other\n".to_owned()));
        assert_eq!(from.work.place.locks().len() + to.work.place.locks().len(), 0);
    }
}
