//! Addresses, checked before anything is sent to them.

use url::{Host, Url};

/// An address of a service: `http` or `https`, with a host, without user, password and fragment.
///
/// ```
/// use groundstate_http_client::address;
///
/// assert_eq!(address("https://state.example.com/prod").map(|url| url.path().to_owned()), Ok("/prod".to_owned()));
/// assert!(address("https://ana:secret@state.example.com/").is_err());
/// ```
///
/// # Errors
///
/// Why not, without the text.
pub fn address(text: &str) -> Result<Url, &'static str> {
    let url = address_with_user(text)?;
    if url.username().is_empty() && url.password().is_none() {
        return Ok(url);
    }
    Err("it has to be http or https with a host, without user and password")
}

/// The same for an address that may have a user and a password.
///
/// # Errors
///
/// Why not, without the text.
pub fn address_with_user(text: &str) -> Result<Url, &'static str> {
    let text = text.trim();
    // The parser drops line breaks and tabs instead of refusing them.
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("it has characters that no address has");
    }
    let url = Url::parse(text).map_err(|_| "it is not an address")?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() || url.fragment().is_some() {
        return Err("it has to be http or https with a host, without a fragment");
    }
    // The parser of requests knows fewer addresses than that of addresses.
    match url.as_str().parse::<http::Uri>() {
        Ok(uri) if uri.host().is_some() => Ok(url),
        _ => Err("it is not an address"),
    }
}

/// An address that has the scheme `https` unless it names another.
pub fn with_scheme(text: &str) -> String {
    if text.contains("://") { text.to_owned() } else { format!("https://{text}") }
}

/// Host and port of an address, without the rest of it.
pub fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// Whether an address is of this machine itself.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}

/// Whether an address is of this machine, or of what a cloud gives to its machines by plain http: their metadata, and the
/// credentials of containers.
pub fn is_near(url: &Url) -> bool {
    is_loopback(url)
        || match url.host() {
            Some(Host::Ipv4(ip)) => ip.is_link_local(),
            // fd00:ec2::254 and fd00:ec2::23 are Amazon's.
            Some(Host::Ipv6(ip)) => ip.segments()[..2] == [0xfd00, 0xec2],
            Some(Host::Domain(name)) => name == "metadata.google.internal",
            None => false,
        }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::Url;

    use super::{address, address_with_user, is_loopback, is_near};

    #[test]
    fn addresses_that_the_client_would_panic_on_are_refused() {
        for text in [
            "http://[x",
            "http://",
            "/relative",
            "h",
            "ftp://h",
            "http://a b",
            "http://h/\n",
            "http://h\n/",
            "http://u:p@h/",
            "http://h:99999/",
            "http://h/#f",
        ] {
            assert_eq!(address(text).is_ok(), text == "http://h/\n", "{text:?}");
        }
        assert_eq!(address_with_user("http://u:p@h/").map(|url| url.username().to_owned()), Ok("u".into()));
    }

    #[test]
    fn loopback_is_known_by_number_and_by_name() {
        for (text, expected) in [
            ("http://127.0.0.1:1/", true),
            ("http://127.9.9.9/", true),
            ("http://0x7f.1/", true),
            ("http://[::1]/", true),
            ("http://[::ffff:127.0.0.1]/", true),
            ("http://localhost:1/", true),
            ("http://LOCALHOST./", true),
            ("http://localhost.example.com/", false),
            ("http://169.254.170.2/", false),
        ] {
            assert_eq!(is_loopback(&address(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn services_of_the_machine_are_near() {
        for (url, expected) in [
            ("http://169.254.169.254/latest", true),
            ("http://169.254.170.2/v2", true),
            ("http://[fd00:ec2::254]/", true),
            ("http://metadata.google.internal/", true),
            ("http://[::1]:80/", true),
            ("http://10.0.0.1/", false),
            ("http://metadata.google.internal.evil.test/", false),
            ("http://[fd00:ec3::254]/", false),
        ] {
            assert_eq!(is_near(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }

    proptest! {
        #[test]
        fn what_passes_can_be_sent(text in "\\PC*|https?://[\\[\\]a-z0-9.:/@%\\n\\t -]{0,20}") {
            if let Ok(url) = address_with_user(&text) {
                let uri: http::Uri = url.as_str().parse().unwrap();
                prop_assert!(Url::parse(&uri.to_string()).is_ok());
            }
        }
    }
}
