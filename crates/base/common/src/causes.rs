//! An error with its causes in one text.

use std::error::Error;
use std::fmt;

/// An error and its causes, see [`with_causes`].
#[derive(Clone, Copy, Debug)]
pub struct WithCauses<'a>(&'a (dyn Error + 'a));

/// An error and its causes, each after a colon, for a text that is all that goes on.
///
/// ```
/// use groundstate_common::with_causes;
///
/// #[derive(Debug)]
/// struct Unread(std::fmt::Error);
///
/// impl std::fmt::Display for Unread {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         f.write_str("cannot read it")
///     }
/// }
///
/// impl std::error::Error for Unread {
///     fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
///         Some(&self.0)
///     }
/// }
///
/// let cause = std::fmt::Error;
/// assert_eq!(with_causes(&Unread(cause)).to_string(), format!("cannot read it: {cause}"));
/// ```
#[must_use]
pub fn with_causes<'a>(error: &'a (dyn Error + 'a)) -> WithCauses<'a> {
    WithCauses(error)
}

impl fmt::Display for WithCauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(cause) = next {
            write!(f, ": {cause}")?;
            next = cause.source();
        }
        Ok(())
    }
}
