//! How a backend writes, and what it accepts.

use std::fmt;
use std::num::NonZeroUsize;

use crate::{Compression, Error, ErrorKind, Op, Result};

/// How a [`Backend`](crate::Backend) writes, and what it accepts.
///
/// [`from_variables`](Self::from_variables) reads what the `pulumi` command reads. The default is what that command does
/// without any variable set, except that it is the caller who decides about buckets of the old layout.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How checkpoints and histories are compressed when they are written. All forms are read.
    pub compression: Compression,
    /// Every save also writes a copy with the time in its name, which stays.
    pub retain_checkpoints: bool,
    /// After an update a copy goes to `.pulumi/backups`. The `.bak` copy and the history are written in any case.
    pub checkpoint_backups: bool,
    /// A bucket that holds nothing gets the layout of Pulumi before 3.61.
    pub legacy_for_new: bool,
    /// Buckets of the layout of Pulumi before 3.61 are opened. Pulumi 3.257 and newer refuse them without
    /// `PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR`, also for their upgrade.
    pub legacy_allowed: bool,
    /// Stacks of the old layout in a bucket of the new one are looked for when it is opened.
    pub legacy_warning: bool,
    /// An update stores its state once, at its end.
    pub skip_checkpoints: bool,
    /// How many requests run at a time when many stacks are read.
    pub workers: NonZeroUsize,
}

/// What `pulumi` uses unless it is told otherwise.
const WORKERS: NonZeroUsize = NonZeroUsize::new(10).expect("ten is not zero");

impl Default for Options {
    fn default() -> Self {
        Self {
            compression: Compression::Plain,
            retain_checkpoints: false,
            checkpoint_backups: true,
            legacy_for_new: false,
            legacy_allowed: false,
            legacy_warning: true,
            skip_checkpoints: false,
            workers: WORKERS,
        }
    }
}

impl Options {
    /// What the variables of the `pulumi` command ask for; `lookup` gives the value of a variable. Older names count where the
    /// newer one is not set. Only `1` and `true` mean yes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`] if both compressions are asked for, or the number of workers is not a positive number.
    ///
    /// ```
    /// use groundstate_pulumi_diy::{Compression, Options};
    ///
    /// let older = |name: &str| (name == "PULUMI_SELF_MANAGED_STATE_GZIP").then(|| "true".to_owned());
    /// assert_eq!(Options::from_variables(older)?.compression, Compression::Gzip);
    /// # Ok::<(), groundstate_pulumi_diy::Error>(())
    /// ```
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let text = |new: &str, old: Option<&str>| lookup(new).or_else(|| lookup(old?));
        let yes = |new: &str, old: Option<&str>| text(new, old).is_some_and(|value| says_yes(&value));
        let gzip = yes("PULUMI_DIY_BACKEND_GZIP", Some("PULUMI_SELF_MANAGED_STATE_GZIP"));
        let zstd = yes("PULUMI_DIY_BACKEND_ZSTD", Some("PULUMI_SELF_MANAGED_STATE_ZSTD"));
        let compression = match (gzip, zstd) {
            (true, true) => return Err(both_compressions()),
            (true, false) => Compression::Gzip,
            (false, true) => Compression::Zstd,
            (false, false) => Compression::Plain,
        };
        let no_backups =
            yes("PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS", Some("PULUMI_DISABLE_CHECKPOINT_BACKUPS"));
        let no_warning =
            yes("PULUMI_DIY_BACKEND_NO_LEGACY_WARNING", Some("PULUMI_SELF_MANAGED_STATE_NO_LEGACY_WARNING"));
        Ok(Self {
            compression,
            retain_checkpoints: yes(
                "PULUMI_DIY_BACKEND_RETAIN_CHECKPOINTS",
                Some("PULUMI_RETAIN_CHECKPOINTS"),
            ),
            checkpoint_backups: !no_backups,
            legacy_for_new: yes(
                "PULUMI_DIY_BACKEND_LEGACY_LAYOUT",
                Some("PULUMI_SELF_MANAGED_STATE_LEGACY_LAYOUT"),
            ),
            legacy_allowed: yes("PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR", None),
            legacy_warning: !no_warning,
            skip_checkpoints: yes("PULUMI_SKIP_CHECKPOINTS", None),
            workers: workers(text(PARALLEL, None).as_deref())?,
        })
    }

    /// Sets the compression.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Opens buckets of the layout of Pulumi before 3.61, as their upgrade needs.
    #[must_use]
    pub fn allow_legacy(mut self) -> Self {
        self.legacy_allowed = true;
        self
    }

    /// Keeps a copy of every checkpoint that is saved.
    #[must_use]
    pub fn retain_checkpoints(mut self) -> Self {
        self.retain_checkpoints = true;
        self
    }

    /// Sets how many requests run at a time.
    #[must_use]
    pub fn workers(mut self, workers: NonZeroUsize) -> Self {
        self.workers = workers;
        self
    }
}

const PARALLEL: &str = "PULUMI_DIY_BACKEND_PARALLEL";

fn says_yes(value: &str) -> bool {
    value == "1" || value.eq_ignore_ascii_case("true")
}

fn workers(text: Option<&str>) -> Result<NonZeroUsize> {
    match text {
        None | Some("") => Ok(WORKERS),
        Some(text) => text.parse().map_err(|_| {
            invalid(PARALLEL, format_args!("{text:?} is not a positive number"))
                .next_step("set it to 10, or unset it")
        }),
    }
}

fn both_compressions() -> Error {
    invalid("the settings", format_args!("DIY_BACKEND_GZIP and DIY_BACKEND_ZSTD cannot both be enabled"))
        .next_step("unset PULUMI_DIY_BACKEND_GZIP or PULUMI_DIY_BACKEND_ZSTD")
}

fn invalid(what: &str, why: fmt::Arguments<'_>) -> Error {
    Error::new(ErrorKind::Invalid, Op::Use, what).because(why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(set: &[(&str, &str)]) -> Result<Options> {
        Options::from_variables(|name| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn variables_mean_what_they_mean_to_pulumi() -> Result<()> {
        assert_eq!(from(&[])?, Options::default());
        assert_eq!(from(&[("PULUMI_DIY_BACKEND_GZIP", "yes")])?.compression, Compression::Plain);
        assert_eq!(from(&[("PULUMI_DIY_BACKEND_ZSTD", "TRUE")])?.compression, Compression::Zstd);
        // The newer name decides where both are set.
        let both = [("PULUMI_DIY_BACKEND_GZIP", "0"), ("PULUMI_SELF_MANAGED_STATE_GZIP", "1")];
        assert_eq!(from(&both)?.compression, Compression::Plain);
        let all = from(&[
            ("PULUMI_RETAIN_CHECKPOINTS", "1"),
            ("PULUMI_DISABLE_CHECKPOINT_BACKUPS", "1"),
            ("PULUMI_SELF_MANAGED_STATE_LEGACY_LAYOUT", "1"),
            ("PULUMI_SELF_MANAGED_STATE_NO_LEGACY_WARNING", "1"),
            ("PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR", "1"),
            ("PULUMI_SKIP_CHECKPOINTS", "1"),
            ("PULUMI_DIY_BACKEND_PARALLEL", "32"),
        ])?;
        assert!(all.retain_checkpoints && !all.checkpoint_backups && all.legacy_for_new);
        assert!(!all.legacy_warning && all.legacy_allowed && all.skip_checkpoints);
        assert_eq!(all.workers.get(), 32);
        Ok(())
    }

    #[test]
    fn two_compressions_and_no_workers_are_refused() {
        let both = from(&[("PULUMI_DIY_BACKEND_GZIP", "1"), ("PULUMI_SELF_MANAGED_STATE_ZSTD", "1")]);
        let text = both.map_err(|error| error.to_string());
        assert!(text.is_err_and(|text| {
            text.contains("DIY_BACKEND_GZIP and DIY_BACKEND_ZSTD cannot both be enabled")
        }));
        for wrong in ["0", "-1", "many"] {
            let error = from(&[("PULUMI_DIY_BACKEND_PARALLEL", wrong)]).map_err(|error| error.kind());
            assert_eq!(error, Err(ErrorKind::Invalid), "{wrong}");
        }
    }
}
