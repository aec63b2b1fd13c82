//! Whom a token is for: by the host of the vault, or by what the vault answers to a request without one.

use groundstate_http_client::url::Url;

/// The resource that a token is for, and the tenant that issues it where the vault names one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Audience {
    pub(super) resource: String,
    pub(super) tenant: Option<String>,
}

/// The domains of vaults and managed HSMs, in all clouds.
const DOMAINS: [&str; 6] = [
    "vault.azure.net",
    "vault.azure.cn",
    "vault.usgovcloudapi.net",
    "managedhsm.azure.net",
    "managedhsm.azure.cn",
    "managedhsm.usgovcloudapi.net",
];

/// Whom tokens for a vault of Azure's own domains are for.
pub(super) fn audience_of_host(host: &str) -> Option<Audience> {
    let domain = DOMAINS.into_iter().find(|domain| is_below(host, domain))?;
    Some(Audience { resource: format!("https://{domain}"), tenant: None })
}

/// Whether a host is this machine, as clients tell it.
pub(super) fn is_loopback(host: &str) -> bool {
    Url::parse(&format!("https://{host}")).is_ok_and(|url| groundstate_http_client::is_loopback(&url))
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// Reads `Bearer authorization="https://LOGIN/TENANT", resource="https://vault.azure.net"`.
///
/// # Errors
///
/// Why no token is sent: the challenge cannot be read, or its resource is that of another host.
pub(super) fn challenged(header: &str, host: &str) -> Result<Audience, &'static str> {
    const UNREADABLE: &str = "its challenge cannot be read";
    let rest = header.trim().strip_prefix("Bearer ").ok_or(UNREADABLE)?;
    let member = |name: &str| {
        rest.split(',').find_map(|part| {
            let value = part.trim().strip_prefix(name)?.trim_start().strip_prefix('=')?;
            Some(value.trim().trim_matches('"').to_owned())
        })
    };
    let scope = || member("scope").map(|scope| scope.trim_end_matches("/.default").to_owned());
    let resource = member("resource").or_else(scope).ok_or(UNREADABLE)?;
    let of_resource = resource.strip_prefix("https://").ok_or(UNREADABLE)?.trim_end_matches('/');
    let is_plain =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if !is_plain(of_resource) || !of_resource.contains('.') {
        return Err(UNREADABLE);
    }
    // Emulators run on this machine, and answer with Azure's own resource.
    if !is_below(host, of_resource) && !is_loopback(host) {
        return Err("its challenge names the resource of another host, which gets no token");
    }
    let authorization = member("authorization").or_else(|| member("authorization_uri"));
    let tenant = authorization.as_deref().and_then(|url| url.strip_prefix("https://"));
    let tenant =
        tenant.and_then(|url| url.split('/').nth(1)).filter(|tenant| !tenant.is_empty() && is_plain(tenant));
    Ok(Audience { resource: format!("https://{of_resource}"), tenant: tenant.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::{audience_of_host, challenged, is_loopback};

    const CHALLENGE: &str = r#"Bearer authorization="https://login.microsoftonline.com/tenant-1", resource="https://vault.azure.net""#;

    #[test]
    fn a_vault_of_azure_names_tenant_and_resource() {
        let audience = challenged(CHALLENGE, "v.vault.azure.net").unwrap();
        assert_eq!(
            (audience.resource.as_str(), audience.tenant.as_deref()),
            ("https://vault.azure.net", Some("tenant-1"))
        );
        let scope = r#"Bearer authorization="https://l/t", scope="https://managedhsm.azure.net/.default""#;
        assert_eq!(
            challenged(scope, "h.managedhsm.azure.net").unwrap().resource,
            "https://managedhsm.azure.net"
        );
    }

    #[test]
    fn a_resource_of_another_host_gets_no_token() {
        for host in ["evil.example", "vault.azure.net.evil.example", "vault.azure.net", "evilvault.azure.net"]
        {
            assert!(challenged(CHALLENGE, host).unwrap_err().contains("another host"), "{host}");
        }
        for header in
            ["", "Basic", "Bearer x", r#"Bearer resource="https://net""#, r#"Bearer resource="http://a.b""#]
        {
            assert!(challenged(header, "v.vault.azure.net").is_err(), "{header}");
        }
    }

    #[test]
    fn this_machine_is_told_as_clients_tell_it() {
        for host in ["localhost", "localhost.", "vault.localhost", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]"]
        {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.example", "128.0.0.1", "[::2]", "vault.azure.net", ""] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn scopes_follow_the_cloud() {
        for (host, resource) in [
            ("v.vault.azure.net", Some("https://vault.azure.net")),
            ("v.vault.azure.cn", Some("https://vault.azure.cn")),
            ("v.vault.usgovcloudapi.net", Some("https://vault.usgovcloudapi.net")),
            ("h.managedhsm.azure.net", Some("https://managedhsm.azure.net")),
            ("vault.azure.net", None),
            ("v.vault.azure.net.evil.example", None),
            ("127.0.0.1", None),
        ] {
            assert_eq!(
                audience_of_host(host).map(|audience| audience.resource).as_deref(),
                resource,
                "{host}"
            );
        }
    }
}
