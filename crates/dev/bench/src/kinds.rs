//! The invented kinds of resources.

mod compute;
mod data;
mod delivery;
mod network;
mod storage;

use crate::json::{Json, list, object, sorted};
use crate::rng::Rng;

/// A kind of resource.
#[derive(Debug)]
pub(crate) struct Kind {
    /// How many of a thousand resources are of this kind.
    pub(crate) share: usize,
    pub(crate) data: bool,
    /// Namespace and name of the provider.
    pub(crate) provider: &'static str,
    pub(crate) type_name: &'static str,
    pub(crate) schema_version: usize,
    /// Names of attributes that are sensitive as a whole.
    pub(crate) sensitive: &'static [&'static str],
    /// Invents the attributes for an object of this name.
    build: Build,
}

const CLOUD: &str = "examplecorp/cloud";
const DNS: &str = "examplecorp/dns";
const VAULT: &str = "keysmith/vault";
const ORCHARD: &str = "orchard-labs/orchard";
const WATCH: &str = "examplecorp/watch";

/// All kinds; their shares add up to a thousand.
pub(crate) static KINDS: [Kind; 16] = [
    kind(110, CLOUD, "cloud_server", 1, &[], compute::server),
    kind(100, CLOUD, "cloud_firewall", 1, &[], network::firewall),
    kind(110, CLOUD, "cloud_role", 0, &[], compute::role),
    kind(80, CLOUD, "cloud_policy", 0, &[], compute::policy),
    kind(100, CLOUD, "cloud_role_binding", 0, &[], compute::role_binding),
    kind(80, CLOUD, "cloud_bucket", 0, &[], storage::bucket),
    kind(70, CLOUD, "cloud_function", 0, &["environment"], compute::function),
    kind(40, CLOUD, "cloud_database", 2, &["password"], storage::database),
    kind(90, DNS, "dns_record", 2, &[], network::record),
    kind(25, VAULT, "vault_keypair", 1, &["private_key", "private_key_legacy"], storage::keypair),
    kind(40, VAULT, "vault_password", 3, &["result"], storage::password),
    kind(45, ORCHARD, "orchard_deployment", 1, &[], delivery::deployment),
    kind(40, ORCHARD, "orchard_config", 0, &[], delivery::config),
    kind(50, WATCH, "watch_alarm", 1, &[], delivery::alarm),
    data_kind(15, CLOUD, "cloud_image", data::image),
    data_kind(5, CLOUD, "cloud_policy_document", data::policy_document),
];

type Build = fn(&mut Rng, &str) -> Vec<(&'static str, Json)>;

const fn kind(
    share: usize,
    provider: &'static str,
    type_name: &'static str,
    schema_version: usize,
    sensitive: &'static [&'static str],
    build: Build,
) -> Kind {
    Kind { share, data: false, provider, type_name, schema_version, sensitive, build }
}

const fn data_kind(share: usize, provider: &'static str, type_name: &'static str, build: Build) -> Kind {
    Kind { share, data: true, provider, type_name, schema_version: 0, sensitive: &[], build }
}

impl Kind {
    /// One of the kinds, by their shares.
    pub(crate) fn draw(rng: &mut Rng) -> &'static Self {
        let mut left = rng.below(1000);
        for kind in &KINDS {
            if left < kind.share {
                return kind;
            }
            left -= kind.share;
        }
        &KINDS[0]
    }

    pub(crate) fn mode(&self) -> &'static str {
        if self.data { "data" } else { "managed" }
    }

    /// The provider's name without its namespace.
    pub(crate) fn local_provider(&self) -> &'static str {
        self.provider.rsplit('/').next().unwrap_or_default()
    }

    /// Attributes of an object, sorted as providers store them.
    pub(crate) fn attributes(&self, rng: &mut Rng, name: &str) -> Json {
        sorted((self.build)(rng, name))
    }

    /// `sensitive_attributes` of its objects.
    pub(crate) fn sensitive_paths(&self) -> Json {
        let step = |name: &&str| object([("type", "get_attr".into()), ("value", (*name).into())]);
        list(self.sensitive.iter().map(|name| list([step(name)])))
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, Kind};
    use crate::rng::Rng;

    #[test]
    fn shares_add_up_to_a_thousand() {
        assert_eq!(KINDS.iter().map(|kind| kind.share).sum::<usize>(), 1000);
    }

    #[test]
    fn every_kind_comes_up_and_has_its_sensitive_attributes() {
        let mut rng = Rng::new(1, "kinds");
        let drawn: Vec<&str> = (0..5000).map(|_| Kind::draw(&mut rng).type_name).collect();
        for kind in &KINDS {
            assert!(drawn.contains(&kind.type_name), "{}", kind.type_name);
            let members = (kind.build)(&mut rng, "x");
            assert!(members.iter().any(|(name, _)| *name == "id"), "{}", kind.type_name);
            for name in kind.sensitive {
                assert!(members.iter().any(|(known, _)| known == name), "{} {name}", kind.type_name);
            }
        }
    }
}
