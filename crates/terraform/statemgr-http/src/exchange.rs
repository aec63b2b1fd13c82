//! One request and its answer, with redirects followed as far as they may be.

use std::fmt;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use groundstate_common::{Backoff, Sleeper};
use groundstate_http_client::http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, DATE, ETAG, HeaderName, LINK, LOCATION,
    RETRY_AFTER,
};
use groundstate_http_client::http::{HeaderMap, HeaderValue};
use groundstate_http_client::url::Url;
use groundstate_http_client::{
    Client, Request, SHORT_DEADLINE, SMALL_LIMIT, SendError, TooLarge, host_of, is_near, read_whole,
};
use md5::{Digest, Md5};
use tracing::field::Empty;
use tracing::{Instrument, Span, debug, trace_span};

use crate::address::Endpoint;
use crate::status::Call;

/// The digest of a body, in requests and answers.
const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");
/// Redirects in a row that are followed, as the original programs do.
const MOST_REDIRECTS: usize = 10;
/// Who asks for a longer wait than this is not waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// How requests are sent.
pub(crate) struct Exchange {
    pub(crate) client: Client,
    /// The headers of the options.
    pub(crate) headers: HeaderMap,
    pub(crate) sleeper: Arc<dyn Sleeper>,
    pub(crate) retries: Retries,
    pub(crate) state_limit: u64,
    pub(crate) deadline: Duration,
}

/// How often a request is repeated, and after which waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retries {
    pub(crate) most: u32,
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

/// A request.
pub(crate) struct Outgoing<'a> {
    pub(crate) call: Call,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) body: Option<&'a Bytes>,
    /// What has to be stored, as a header.
    pub(crate) condition: Option<(HeaderName, HeaderValue)>,
}

/// What a server answered, whatever it means.
#[derive(Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
    headers: HeaderMap,
}

impl fmt::Debug for Reply {
    /// Shows the status and the size only: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, body, .. } = self;
        f.debug_struct("Reply").field("status", status).field("body", &body.len()).finish_non_exhaustive()
    }
}

impl Reply {
    fn text(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok().map(str::trim)
    }

    /// Where the list of the versions of a state is, as RFC 5829 says it.
    pub(crate) fn version_history(&self) -> Option<&str> {
        let links = self.headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
        links.flat_map(|links| links.split(',')).find_map(|link| {
            let (address, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
            let is_history = parameters.split(';').any(|parameter| {
                let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
                let relations = value.trim().trim_matches('"');
                name.trim().eq_ignore_ascii_case("rel")
                    && relations.split(' ').any(|relation| relation.eq_ignore_ascii_case("version-history"))
            });
            is_history.then_some(address)
        })
    }

    /// The mark of what is stored.
    pub(crate) fn e_tag(&self) -> Option<HeaderValue> {
        self.headers.get(ETAG).cloned()
    }

    /// Whether it is a page for browsers: of a proxy, or of a login.
    pub(crate) fn is_page(&self) -> bool {
        let is_html =
            self.text(&CONTENT_TYPE).is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/html"));
        is_html && self.body.trim_ascii_start().starts_with(b"<")
    }

    /// How long the server asks to wait: a number of seconds, or a date that counts from its own.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let text = self.text(&RETRY_AFTER)?;
        let date = |text| httpdate::parse_http_date(text).ok();
        let seconds = text.parse().ok().map(Duration::from_secs);
        seconds.or_else(|| date(text)?.duration_since(date(self.text(&DATE)?)?).ok())
    }
}

/// Why there is no answer, or none that can be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error(transparent)]
    Send(#[from] SendError),
    #[error("{0}")]
    Redirect(String),
    #[error("the answer {0}")]
    Damaged(&'static str),
}

impl Failed {
    /// Whether the request may have arrived, so that what it asks for may have been done.
    pub(crate) fn was_sent(&self) -> bool {
        match self {
            Self::Send(error) => error.was_sent(),
            // The last host did not do it.
            Self::Redirect(_) => false,
            Self::Damaged(_) => true,
        }
    }

    /// Whether the same request may be answered later.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Send(error) => matches!(
                error,
                SendError::Connect(_)
                    | SendError::Silent(_)
                    | SendError::Interrupted(_)
                    | SendError::Decode(_)
                    | SendError::Other(_)
            ),
            Self::Redirect(_) | Self::Damaged(_) => false,
        }
    }
}

impl Exchange {
    /// Sends a request once, to where redirects lead.
    pub(crate) async fn send(&self, outgoing: &Outgoing<'_>) -> Result<Reply, Failed> {
        let mut endpoint = outgoing.endpoint.clone();
        let mut headers = self.headers.clone();
        for _ in 0..=MOST_REDIRECTS {
            let span = request_span(&endpoint);
            let sent = self.send_to(outgoing, &endpoint, &headers).instrument(span.clone()).await;
            let reply = match sent {
                Ok(reply) => reply,
                Err(error) => {
                    span.record("error", error.to_string());
                    return Err(error);
                }
            };
            span.record("status", reply.status);
            let location = reply.text(&LOCATION).filter(|_| matches!(reply.status, 307 | 308));
            let Some(location) = location else { return Ok(reply) };
            let next = self.redirected(&endpoint.url, location)?;
            if next.origin() != endpoint.url.origin() {
                endpoint.authorization = None;
                headers.clear();
            }
            endpoint.url = next;
        }
        Err(Failed::Redirect(format!("it redirects more than {MOST_REDIRECTS} times")))
    }

    /// The address that a redirect leads to, if it may.
    fn redirected(&self, from: &Url, location: &str) -> Result<Url, Failed> {
        let refuse = |why: String| Err(Failed::Redirect(why));
        let joined = from.join(location).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(mut next) = joined.filter(Url::has_host) else {
            return refuse("it redirects to what is no address".to_owned());
        };
        // What a server puts into an address is no credential of the user.
        let stripped = next.set_username("").and_then(|()| next.set_password(None));
        stripped.map_err(|()| Failed::Redirect("it redirects to what is no address".to_owned()))?;
        let host = host_of(&next).unwrap_or_default();
        if from.scheme() == "https" && next.scheme() == "http" {
            return refuse(format!("it redirects to {host} without TLS"));
        }
        if is_near(&next) && !is_near(from) {
            return refuse(format!(
                "it redirects to {host}, which is this machine or its cloud's own service"
            ));
        }
        if next.origin() != from.origin() && self.client.options().has_identity() {
            return refuse(format!(
                "it redirects to {host}, and the client certificate is for another server"
            ));
        }
        Ok(next)
    }

    async fn send_to(
        &self,
        outgoing: &Outgoing<'_>,
        endpoint: &Endpoint,
        own_headers: &HeaderMap,
    ) -> Result<Reply, Failed> {
        let mut headers = own_headers.clone();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        let reveals = endpoint.authorization.is_some() || !own_headers.is_empty();
        if let Some(authorization) = &endpoint.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        if let Some((name, value)) = &outgoing.condition {
            headers.insert(name, value.clone());
        }
        let mut request = Request::new(endpoint.method.clone(), endpoint.url.clone()).reveals(reveals);
        if let Some(body) = outgoing.body {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            let digest = HeaderValue::from_str(&BASE64_STANDARD.encode(Md5::digest(body)));
            headers.extend(digest.ok().map(|digest| (CONTENT_MD5, digest)));
            request = request.body(body.clone());
        }
        let (limit, deadline) = match outgoing.call {
            Call::Read => (self.state_limit, self.deadline),
            Call::Write => (SMALL_LIMIT, self.deadline),
            Call::Look | Call::Delete | Call::Lock | Call::Unlock => {
                (SMALL_LIMIT, SHORT_DEADLINE.min(self.deadline))
            }
        };
        let answer = self.client.send(request.headers(headers).limit(limit, deadline)).await?;
        let (parts, body) = answer.into_parts();
        let status = parts.status.as_u16();
        let is_content = outgoing.call == Call::Read && status == 200;
        let body = read_whole(body).await.map_err(Failed::from);
        let body = body.and_then(|body| {
            let plain = decoded(&parts.headers, &body, if is_content { limit } else { SMALL_LIMIT })?;
            if is_content {
                check_digest(&parts.headers, &body, &plain)?;
            }
            Ok(plain)
        });
        match body {
            Ok(body) => Ok(Reply { status, body, headers: parts.headers }),
            // What was done stands in the status; the body would only explain it.
            Err(_) if !is_content => Ok(Reply { status, body: Bytes::new(), headers: parts.headers }),
            Err(error) => Err(error),
        }
    }

    /// The repetitions that a request has.
    pub(crate) fn schedule(&self) -> Schedule<'_> {
        let waits = Backoff::new(self.retries.first, self.retries.longest);
        Schedule { left: self.retries.most, made: 1, waits, sleeper: &*self.sleeper }
    }
}

/// The span of a request, until its answer is here. As everywhere, no path and no query: both may have tokens.
fn request_span(endpoint: &Endpoint) -> Span {
    trace_span!(
        "request",
        method = endpoint.method.as_str(),
        host = endpoint.url.host_str(),
        port = endpoint.url.port(),
        status = Empty,
        error = Empty,
    )
}

/// The repetitions of a request.
#[derive(Debug)]
pub(crate) struct Schedule<'a> {
    left: u32,
    /// Attempts so far.
    pub(crate) made: u32,
    waits: Backoff,
    sleeper: &'a dyn Sleeper,
}

impl Schedule<'_> {
    /// Waits before another attempt, as long as the server asks for; `false` if there is none left, or the wait would be too long.
    pub(crate) async fn again(&mut self, asked: Option<Duration>) -> bool {
        let wait = self.waits.wait();
        let wait = asked.unwrap_or(wait);
        let Some(left) = self.left.checked_sub(1).filter(|_| wait <= LONGEST_WAIT) else { return false };
        self.left = left;
        self.made += 1;
        debug!(attempt = self.made, delay = wait.as_secs_f64(), "waiting before another attempt");
        self.sleeper.sleep(wait).await;
        true
    }
}

/// A body without its compression. Nothing is reserved by what it says of itself.
fn decoded(headers: &HeaderMap, body: &Bytes, limit: u64) -> Result<Bytes, Failed> {
    let encoding = headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes).unwrap_or_default();
    let is = |name: &str| encoding.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
    if body.is_empty() || encoding.trim_ascii().is_empty() || is("identity") {
        return Ok(body.clone());
    }
    if !is("gzip") && !is("x-gzip") {
        return Err(Failed::Damaged("is compressed in a way that was not asked for"));
    }
    let mut reader = MultiGzDecoder::new(&body[..]);
    let (mut plain, mut block) = (Vec::new(), [0; 16 << 10]);
    loop {
        let count =
            reader.read(&mut block).map_err(|_| Failed::Damaged("is damaged: it cannot be decompressed"))?;
        if count == 0 {
            return Ok(plain.into());
        }
        if (plain.len() + count) as u64 > limit {
            return Err(SendError::from(TooLarge { limit }).into());
        }
        plain.try_reserve(count).map_err(|_| Failed::Damaged("is larger than the memory that there is"))?;
        plain.extend_from_slice(block.get(..count).unwrap_or_default());
    }
}

/// Compares the digest that an answer declares. It may be that of the bytes as they are stored, or as they were sent.
fn check_digest(headers: &HeaderMap, sent: &[u8], plain: &[u8]) -> Result<(), Failed> {
    let Some(declared) = headers.get(CONTENT_MD5) else { return Ok(()) };
    let declared = BASE64_STANDARD.decode(declared.as_bytes().trim_ascii());
    let declared = declared.ok().filter(|digest| digest.len() == 16);
    let Some(declared) = declared else {
        return Err(Failed::Damaged("has a Content-MD5 that is not a digest in base64"));
    };
    let is_of = |bytes: &[u8]| Md5::digest(bytes)[..] == declared[..];
    match is_of(plain) || is_of(sent) {
        true => Ok(()),
        false => Err(Failed::Damaged("is damaged on the way: its Content-MD5 is that of other bytes")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use bytes::Bytes;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use groundstate_http_client::SendError;
    use groundstate_http_client::http::{HeaderMap, HeaderName, HeaderValue};

    use super::{Failed, Reply, check_digest, decoded};

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let header = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        all.iter().map(header).collect()
    }

    fn packed(bytes: &[u8]) -> Bytes {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().into()
    }

    #[test]
    fn compressed_bodies_are_read_up_to_the_limit() {
        let gzip = headers(&[("content-encoding", "GZIP")]);
        assert_eq!(decoded(&gzip, &packed(b"state"), 5).unwrap(), "state");
        let bomb = packed(&vec![0; 8 << 20]);
        assert!(bomb.len() < 64 << 10);
        let error = decoded(&gzip, &bomb, 1 << 20).unwrap_err();
        assert!(matches!(error, Failed::Send(SendError::TooLarge(_))), "{error:?}");
        let two = [packed(b"a"), packed(b"b")].concat();
        assert_eq!(decoded(&gzip, &two.into(), 9).unwrap(), "ab");
        for damaged in [&b"not gzip"[..], &packed(b"state")[..12]] {
            assert!(matches!(decoded(&gzip, &Bytes::copy_from_slice(damaged), 99), Err(Failed::Damaged(_))));
        }
        let other = headers(&[("content-encoding", "br")]);
        assert!(matches!(decoded(&other, &Bytes::from_static(b"x"), 99), Err(Failed::Damaged(_))));
        assert_eq!(decoded(&other, &Bytes::new(), 99).unwrap(), "");
        assert_eq!(
            decoded(&headers(&[]), &packed(b"a"), 1).unwrap(),
            packed(b"a"),
            "the limit was the client's"
        );
    }

    #[test]
    fn the_history_is_where_a_link_with_that_relation_leads() {
        let found = |link: &'static str| {
            let headers = headers(&[("link", link)]);
            Reply { status: 200, body: Bytes::new(), headers }.version_history().map(str::to_owned)
        };
        for (link, expected) in [
            ("</v>; rel=\"version-history\"", Some("/v")),
            ("</a>; rel=next, </v>;title=x; REL=\"latest Version-History\"", Some("/v")),
            ("</v>; rel=version-history", Some("/v")),
            ("</v>; title=version-history", None),
            ("</v>; rel=\"version\"", None),
            ("</v; rel=\"version-history\"", None),
            ("", None),
            ("<,>;,;=", None),
        ] {
            assert_eq!(found(link).as_deref(), expected, "{link}");
        }
    }

    #[test]
    fn digests_are_those_of_the_bytes_that_are_stored_or_sent() {
        let of_nothing = headers(&[("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==")]);
        assert!(check_digest(&of_nothing, b"", b"").is_ok());
        assert!(check_digest(&of_nothing, b"", b"plain").is_ok());
        assert!(check_digest(&of_nothing, b"sent", b"").is_ok());
        assert!(check_digest(&of_nothing, b"sent", b"plain").is_err());
        assert!(check_digest(&headers(&[]), b"", b"").is_ok());
        for wrong in ["hunter2!", "", "1B2M2Y8AsgTpgAmY7PhCfg=", "d41d8cd98f00b204e9800998ecf8427e"] {
            let error = check_digest(&headers(&[("content-md5", wrong)]), b"", b"").unwrap_err();
            assert!(error.to_string().contains("not a digest"), "{wrong}: {error}");
        }
    }

    #[test]
    fn no_debug_text_has_the_state_of_a_reply() {
        let body = Bytes::from_static(b"hush");
        let reply = Reply { status: 200, body, headers: headers(&[("set-cookie", "hush")]) };
        assert_eq!(format!("{reply:?}"), "Reply { status: 200, body: 4, .. }");
    }

    #[test]
    fn waits_are_numbers_of_seconds_or_dates_that_count_from_the_servers_own() {
        for (all, expected) in [
            (&[("retry-after", "7")][..], Some(7)),
            (
                &[
                    ("retry-after", "Sat, 21 Nov 2026 00:32:24 GMT"),
                    ("date", "Sat, 21 Nov 2026 00:32:20 GMT"),
                ],
                Some(4),
            ),
            (&[("retry-after", "Sat, 21 Nov 2026 00:32:24 GMT")], None),
            (
                &[
                    ("retry-after", "Sat, 21 Nov 2026 00:32:20 GMT"),
                    ("date", "Sat, 21 Nov 2026 00:32:24 GMT"),
                ],
                None,
            ),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "soon")], None),
            (&[], None),
        ] {
            let reply = Reply { status: 503, body: Bytes::new(), headers: headers(all) };
            assert_eq!(reply.retry_after(), expected.map(Duration::from_secs), "{all:?}");
        }
    }
}
