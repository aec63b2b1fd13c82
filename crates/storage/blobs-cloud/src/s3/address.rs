//! Where a bucket and its blobs are: addresses and regions.

use groundstate_blobs::Result;
use url::{Host, Url};

use super::S3Settings;
use crate::cloud::{encode, endpoint, with_scheme};
use crate::settings::Values;

/// A region, and the addresses of the services in it that every client may need.
#[derive(Clone, Debug)]
pub(super) struct ServiceAddress {
    pub(super) region: String,
    pub(super) sts: String,
    /// An address that stands in for that of logins.
    pub(super) sso: Option<String>,
    fips: &'static str,
    is_dual: bool,
    suffix: &'static str,
}

/// The addresses of one bucket.
#[derive(Clone, Debug)]
pub(super) struct BucketAddress {
    pub(super) bucket: String,
    pub(super) services: ServiceAddress,
    /// The address of the bucket, without a slash at its end.
    base: String,
    dynamodb: String,
}

impl ServiceAddress {
    /// Reads region and addresses. A client whose own service has a custom address does without a region.
    pub(super) fn new(values: &Values, is_custom: bool) -> Result<Self> {
        let region = match values.text("region").map(str::to_owned) {
            Some(region) => region,
            // Other servers take any region, and this is the default.
            None if is_custom => "us-east-1".to_owned(),
            None => values.needed("region")?.to_owned(),
        };
        let sts_region = values.text("sts_region").unwrap_or(&region);
        for (name, region) in [("region", region.as_str()), ("sts_region", sts_region)] {
            if !region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
                return Err(values.invalid(name, "it is not the name of a region"));
            }
        }
        let fips = if values.flag("use_fips_endpoint")? { "-fips" } else { "" };
        let is_dual = values.flag("use_dualstack_endpoint")?;
        let suffix = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        let sts_region = sts_region.to_owned();
        let mut place = Self { region, sts: String::new(), sso: None, fips, is_dual, suffix };
        place.sts = match custom(values, "endpoints.sts")? {
            Some(url) => trimmed(&url),
            None => place.standard("sts", &sts_region),
        };
        place.sso = custom(values, "endpoints.sso")?.map(|url| trimmed(&url));
        Ok(place)
    }

    fn standard(&self, service: &str, region: &str) -> String {
        format!("https://{service}{}.{region}.{}", self.fips, self.suffix)
    }

    /// The address of the key management service, without a slash at its end.
    pub(super) fn kms(&self, values: &Values) -> Result<String> {
        Ok(match custom(values, "endpoints.kms")? {
            Some(url) => trimmed(&url),
            None if self.is_dual => {
                let suffix =
                    if self.region.starts_with("cn-") { "api.amazonwebservices.com.cn" } else { "api.aws" };
                format!("https://kms{}.{}.{suffix}", self.fips, self.region)
            }
            None => self.standard("kms", &self.region),
        })
    }
}

impl BucketAddress {
    pub(super) fn new(settings: &S3Settings) -> Result<Self> {
        let values = &settings.0;
        let bucket = values.needed("bucket")?;
        if bucket.is_empty() || bucket.contains(['/', '?', '#', '@', ':', ' ', '%', '\\']) {
            return Err(values.invalid("bucket", "it is not the name of a bucket"));
        }
        let service = custom(values, "endpoints.s3")?;
        let services = ServiceAddress::new(values, service.is_some())?;
        let ServiceAddress { region, fips, is_dual, suffix, .. } = &services;
        let dynamodb = match custom(values, "endpoints.dynamodb")? {
            Some(url) => trimmed(&url),
            None => services.standard("dynamodb", region),
        };
        let dual = if *is_dual { ".dualstack" } else { "" };
        let service = match &service {
            Some(url) => trimmed(url),
            None => format!("https://s3{fips}{dual}.{region}.{suffix}"),
        };
        let needs_path = values.flag("use_path_style")? || !is_host_label(bucket, &service);
        let base = match service.split_once("://") {
            Some((scheme, rest)) if !needs_path => format!("{scheme}://{bucket}.{rest}"),
            _ => format!("{service}/{}", encode(bucket, false)),
        };
        Ok(Self { bucket: bucket.to_owned(), services, base, dynamodb })
    }

    pub(super) fn blob(&self, key: &str) -> String {
        format!("{}/{}", self.base, encode(key, true))
    }

    pub(super) fn list(&self, query: &str) -> String {
        format!("{}/?{query}", self.base)
    }

    pub(super) fn dynamodb(&self) -> String {
        format!("{}/", self.dynamodb)
    }

    /// The addresses of the services that requests go to.
    pub(super) fn addresses(&self) -> Vec<&str> {
        let ServiceAddress { sts, sso, .. } = &self.services;
        let all = [&self.base, &self.dynamodb, sts].into_iter().chain(sso.as_ref());
        all.map(String::as_str).collect()
    }
}

/// A custom endpoint; without a scheme it is meant to be `https`, as OpenTofu has it.
fn custom(values: &Values, name: &'static str) -> Result<Option<Url>> {
    values.text(name).map(|text| endpoint(values, name, &with_scheme(text))).transpose()
}

fn trimmed(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

/// Whether the bucket's name can stand before the host: not before a number, and with dots in it only without
/// certificates, which cover one level.
fn is_host_label(bucket: &str, service: &str) -> bool {
    let Ok(url) = Url::parse(service) else { return false };
    let is_name = matches!(url.host(), Some(Host::Domain(_)));
    let fits = bucket
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
    is_name && fits && (url.scheme() == "http" || !bucket.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::{BucketAddress, S3Settings, ServiceAddress};
    use crate::s3::AwsSettings;

    fn place(options: &[(&str, &str)]) -> BucketAddress {
        let mut settings = S3Settings::new();
        for (name, value) in options {
            settings.set(name, value).unwrap();
        }
        BucketAddress::new(&settings).unwrap()
    }

    fn kms(options: &[(&str, &str)]) -> String {
        let mut settings = AwsSettings::new();
        options.iter().for_each(|(name, value)| settings.set(name, value).unwrap());
        let address = ServiceAddress::new(&settings.0, false).unwrap();
        address.kms(&settings.0).unwrap()
    }

    #[test]
    fn the_key_service_is_found_in_every_partition() {
        let (fips, dual) = (("use_fips_endpoint", "true"), ("use_dualstack_endpoint", "true"));
        for (options, url) in [
            (vec![("region", "eu-west-1")], "https://kms.eu-west-1.amazonaws.com"),
            (vec![("region", "eu-west-1"), fips], "https://kms-fips.eu-west-1.amazonaws.com"),
            (vec![("region", "eu-west-1"), dual], "https://kms.eu-west-1.api.aws"),
            (vec![("region", "us-east-1"), fips, dual], "https://kms-fips.us-east-1.api.aws"),
            (vec![("region", "cn-north-1")], "https://kms.cn-north-1.amazonaws.com.cn"),
            (vec![("region", "r"), ("endpoints.kms", "http://127.0.0.1:5/")], "http://127.0.0.1:5"),
        ] {
            assert_eq!(kms(&options), url);
        }
    }

    #[test]
    fn addresses_are_those_of_the_original() {
        const LOCAL: (&str, &str) = ("endpoints.s3", "http://127.0.0.1:5555");
        let eu = ("region", "eu-west-1");
        for (options, url) in [
            (vec![("bucket", "b"), eu], "https://b.s3.eu-west-1.amazonaws.com/env%3A/a%20b"),
            (
                vec![("bucket", "b"), eu, ("use_path_style", "true")],
                "https://s3.eu-west-1.amazonaws.com/b/env%3A/a%20b",
            ),
            (vec![("bucket", "b.c"), eu], "https://s3.eu-west-1.amazonaws.com/b.c/env%3A/a%20b"),
            (
                vec![("bucket", "b"), ("region", "cn-north-1")],
                "https://b.s3.cn-north-1.amazonaws.com.cn/env%3A/a%20b",
            ),
            (
                vec![("bucket", "b"), eu, ("use_fips_endpoint", "true"), ("use_dualstack_endpoint", "true")],
                "https://b.s3-fips.dualstack.eu-west-1.amazonaws.com/env%3A/a%20b",
            ),
            (vec![("bucket", "b"), LOCAL], "http://127.0.0.1:5555/b/env%3A/a%20b"),
            (vec![("bucket", "b"), ("endpoints.s3", "minio.test/")], "https://b.minio.test/env%3A/a%20b"),
        ] {
            assert_eq!(place(&options).blob("env:/a b"), url);
        }
        assert_eq!(place(&[("bucket", "b"), LOCAL]).services.region, "us-east-1");
        assert_eq!(place(&[("bucket", "b"), eu]).dynamodb(), "https://dynamodb.eu-west-1.amazonaws.com/");
    }

    #[test]
    fn what_is_missing_or_wrong_is_named_with_option_and_variable() {
        let error = |options: &[(&str, &str)]| {
            let mut settings = S3Settings::new();
            options.iter().for_each(|(name, value)| settings.set(name, value).unwrap());
            BucketAddress::new(&settings).unwrap_err().to_string()
        };
        for (options, text) in [
            (
                vec![],
                "cannot use the option `bucket` of the s3 store: it is not set; set the option `bucket`",
            ),
            (
                vec![("bucket", "b")],
                "cannot use the option `region` of the s3 store: it is not set; set the option `region` or the variable AWS_REGION",
            ),
            (
                vec![("bucket", "b"), ("region", "eu west")],
                "cannot use the option `region` of the s3 store: it is not the name of a region; set the option `region` or the variable AWS_REGION",
            ),
        ] {
            assert_eq!(error(&options), text);
        }
        let text = error(&[("bucket", "b"), ("endpoints.s3", "http://user:hush@h/")]);
        assert!(text.contains("AWS_ENDPOINT_URL_S3") && !text.contains("hush"), "{text}");
    }
}
