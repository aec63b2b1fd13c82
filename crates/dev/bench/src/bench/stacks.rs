//! `groundstate-bench stacks`: what listing, exporting and updating stacks costs in Pulumi's own backends, beside the `pulumi` on the path.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use groundstate_testkit::{PulumiPlace, PulumiProject, Traffic, pulumi_takes_part};

use super::child::{Cost, measure};
use super::{Failure, Outcome, machine, median};

/// The magic of states that Pulumi 3.259.0 writes.
const MAGIC: &str = "ab35920a3077459b09dd1a3f7ddc28df4e3efc81b3240013bb6906688abc684d";

/// About how many bytes a resource of [`checkpoint`] has besides its filler.
const MEMBERS: usize = 228;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Stacks in the bucket that is listed
    #[arg(long, value_delimiter = ',', default_values_t = [1, 100, 10_000])]
    sizes: Vec<usize>,
    /// Megabytes of the stack that is exported
    #[arg(long, default_value_t = 100)]
    export: usize,
    /// Resources that an update makes
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1000])]
    updates: Vec<usize>,
    /// How often each thing is run
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// The groundstate that is measured; without it only pulumi is
    #[arg(long)]
    program: Option<PathBuf>,
    /// How it lists the stacks of a backend: its arguments, in which `{url}` is what `pulumi login` takes
    #[arg(long, default_value = "stacks list pulumi+{url}")]
    list: String,
    /// How it prints the deployment of a stack: its arguments, in which `{stack}` is the qualified name besides
    #[arg(long, default_value = "pull pulumi+{url}#{stack}")]
    pull: String,
}

/// Measures both and prints tables.
pub(crate) fn run(options: &Options) -> Outcome {
    if cfg!(debug_assertions) {
        let message = "figures of a debug build say nothing: run `cargo xtask bench stacks`";
        return Err(Failure::Missing(message.to_owned()));
    }
    if !pulumi_takes_part() {
        let message = "there is no pulumi to measure; `cargo xtask services install` builds it";
        return Err(Failure::Missing(message.to_owned()));
    }
    println!("- machine: {}", machine::line());
    println!("- peer: Pulumi {}\n", machine::version_of("pulumi", "version").unwrap_or_default());
    println!("| what | who | time | peak memory, MB | requests to S3 | bytes up | bytes down |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for &size in &options.sizes {
        let names = (0..size).map(|number| (format!("s{number:05}"), checkpoint(5, 100)));
        let bench = Bench::new(options, names)?;
        let ours = words(&options.list, &bench.places, "");
        let theirs = ["stack", "ls", "--all", "--json"].map(str::to_owned);
        bench.compare(&format!("list {size} stacks"), &theirs, &ours)?;
    }
    let length = 1000;
    let resources = options.export * 1_000_000 / (length + MEMBERS);
    let bench = Bench::new(options, std::iter::once(("s".to_owned(), checkpoint(resources, length))))?;
    let ours = words(&options.pull, &bench.places, "organization/shop/s");
    let theirs = ["stack", "export", "--stack", "s"].map(str::to_owned);
    bench.compare(&format!("export {} MB", options.export), &theirs, &ours)?;
    for &count in &options.updates {
        update(count)?;
    }
    Ok(())
}

/// What stands in a checkpoint of so many resources, without the name of its stack, which is `STACK`.
fn checkpoint(resources: usize, length: usize) -> String {
    let filler = "x".repeat(length);
    let mut text = format!(
        r#"{{"version":3,"checkpoint":{{"stack":"organization/shop/STACK","latest":{{"manifest":{{"time":"2026-01-02T03:04:05Z","magic":"{MAGIC}","version":"v3.259.0"}},"resources":[{{"urn":"urn:pulumi:STACK::shop::pulumi:pulumi:Stack::shop-STACK","custom":false,"type":"pulumi:pulumi:Stack"}}"#
    );
    for number in 0..resources {
        // Writing into a string cannot fail.
        let _written = write!(
            text,
            r#",{{"urn":"urn:pulumi:STACK::shop::pulumi:index:Stash::n{number}","custom":true,"id":"{number}","type":"pulumi:index:Stash","inputs":{{"input":"{filler}"}},"outputs":{{"input":"v","output":"v"}},"parent":"urn:pulumi:STACK::shop::pulumi:pulumi:Stack::shop-STACK"}}"#
        );
    }
    text + r#"],"metadata":{}}}}"#
}

/// The same stacks in a folder, where times are measured, and in S3, where requests are counted.
struct Places {
    folder: tempfile::TempDir,
    s3: PulumiPlace,
}

impl Places {
    fn file(&self) -> PulumiPlace {
        PulumiPlace::folder(self.folder.path())
    }
}

struct Bench<'a> {
    options: &'a Options,
    places: Places,
}

impl<'a> Bench<'a> {
    fn new(options: &'a Options, stacks: impl Iterator<Item = (String, String)>) -> Outcome<Self> {
        let temporary = |source| Failure::Write { path: std::env::temp_dir(), source };
        let folder = tempfile::tempdir().map_err(temporary)?;
        let places = Places { folder, s3: PulumiPlace::s3_here() };
        let mut objects = vec![(".pulumi/meta.yaml".to_owned(), "version: 1\n".to_owned())];
        objects.extend(
            stacks.map(|(name, text)| {
                (format!(".pulumi/stacks/shop/{name}.json"), text.replace("STACK", &name))
            }),
        );
        for (key, text) in objects {
            let path = places.folder.path().join(&key);
            let parent = path.parent().unwrap_or(Path::new("")).to_owned();
            let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, &text));
            written.map_err(|source| Failure::Write { path, source })?;
            places.s3.put(&key, text.as_bytes());
        }
        Ok(Self { options, places })
    }

    /// Runs both in the folder for the time, and in S3 for the requests.
    fn compare(&self, what: &str, theirs: &[String], ours: &Words) -> Outcome {
        let pulumi = |place: &PulumiPlace| program(place, Path::new("pulumi"), theirs);
        self.row(what, "pulumi", &pulumi, &pulumi)?;
        let Some(path) = &self.options.program else { return Ok(()) };
        // It runs in the folder of a project.
        let path = &std::path::absolute(path)
            .map_err(|source| Failure::Start { program: path.display().to_string(), source })?;
        let file = |place: &PulumiPlace| program(place, path, &ours.file);
        let s3 = |place: &PulumiPlace| program(place, path, &ours.s3);
        self.row(what, "groundstate", &file, &s3)
    }

    fn row(
        &self,
        what: &str,
        who: &str,
        in_folder: &dyn Fn(&PulumiPlace) -> (PulumiProject, Command),
        in_s3: &dyn Fn(&PulumiPlace) -> (PulumiProject, Command),
    ) -> Outcome {
        let mut costs: Vec<Cost> = Vec::new();
        for _ in 0..self.options.runs.max(1) {
            let (_project, command) = in_folder(&self.places.file());
            costs.push(measure(&command, false)?);
        }
        let server = self.places.s3.server().ok_or_else(|| Failure::Missing("no server".to_owned()))?;
        let mark = server.mark();
        let (_project, command) = in_s3(&self.places.s3);
        measure(&command, false)?;
        let seconds = median(costs.iter().map(|cost| cost.wall.as_secs_f64()).collect());
        let peak = median(costs.iter().map(|cost| cost.peak as f64).collect());
        println!("{}", row(what, who, seconds, peak, &server.traffic_since(mark)));
        Ok(())
    }
}

/// The arguments of our command for either place.
struct Words {
    file: Vec<String>,
    s3: Vec<String>,
}

fn words(line: &str, places: &Places, stack: &str) -> Words {
    let filled = |url: &str| -> Vec<String> {
        line.split(' ').map(|word| word.replace("{url}", url).replace("{stack}", stack)).collect()
    };
    Words { file: filled(places.file().url()), s3: filled(places.s3.url()) }
}

/// A program in a project of its own that has nothing but the settings of the place.
fn program(place: &PulumiPlace, path: &Path, arguments: &[String]) -> (PulumiProject, Command) {
    let project = PulumiProject::new(place);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let command = project.prepared(Command::new(path), &arguments);
    (project, command)
}

fn row(what: &str, who: &str, seconds: f64, peak: f64, traffic: &Traffic) -> String {
    let (ms, mb) = (seconds * 1e3, peak / 1e6);
    let Traffic { requests, received, sent, .. } = traffic;
    format!("| {what} | {who} | {ms:.0} ms | {mb:.0} | {requests} | {received} | {sent} |")
}

/// What pulumi does for an update that makes so many resources, in S3.
fn update(count: usize) -> Outcome {
    let place = PulumiPlace::s3_here();
    let project = PulumiProject::new(&place);
    let resources: String = (0..count)
        .map(|number| format!("  n{number}: {{ type: \"pulumi:Stash\", properties: {{ input: v }} }}\n"))
        .collect();
    project.program(&format!("resources:\n{resources}"));
    project.pulumi(&["stack", "init", "s"]).succeeds();
    let server = place.server().ok_or_else(|| Failure::Missing("no server".to_owned()))?;
    let mark = server.mark();
    let command = project.prepared(
        Command::new("pulumi"),
        &["up", "--yes", "--skip-preview", "--stack", "s", "--suppress-progress"],
    );
    let cost = measure(&command, false)?;
    let traffic = server.traffic_since(mark);
    let what = format!("make {count} resources");
    println!("{}", row(&what, "pulumi", cost.wall.as_secs_f64(), cost.peak as f64, &traffic));
    let methods: Vec<String> =
        traffic.methods.iter().map(|(method, count)| format!("{method} {count}")).collect();
    println!("| | | | | {} | | |", methods.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::checkpoint;

    #[test]
    fn an_invented_checkpoint_is_json_and_as_large_as_it_says() {
        let text = checkpoint(1000, 1000).replace("STACK", "s");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let resources = value["checkpoint"]["latest"]["resources"].as_array().unwrap();
        assert_eq!(resources.len(), 1001);
        assert!((1_200_000..1_500_000).contains(&text.len()), "{}", text.len());
    }
}
