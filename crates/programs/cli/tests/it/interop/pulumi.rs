//! The real pulumi and the command on the same stacks: in a folder on the checkpoint itself, elsewhere on what pulumi exports.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use groundstate_testkit::{PulumiPlace, PulumiProject, Ran, pulumi_takes_part};
use serde_json::Value;

use super::stacks::pulumi_goes_on_after_a_rollback_and_a_push;
use crate::support;

const STACK: &str = "dev";

/// Programs of the tests, by what they still have.
const WHOLE: &str = r#"
resources:
  first: { type: "pulumi:Stash", properties: { input: "v1" } }
  second: { type: "pulumi:Stash", properties: { input: "${first.output}" } }
  third: { type: "pulumi:Stash", properties: { input: { "fn::secret": "swordfish<&>" } } }
outputs:
  x: ${first.output}
  y: { "fn::secret": "swordfish<&>" }
"#;

/// A stack to which a program has been applied, and how the command gets at it.
struct Stack {
    project: PulumiProject,
    /// The folder that is the place of the stack, if it is one.
    folder: Option<PathBuf>,
}

impl Stack {
    fn applied(place: &PulumiPlace, name: &str) -> Self {
        Self::applied_with(place, name, WHOLE, &[])
    }

    fn applied_with(place: &PulumiPlace, name: &str, program: &str, settings: &[(&str, &str)]) -> Self {
        let mut project = PulumiProject::new(place);
        settings.iter().for_each(|(name, value)| project.set(name, value));
        project.program(program);
        project.pulumi(&["stack", "init", name]).succeeds();
        project.up(name);
        let folder = place.url().strip_prefix("file://").map(PathBuf::from);
        Self { project, folder }
    }

    /// The file that the command works on: the checkpoint, or an export.
    fn file(&self, name: &str) -> PathBuf {
        let Some(folder) = &self.folder else {
            let file = self.project.path().join("stack.json");
            let path = file.to_str().unwrap();
            self.project.pulumi(&["stack", "export", "--stack", name, "--file", path]).succeeds();
            return file;
        };
        let folder = folder.join(".pulumi/stacks/shop");
        let variants = ["json", "json.gz"].map(|ending| folder.join(format!("{name}.{ending}")));
        variants.into_iter().find(|file| file.exists()).expect("there is a checkpoint")
    }

    /// Runs the command on a file, with the settings of the project.
    fn groundstate(&self, verb: &str, file: &Path, rest: &[&str]) -> Ran {
        let args = [&[verb, file.to_str().unwrap()][..], rest].concat();
        let output = self.project.prepared(support::command(&[]), &args).output().unwrap();
        Ran::of("groundstate", &args, output)
    }

    /// What the command reads of the stack.
    #[track_caller]
    fn read(&self, verb: &str, rest: &[&str]) -> String {
        self.groundstate(verb, &self.file(STACK), rest).succeeds()
    }

    /// Has the command change the stack.
    #[track_caller]
    fn change(&self, verb: &str, rest: &[&str]) {
        let file = self.file(STACK);
        self.groundstate(verb, &file, rest).succeeds();
        if self.folder.is_none() {
            self.import(&file);
        }
    }

    #[track_caller]
    fn import(&self, file: &Path) {
        let path = file.to_str().unwrap();
        self.project.pulumi(&["stack", "import", "--stack", STACK, "--file", path]).succeeds();
    }

    /// Applies nothing, but says what the program has from now on, which must be what the state has.
    #[track_caller]
    fn has_become(&self, program: &str) {
        self.project.program(program);
        self.project.preview_is_clean(STACK);
    }
}

fn urns(export: &Value) -> Vec<&str> {
    let resources = export["deployment"]["resources"].as_array().unwrap();
    resources.iter().map(|resource| resource["urn"].as_str().unwrap()).collect()
}

fn pulumi_goes_on_after_our_changes(place: &PulumiPlace) {
    goes_on(&Stack::applied(place, STACK));
}

fn goes_on(stack: &Stack) {
    stack.read("check", &[]);
    let export = stack.project.exported(STACK);
    let listed = stack.read("list", &[]);
    assert_eq!(listed.lines().collect::<Vec<_>>(), urns(&export));

    stack.change("rename", &["second", "renamed"]);
    stack.has_become(&WHOLE.replace("second:", "renamed:"));
    stack.change("rm", &["renamed"]);
    let less: String =
        WHOLE.lines().filter(|line| !line.contains("second:")).map(|l| format!("{l}\n")).collect();
    stack.has_become(&less);
    // What pulumi does next it does on what we wrote.
    stack.project.program(WHOLE);
    stack.project.up(STACK);
    stack.project.pulumi(&["refresh", "--yes", "--skip-preview", "--stack", STACK]).succeeds();
    stack.read("check", &[]);
    assert_eq!(urns(&stack.project.exported(STACK)).len(), urns(&export).len());
    stack.project.pulumi(&["destroy", "--yes", "--skip-preview", "--stack", STACK]).succeeds();
    assert_eq!(stack.read("list", &[]), "");
    // What the command leaves beside a checkpoint is no stack to pulumi.
    let stacks: Value =
        serde_json::from_str(&stack.project.pulumi(&["stack", "ls", "--json"]).succeeds()).unwrap();
    assert_eq!(stacks.as_array().unwrap().len(), 1, "{stacks}");
}

fn marks_mean_to_pulumi_what_they_say(place: &PulumiPlace) {
    let stack = Stack::applied(place, STACK);
    stack.change("taint", &["third"]);
    // A version that only tainted resources need.
    assert_eq!(stack.project.exported(STACK)["version"], 4);
    let preview = ["preview", "--expect-no-changes", "--diff", "--stack", STACK];
    let planned = stack.project.pulumi(&preview).fails();
    assert!(planned.contains("replace"), "{planned}");
    stack.change("untaint", &["third"]);
    assert_eq!(stack.project.exported(STACK)["version"], 3);
    stack.project.preview_is_clean(STACK);
    stack.change("taint", &["third"]);
    stack.project.up(STACK);
    stack.read("check", &[]);
    stack.project.preview_is_clean(STACK);
    stack.change("protect", &["first"]);
    let destroy = ["destroy", "--yes", "--skip-preview", "--stack", STACK];
    let refused = stack.project.pulumi(&destroy).fails();
    assert!(refused.contains("protect"), "{refused}");
    // What is not protected is gone by then.
    assert!(stack.read("list", &[]).contains("::first\n"));
    stack.change("unprotect", &["first"]);
    stack.project.pulumi(&destroy).succeeds();
    assert_eq!(stack.read("list", &[]), "");
}

fn secrets_open_both_ways(place: &PulumiPlace) {
    let stack = Stack::applied(place, STACK);
    let file = stack.file(STACK);
    let stored = stack.groundstate("outputs", &file, &["y"]).succeeds();
    assert!(!stored.contains("swordfish"), "{stored}");
    let ours = stack.groundstate("outputs", &file, &["y", "--raw", "--show-secrets"]).succeeds();
    let theirs =
        stack.project.pulumi(&["stack", "output", "y", "--show-secrets", "--stack", STACK]).succeeds();
    assert_eq!((ours.trim(), theirs.trim()), ("swordfish<&>", "swordfish<&>"));
    // What we encrypt pulumi decrypts.
    let args = ["encrypt", file.to_str().unwrap()];
    let mut command = stack.project.prepared(support::command(&[]), &args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\"herring\"").unwrap();
    let ciphertext = Ran::of("groundstate", &args, child.wait_with_output().unwrap()).succeeds();
    let mut export = stack.project.exported(STACK);
    export["deployment"]["resources"][0]["outputs"]["y"]["ciphertext"] = ciphertext.trim().into();
    let changed = stack.project.path().join("changed.json");
    fs::write(&changed, export.to_string()).unwrap();
    stack.import(&changed);
    let theirs =
        stack.project.pulumi(&["stack", "output", "y", "--show-secrets", "--stack", STACK]).succeeds();
    assert_eq!(theirs.trim(), "herring");
}

fn what_pulumi_writes_we_write_the_same(place: &PulumiPlace) {
    let stack = Stack::applied(place, STACK);
    let file = stack.file(STACK);
    let again = stack.project.path().join("again.json");
    stack.groundstate("upgrade", &file, &["--output", again.to_str().unwrap()]).succeeds();
    assert_eq!(fs::read_to_string(&again).unwrap(), fs::read_to_string(&file).unwrap());
    if stack.folder.is_none() {
        stack.import(&again);
    } else {
        fs::copy(&again, &file).unwrap();
    }
    stack.project.preview_is_clean(STACK);
}

/// Makes a test of each scenario for each place, skipped where the place is not to be had.
macro_rules! scenarios {
    ($($scenario:ident: $($place:ident)*;)*) => {
        $(
            mod $scenario {
                $(
                    #[test]
                    fn $place() {
                        if groundstate_testkit::pulumi_takes_part() {
                            super::places::$place(super::$scenario);
                        }
                    }
                )*
            }
        )*
    };
}

scenarios! {
    pulumi_goes_on_after_our_changes: folder s3 gs azblob postgres;
    pulumi_goes_on_after_a_rollback_and_a_push: folder s3 gs azblob postgres;
    marks_mean_to_pulumi_what_they_say: folder;
    secrets_open_both_ways: folder s3;
    what_pulumi_writes_we_write_the_same: folder postgres;
}

/// The places of the scenarios.
pub(crate) mod places {
    use groundstate_testkit::PulumiPlace;

    pub(crate) fn folder(scenario: impl Fn(&PulumiPlace)) {
        let folder = tempfile::tempdir().unwrap();
        scenario(&PulumiPlace::folder(folder.path()));
    }

    pub(crate) fn s3(scenario: impl Fn(&PulumiPlace)) {
        scenario(&PulumiPlace::s3());
    }

    pub(crate) fn gs(scenario: impl Fn(&PulumiPlace)) {
        scenario(&PulumiPlace::gs());
    }

    pub(crate) fn azblob(scenario: impl Fn(&PulumiPlace)) {
        scenario(&PulumiPlace::azblob());
    }

    pub(crate) fn postgres(scenario: impl Fn(&PulumiPlace)) {
        PulumiPlace::postgres().iter().for_each(scenario);
    }
}

#[test]
fn compressed_checkpoints_stay_what_they_are() {
    if !pulumi_takes_part() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = PulumiPlace::folder(folder.path());
    let gzip = [("PULUMI_DIY_BACKEND_GZIP", "true")];
    let stack = Stack::applied_with(&place, STACK, WHOLE, &gzip);
    assert!(stack.file(STACK).to_str().unwrap().ends_with(".gz"));
    goes_on(&stack);
}

/// What moves is in the program of the other stack from then on, and neither has anything to do.
#[test]
fn a_resource_moves_between_stacks_with_its_secrets() {
    const LITTLE: &str = "resources:\n  first: { type: \"pulumi:Stash\", properties: { input: \"v1\" } }\n";
    if !pulumi_takes_part() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = PulumiPlace::folder(folder.path());
    let from = Stack::applied(&place, STACK);
    let to = Stack::applied_with(&place, "prod", LITTLE, &[]);
    let (here, there) = (from.file(STACK), to.file("prod"));
    from.groundstate("mv", &here, &["third", "--to", there.to_str().unwrap()]).succeeds();
    let third = WHOLE.lines().find(|line| line.contains("third:")).unwrap();
    from.has_become(&WHOLE.replace(third, ""));
    to.project.program(&format!("{LITTLE}{third}\n"));
    to.project.preview_is_clean("prod");
    let shown = to.groundstate("show", &there, &["third", "--show-secrets"]).succeeds();
    assert!(shown.contains("swordfish<&>"), "{shown}");
}
