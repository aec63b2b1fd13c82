//! The options, each under one name: in a file, as a variable of the environment, as an argument.

use super::value::{Kind, Value};

const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

/// An option.
#[derive(Debug)]
pub(crate) struct Spec {
    /// Its name: the table of the file, if it is in one, and its key there.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The value where none is given, as an argument has it. None means that there is no value, and the help says what happens.
    pub(crate) default: Option<&'static str>,
    /// Whether a change counts for a running server that is told to read its configuration again.
    pub(crate) reloads: bool,
    /// What it does, one sentence or two.
    pub(crate) help: &'static str,
}

const fn fixed(name: &'static str, kind: Kind, default: Option<&'static str>, help: &'static str) -> Spec {
    Spec { name, kind, default, reloads: false, help }
}

const fn live(name: &'static str, kind: Kind, default: Option<&'static str>, help: &'static str) -> Spec {
    Spec { name, kind, default, reloads: true, help }
}

const SWITCH: Kind = Kind::Switch;
const CHECK: Kind = Kind::Choice(&["off", "warn", "enforce"]);

/// Every option, in the order of the documentation.
pub(crate) const OPTIONS: &[Spec] = &[
    fixed(
        "store",
        Kind::Text(
            "the path of a directory, or a URL such as s3://BUCKET/PREFIX, gs://BUCKET, azblob://CONTAINER, postgres://HOST/DATABASE or memory:",
        ),
        None,
        "Where everything is kept. Without it, a directory of the user's own: `~/.local/share/groundstate`.",
    ),
    fixed(
        "store_file",
        Kind::Path,
        None,
        "A file whose one line is the URL of the store, for URLs with a password.",
    ),
    fixed(
        "store_encryption",
        Kind::Choice(&["auto", "on", "off"]),
        Some("auto"),
        "Whether what is stored is encrypted by the key of `pulumi.secrets_key_file` or `pulumi.secrets_key`. `auto` encrypts a new store if one \
         of these options names a key, and a store that is encrypted already. `on` encrypts new versions in any store; without these options, by \
         the key that the server makes for a directory. `off` stores new versions readable, and reads those that are encrypted.",
    ),
    fixed(
        "listen",
        Kind::List("IP addresses with ports", "127.0.0.1:4778"),
        Some("127.0.0.1:4778"),
        "The addresses to listen on. Addresses other than the loopback need TLS and authentication.",
    ),
    fixed(
        "public_url",
        Kind::Text("a URL such as https://states.example.com"),
        None,
        "The URL that clients use, where it is not that of the listener: behind a reverse proxy. Its host is accepted as a `Host`.",
    ),
    fixed(
        "insecure_plain_http",
        SWITCH,
        Some("false"),
        "Lets addresses other than the loopback go without TLS. Passwords and states then cross the network in the clear, \
         unless a reverse proxy is the only one that reaches the address.",
    ),
    fixed(
        "insecure_no_authentication",
        SWITCH,
        Some("false"),
        "Lets addresses other than the loopback go without authentication: everything that reaches them can read and \
         change every state.",
    ),
    live(
        "tls.certificate",
        Kind::Path,
        None,
        "The certificate and those that lead to its authority, as PEM.",
    ),
    live("tls.key", Kind::Path, None, "The key of the certificate, as PEM."),
    live("tls.client_ca", Kind::Path, None, "The authorities that sign the certificates of clients, as PEM."),
    fixed(
        "tls.client_certificates",
        Kind::Choice(&["required", "optional"]),
        Some("required"),
        "Whether a client without a certificate is refused, where `tls.client_ca` is given.",
    ),
    fixed(
        "proxy.trusted",
        Kind::List("IP addresses and networks", "10.0.0.0/8"),
        Some(""),
        "The reverse proxies whose `X-Forwarded-For` and `X-Request-Id` are believed.",
    ),
    fixed("limits.state", Kind::Size(1 << 10, 16 << 30), Some("512MiB"), "The largest state."),
    fixed(
        "limits.memory",
        Kind::Size(16 << 20, 1 << 50),
        None,
        "How much memory requests use together for bodies, what is decoded of them, and answers. One caller gets a half of it, one \
         address three quarters; requests that get none are 503, those that need more than a caller may have are 413. Without it, a \
         third of what the process may use, and not more than 2GiB.",
    ),
    live(
        "limits.header_bytes",
        Kind::Size(8 << 10, 1 << 20),
        Some("32KiB"),
        "The longest head of a request.",
    ),
    live("limits.headers", Kind::Count(16, 1000), Some("100"), "The most headers of a request."),
    live(
        "limits.header_timeout",
        Kind::Time(1, HOUR),
        Some("10s"),
        "How long the head of a request, and the handshake of TLS, may take.",
    ),
    live(
        "limits.idle_timeout",
        Kind::Time(1, DAY),
        Some("75s"),
        "How long a connection may be without a request.",
    ),
    live(
        "limits.body_timeout",
        Kind::Time(1, HOUR),
        Some("30s"),
        "How long a body that is being sent may pause.",
    ),
    live(
        "limits.upload_rate",
        Kind::SizeOrOff(1, 1 << 30),
        Some("4KiB"),
        "The lowest average rate of a body, in bytes a second, after the first `limits.body_timeout`.",
    ),
    live(
        "limits.write_timeout",
        Kind::Time(1, HOUR),
        Some("30s"),
        "How long a client may read nothing while an answer waits for it.",
    ),
    live(
        "limits.request_timeout",
        Kind::Time(1, HOUR),
        Some("1m"),
        "How long the work on a request may take once its body is there. The client then gets 503; a write that began goes on.",
    ),
    live(
        "limits.connections",
        Kind::Count(1, 1_000_000),
        Some("1024"),
        "The most connections at a time. Further ones wait in the queue of the system.",
    ),
    live(
        "limits.connections_per_address",
        Kind::CountOrOff(1, 1_000_000),
        Some("128"),
        "The most connections of one address, or of one network of IPv6 with 64 bits. Trusted proxies have no such limit.",
    ),
    live(
        "limits.requests_per_second",
        Kind::CountOrOff(1, 1_000_000),
        Some("100"),
        "How many requests a second one address may make in the long run; more are 429.",
    ),
    live(
        "limits.requests_per_second_of_principal",
        Kind::CountOrOff(1, 1_000_000),
        Some("100"),
        "How many requests a second one principal may make in the long run; more are 429.",
    ),
    live(
        "limits.burst",
        Kind::Count(1, 1_000_000),
        Some("400"),
        "How many requests an address or a principal may make at once after it made none for some time.",
    ),
    fixed(
        "limits.shutdown_timeout",
        Kind::Time(1, HOUR),
        Some("30s"),
        "How long requests may go on when the server is told to stop. A write that began is waited for twice as long.",
    ),
    fixed(
        "auth.anonymous",
        Kind::Choice(&["loopback", "never"]),
        Some("loopback"),
        "Who needs no credentials as long as there is no token, issuer or certificate: clients of this machine, or none.",
    ),
    fixed("policy.require_lock", SWITCH, Some("false"), "Refuses writes without a lock."),
    fixed(
        "policy.allow_unlocked_write",
        SWITCH,
        Some("false"),
        "Accepts a write without a lock id while another process holds the lock: `terraform apply -lock=false`.",
    ),
    fixed(
        "policy.accept_stale_id",
        SWITCH,
        Some("false"),
        "Accepts a write with the id of a lock that is not held any more, if no other lock is.",
    ),
    fixed(
        "policy.force_unlock",
        Kind::Choice(&["admin", "any", "deny"]),
        Some("admin"),
        "Which principals may unlock without the id of the lock, as `terraform force-unlock` does: those with the role \
         `admin`, any that may lock, or none.",
    ),
    fixed(
        "policy.check",
        CHECK,
        Some("warn"),
        "What happens to a state of another lineage or with a lower serial than the stored one, and to JSON that is neither a \
         state of format 4 nor an encrypted state of OpenTofu.",
    ),
    fixed("policy.content", CHECK, Some("enforce"), "What happens to a body that is not JSON."),
    fixed(
        "policy.lock_ttl",
        Kind::TimeOrOff(1, 365 * DAY),
        Some("off"),
        "How long a lock lasts. The protocol cannot renew a lock: a run that takes longer loses it, and its writes are refused.",
    ),
    fixed(
        "pulumi.secrets_key_file",
        Kind::Path,
        None,
        "A file with 32 bytes in base64, which encrypt the keys of the secrets of Pulumi stacks; make it with \
         `openssl rand -base64 32`. Without it, a server whose states lie in a directory makes a file when the first stack needs one: beside its \
         configuration, as `server.toml.secrets.key`, or else in `$XDG_STATE_HOME/groundstate/stores`. A `secrets.key` of an earlier release in the \
         directory goes on being used. Any other server encrypts no secrets of stacks. Without the file the secrets cannot be read, so keep a copy.",
    ),
    fixed(
        "pulumi.secrets_key",
        Kind::Text(
            "a URL such as awskms://ID?region=REGION, gcpkms://…, azurekeyvault://… or hashivault://KEY",
        ),
        None,
        "The key of a key service that encrypts the keys of the secrets of Pulumi stacks, by the URLs of Pulumi secrets providers. \
         Beside it, `pulumi.secrets_key_file` is only for what it has encrypted before.",
    ),
    fixed(
        "pulumi.lost_secrets_keys",
        Kind::List("names of keys", "local:0123456789abcdef"),
        Some(""),
        "Keys for the secrets of Pulumi stacks that are lost for good. Until a key that the store names is given up here, no new key \
         is made in its place.",
    ),
    fixed(
        "pulumi.deltas_from",
        Kind::SizeOrOff(0, 1 << 30),
        Some("off"),
        "The size of a state from which the pulumi CLI may send differences of checkpoints if its journal is switched off. The CLI \
         leaves pending operations out of them.",
    ),
    fixed(
        "retention.versions",
        Kind::CountOrOff(1, 1_000_000),
        Some("off"),
        "How many of the newest versions of a state are kept. Those that are protected are kept in any case, and all of them where this and \
         `retention.age` are `off`.",
    ),
    fixed(
        "retention.age",
        Kind::TimeOrOff(60, 36_500 * DAY),
        Some("off"),
        "Versions that are younger than this are kept as well, however many there are.",
    ),
    fixed(
        "retention.updates",
        Kind::CountOrOff(1, 1_000_000),
        Some("off"),
        "How many of the newest updates of a Pulumi stack, previews included, keep their events and journals. If this and \
         `retention.updates_age` are `off`, all do. The history itself goes by `retention.versions`.",
    ),
    fixed(
        "retention.updates_age",
        Kind::TimeOrOff(60, 36_500 * DAY),
        Some("off"),
        "Events and journals of updates that are younger than this are kept as well, however many there are; those of the last day always.",
    ),
    fixed(
        "retention.interval",
        Kind::Time(60, 30 * DAY),
        Some("1h"),
        "How often old versions and the remains of old updates and crashes are removed. One node at a time does it.",
    ),
    fixed(
        "metrics.listen",
        Kind::Text("an IP address and a port, such as 127.0.0.1:9478"),
        None,
        "An address for `/metrics`, `/healthz` and `/readyz` alone, by plain HTTP and without authentication. Without it, \
         `/metrics` is at the listeners of the server, for principals with the role `admin` on everything.",
    ),
    fixed(
        "metrics.insecure_public",
        SWITCH,
        Some("false"),
        "Lets `metrics.listen` be an address other than the loopback.",
    ),
];

/// What variables begin with.
pub(crate) const VARIABLE_PREFIX: &str = "GROUNDSTATE_";

impl Spec {
    /// The option of this name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        OPTIONS.iter().find(|spec| spec.name == name)
    }

    /// The variable of the environment: `limits.state` is `GROUNDSTATE_LIMITS_STATE`.
    pub(crate) fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.name.replace('.', "_").to_uppercase())
    }

    /// The value where none is given.
    pub(crate) fn default_value(&self) -> Option<Value> {
        let text = self.default?;
        match self.kind {
            Kind::List(..) if text.is_empty() => Some(Value::List(Vec::new())),
            // A test reads all of them.
            kind => kind.read_text(text).ok(),
        }
    }
}

/// The names of the tables of a file.
pub(crate) fn tables() -> Vec<&'static str> {
    let mut tables: Vec<&str> =
        OPTIONS.iter().filter_map(|spec| Some(spec.name.split_once('.')?.0)).collect();
    tables.dedup();
    tables
}

/// Up to three names of a list that are most like a text.
pub(crate) fn similar<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut close: Vec<(usize, &str)> = names
        .map(|name| (strsim::osa_distance(text, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .collect();
    close.sort();
    let best = close.first().map_or(0, |(distance, _)| *distance);
    close.into_iter().take_while(|(distance, _)| *distance == best).take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{OPTIONS, similar, tables};

    #[test]
    fn every_default_is_a_value_and_every_name_is_used_once() {
        for spec in OPTIONS {
            let value = spec.default_value();
            assert_eq!(value.is_some(), spec.default.is_some(), "{}", spec.name);
            assert_eq!(value.map(|value| value.to_string()).as_deref(), spec.default, "{}", spec.name);
        }
        let names: BTreeSet<&str> = OPTIONS.iter().map(|spec| spec.name).collect();
        let variables: BTreeSet<String> = OPTIONS.iter().map(super::Spec::variable).collect();
        assert_eq!((names.len(), variables.len()), (OPTIONS.len(), OPTIONS.len()));
        let sorted: BTreeSet<&str> = tables().into_iter().collect();
        assert_eq!(sorted.len(), tables().len(), "the options of a table stand together");
    }

    #[test]
    fn names_with_a_slip_are_recognised() {
        let names = || OPTIONS.iter().map(|spec| spec.name);
        assert_eq!(similar("limits.stat", names()), ["limits.state"]);
        assert_eq!(similar("tls.cert", names()), [""; 0]);
        assert_eq!(similar("polcy.check", names()), ["policy.check"]);
    }
}
