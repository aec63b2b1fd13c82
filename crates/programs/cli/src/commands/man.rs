//! `groundstate man`: the manual page, with a section for each command.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::Cli;
use crate::report::error::{Outcome, Result};
use crate::report::output::Output;

pub(super) fn run() -> Result {
    let mut out = Output::stdout();
    render(&mut out)?;
    out.finish()?;
    Ok(Outcome::Clean)
}

fn render(out: &mut dyn Write) -> io::Result<()> {
    let mut command = Cli::command();
    command.build();
    Man::new(command.clone()).render(out)?;
    for command in command.get_subcommands() {
        let name = command.get_name().to_uppercase();
        writeln!(out, ".SH \"COMMAND {name}\"")?;
        let man = Man::new(command.clone());
        man.render_synopsis_section(out)?;
        man.render_description_section(out)?;
        man.render_options_section(out)?;
    }
    Ok(())
}
