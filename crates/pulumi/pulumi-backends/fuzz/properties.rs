//! What must hold for any input: the fuzz target calls it, and so does an ordinary test with the corpus.

use groundstate_pulumi_backends::KeyUrl;

/// How long a message may be: the text of a stranger is cut in it.
const LONGEST: usize = 2_000;

/// URLs of secrets providers are read or refused in one line, and those that are read name a key.
pub(crate) fn key_urls(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match KeyUrl::parse(text) {
        Ok(url) => {
            assert!(!url.key().is_empty(), "a key has a name");
            // The part that leads elsewhere is named without its value.
            if let Some(what) = url.leads_elsewhere() {
                assert!(what.is_ascii() && what.len() < 80, "{what}");
                assert!(text.starts_with("awskms:") || text.starts_with("azurekeyvault:"), "{what}");
            }
            assert_eq!(KeyUrl::parse(text), Ok(url));
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.len() < LONGEST, "{} bytes", message.len());
            assert!(!message.chars().any(char::is_control), "{message:?}");
        }
    }
}
