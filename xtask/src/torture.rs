//! `cargo xtask torture`: the crash and lock tests of a store, many times over.

use crate::outcome::{Failure, Outcome, status};
use crate::workspace::cargo;

/// The tests of a package that are campaigns, and the variables that say how large they are.
struct Campaign {
    name: &'static str,
    package: &'static str,
    tests: &'static [&'static str],
    sizes: &'static [(&'static str, &'static str, u64)],
}

const CAMPAIGNS: [Campaign; 2] = [
    Campaign {
        name: "fs",
        package: "groundstate-statemgr-fs",
        tests: &["kills::", "counting::"],
        sizes: &[
            ("--kills", "GROUNDSTATE_FS_KILLS", 500),
            ("--processes", "GROUNDSTATE_FS_PROCESSES", 16),
            ("--steps", "GROUNDSTATE_FS_STEPS", 200),
            ("--seed", "GROUNDSTATE_FS_SEED", 20_261_121),
        ],
    },
    Campaign {
        name: "journal",
        package: "groundstate-wal",
        tests: &["kills::"],
        sizes: &[
            ("--kills", "GROUNDSTATE_JOURNAL_KILLS", 500),
            ("--seed", "GROUNDSTATE_JOURNAL_SEED", 20_261_121),
        ],
    },
];

/// Runs the campaign of the store that is named.
pub(crate) fn run(args: &[String]) -> Outcome {
    let (campaign, sizes) = parse(args)?;
    let fixed = ["test", "--package", campaign.package, "--test", "it", "--"];
    // One after the other, so that each has the machine for itself.
    let tests = campaign.tests.iter().copied();
    let mut command = cargo(fixed.into_iter().chain(tests).chain(["--nocapture", "--test-threads=1"]));
    status(command.envs(sizes.into_iter().map(|(variable, size)| (variable, size.to_string()))))
}

fn parse(args: &[String]) -> Outcome<(&'static Campaign, Vec<(&'static str, u64)>)> {
    let usage = |text: String| Failure::Usage(text);
    let (store, args) =
        args.split_first().ok_or_else(|| usage("name a store, as in `cargo xtask torture fs`".to_owned()))?;
    let names = || CAMPAIGNS.iter().map(|campaign| format!("`{}`", campaign.name)).collect::<Vec<_>>();
    let campaign = CAMPAIGNS.iter().find(|campaign| campaign.name == store).ok_or_else(|| {
        usage(format!("there is no campaign for `{store}`; there are those for {}", names().join(" and ")))
    })?;
    let mut sizes: Vec<_> = campaign.sizes.iter().map(|(_, variable, size)| (*variable, *size)).collect();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let at = campaign
            .sizes
            .iter()
            .position(|(flag, ..)| flag == arg)
            .ok_or_else(|| usage(format!("`torture {store}` does not know `{arg}`")))?;
        let number = args.next().and_then(|value| value.parse().ok());
        sizes[at].1 = number.ok_or_else(|| usage(format!("`{arg}` takes a whole number after it")))?;
    }
    Ok((campaign, sizes))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn arguments_change_the_sizes_they_name() {
        let parsed = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            parse(&args).map(|(_, sizes)| sizes.into_iter().map(|(_, size)| size).collect::<Vec<_>>())
        };
        assert_eq!(parsed(&["fs"]).unwrap(), [500, 16, 200, 20_261_121]);
        assert_eq!(parsed(&["fs", "--seed", "7", "--kills", "9"]).unwrap(), [9, 16, 200, 7]);
        assert_eq!(parsed(&["journal", "--kills", "9"]).unwrap(), [9, 20_261_121]);
        for wrong in [
            &[][..],
            &["journal", "--steps", "1"],
            &["tape"],
            &["fs", "--kills"],
            &["fs", "--kills", "many"],
            &["fs", "--hammer", "1"],
        ] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
