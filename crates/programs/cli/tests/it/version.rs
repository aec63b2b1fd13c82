//! `groundstate version`, `completions` and `man`.

use super::support::groundstate;

#[test]
fn says_what_it_reads_and_writes() {
    insta::assert_snapshot!(groundstate(&["version"]).clean());
    insta::assert_snapshot!(groundstate(&["version", "--json"]).clean());
    assert!(groundstate(&["--version"]).clean().starts_with("groundstate "));
}

#[test]
fn writes_completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = groundstate(&["completions", shell]).clean();
        assert!(script.contains("upgrade") && script.contains("lossy"), "{shell}");
    }
    groundstate(&["completions", "tcsh"]).failed(2);
}

#[test]
fn writes_a_manual_page_with_every_command() {
    let page = groundstate(&["man"]).clean();
    assert!(page.contains(".TH groundstate 1"), "{page}");
    for command in ["LIST", "SHOW", "OUTPUTS", "UPGRADE", "CHECK", "DIFF", "VERSION", "COMPLETIONS"] {
        assert!(page.contains(&format!(".SH \"COMMAND {command}\"")), "{command}");
    }
}
