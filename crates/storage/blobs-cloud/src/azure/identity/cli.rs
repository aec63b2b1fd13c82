//! The account that `az login` has chosen.

use std::process::Command;

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use serde::Deserialize;

use crate::cloud::{SHORT, Token, token_of};

const PLACE: &str = "`az account get-access-token`";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    access_token: String,
}

/// Runs `az`, which renews its tokens itself.
pub(super) fn token(tenant: Option<&str>, scope: &str) -> Result<Token> {
    let mut command = if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/C", "az"]);
        command
    } else {
        Command::new("az")
    };
    command.args(["account", "get-access-token", "--output", "json", "--scope", scope]);
    if let Some(tenant) = tenant {
        command.args(["--tenant", tenant]);
    }
    let failed = || Error::new(ErrorKind::Unauthenticated, Op::GetToken, PLACE);
    let output = command.output().map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "the program `az` is not installed",
            _ => "the program `az` cannot be run",
        };
        failed().because(why).with_source(error)
    })?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let text: String =
            text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().chars().take(300).collect();
        return Err(failed().because(format!("it says: {text}")));
    }
    let answer: Answer = serde_json::from_slice(&output.stdout)
        .map_err(|_| failed().because("its answer is not the JSON that was expected"))?;
    token_of(PLACE, &answer.access_token, SHORT)
}
