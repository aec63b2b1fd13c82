//! The headers of encryption, checksums, access and tags, as the original sends them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groundstate_blobs::{Result, Role};
use md5::{Digest, Md5};
use sha2::Sha256;

use super::S3Settings;
use crate::cloud::query;

pub(super) type Headers = Vec<(String, String)>;

/// What goes with every request for a blob.
#[derive(Clone)]
pub(super) struct ObjectHeaders {
    write: Headers,
    /// The key of a customer, which reads need too.
    customer: Headers,
    has_checksum: bool,
    state_tags: Option<String>,
    lock_tags: Option<String>,
}

impl ObjectHeaders {
    pub(super) fn new(settings: &S3Settings) -> Result<Self> {
        let values = &settings.0;
        let (mut write, mut customer) = (Headers::new(), Headers::new());
        let (kms, key) = (values.text("kms_key_id"), values.text("sse_customer_key"));
        if kms.is_some() && key.is_some() {
            return Err(values.invalid(
                "kms_key_id",
                "`sse_customer_key` (or AWS_SSE_CUSTOMER_KEY) is set too, and one excludes the other",
            ));
        }
        // Without `encrypt` the original sends none of these headers, whatever else is set.
        if values.flag("encrypt")? {
            match (kms, key) {
                (Some(kms), _) => {
                    push(&mut write, "x-amz-server-side-encryption", "aws:kms");
                    push(&mut write, "x-amz-server-side-encryption-aws-kms-key-id", kms);
                }
                (None, Some(key)) => {
                    let raw = BASE64_STANDARD.decode(key).ok().filter(|raw| raw.len() == 32);
                    let raw = raw
                        .ok_or_else(|| values.invalid("sse_customer_key", "it is not 32 bytes in base64"))?;
                    const CUSTOMER: &str = "x-amz-server-side-encryption-customer";
                    push(&mut customer, &format!("{CUSTOMER}-algorithm"), "AES256");
                    push(&mut customer, &format!("{CUSTOMER}-key"), key);
                    push(
                        &mut customer,
                        &format!("{CUSTOMER}-key-md5"),
                        &BASE64_STANDARD.encode(Md5::digest(&raw)),
                    );
                }
                (None, None) => push(&mut write, "x-amz-server-side-encryption", "AES256"),
            }
        }
        if let Some(acl) = values.text("acl") {
            push(&mut write, "x-amz-acl", acl);
        }
        let tags = |name| {
            values.text(name).map(|text| tags(text).ok_or_else(|| values.invalid(name, NO_TAGS))).transpose()
        };
        let (state_tags, lock_tags) = (tags("state_tags")?, tags("lock_tags")?);
        Ok(Self { write, customer, has_checksum: !values.flag("skip_s3_checksum")?, state_tags, lock_tags })
    }

    /// The headers of a write, and the digest of the body for the signature.
    pub(super) fn write(&self, body: &[u8], role: Role) -> (Headers, Vec<u8>) {
        let digest = Sha256::digest(body);
        let mut headers = [&self.write[..], &self.customer[..]].concat();
        if self.has_checksum {
            push(&mut headers, "x-amz-checksum-sha256", &BASE64_STANDARD.encode(digest));
            push(&mut headers, "x-amz-sdk-checksum-algorithm", "SHA256");
        }
        let tags = match role {
            Role::State => &self.state_tags,
            Role::Lock => &self.lock_tags,
        };
        if let Some(tags) = tags {
            push(&mut headers, "x-amz-tagging", tags);
        }
        (headers, digest.to_vec())
    }

    pub(super) fn read(&self) -> &[(String, String)] {
        &self.customer
    }
}

const NO_TAGS: &str = "it is not a list of NAME=VALUE, separated by `&` or by commas";

/// `a=b,c=d` as a query.
fn tags(text: &str) -> Option<String> {
    let pairs = text.split(['&', ',']).map(|pair| pair.split_once('=')).collect::<Option<Vec<_>>>()?;
    Some(query(&pairs))
}

fn push(headers: &mut Headers, name: &str, value: &str) {
    headers.push((name.to_owned(), value.to_owned()));
}

#[cfg(test)]
mod tests {
    use super::{ObjectHeaders, S3Settings};
    use groundstate_blobs::Role;

    const KEY: &str = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

    fn headers_of(options: &[(&str, &str)]) -> groundstate_blobs::Result<ObjectHeaders> {
        let mut settings = S3Settings::new();
        for (name, value) in options {
            settings.set(name, value)?;
        }
        ObjectHeaders::new(&settings)
    }

    fn written(options: &[(&str, &str)], role: Role) -> Vec<String> {
        let (headers, _) = headers_of(options).unwrap().write(b"{}", role);
        headers.into_iter().map(|(name, value)| format!("{name}: {value}")).collect()
    }

    #[test]
    fn headers_are_those_of_the_original() {
        const NO_SUM: (&str, &str) = ("skip_s3_checksum", "true");
        const ON: (&str, &str) = ("encrypt", "true");
        for (options, headers) in [
            (vec![NO_SUM], vec![]),
            (vec![NO_SUM, ("kms_key_id", "k")], vec![]),
            (vec![NO_SUM, ON], vec!["x-amz-server-side-encryption: AES256"]),
            (
                vec![NO_SUM, ON, ("kms_key_id", "k")],
                vec![
                    "x-amz-server-side-encryption: aws:kms",
                    "x-amz-server-side-encryption-aws-kms-key-id: k",
                ],
            ),
            (
                vec![NO_SUM, ON, ("sse_customer_key", KEY)],
                vec![
                    "x-amz-server-side-encryption-customer-algorithm: AES256",
                    "x-amz-server-side-encryption-customer-key: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
                    "x-amz-server-side-encryption-customer-key-md5: KYvwGXoFFJ42a2u2GDWhwQ==",
                ],
            ),
            (vec![NO_SUM, ("acl", "private")], vec!["x-amz-acl: private"]),
            (vec![NO_SUM, ("state_tags", "a=b c,d=e")], vec!["x-amz-tagging: a=b%20c&d=e"]),
            (
                vec![],
                vec![
                    "x-amz-checksum-sha256: RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=",
                    "x-amz-sdk-checksum-algorithm: SHA256",
                ],
            ),
        ] {
            assert_eq!(written(&options, Role::State), headers, "{options:?}");
        }
        assert_eq!(
            written(&[NO_SUM, ("state_tags", "a=b"), ("lock_tags", "l=1")], Role::Lock),
            ["x-amz-tagging: l=1"]
        );
    }

    #[test]
    fn reads_send_the_key_of_the_customer_and_nothing_else() {
        let customer = headers_of(&[("encrypt", "true"), ("sse_customer_key", KEY)]).unwrap();
        assert_eq!(customer.read().len(), 3);
        assert!(headers_of(&[("encrypt", "true")]).unwrap().read().is_empty());
    }

    #[test]
    fn keys_that_do_not_fit_are_refused_without_being_shown() {
        for options in [
            vec![("encrypt", "true"), ("sse_customer_key", "c2hvcnQ=")],
            vec![("kms_key_id", "k"), ("sse_customer_key", KEY)],
            vec![("state_tags", "none")],
        ] {
            let error = headers_of(&options).err().unwrap().to_string();
            assert!(!error.contains("c2hvcnQ") && !error.contains(KEY), "{error}");
        }
    }
}
