//! The command line.

use groundstate_conformance::{CASES, Conditions, Settings};

use crate::protocol::Trial;

pub(crate) const USAGE: &str = "\
usage: list
       run --store NAME [--case NAME|CLAUSE] [--conditions NAME,...] [--seed NUMBER] [--json]
       run --url URL ...: say `run --help`
       report FILE [--check]";

/// What to do.
pub(crate) enum Command {
    /// Say what the commands take.
    Help,
    /// Name the cases and the stores.
    List,
    /// Run the suite on one store.
    Run { store: String, settings: Settings, json: bool },
    /// Run the suite of servers on one.
    Try(Box<Trial>),
    /// Run it on all and write the table, or compare it.
    Report { file: String, check: bool },
}

/// Reads the arguments; an error is what to tell the user.
pub(crate) fn parse(args: &[String], stores: &[&str]) -> Result<Command, String> {
    let (command, args) = args.split_first().ok_or_else(|| format!("no command\n\n{USAGE}"))?;
    match (command.as_str(), args) {
        ("list", []) => Ok(Command::List),
        ("run", [help]) if help == "--help" => Ok(Command::Help),
        ("run", args) => match Trial::parse(args) {
            Some(trial) => trial.map(|trial| Command::Try(Box::new(trial))),
            None => parse_run(args, stores),
        },
        ("report", [file]) => Ok(Command::Report { file: file.clone(), check: false }),
        ("report", [file, flag]) if flag == "--check" => {
            Ok(Command::Report { file: file.clone(), check: true })
        }
        _ => Err(format!("`{command}` does not take these arguments\n\n{USAGE}")),
    }
}

fn parse_run(args: &[String], stores: &[&str]) -> Result<Command, String> {
    let mut settings = Settings::default();
    let (mut store, mut json) = (None, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--json" {
            json = true;
            continue;
        }
        let value = args.next().ok_or_else(|| format!("`{arg}` needs a value\n\n{USAGE}"))?;
        match arg.as_str() {
            "--store" if stores.contains(&value.as_str()) => store = Some(value.clone()),
            "--store" => {
                return Err(format!("there is no store `{value}`; there are {}", stores.join(", ")));
            }
            "--case" if CASES.iter().any(|case| value == case.name || value == case.code) => {
                settings = settings.only(value);
            }
            "--case" => return Err(format!("there is no case or clause `{value}`; `list` names them")),
            "--conditions" => settings = settings.conditions(conditions(value)?),
            "--seed" => {
                let seed = value.parse().map_err(|_| format!("the seed `{value}` is not a number"))?;
                settings = settings.seed(seed);
            }
            _ => return Err(format!("there is no option `{arg}`\n\n{USAGE}")),
        }
    }
    let store = store.ok_or_else(|| format!("name a store with `--store`: {}", stores.join(", ")))?;
    Ok(Command::Run { store, settings, json })
}

fn conditions(names: &str) -> Result<Vec<Conditions>, String> {
    let all = Conditions::ALL.map(Conditions::name).join(", ");
    let find = |name| {
        Conditions::find(name).ok_or_else(|| format!("there are no conditions `{name}`; there are {all}"))
    };
    names.split(',').map(find).collect()
}
