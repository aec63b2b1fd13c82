//! `cargo xtask torture`: the crash and lock tests of a store, many times over.

use crate::outcome::{Failure, Outcome, status};
use crate::workspace::cargo;

/// The tests of a package that are campaigns, and the variables that say how large they are.
struct Campaign {
    name: &'static str,
    package: &'static str,
    tests: &'static [&'static str],
    sizes: &'static [(&'static str, &'static str, u64)],
    /// The places of which one may be chosen, and the variable that says which.
    places: (&'static str, &'static [&'static str]),
}

/// The argument that chooses one of the places.
const PLACE: &str = "--store";

const CAMPAIGNS: [Campaign; 4] = [
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
        places: ("", &[]),
    },
    Campaign {
        name: "journal",
        package: "groundstate-wal",
        tests: &["kills::"],
        sizes: &[
            ("--kills", "GROUNDSTATE_JOURNAL_KILLS", 500),
            ("--seed", "GROUNDSTATE_JOURNAL_SEED", 20_261_121),
        ],
        places: ("", &[]),
    },
    Campaign {
        name: "stacks",
        package: "groundstate-pulumi-backends",
        tests: &["kills::"],
        sizes: &[
            ("--kills", "GROUNDSTATE_STACKS_KILLS", 500),
            ("--seed", "GROUNDSTATE_STACKS_SEED", 20_261_123),
        ],
        places: ("GROUNDSTATE_STACKS_STORE", &["directory", "s3", "gcs", "azure", "postgres"]),
    },
    Campaign {
        name: "versioned",
        package: "groundstate-versioned",
        tests: &["kills::", "together::"],
        sizes: &[
            ("--kills", "GROUNDSTATE_VERSIONED_KILLS", 300),
            ("--processes", "GROUNDSTATE_VERSIONED_PROCESSES", 8),
            ("--steps", "GROUNDSTATE_VERSIONED_STEPS", 50),
            ("--cases", "GROUNDSTATE_VERSIONED_CASES", 2000),
            ("--seed", "GROUNDSTATE_VERSIONED_SEED", 20_261_124),
        ],
        places: ("", &[]),
    },
];

/// Runs the campaign of the store that is named.
pub(crate) fn run(args: &[String]) -> Outcome {
    let (campaign, variables) = parse(args)?;
    let fixed = ["test", "--package", campaign.package, "--test", "it", "--"];
    // One after the other, so that each has the machine for itself.
    let tests = campaign.tests.iter().copied();
    let mut command = cargo(fixed.into_iter().chain(tests).chain(["--nocapture", "--test-threads=1"]));
    status(command.envs(variables))
}

/// The campaign, and the variables by which its tests are told what was asked for.
fn parse(args: &[String]) -> Outcome<(&'static Campaign, Vec<(&'static str, String)>)> {
    let usage = |text: String| Failure::Usage(text);
    let (store, args) =
        args.split_first().ok_or_else(|| usage("name a store, as in `cargo xtask torture fs`".to_owned()))?;
    let names = || CAMPAIGNS.iter().map(|campaign| format!("`{}`", campaign.name)).collect::<Vec<_>>();
    let campaign = CAMPAIGNS.iter().find(|campaign| campaign.name == store).ok_or_else(|| {
        usage(format!("there is no campaign for `{store}`; there are those for {}", names().join(" and ")))
    })?;
    let mut variables: Vec<_> =
        campaign.sizes.iter().map(|(_, variable, size)| (*variable, size.to_string())).collect();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = args.next();
        if let (PLACE, (variable, known @ [_, ..])) = (arg.as_str(), campaign.places) {
            let place = value.filter(|value| known.contains(&value.as_str()));
            let place = place.ok_or_else(|| usage(format!("`{arg}` takes one of {}", known.join(", "))))?;
            variables.push((variable, place.clone()));
            continue;
        }
        let at = campaign
            .sizes
            .iter()
            .position(|(flag, ..)| flag == arg)
            .ok_or_else(|| usage(format!("`torture {store}` does not know `{arg}`")))?;
        let number: Option<u64> = value.and_then(|value| value.parse().ok());
        let number = number.ok_or_else(|| usage(format!("`{arg}` takes a whole number after it")))?;
        variables[at].1 = number.to_string();
    }
    Ok((campaign, variables))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn arguments_change_the_sizes_they_name() {
        let parsed = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            parse(&args).map(|(_, found)| found.into_iter().map(|(_, value)| value).collect::<Vec<_>>())
        };
        assert_eq!(parsed(&["fs"]).unwrap(), ["500", "16", "200", "20261121"]);
        assert_eq!(parsed(&["fs", "--seed", "7", "--kills", "9"]).unwrap(), ["9", "16", "200", "7"]);
        assert_eq!(parsed(&["journal", "--kills", "9"]).unwrap(), ["9", "20261121"]);
        assert_eq!(parsed(&["stacks", "--store", "gcs", "--kills", "9"]).unwrap(), ["9", "20261123", "gcs"]);
        for wrong in [
            &[][..],
            &["journal", "--steps", "1"],
            &["tape"],
            &["fs", "--kills"],
            &["fs", "--kills", "many"],
            &["fs", "--hammer", "1"],
            &["fs", "--store", "gcs"],
            &["stacks", "--store"],
            &["stacks", "--store", "tape"],
        ] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
