//! Buckets that hold the same stacks: a directory, and one in S3 whose requests are counted.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use groundstate_testkit::{PulumiPlace, PulumiProject, Server};

use super::program::Program;
use crate::bench::{Failure, Outcome};

/// The magic of states that Pulumi 3.259.0 writes.
const MAGIC: &str = "ab35920a3077459b09dd1a3f7ddc28df4e3efc81b3240013bb6906688abc684d";

/// How many objects are sent to a bucket at once.
const SENDERS: usize = 8;

/// The name of the stack in [`checkpoint`].
const NAME: &str = "STACK";

/// A checkpoint of so many resources, for a stack that is still to be named.
pub(super) fn checkpoint(resources: usize, filler: usize) -> String {
    let filler = "x".repeat(filler);
    let mut text = format!(
        r#"{{"version":3,"checkpoint":{{"stack":"organization/shop/{NAME}","latest":{{"manifest":{{"time":"2026-01-02T03:04:05Z","magic":"{MAGIC}","version":"v3.259.0"}},"resources":[{{"urn":"urn:pulumi:{NAME}::shop::pulumi:pulumi:Stack::shop-{NAME}","custom":false,"type":"pulumi:pulumi:Stack"}}"#
    );
    for number in 0..resources {
        // Writing into a string cannot fail.
        let _written = write!(
            text,
            r#",{{"urn":"urn:pulumi:{NAME}::shop::pulumi:index:Stash::n{number}","custom":true,"id":"{number}","type":"pulumi:index:Stash","inputs":{{"input":"{filler}"}},"outputs":{{"input":"v","output":"v"}},"parent":"urn:pulumi:{NAME}::shop::pulumi:pulumi:Stack::shop-{NAME}"}}"#
        );
    }
    text + r#"],"metadata":{}}}}"#
}

/// The same stacks in a directory and in S3.
pub(super) struct Places {
    directory: Bucket,
    s3: Bucket,
}

impl Places {
    /// Fresh ones with these stacks of a project: names and checkpoints.
    pub(super) fn new(stacks: &[(String, String)]) -> Outcome<Self> {
        let objects: Vec<(String, String)> = stacks
            .iter()
            .map(|(name, text)| (format!(".pulumi/stacks/shop/{name}.json"), text.replace(NAME, name)))
            .chain([(".pulumi/meta.yaml".to_owned(), "version: 1\n".to_owned())])
            .collect();
        let places = Self { directory: Bucket::directory()?, s3: Bucket::s3() };
        places.directory.write(&objects)?;
        places.s3.send(&objects);
        Ok(places)
    }

    pub(super) fn both(&self) -> [&Bucket; 2] {
        [&self.directory, &self.s3]
    }
}

/// A bucket with stacks.
pub(super) struct Bucket {
    place: PulumiPlace,
    /// What programs are run in.
    project: PulumiProject,
    folder: Option<tempfile::TempDir>,
}

impl Bucket {
    fn directory() -> Outcome<Self> {
        let failed = |source| Failure::Write { path: std::env::temp_dir(), source };
        let folder = tempfile::tempdir().map_err(failed)?;
        let place = PulumiPlace::folder(folder.path());
        Ok(Self { project: PulumiProject::new(&place), place, folder: Some(folder) })
    }

    fn s3() -> Self {
        let place = PulumiPlace::s3_counted();
        if let Some(server) = place.server() {
            server.keep_sizes_only();
        }
        Self { project: PulumiProject::new(&place), place, folder: None }
    }

    fn write(&self, objects: &[(String, String)]) -> Outcome {
        let root = self.folder.as_ref().map_or(Path::new(""), tempfile::TempDir::path);
        for (key, text) in objects {
            let path = root.join(key);
            let parent = path.parent().unwrap_or(root);
            let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
            written.map_err(|source| Failure::Write { path, source })?;
        }
        Ok(())
    }

    fn send(&self, objects: &[(String, String)]) {
        let share = objects.len().div_ceil(SENDERS).max(1);
        std::thread::scope(|scope| {
            for part in objects.chunks(share) {
                scope.spawn(|| part.iter().for_each(|(key, text)| self.place.put(key, text.as_bytes())));
            }
        });
    }

    /// What `pulumi login` takes.
    pub(super) fn url(&self) -> &str {
        self.place.url()
    }

    /// What our command takes.
    pub(super) fn address(&self) -> String {
        format!("pulumi+{}", self.url())
    }

    /// What the bucket is called in the table.
    pub(super) fn name(&self) -> &'static str {
        match (&self.folder, self.place.is_in_a_peer()) {
            (Some(_), _) => "directory",
            (None, true) => "moto",
            (None, false) => "S3 of the test kit",
        }
    }

    /// What counts the requests, if anything does.
    pub(super) fn server(&self) -> Option<&Server> {
        self.place.server()
    }

    /// The project in which programs run.
    pub(super) fn project(&self) -> &PulumiProject {
        &self.project
    }

    /// A program with these arguments, in a project whose stacks are here.
    pub(super) fn command(&self, program: &Program, arguments: &[&str]) -> Outcome<Command> {
        let command = program.command()?;
        Ok(self.project.prepared(command, arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::{NAME, checkpoint};

    #[test]
    fn an_invented_checkpoint_is_json_and_as_large_as_it_says() {
        let text = checkpoint(1000, 1000).replace(NAME, "s");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let resources = value["checkpoint"]["latest"]["resources"].as_array().unwrap();
        assert_eq!(resources.len(), 1001);
        assert!((1_200_000..1_500_000).contains(&text.len()), "{}", text.len());
    }
}
