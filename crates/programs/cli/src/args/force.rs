//! The option `--force` of commands that replace a whole state, with or without names of codes.

use std::collections::BTreeSet;

use groundstate_pulumi_integrity::{Accepted, Rule};

/// Word that stands for `--force` without names.
pub(super) const WHOLE: &str = "all";
/// Word that stands for a missing `--force`.
pub(super) const NONE: &str = "none";

/// Checks that a command skips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Force {
    None,
    /// All that `--force` alone skips: whose state it is, and whether it is valid.
    Whole,
    /// Findings of `check`, by their codes.
    Codes(BTreeSet<Rule>),
}

impl Force {
    /// Reads the value of the option.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text {
            NONE => return Ok(Self::None),
            WHOLE => return Ok(Self::Whole),
            _ => {}
        }
        let rule = |code: &str| {
            Rule::from_id(code.trim()).ok_or_else(|| {
                format!("{code:?} is not the code of a finding of a Pulumi state, such as GS0659")
            })
        };
        text.split(',').map(rule).collect::<Result<_, _>>().map(Self::Codes)
    }

    /// Returns `true` for `--force` without codes.
    pub(crate) fn is_whole(&self) -> bool {
        *self == Self::Whole
    }

    /// Returns the rules that a state may break.
    pub(crate) fn accepted(&self) -> Accepted {
        match self {
            Self::None => Accepted::default(),
            Self::Whole => Accepted::all(),
            Self::Codes(rules) => Accepted::rules(rules.iter().copied()),
        }
    }

    /// Returns `true` if codes are named.
    pub(crate) fn has_codes(&self) -> bool {
        matches!(self, Self::Codes(_))
    }
}

#[cfg(test)]
mod tests {
    use groundstate_pulumi_integrity::Rule;

    use super::Force;

    #[test]
    fn codes_accept_what_they_name_and_no_more() {
        let force = Force::parse("GS0659,GS0650").unwrap();
        assert!(force.accepted().accepts(Rule::SecretWithoutManager) && !force.is_whole());
        assert!(!force.accepted().accepts(Rule::NumberRange) && force.has_codes());
        assert!(!Force::Whole.accepted().accepts(Rule::SecretReadable));
        assert!(Force::parse("GS0637").unwrap().accepted().accepts(Rule::SecretReadable));
        for wrong in ["", "GS0101", "GS0659,", "gs0659"] {
            assert!(Force::parse(wrong).is_err(), "{wrong}");
        }
    }
}
