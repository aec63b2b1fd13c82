//! Programs of the types `external`: they give keys, or encrypt and decrypt.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use groundstate_common::one_line;
use groundstate_encryption::external::{ExternalError, check_header, key_input, key_output, method_output};
use groundstate_encryption::{BoxError, KeyRequest, Plaintext, ProgramRequest, ProvidedKey};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use zeroize::Zeroizing;

/// How long a program may take; OpenTofu waits as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much a key provider's program may print.
const KEY_OUTPUT: usize = 1 << 20;

/// How much of standard error is shown.
const SHOWN: usize = 2000;

/// Runs programs that a configuration names.
#[derive(Clone, Debug)]
pub struct Programs {
    folder: Option<PathBuf>,
    timeout: Duration,
}

impl Programs {
    /// In the folder of this process.
    pub fn new() -> Self {
        Self { folder: None, timeout: PATIENCE }
    }

    /// In this folder.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets how long each program may run; one minute by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(crate) async fn key(&self, request: &KeyRequest) -> Result<ProvidedKey, BoxError> {
        let provider = request.provider();
        let options = provider.options().ok_or("the provider has no options")?;
        let command = options.texts("command")?.ok_or_else(|| options.missing("command"))?;
        let input = Zeroizing::new(key_input(request.key_use())?);
        let printed = self.run(&command, &input, false, KEY_OUTPUT).await?;
        key_output(request.key_use(), &printed).map_err(|source| protocol(&command, source))
    }

    pub(crate) async fn method(&self, request: &ProgramRequest) -> Result<Plaintext, BoxError> {
        let command = request.command();
        let input = request.input();
        // Base64, and whatever the program adds for each block.
        let limit = input.expose().len().saturating_mul(3).saturating_add(KEY_OUTPUT);
        let printed = self.run(command, input.expose(), true, limit).await?;
        method_output(&printed).map_err(|source| protocol(command, source))
    }

    /// Runs a program, and gives what it printed. It is killed when the time is up or its output is of no use.
    async fn run(
        &self,
        command: &[String],
        input: &[u8],
        is_method: bool,
        limit: usize,
    ) -> Result<Zeroizing<Vec<u8>>, BoxError> {
        let (name, arguments) = command.split_first().ok_or("the command is empty")?;
        let program = one_line(name).into_owned();
        let mut started = Command::new(name);
        started.args(arguments).kill_on_drop(true);
        started.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = &self.folder {
            started.current_dir(folder);
        }
        let failed = |why| ProgramError { program: program.clone(), why };
        let mut child = started.spawn().map_err(|error| failed(Why::Start(error.to_string())))?;
        let talk = talk(&mut child, input, is_method, limit);
        let outcome = tokio::time::timeout(self.timeout, talk).await;
        match outcome.unwrap_or(Err(Why::Time(self.timeout))) {
            Ok(printed) => Ok(printed),
            Err(why) => {
                drop(child.kill().await);
                Err(failed(why).into())
            }
        }
    }
}

impl Default for Programs {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes the input, reads both outputs, and waits for the end.
async fn talk(
    child: &mut Child,
    input: &[u8],
    is_method: bool,
    limit: usize,
) -> Result<Zeroizing<Vec<u8>>, Why> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(Why::Start("its streams are not open".to_owned()));
    };
    let write = async {
        // A program that does not read its input closes the pipe, which is its business.
        drop(stdin.write_all(input).await);
        drop(stdin.shutdown().await);
        drop(stdin);
        Ok(())
    };
    let printed = read(stdout, limit, |text| check_header(text, is_method).map_err(Why::Protocol));
    let complaint = async { Ok(read_beginning(stderr).await) };
    let ((), printed, complaint) = tokio::try_join!(write, printed, complaint)?;
    let status = child.wait().await.map_err(|error| Why::Start(error.to_string()))?;
    match status.success() {
        true => Ok(printed),
        false => Err(Why::Exit { status: status.to_string(), complaint }),
    }
}

/// Everything that a program prints, unless it is too much or begins with a wrong header.
async fn read(
    mut stream: impl AsyncRead + Unpin,
    limit: usize,
    check: impl Fn(&[u8]) -> Result<(), Why>,
) -> Result<Zeroizing<Vec<u8>>, Why> {
    let mut text = Zeroizing::new(Vec::new());
    let mut piece = Zeroizing::new(vec![0; 64 << 10]);
    let mut is_checked = false;
    loop {
        let count = stream.read(&mut piece).await.map_err(|error| Why::Start(error.to_string()))?;
        if count == 0 {
            return Ok(text);
        }
        if text.len() + count > limit {
            return Err(Why::Length(limit));
        }
        if text.len() + count > text.capacity() {
            // A vector that grows by itself would leave a copy behind.
            let mut larger = Zeroizing::new(Vec::with_capacity((text.len() + count) * 2));
            larger.extend_from_slice(&text);
            text = larger;
        }
        text.extend_from_slice(&piece[..count]);
        if !is_checked {
            check(&text)?;
            is_checked = text.contains(&b'\n');
        }
    }
}

/// The beginning of standard error, on one line; the rest is read, so that the program does not wait.
async fn read_beginning(mut stream: impl AsyncRead + Unpin) -> String {
    let (mut text, mut piece) = (Vec::new(), vec![0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut piece).await {
        let room = SHOWN.saturating_sub(text.len());
        text.extend_from_slice(&piece[..count.min(room)]);
    }
    one_line(String::from_utf8_lossy(&text).trim()).into_owned()
}

/// Why a program was of no use.
#[derive(Debug, Error)]
#[error("the program `{program}` {why}")]
struct ProgramError {
    program: String,
    why: Why,
}

#[derive(Debug, Error)]
enum Why {
    #[error("cannot be run: {0}")]
    Start(String),
    #[error("did not end within {} seconds, and was killed", .0.as_secs_f64())]
    Time(Duration),
    #[error("printed more than {0} bytes, and was killed")]
    Length(usize),
    #[error("failed ({status}){}", after_colon(.complaint))]
    Exit { status: String, complaint: String },
    #[error("breaks the protocol: {0}")]
    Protocol(ExternalError),
}

fn after_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

fn protocol(command: &[String], source: ExternalError) -> BoxError {
    let program = command.first().map(|name| one_line(name).into_owned()).unwrap_or_default();
    ProgramError { program, why: Why::Protocol(source) }.into()
}
