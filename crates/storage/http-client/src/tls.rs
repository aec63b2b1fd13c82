//! Which cryptography TLS uses.

/// Makes `ring` the process's provider unless the program has chosen one.
///
/// The client is built without a provider of its own, so that no second library of cryptography is compiled and linked.
pub(crate) fn choose_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have been quicker; its choice is as good.
        rustls::crypto::ring::default_provider().install_default().ok();
    }
}
