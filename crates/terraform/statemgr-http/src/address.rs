//! The addresses and verbs of a state and its lock.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groundstate_http_client::http::{HeaderValue, Method};
use groundstate_http_client::url::Url;
use groundstate_http_client::{address_with_user, host_of};
use groundstate_statemgr::LockId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::config::{HttpConfig, OptionError};

/// The parameter by which a writer says which lock it holds.
const ID: &str = "ID";

/// What stands for itself in a query, as Go's encoder has it. A space is a plus there.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b' ');

/// Where a request goes, and who asks.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// The header of Basic authentication.
    pub(crate) authorization: Option<HeaderValue>,
}

impl Endpoint {
    fn of(config: &HttpConfig, name: &'static str, text: &str, method: Method) -> Result<Self, OptionError> {
        let mut url = address_with_user(text).map_err(|why| OptionError::new(name, why))?;
        let of_address = userinfo(&url).map_err(|why| OptionError::new(name, why))?;
        // What was taken out of it is no part of what is sent.
        let stripped = url.set_username("").and_then(|()| url.set_password(None));
        stripped.map_err(|()| OptionError::new(name, "it is not an address"))?;
        check_query(&url).map_err(|why| OptionError::new(name, why))?;
        let credentials = match &config.username {
            Some(user) => Some((user.clone(), config.password.clone().unwrap_or_default())),
            None => of_address,
        };
        let authorization = credentials.map(|(user, password)| basic(&user, &password)).transpose()?;
        Ok(Self { method, url, authorization })
    }

    /// The same request under the lock of this id: its parameter takes its place among the others, which are sorted as Go sorts them.
    pub(crate) fn under(&self, id: Option<&LockId>) -> Self {
        let mut endpoint = self.clone();
        if let Some(id) = id {
            let mut pairs = pairs(self.url.query().unwrap_or_default());
            pairs.retain(|(name, _)| name != ID);
            pairs.push((ID.to_owned(), id.as_str().to_owned()));
            pairs.sort_by(|one, other| one.0.cmp(&other.0));
            let encoded = pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
            endpoint.url.set_query(Some(&encoded.collect::<Vec<_>>().join("&")));
        }
        endpoint
    }
}

/// The requests for the lock.
#[derive(Clone)]
pub(crate) struct LockEndpoints {
    pub(crate) lock: Endpoint,
    pub(crate) unlock: Endpoint,
}

/// All requests of a backend.
#[derive(Clone)]
pub(crate) struct Endpoints {
    pub(crate) read: Endpoint,
    pub(crate) write: Endpoint,
    pub(crate) delete: Endpoint,
    pub(crate) locks: Option<LockEndpoints>,
}

impl Endpoints {
    pub(crate) fn of(config: &HttpConfig) -> Result<Self, OptionError> {
        let state = |method| Endpoint::of(config, "address", &config.address, method);
        let write = verb("update_method", config.update_method.as_deref(), "POST")?;
        let endpoints = Self {
            read: state(Method::GET)?,
            write: state(write)?,
            delete: state(Method::DELETE)?,
            locks: Self::locks_of(config)?,
        };
        endpoints.are_apart()?;
        Ok(endpoints)
    }

    fn locks_of(config: &HttpConfig) -> Result<Option<LockEndpoints>, OptionError> {
        let (lock, unlock) = match (&config.lock_address, &config.unlock_address) {
            (None, None) => return Ok(None),
            (Some(lock), Some(unlock)) => (lock, unlock),
            (Some(_), None) => {
                let why = "there is a lock_address and no unlock_address, so the lock would never be released; set both or none";
                return Err(OptionError::new("unlock_address", why));
            }
            (None, Some(_)) => {
                let why = "there is an unlock_address and no lock_address, so nothing would be locked; set both or none";
                return Err(OptionError::new("lock_address", why));
            }
        };
        let lock_verb = verb("lock_method", config.lock_method.as_deref(), "LOCK")?;
        let unlock_verb = verb("unlock_method", config.unlock_method.as_deref(), "UNLOCK")?;
        Ok(Some(LockEndpoints {
            lock: Endpoint::of(config, "lock_address", lock, lock_verb)?,
            unlock: Endpoint::of(config, "unlock_address", unlock, unlock_verb)?,
        }))
    }

    /// Refuses addresses at which a lock would be taken for a state, or its release for a deletion.
    fn are_apart(&self) -> Result<(), OptionError> {
        let Some(LockEndpoints { lock, unlock }) = &self.locks else { return Ok(()) };
        let same = |one: &Endpoint, other: &Endpoint| one.method == other.method && one.url == other.url;
        for (option, endpoint) in [("lock_method", lock), ("unlock_method", unlock)] {
            let would = match endpoint {
                _ if same(endpoint, &self.write) => "replace the state with the document of the lock",
                _ if same(endpoint, &self.delete) => "delete the state",
                _ => continue,
            };
            let why = format!("{} at the address of the state would {would}", endpoint.method);
            return Err(OptionError::new(option, why));
        }
        if same(lock, unlock) {
            return Err(OptionError::new(
                "unlock_method",
                "the lock would be taken again instead of released",
            ));
        }
        Ok(())
    }

    /// The addresses, each once.
    pub(crate) fn urls(&self) -> Vec<&Url> {
        let locks = self.locks.iter().flat_map(|locks| [&locks.lock.url, &locks.unlock.url]);
        let mut urls: Vec<&Url> = [&self.read.url].into_iter().chain(locks).collect();
        urls.dedup();
        urls
    }
}

fn verb(name: &'static str, given: Option<&str>, default: &str) -> Result<Method, OptionError> {
    Method::from_bytes(given.unwrap_or(default).as_bytes())
        .map_err(|_| OptionError::new(name, "it is not a method of HTTP such as POST"))
}

/// User and password that an address has, decoded.
fn userinfo(url: &Url) -> Result<Option<(String, String)>, &'static str> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(None);
    }
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().map(|text| text.into_owned());
    match (decoded(url.username()), decoded(url.password().unwrap_or_default())) {
        (Ok(user), Ok(password)) => Ok(Some((user, password))),
        _ => Err("its user or password is not UTF-8"),
    }
}

fn basic(user: &str, password: &str) -> Result<HeaderValue, OptionError> {
    if user.contains(':') {
        return Err(OptionError::new(
            "username",
            "it has a colon, which Basic authentication does not allow",
        ));
    }
    let encoded = BASE64_STANDARD.encode(format!("{user}:{password}"));
    let mut value = HeaderValue::from_str(&format!("Basic {encoded}"))
        .map_err(|_| OptionError::new("username", "no header can carry it"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Refuses a query of which a part would be lost when a parameter is added.
fn check_query(url: &Url) -> Result<(), &'static str> {
    let query = url.query().unwrap_or_default();
    if query.contains(';') {
        return Err("its query has a semicolon, write %3B");
    }
    let is_whole = query
        .split('%')
        .skip(1)
        .all(|rest| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()));
    if !is_whole || percent_decode_str(query).decode_utf8().is_err() {
        return Err("its query has a % that no two hexadecimal digits follow, or is not UTF-8");
    }
    Ok(())
}

/// The parameters of a query, decoded, in their order.
fn pairs(query: &str) -> Vec<(String, String)> {
    let decode = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(name), decode(value))
    };
    query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string().replace(' ', "+")
}

/// An address as messages show it: without user and password, and without the values of its query, which may be tokens.
pub(crate) fn shown(url: &Url) -> String {
    let mut text = format!("{}://{}{}", url.scheme(), host_of(url).unwrap_or_default(), url.path());
    let names: Vec<String> = pairs(url.query().unwrap_or_default())
        .into_iter()
        .map(|(name, _)| format!("{}=…", encode(&name)))
        .collect();
    if !names.is_empty() {
        text.push('?');
        text.push_str(&names.join("&"));
    }
    text
}

/// The same for a text that may be no address at all.
pub(crate) fn shown_text(text: &str) -> String {
    address_with_user(text).map_or_else(|_| "(not an address)".to_owned(), |url| shown(&url))
}

#[cfg(test)]
mod tests {
    use groundstate_statemgr::LockId;

    use super::{Endpoints, shown};
    use crate::config::HttpConfig;

    fn endpoints(address: &str) -> Endpoints {
        Endpoints::of(&HttpConfig::locked(address)).expect("it is an address")
    }

    #[test]
    fn the_id_takes_its_place_among_the_sorted_parameters() {
        for (address, expected) in [
            ("http://h/s", "ID=7"),
            ("http://h/s?y=2&x=1", "ID=7&x=1&y=2"),
            ("http://h/s?A=1&b=2", "A=1&ID=7&b=2"),
            ("http://h/s?x=a+b&x=%2F&flag", "ID=7&flag=&x=a+b&x=%2F"),
            ("http://h/s?ID=old&x=%C3%A9~-_.", "ID=7&x=%C3%A9~-_."),
        ] {
            let endpoints = endpoints(address);
            let url = endpoints.write.under(Some(&LockId::new("7"))).url;
            assert_eq!(url.query(), Some(expected), "{address}");
            assert_eq!(endpoints.write.under(None).url, endpoints.write.url, "{address}");
        }
        let id = endpoints("http://h/s").write.under(Some(&LockId::new("a b&c=é"))).url;
        assert_eq!(id.query(), Some("ID=a+b%26c%3D%C3%A9"));
    }

    #[test]
    fn a_lock_that_would_replace_or_delete_the_state_is_refused() {
        let with = |lock: &str, unlock: &str| {
            let mut config = HttpConfig::locked("http://h/s");
            config.lock_method = Some(lock.to_owned());
            config.unlock_method = Some(unlock.to_owned());
            config
        };
        for (lock, unlock, option, why) in [
            ("POST", "UNLOCK", "lock_method", "replace the state"),
            ("PUT", "DELETE", "unlock_method", "delete the state"),
            ("LOCK", "POST", "unlock_method", "replace the state"),
            ("LOCK", "LOCK", "unlock_method", "taken again"),
        ] {
            let error = Endpoints::of(&with(lock, unlock)).err().expect("it is refused");
            assert!(error.option == option && error.why.contains(why), "{lock} {unlock}: {error}");
        }
        // At another address they are what GitLab has.
        let mut gitlab = with("POST", "DELETE");
        (gitlab.lock_address, gitlab.unlock_address) =
            (Some("http://h/s/lock".into()), Some("http://h/s/lock".into()));
        assert!(Endpoints::of(&gitlab).is_ok());
    }

    #[test]
    fn one_address_of_the_lock_without_the_other_is_refused() {
        for (lock, unlock, option) in
            [(Some("http://h/l"), None, "unlock_address"), (None, Some("http://h/l"), "lock_address")]
        {
            let mut config = HttpConfig::new("http://h/s");
            config.lock_address = lock.map(str::to_owned);
            config.unlock_address = unlock.map(str::to_owned);
            assert_eq!(Endpoints::of(&config).err().map(|error| error.option), Some(option));
        }
        assert!(Endpoints::of(&HttpConfig::new("http://h/s")).is_ok_and(|all| all.locks.is_none()));
    }

    #[test]
    fn credentials_of_an_address_are_sent_as_a_header_and_never_shown() {
        let all = endpoints("https://ana:hunter2%21@h:8443/a/s?token=hunter2&name=x");
        assert_eq!(all.read.url.as_str(), "https://h:8443/a/s?token=hunter2&name=x");
        assert_eq!(all.read.authorization.as_ref().unwrap(), "Basic YW5hOmh1bnRlcjIh");
        assert_eq!(shown(&all.read.url), "https://h:8443/a/s?token=…&name=…");
        assert!(!format!("{:?}", all.read.authorization).contains("YW5h"));
        let mut config = HttpConfig::new("https://ana:hunter2@h/s");
        config.username = Some("bob".to_owned());
        let own = Endpoints::of(&config).unwrap().read.authorization;
        assert_eq!(own.unwrap(), "Basic Ym9iOg==", "the option counts");
    }

    #[test]
    fn what_is_no_address_or_verb_is_named_without_its_value() {
        for (address, method) in [
            ("ftp://hunter2", None),
            ("http://h/hunter2#x", None),
            ("http://h/?a=hunter2;b", None),
            ("http://h/?a=%hunter2", None),
            ("http://h/?a=%ff", None),
            ("http://h/", Some("hunter2 x")),
            ("http://a:hunter2%ff@h/", None),
        ] {
            let mut config = HttpConfig::new(address);
            config.update_method = method.map(str::to_owned);
            let error = Endpoints::of(&config).err().expect("it is refused");
            assert!(!format!("{error} {error:?} {config:?}").contains("hunter2"), "{error:?} {config:?}");
        }
    }
}
