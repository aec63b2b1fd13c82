//! The table of stores and clauses in the documentation.

use std::process::ExitCode;
use std::sync::Arc;

use groundstate_conformance::{CLAUSES, Clause, Harness, Outcome, Report, Settings, run};

const BEGIN: &str = "<!-- begin: written by `cargo xtask conformance report` -->\n";
const END: &str = "<!-- end -->";

/// The suite on all stores, under all conditions.
fn run_all(stores: &[(&str, Arc<dyn Harness>)]) -> Vec<Report> {
    let settings = |name| Settings::default().restart(["run", "--store", name]);
    stores.iter().map(|(name, harness)| run(Arc::clone(harness), &settings(name))).collect()
}

/// Runs the suite on all stores and writes the table into the file, or compares it with what is there.
pub(crate) fn write(stores: &[(&str, Arc<dyn Harness>)], file: &str, check: bool) -> ExitCode {
    let reports = run_all(stores);
    for failure in reports.iter().flat_map(Report::failures) {
        eprintln!("{failure}");
    }
    let old = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("cannot read {file}: {error}");
            return ExitCode::from(3);
        }
    };
    let Some(new) = replaced(&old, &table(&reports)) else {
        eprintln!("{file} has no lines `{}` and `{END}` to put the table between", BEGIN.trim_end());
        return ExitCode::from(3);
    };
    if check && new != old {
        eprintln!("{file} does not say what the suite found: run `cargo xtask conformance report`");
        return ExitCode::FAILURE;
    }
    if !check && let Err(error) = std::fs::write(file, new) {
        eprintln!("cannot write {file}: {error}");
        return ExitCode::from(3);
    }
    for report in &reports {
        println!("{}: {}", report.store, report.counts());
    }
    if reports.iter().all(Report::is_success) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn replaced(old: &str, table: &str) -> Option<String> {
    let (head, rest) = old.split_once(BEGIN)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{BEGIN}{table}{END}{tail}"))
}

fn table(reports: &[Report]) -> String {
    let stores: Vec<&str> = reports.iter().map(|report| report.store.as_str()).collect();
    let mut text = format!("| clause | {} |\n|---|{}\n", stores.join(" | "), "---|".repeat(stores.len()));
    for clause in CLAUSES {
        let cells: Vec<String> = reports.iter().map(|report| cell(report, clause)).collect();
        text.push_str(&format!("| {} `{}` | {} |\n", clause.code, clause.name, cells.join(" | ")));
    }
    text
}

/// What became of the cases of a clause: how many ran and passed, or why none did.
fn cell(report: &Report, clause: &Clause) -> String {
    let of_clause = || report.cases.iter().filter(|case| case.case.code == clause.code);
    let failed = of_clause().filter(|case| matches!(case.outcome, Outcome::Failed(_))).count();
    let passed = of_clause().filter(|case| case.outcome == Outcome::Passed).count();
    if failed > 0 {
        return format!("**{failed} failed**");
    }
    let not_shown = of_clause().filter(|case| matches!(case.outcome, Outcome::NotShown(_))).count();
    if passed > 0 && not_shown > 0 {
        return format!("passed ({passed}), not shown ({not_shown})");
    }
    if passed > 0 {
        return format!("passed ({passed})");
    }
    let lacks = of_clause().any(|case| match &case.outcome {
        Outcome::NotApplicable(why) => why.contains("(C1)"),
        _ => false,
    });
    if lacks { "refused" } else { "–" }.to_owned()
}
