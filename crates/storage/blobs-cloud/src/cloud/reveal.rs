//! Secrets that show themselves to the server they are sent to.
//!
//! A signature proves a key without showing it. Bearer tokens and keys of customers are sent as they are, so they go to the
//! provider's own hosts, or where the user says; an address that only a directory names is not such a place.

use groundstate_blobs::Result;
use url::Url;

use super::with_scheme;
use crate::settings::Values;

/// Refuses an address that only a directory names and that is none of the provider's, because `secret` would be sent there.
///
/// `option` is what names the address, and `own` are the domains of the provider.
pub(crate) fn only_to_own(
    values: &Values,
    option: &'static str,
    own: &[&str],
    secret: &str,
    variable: &str,
) -> Result<()> {
    let Some(address) = values.text(option) else { return Ok(()) };
    if values.origin(option).is_none_or(groundstate_common::Origin::is_user) || is_of(address, own) {
        return Ok(());
    }
    let why = format!("only the directory names this address, and {secret} would be sent there as it is");
    let next = format!("set {variable} to the same address if you trust it");
    Err(values.invalid(option, why).next_step(next))
}

/// Whether an address or a name of a host lies in one of these domains.
fn is_of(address: &str, own: &[&str]) -> bool {
    let Ok(url) = Url::parse(&with_scheme(address)) else { return false };
    let Some(host) = url.host_str() else { return false };
    own.iter().any(|own| host.strip_suffix(own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::is_of;

    #[test]
    fn a_domain_is_a_whole_label() {
        for (address, expected) in [
            ("https://storage.googleapis.com/storage/v1/", true),
            ("https://storage-x.p.googleapis.com", true),
            ("googleapis.com", true),
            ("https://evilgoogleapis.com", false),
            ("https://googleapis.com.evil.example", false),
            ("https://evil.example/googleapis.com", false),
            ("https://googleapis.com@evil.example", false),
            ("http://127.0.0.1:80", false),
            ("//", false),
        ] {
            assert_eq!(is_of(address, &["googleapis.com"]), expected, "{address}");
        }
    }
}
