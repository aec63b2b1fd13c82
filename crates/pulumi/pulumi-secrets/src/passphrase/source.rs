//! Where a passphrase comes from: what the environment gives, or a prompt.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::error::BoxError;
use crate::sensitive::Passphrase;

/// What a passphrase is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// To open what was encrypted with it.
    Unlock,
    /// To encrypt a stack that had none.
    Protect,
    /// To encrypt a stack with another one than before. What the environment gives is the old one, so it does not count.
    Rotate,
}

/// A request for a passphrase.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PassphraseRequest<'a> {
    /// What it is needed for.
    pub purpose: Purpose,
    /// The stack to name in the question, where more than one may be meant.
    pub stack: Option<&'a str>,
    /// Whether it is to be entered once more, to exclude typing errors.
    pub confirm: bool,
    /// How many answers did not fit so far. If it is not 0, say first what was wrong: [`complaint`](Self::complaint).
    pub failures: u32,
}

impl<'a> PassphraseRequest<'a> {
    /// The first request for a passphrase.
    pub fn new(purpose: Purpose, stack: Option<&'a str>) -> Self {
        Self { purpose, stack, confirm: false, failures: 0 }
    }

    /// The question to ask, in one or two lines.
    pub fn prompt(&self) -> String {
        let stack = self.stack.map(|name| format!(" for stack {name}")).unwrap_or_default();
        match (self.purpose, self.confirm) {
            (Purpose::Unlock, _) => format!(
                "Enter your passphrase to unlock config/secrets{stack}\n    \
                 (set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to remember)"
            ),
            (Purpose::Protect, false) => "Enter your passphrase to protect config/secrets".to_owned(),
            (Purpose::Protect, true) => "Re-enter your passphrase to confirm".to_owned(),
            (Purpose::Rotate, false) => "Enter your new passphrase to protect config/secrets".to_owned(),
            (Purpose::Rotate, true) => "Re-enter your new passphrase to confirm".to_owned(),
        }
    }

    /// What to say before the question, when an answer did not fit.
    pub fn complaint(&self) -> Option<&'static str> {
        match (self.failures, self.purpose) {
            _ if self.confirm => None,
            (0, _) => None,
            (_, Purpose::Unlock) => Some("incorrect passphrase"),
            _ => Some("passphrases do not match"),
        }
    }
}

/// A passphrase, and whether asking again may bring another.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The passphrase.
    pub passphrase: Passphrase,
    /// Whether it was typed, so that a prompt can repeat.
    pub interactive: bool,
}

/// Gives passphrases. Programs read the environment and files, and ask users; this crate does neither.
///
/// As long as answers are interactive and do not fit, the request is repeated with a higher count of failures. An
/// implementation ends that with an error, for example when the user gives up.
pub trait PassphraseSource: fmt::Debug + Send + Sync {
    /// Answers a request.
    ///
    /// # Errors
    ///
    /// When there is no passphrase to be had.
    fn passphrase(&self, request: &PassphraseRequest<'_>) -> Result<Answer, PassphraseSourceError>;
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<T: PassphraseSource + ?Sized> PassphraseSource for $pointer {
            fn passphrase(&self, request: &PassphraseRequest<'_>) -> Result<Answer, PassphraseSourceError> {
                (**self).passphrase(request)
            }
        }
    )*};
}

forward!(&T, Arc<T>, Box<T>);

/// Why there is no passphrase.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PassphraseSourceError {
    /// None was given, and there is no terminal to ask at.
    #[error(
        "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables"
    )]
    Unset,
    /// The file that should hold it cannot be read.
    #[error("unable to read PULUMI_CONFIG_PASSPHRASE_FILE")]
    File(#[source] BoxError),
    /// Asking for it failed.
    #[error("the passphrase cannot be asked for")]
    Prompt(#[source] BoxError),
}

type ReadFile = Box<dyn Fn() -> Result<Vec<u8>, BoxError> + Send + Sync>;

/// Passphrases in the original's order of precedence: the variable, the file, a question.
///
/// ```
/// use groundstate_pulumi_secrets::passphrase::{GivenPassphrase, PassphraseRequest, PassphraseSource, Purpose};
///
/// // A variable that is set to nothing is set: the passphrase is empty, and the file is not read.
/// let source = GivenPassphrase::new().with_variable(Some("")).with_file(|| Err("not read".into()));
/// let answer = source.passphrase(&PassphraseRequest::new(Purpose::Unlock, None))?;
/// assert_eq!(answer.passphrase.expose(), b"");
/// # Ok::<(), groundstate_pulumi_secrets::passphrase::PassphraseSourceError>(())
/// ```
#[derive(Default)]
pub struct GivenPassphrase {
    variable: Option<Passphrase>,
    file: Option<ReadFile>,
    prompt: Option<Box<dyn PassphraseSource>>,
}

impl GivenPassphrase {
    /// A source that has nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the value of `PULUMI_CONFIG_PASSPHRASE`, `None` if it is not set.
    #[must_use]
    pub fn with_variable(mut self, value: Option<impl Into<Vec<u8>>>) -> Self {
        self.variable = value.map(Passphrase::new);
        self
    }

    /// Adds how to read the file that `PULUMI_CONFIG_PASSPHRASE_FILE` names, if that is set and not empty.
    ///
    /// It is read when it is needed, and white space at both ends of its contents does not count.
    #[must_use]
    pub fn with_file(mut self, read: impl Fn() -> Result<Vec<u8>, BoxError> + Send + Sync + 'static) -> Self {
        self.file = Some(Box::new(read));
        self
    }

    /// Adds whom to ask, if the program is used interactively.
    #[must_use]
    pub fn with_prompt(mut self, prompt: impl PassphraseSource + 'static) -> Self {
        self.prompt = Some(Box::new(prompt));
        self
    }

    fn environment(&self) -> Result<Option<Passphrase>, PassphraseSourceError> {
        if let Some(passphrase) = &self.variable {
            return Ok(Some(passphrase.clone()));
        }
        let Some(read) = &self.file else { return Ok(None) };
        let contents = read().map_err(PassphraseSourceError::File)?;
        Ok(Some(Passphrase::from_file_contents(contents)))
    }
}

impl PassphraseSource for GivenPassphrase {
    fn passphrase(&self, request: &PassphraseRequest<'_>) -> Result<Answer, PassphraseSourceError> {
        if request.purpose != Purpose::Rotate
            && let Some(passphrase) = self.environment()?
        {
            return Ok(Answer { passphrase, interactive: false });
        }
        self.prompt.as_ref().ok_or(PassphraseSourceError::Unset)?.passphrase(request)
    }
}

impl fmt::Debug for GivenPassphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GivenPassphrase")
            .field("variable", &self.variable)
            .field("file", &self.file.is_some())
            .field("prompt", &self.prompt)
            .finish()
    }
}
