//! What a program did that a test has run.

use std::fmt;
use std::process::Output;

/// What a program did.
#[derive(Debug)]
pub struct Ran {
    line: String,
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said besides.
    pub stderr: String,
}

impl Ran {
    /// Takes what a program left, with its name and arguments for the message of a test that fails.
    pub fn of(program: &str, arguments: &[&str], output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self {
            line: format!("{program} {}", arguments.join(" ")),
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Asserts that it succeeded, and gives what it printed.
    ///
    /// # Panics
    ///
    /// If it failed.
    #[track_caller]
    pub fn succeeds(self) -> String {
        assert_eq!(self.code, Some(0), "{self}");
        self.stdout
    }

    /// Asserts that it failed, and gives all that it said with its frames and line breaks taken out.
    ///
    /// # Panics
    ///
    /// If it succeeded.
    #[track_caller]
    pub fn fails(self) -> String {
        assert!(self.code.is_some_and(|code| code != 0), "{self}");
        let text = format!("{}\n{}", self.stdout, self.stderr);
        let words = text.split_whitespace().filter(|word| !["│", "╷", "╵"].contains(word));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Asserts that it failed with this code, and gives what it said.
    ///
    /// # Panics
    ///
    /// If it ended otherwise.
    #[track_caller]
    pub fn fails_with(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self}");
        self.fails()
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ended with {:?}\n{}\n{}", self.line, self.code, self.stdout, self.stderr)
    }
}
