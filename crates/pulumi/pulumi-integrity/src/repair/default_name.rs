//! Names of default providers, and the versions in them.

use groundstate_pulumi_snapshot::{Urn, is_default_provider};

/// Name of a default provider.
///
/// Pulumi makes it of the requested version, then of the plugin's download address, with `_` in place of every other sign:
/// `default`, `default_6_83_1`, `default_1_0_0_alpha_1`. What follows the three numbers can be a pre-release, a build or an
/// address, so it tells neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DefaultName {
    numbers: Option<[u64; 3]>,
    /// If `true`, nothing follows that cannot be told.
    is_plain: bool,
}

impl DefaultName {
    /// Reads the name of a default provider. Returns `None` for other providers.
    pub(super) fn of(urn: &Urn) -> Option<Self> {
        if !is_default_provider(urn) {
            return None;
        }
        let rest = urn.name().strip_prefix("default")?;
        let mut parts = rest.split('_');
        // `defaults` is a name that a program may give to a provider of its own.
        if parts.next() != Some("") {
            return None;
        }
        if rest.is_empty() {
            return Some(Self { numbers: None, is_plain: true });
        }
        let mut number = || parts.next().filter(|part| is_canonical(part))?.parse().ok();
        let numbers =
            number().zip(number()).zip(number()).map(|((major, minor), patch)| [major, minor, patch]);
        let is_plain = numbers.is_some() && parts.next().is_none();
        Some(Self { numbers, is_plain })
    }

    /// The version that was asked for, if there was one and the name tells it.
    pub(super) fn version(&self) -> Option<String> {
        let [major, minor, patch] = self.numbers.filter(|_| self.is_plain)?;
        Some(format!("{major}.{minor}.{patch}"))
    }

    /// Returns `true` if the name contains everything that Pulumi was asked for.
    pub(super) fn tells_all(&self) -> bool {
        self.is_plain
    }

    /// Returns `true` if the other name is what this one becomes when the package is upgraded.
    pub(super) fn precedes(&self, other: &Self) -> bool {
        match (self.numbers, other.numbers) {
            _ if !(self.is_plain && other.is_plain) => false,
            (None, _) => true,
            (Some(own), Some(other)) => own <= other,
            (Some(_), None) => false,
        }
    }
}

fn is_canonical(number: &str) -> bool {
    number == "0" || (!number.starts_with('0') && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> Option<DefaultName> {
        DefaultName::of(&Urn::build("s", "p", "", "pulumi:providers:aws", name))
    }

    #[test]
    fn version_is_read_only_from_a_name_that_contains_three_numbers() {
        let version = |text: &str| name(text).expect("it is a default provider").version();
        assert_eq!(version("default_6_83_1").as_deref(), Some("6.83.1"));
        assert_eq!(version("default_0_0_0").as_deref(), Some("0.0.0"));
        for other in [
            "default",
            "default_",
            "default_1_2",
            "default_1_2_x",
            "default_01_2_3",
            "default_1_2_3_alpha_1",
            "default_github_/acme",
            "default_1_2_99999999999999999999",
        ] {
            assert_eq!(version(other), None, "{other}");
        }
        assert_eq!(name("defaults"), None);
        assert_eq!(name("eu"), None);
    }

    #[test]
    fn only_an_upgrade_is_followed() {
        let precedes =
            |old: &str, new: &str| name(old).expect("default").precedes(&name(new).expect("default"));
        assert!(precedes("default_8_24_0", "default_8_25_0"));
        assert!(precedes("default_8_9_0", "default_8_10_0"));
        assert!(precedes("default", "default_8_10_0"));
        assert!(!precedes("default_8_10_0", "default_8_9_0"));
        assert!(!precedes("default_8_10_0", "default"));
        assert!(!precedes("default_1_0_0_alpha_1", "default_1_0_0"));
        assert!(!precedes("default_1_0_0", "default_2_0_0_https_/acme"));
    }
}
