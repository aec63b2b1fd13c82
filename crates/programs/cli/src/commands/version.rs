//! `groundstate version`: what this build is, and what it reads and writes.

use std::io::Write;

use groundstate_statefile::Dialect;

use crate::args::VersionArgs;
use crate::report::error::{Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn run(args: &VersionArgs) -> Result {
    let mut out = Output::stdout();
    if args.json {
        out.json(&json())?;
    } else {
        writeln!(out, "groundstate {VERSION}")?;
        writeln!(out, "reads state formats 1, 2, 3 and 4 of Terraform and OpenTofu, writes format 4")?;
        writeln!(
            out,
            "reads versions 0 to 4 of Pulumi exports and checkpoints, writes 3, and 4 where features need it"
        )?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn json() -> String {
    Json::document(|json| {
        json.text("name", "groundstate");
        json.text("version", VERSION);
        json.raw("formats_read", "[1,2,3,4]");
        json.raw("format_written", 4);
        json.texts("dialects", [Dialect::Terraform, Dialect::OpenTofu].map(Dialect::id));
        json.inner("pulumi", |json| {
            json.raw("versions_read", "[0,1,2,3,4]");
            json.raw("versions_written", "[3,4]");
        });
    })
}
