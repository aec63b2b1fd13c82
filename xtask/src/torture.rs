//! `cargo xtask torture`: the crash and lock tests of a store, many times over.

use crate::outcome::{Failure, Outcome, status};
use crate::workspace::cargo;

/// The tests that are campaigns, and the variables that say how large they are.
const TESTS: [&str; 2] = ["kills::", "counting::"];
const SIZES: [(&str, &str, u64); 4] = [
    ("--kills", "GROUNDSTATE_FS_KILLS", 500),
    ("--processes", "GROUNDSTATE_FS_PROCESSES", 16),
    ("--steps", "GROUNDSTATE_FS_STEPS", 200),
    ("--seed", "GROUNDSTATE_FS_SEED", 20_261_121),
];

/// Runs the campaign of the store that is named.
pub(crate) fn run(args: &[String]) -> Outcome {
    let sizes = parse(args)?;
    let fixed = ["test", "--package", "groundstate-statemgr-fs", "--test", "it", "--"];
    // One after the other, so that each has the machine for itself.
    let mut command = cargo(fixed.into_iter().chain(TESTS).chain(["--nocapture", "--test-threads=1"]));
    status(command.envs(sizes.map(|(variable, size)| (variable, size.to_string()))))
}

fn parse(args: &[String]) -> Outcome<[(&'static str, u64); 4]> {
    let usage = |text: String| Failure::Usage(text);
    let (store, args) =
        args.split_first().ok_or_else(|| usage("name a store, as in `cargo xtask torture fs`".to_owned()))?;
    if store != "fs" {
        return Err(usage(format!("there is no campaign for `{store}`; there is one for `fs`")));
    }
    let mut sizes = SIZES.map(|(_, variable, size)| (variable, size));
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let at = SIZES
            .iter()
            .position(|(flag, ..)| flag == arg)
            .ok_or_else(|| usage(format!("`torture` does not know `{arg}`")))?;
        let number = args.next().and_then(|value| value.parse().ok());
        sizes[at].1 = number.ok_or_else(|| usage(format!("`{arg}` takes a whole number after it")))?;
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn arguments_change_the_sizes_they_name() {
        let parsed = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            parse(&args).map(|sizes| sizes.map(|(_, size)| size))
        };
        assert_eq!(parsed(&["fs"]).unwrap(), [500, 16, 200, 20_261_121]);
        assert_eq!(parsed(&["fs", "--seed", "7", "--kills", "9"]).unwrap(), [9, 16, 200, 7]);
        for wrong in
            [&[][..], &["tape"], &["fs", "--kills"], &["fs", "--kills", "many"], &["fs", "--hammer", "1"]]
        {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
