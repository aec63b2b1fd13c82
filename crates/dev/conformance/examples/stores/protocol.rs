//! The suite of servers of Terraform's HTTP protocol, at an address of the user's.

use std::process::ExitCode;

use groundstate_conformance::http::{HTTP_CLAUSES, HttpServer, run};

/// What `run --url` takes.
pub(crate) const USAGE: &str = "\
run --url URL [--case NAME|CLAUSE] [--update-method VERB] [--lock-method VERB] [--unlock-method VERB]
    [--lock-suffix TEXT] [--header NAME=VALUE]... [--json]
  Sends the requests of Terraform's backend `http` to a server, and says which clauses of the protocol it keeps.
  URL is the beginning of the addresses of states that may be written: each case makes states of its own below it, under
  names like conformance-19ab7c-812-5be1f02c-0, touches no others, and deletes them at its end. `{state}` in URL
  stands for such a name where it is not the last part of the path. `--lock-suffix /lock` puts the locks there.
  TF_HTTP_USERNAME and TF_HTTP_PASSWORD are the credentials.
  exit codes: 0 every clause of the level must is kept, 1 one is broken, 2 wrong usage";

/// What to try, and how to report it.
pub(crate) struct Trial {
    server: HttpServer,
    only: Option<String>,
    json: bool,
}

impl Trial {
    /// Reads the arguments of `run` if they have `--url`; an error is what to tell the user.
    pub(crate) fn parse(args: &[String]) -> Option<Result<Self, String>> {
        args.iter().any(|arg| arg == "--url").then(|| Self::parse_url(args))
    }

    fn parse_url(args: &[String]) -> Result<Self, String> {
        let mut trial = Self { server: HttpServer::new(""), only: None, json: false };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--json" {
                trial.json = true;
                continue;
            }
            let value = args.next().ok_or_else(|| format!("`{arg}` needs a value\n\n{USAGE}"))?.clone();
            match arg.as_str() {
                "--url" => trial.server.address = checked(value)?,
                "--case" => trial.only = Some(value),
                "--update-method" => trial.server.update_method = value,
                "--lock-method" => trial.server.lock_method = value,
                "--unlock-method" => trial.server.unlock_method = value,
                "--lock-suffix" => trial.server.lock_suffix = value,
                "--header" => {
                    let (name, value) = value.split_once('=').ok_or("write a header as NAME=VALUE")?;
                    trial.server.headers.insert(name.to_owned(), value.to_owned());
                }
                _ => return Err(format!("there is no option `{arg}`\n\n{USAGE}")),
            }
        }
        trial.server.username = std::env::var("TF_HTTP_USERNAME").ok();
        trial.server.password = std::env::var("TF_HTTP_PASSWORD").ok();
        Ok(trial)
    }

    /// Runs the cases and prints the report.
    pub(crate) fn run(&self) -> ExitCode {
        let report = run(&self.server, self.only.as_deref());
        println!("{}", if self.json { report.to_json() } else { report.to_string() });
        if report.cases.is_empty() {
            let only = self.only.as_deref().unwrap_or_default();
            eprintln!("there is no case or clause `{only}`; `list` names them");
            return ExitCode::from(2);
        }
        if report.is_reliable() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// An address of http or https without credentials: other users of the machine see command lines, and reports have the address.
fn checked(url: String) -> Result<String, String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let rest = rest.ok_or("the URL has to begin with http:// or https://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.contains('@') {
        true => Err("leave credentials out of the URL, set TF_HTTP_USERNAME and TF_HTTP_PASSWORD".to_owned()),
        false => Ok(url),
    }
}

/// Names the clauses.
pub(crate) fn list() {
    for known in HTTP_CLAUSES {
        println!("{:<3} {:<6} {}", known.clause.code, known.level, known.clause.name);
    }
}
