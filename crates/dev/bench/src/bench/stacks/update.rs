//! Updates that create resources: by pulumi, and by our managers of snapshots.

use std::process::Command;
use std::time::Duration;

use super::Options;
use super::bucket::{Bucket, Places, checkpoint};
use super::program::{Program, repeat};
use crate::bench::{Failure, Outcome};

/// Who updates, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Pulumi,
    Whole,
    Journal,
}

impl Way {
    const ALL: [Self; 3] = [Self::Pulumi, Self::Whole, Self::Journal];

    fn name(self) -> &'static str {
        match self {
            Self::Pulumi => "pulumi",
            Self::Whole => "library, whole snapshots",
            Self::Journal => "library, journal",
        }
    }
}

/// An update that has been measured, by which a longer one is judged.
pub(super) struct Known {
    way: Way,
    bucket: &'static str,
    count: usize,
    /// Seconds.
    time: f64,
}

/// Measures updates that create so many resources. Those that would take too long are left out, and the table says so.
pub(super) fn measure(options: &Options, count: usize, known: &mut Vec<Known>) -> Outcome {
    let what = format!("create {count} resources");
    for way in Way::ALL {
        let stacks = match way {
            // It makes the stack itself.
            Way::Pulumi => Vec::new(),
            Way::Whole | Way::Journal => vec![("s".to_owned(), checkpoint(0, 0))],
        };
        let places = Places::new(&stacks)?;
        for bucket in places.both() {
            if let Some(before) = hopeless(known, (way, bucket.name()), count, options.patience()) {
                let Known { count, time, .. } = before;
                println!(
                    "| {what} | {} | {} | not measured: {count} took {time:.0} s |  |  |  |  |",
                    way.name(),
                    bucket.name()
                );
                continue;
            }
            let mut command = Some(prepared(way, bucket, count, options.at_once())?);
            let prepared = || command.take().ok_or_else(|| Failure::Step("an update runs once".to_owned()));
            let measured = repeat((1, options.patience()), bucket, prepared)?;
            let methods = measured.traffic.as_ref().map(|traffic| format!("{:?}", traffic.methods));
            eprintln!("{what}, {}, {}: {}", way.name(), bucket.name(), methods.unwrap_or_default());
            println!("{}", measured.row(&what, way.name(), bucket));
            known.push(Known { way, bucket: bucket.name(), count, time: measured.time });
        }
    }
    Ok(())
}

/// An update of fewer resources that took so long that this one takes longer than there is patience: each step costs at
/// least as much as one of the shorter update.
fn hopeless<'k>(
    known: &'k [Known],
    (way, bucket): (Way, &str),
    count: usize,
    patience: Duration,
) -> Option<&'k Known> {
    let is_too_long = |known: &&Known| {
        let ratio = count as f64 / known.count.max(1) as f64;
        ratio > 1.0 && known.time * ratio > patience.as_secs_f64()
    };
    known.iter().filter(|known| known.way == way && known.bucket == bucket).find(is_too_long)
}

/// The program that updates, in a project that is ready for it.
fn prepared(way: Way, bucket: &Bucket, count: usize, at_once: usize) -> Outcome<Command> {
    let (count_text, at_once) = (count.to_string(), at_once.to_string());
    let ours = |kind| {
        let arguments = [kind, bucket.url(), "--resources", &count_text, "--at-once", &at_once];
        bucket.command(&Program::Step, &arguments)
    };
    match way {
        Way::Whole => ours("whole"),
        Way::Journal => ours("journal"),
        Way::Pulumi => {
            let project = bucket.project();
            let resource =
                |number| format!("  n{number}: {{ type: \"pulumi:Stash\", properties: {{ input: v }} }}\n");
            project.program(&format!("resources:\n{}", (0..count).map(resource).collect::<String>()));
            project.pulumi(&["stack", "init", "s"]).succeeds();
            let arguments = [
                "up",
                "--yes",
                "--skip-preview",
                "--stack",
                "s",
                "--suppress-progress",
                "--parallel",
                &at_once,
            ];
            bucket.command(&Program::Pulumi, &arguments)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Known, Way, hopeless};

    #[test]
    fn longer_updates_are_left_out_where_a_shorter_one_has_shown_that_they_take_too_long() {
        let known = [Known { way: Way::Pulumi, bucket: "moto", count: 1000, time: 31.0 }];
        let is_left_out =
            |way, bucket, count| hopeless(&known, (way, bucket), count, Duration::from_secs(300)).is_some();
        assert!(is_left_out(Way::Pulumi, "moto", 10_000));
        assert!(!is_left_out(Way::Pulumi, "moto", 1000) && !is_left_out(Way::Pulumi, "moto", 9000));
        assert!(!is_left_out(Way::Pulumi, "directory", 10_000) && !is_left_out(Way::Journal, "moto", 10_000));
    }
}
