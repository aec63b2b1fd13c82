//! `cargo xtask order-campaign`: orders of operations of the real programs, beside the printed ones.

use crate::outcome::{Failure, Outcome, status};
use crate::workspace::cargo;

/// The flags, the variables by which the test is told, and the defaults.
const SIZES: [(&str, &str, u64); 2] =
    [("--seeds", "GROUNDSTATE_ORDER_SEEDS", 30), ("--first", "GROUNDSTATE_ORDER_FIRST", 1)];

/// Runs the campaign, which is a test of the command.
pub(crate) fn run(args: &[String]) -> Outcome {
    let variables = parse(args)?;
    let test =
        ["test", "--package", "groundstate-cli", "--test", "it", "--", "order_campaign::", "--nocapture"];
    status(cargo(test).envs(variables))
}

fn parse(args: &[String]) -> Outcome<Vec<(&'static str, String)>> {
    let mut variables: Vec<_> =
        SIZES.iter().map(|(_, variable, size)| (*variable, size.to_string())).collect();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let at = SIZES.iter().position(|(flag, ..)| flag == arg);
        let at = at.ok_or_else(|| Failure::Usage(format!("`order-campaign` does not know `{arg}`")))?;
        let number: Option<u64> = args.next().and_then(|value| value.parse().ok());
        let number =
            number.ok_or_else(|| Failure::Usage(format!("`{arg}` takes a whole number after it")))?;
        variables[at].1 = number.to_string();
    }
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn arguments_change_the_numbers_they_name() {
        let parsed = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            parse(&args).unwrap().into_iter().map(|(_, value)| value).collect::<Vec<_>>()
        };
        assert_eq!(parsed(&[]), ["30", "1"]);
        assert_eq!(parsed(&["--first", "7", "--seeds", "9"]), ["9", "7"]);
    }
}
