//! Which client sent a request: its address behind proxies, the id of the request, and whether a browser was tricked into sending it.

use std::net::{IpAddr, SocketAddr};

use groundstate_common::IdSource;
use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;

use crate::config::{Config, Network, is_loopback};
use crate::page;

/// The id of a request, which is in its log lines and in the header `X-Request-Id` of its answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RequestId(String);

impl RequestId {
    /// The id: letters, digits and `-_.` of ASCII.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

pub(super) const REQUEST_ID: &str = "x-request-id";
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The longest id that is accepted from a proxy.
const LONGEST_ID: usize = 64;

/// How clients are told apart.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    trusted_proxies: Vec<Network>,
    public_host: Option<String>,
}

impl Clients {
    pub(super) fn of(config: &Config) -> Self {
        Self {
            trusted_proxies: config.trusted_proxies.clone(),
            public_host: config.public_url.as_ref().map(|url| url.host().to_owned()),
        }
    }

    pub(super) fn is_trusted(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(address))
    }

    /// The address of the client: behind trusted proxies, the last address of `X-Forwarded-For` that is not one of theirs. What stands before
    /// that may have been made up.
    pub(super) fn address(&self, peer: IpAddr, head: &Parts) -> IpAddr {
        let mut address = peer.to_canonical();
        let values = head.headers.get_all(FORWARDED_FOR).iter();
        let texts: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
        for text in texts.iter().rev().flat_map(|text| text.rsplit(',')) {
            if !self.is_trusted(address) {
                break;
            }
            match forwarded(text.trim()) {
                Some(before) => address = before.to_canonical(),
                None => break,
            }
        }
        address
    }

    /// The id that a trusted proxy gave, if it is valid; or a new one.
    pub(super) fn request_id(&self, peer: IpAddr, head: &Parts, ids: &dyn IdSource) -> Option<RequestId> {
        let given = head.headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
        let is_valid = |id: &&str| {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(is_plain)
        };
        match given.filter(is_valid).filter(|_| self.is_trusted(peer)) {
            Some(id) => Some(RequestId(id.to_owned())),
            None => ids.uuid().ok().map(RequestId),
        }
    }

    /// Why a request may come from a page in a browser that has nothing to do with this server, if it may.
    ///
    /// Browsers send requests to servers on the loopback for any page: with a name that leads there, or without one and without
    /// showing the page the answer. A write needs no answer.
    pub(super) fn tricked(&self, local: SocketAddr, head: &Parts) -> Option<&'static str> {
        let host = host(head);
        let is_own =
            |name: &str| self.public_host.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name));
        if is_loopback(local.ip()) {
            match host.as_deref().map(name_of) {
                Some(name) if !is_local(&name) && !is_own(&name) => {
                    return Some(
                        "the request names another host; set `public_url` to the URL that clients use",
                    );
                }
                _ => {}
            }
        }
        if page::is_cross_site(&head.method, head.uri.path(), &head.headers) {
            return Some("a page of another site sent the request");
        }
        let origin = head.headers.get(ORIGIN)?;
        let of_origin = origin.to_str().ok().and_then(|origin| Some(origin.split_once("://")?.1));
        match (of_origin, host.as_deref()) {
            (Some(origin), Some(host)) if origin.eq_ignore_ascii_case(host) => None,
            (Some(origin), _) if is_own(&name_of(origin)) => None,
            _ => Some("a page of another site sent the request"),
        }
    }
}

/// The host that the request is for, with its port.
fn host(head: &Parts) -> Option<String> {
    let of_header =
        || head.headers.get(HOST).map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
    head.uri.authority().map(|authority| authority.as_str().to_owned()).or_else(of_header)
}

/// The name without the port. A user name is a part of it, so that what has one is no name of this machine.
fn name_of(host: &str) -> String {
    match host.parse::<Authority>() {
        Ok(authority) if !host.contains('@') => authority.host().trim_matches(['[', ']']).to_owned(),
        _ => host.to_owned(),
    }
}

fn is_local(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_loopback)
}

/// An entry of `X-Forwarded-For`: an address, for some proxies with a port.
fn forwarded(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use groundstate_common::SequenceIds;
    use http::Request;
    use http::request::Parts;

    use super::Clients;

    fn clients(trusted: &[&str], public_host: Option<&str>) -> Clients {
        Clients {
            trusted_proxies: trusted.iter().map(|network| network.parse().unwrap()).collect(),
            public_host: public_host.map(str::to_owned),
        }
    }

    fn head(uri: &str, headers: &[(&str, &str)]) -> Parts {
        let request =
            headers.iter().fold(Request::get(uri), |request, (name, value)| request.header(*name, *value));
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn only_trusted_proxies_say_who_the_client_is() {
        let clients = clients(&["10.0.0.0/8", "::1"], None);
        for (peer, forwarded, expected) in [
            ("8.8.8.8", &["1.1.1.1"][..], "8.8.8.8"),
            ("10.0.0.1", &["1.1.1.1"], "1.1.1.1"),
            ("10.0.0.1", &["1.1.1.1, 2.2.2.2"], "2.2.2.2"),
            ("10.0.0.1", &["1.1.1.1, 2.2.2.2, 10.0.0.2"], "2.2.2.2"),
            ("10.0.0.1", &["1.1.1.1", "2.2.2.2"], "2.2.2.2"),
            ("10.0.0.1", &["1.1.1.1, nonsense"], "10.0.0.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("::1", &["[2001:db8::1]:443"], "2001:db8::1"),
            ("::1", &["2001:db8::1"], "2001:db8::1"),
            ("::ffff:10.0.0.1", &["1.1.1.1:99"], "1.1.1.1"),
        ] {
            let headers: Vec<(&str, &str)> =
                forwarded.iter().map(|value| ("X-Forwarded-For", *value)).collect();
            let address = clients.address(peer.parse().unwrap(), &head("/", &headers));
            assert_eq!(address.to_string(), expected, "{peer} {forwarded:?}");
        }
    }

    #[test]
    fn an_id_is_a_proxys_if_it_is_valid_and_new_otherwise() {
        let clients = clients(&["10.0.0.0/8"], None);
        let new = "00000000-0000-0000-0000-000000000001";
        let long = "x".repeat(65);
        for (peer, id, expected) in [
            ("10.0.0.1", "abc-1.2_3", "abc-1.2_3"),
            ("10.0.0.1", "", new),
            ("10.0.0.1", "a b", new),
            ("10.0.0.1", "a\tb", new),
            ("10.0.0.1", &long, new),
            ("8.8.8.8", "abc", new),
        ] {
            let head = head("/", &[("X-Request-Id", id)]);
            let given = clients.request_id(peer.parse().unwrap(), &head, &SequenceIds::new());
            assert_eq!(given.unwrap().as_str(), expected, "{peer} {id}");
        }
    }

    #[test]
    fn pages_of_other_sites_do_not_reach_the_loopback() {
        let clients = clients(&[], Some("states.example.com"));
        let local = "127.0.0.1:4778".parse().unwrap();
        for (headers, is_tricked) in [
            (&[("Host", "127.0.0.1:4778")][..], false),
            (&[("Host", "localhost:4778")], false),
            (&[("Host", "LOCALHOST")], false),
            (&[("Host", "[::1]:4778")], false),
            (&[("Host", "states.example.com")], false),
            (&[], false),
            (&[("Host", "evil.example.com:4778")], true),
            (&[("Host", "127.0.0.1.evil.example.com")], true),
            (&[("Host", "localhost@evil.example.com")], true),
            (&[("Host", "")], true),
            (&[("Host", "127.0.0.1:4778"), ("Origin", "http://127.0.0.1:4778")], false),
            (&[("Host", "127.0.0.1:4778"), ("Origin", "https://states.example.com")], false),
            (&[("Host", "127.0.0.1:4778"), ("Origin", "http://127.0.0.1:8080")], true),
            (&[("Host", "127.0.0.1:4778"), ("Origin", "https://evil.example.com")], true),
            (&[("Host", "127.0.0.1:4778"), ("Origin", "null")], true),
            (&[("Host", "127.0.0.1:4778"), ("Sec-Fetch-Site", "cross-site")], true),
            (&[("Host", "127.0.0.1:4778"), ("Sec-Fetch-Site", "same-origin")], false),
            (&[("Host", "127.0.0.1:4778"), ("Sec-Fetch-Site", "none")], false),
        ] {
            assert_eq!(
                clients.tricked(local, &head("/tf/a/b", headers)).is_some(),
                is_tricked,
                "{headers:?}"
            );
        }
        // A link may lead to the page, which has no secret.
        let link = head("/", &[("Host", "127.0.0.1:4778"), ("Sec-Fetch-Site", "cross-site")]);
        assert_eq!(clients.tricked(local, &link), None);
        let elsewhere = "192.0.2.1:443".parse().unwrap();
        assert_eq!(clients.tricked(elsewhere, &head("/", &[("Host", "any.example.com")])), None);
        assert!(
            clients.tricked(local, &head("http://evil.example.com/", &[("Host", "localhost")])).is_some()
        );
    }
}
