//! Invented Pulumi deployments: a web shop in many regions.

use std::fmt::Write as _;
use std::io::{self, Write};

use groundstate_json::{Layout, Writer};

use crate::rng::Rng;

const STACK: &str = "urn:pulumi:prod::shop::pulumi:pulumi:Stack::shop-prod";
const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
/// Resources that share a provider and a component.
const GROUP: usize = 50;

/// Writes an export of so many resources as `pulumi stack export` lays it out: with providers, components, dependencies of
/// all kinds, secrets and policies, about 2.5 KB each.
///
/// # Errors
///
/// Those of `out`.
pub fn write_deployment<W: Write>(resources: usize, seed: u64, out: &mut W) -> io::Result<()> {
    let mut rng = Rng::new(seed, "deployment");
    out.write_all(
        b"{\n    \"version\": 3,\n    \"deployment\": {\n        \"manifest\": {\n            \
          \"time\": \"2025-02-03T04:05:06.789012+01:00\",\n            \"magic\": \
          \"3ff53efef69f38d19e364655131bbb113e416d3bf64bfb819065fa12acb29250\",\n            \
          \"version\": \"v3.100.0\"\n        },\n        \"secrets_providers\": {\n            \
          \"type\": \"passphrase\",\n            \"state\": {\n                \
          \"salt\": \"v1:AAAAAAAAAAA=:v1:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"\n            \
          }\n        },\n        \"resources\": [",
    )?;
    let mut group = Group::default();
    for index in 0..resources {
        let members = match index {
            0 => root(),
            _ if index % GROUP == 1 => group.provider(index, &mut rng),
            _ if index % GROUP == 2 => group.component(index),
            _ => group.bucket(index, &mut rng),
        };
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        out.write_all(&indented(&members)?)?;
    }
    out.write_all(b"\n        ],\n        \"metadata\": {}\n    }\n}\n")
}

/// What a resource of a group refers to.
#[derive(Default)]
struct Group {
    provider: String,
    component: String,
    before: String,
}

fn root() -> String {
    format!(
        r#"{{"urn":"{STACK}","custom":false,"type":"pulumi:pulumi:Stack","outputs":{{"url":"https://shop.example"}}}}"#
    )
}

impl Group {
    fn provider(&mut self, index: usize, rng: &mut Rng) -> String {
        let urn = format!("urn:pulumi:prod::shop::pulumi:providers:aws::region-{index}");
        let id = format!("{}-1111-4222-8333-{}", rng.hex(8), rng.hex(12));
        self.provider = format!("{urn}::{id}");
        format!(
            r#"{{"urn":"{urn}","custom":true,"id":"{id}","type":"pulumi:providers:aws","inputs":{{"region":"eu-central-1","version":"6.0.2"}},"outputs":{{"region":"eu-central-1","version":"6.0.2"}},"parent":"{STACK}"}}"#
        )
    }

    fn component(&mut self, index: usize) -> String {
        self.component = format!("urn:pulumi:prod::shop::shop:index:Region::region-{index}");
        self.before.clear();
        format!(
            r#"{{"urn":"{}","custom":false,"type":"shop:index:Region","parent":"{STACK}"}}"#,
            self.component
        )
    }

    fn bucket(&mut self, index: usize, rng: &mut Rng) -> String {
        let urn =
            format!("urn:pulumi:prod::shop::shop:index:Region$aws:s3/bucketV2:BucketV2::bucket-{index}");
        let (name, arn) = (format!("bucket-{index}-{}", rng.hex(7)), "arn:aws:s3:::");
        let policy = r#"{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":[\"s3:GetObject\",\"s3:PutObject\"],\"Resource\":\"arn:aws:s3:::shop/*\"}]}"#;
        let secret =
            format!(r#"{{"{SIGNATURE}":"{SECRET}","ciphertext":"v1:{}:{}"}}"#, rng.hex(16), rng.hex(64));
        let tags =
            format!(r#"{{"team":"web & shop","number":{},"cost":"{}"}}"#, rng.below(1000), rng.hex(12));
        let inputs = format!(
            r#"{{"__defaults":["forceDestroy"],"bucket":"{name}","forceDestroy":false,"policy":"{policy}","tags":{tags}}}"#
        );
        let outputs = format!(
            r#"{{"accelerationStatus":"","arn":"{arn}{name}","bucket":"{name}","bucketDomainName":"{name}.s3.amazonaws.com","grants":[{{"id":"{}","permissions":["FULL_CONTROL"],"type":"CanonicalUser","uri":""}}],"id":"{name}","policy":"{policy}","tags":{tags},"token":{secret},"versionings":[{{"enabled":false,"mfaDelete":false}}]}}"#,
            rng.hex(64)
        );
        let mut members = format!(
            r#"{{"urn":"{urn}","custom":true,"id":"{name}","type":"aws:s3/bucketV2:BucketV2","inputs":{inputs},"outputs":{outputs},"parent":"{}""#,
            self.component
        );
        let before = if self.before.is_empty() { String::new() } else { format!("\"{}\"", self.before) };
        if !before.is_empty() {
            // A string takes whatever is written to it.
            let _ = write!(members, r#","dependencies":[{before}]"#);
        }
        let _ = write!(
            members,
            r#","provider":"{}","propertyDependencies":{{"bucket":[],"policy":[{before}],"tags":[]}},"created":"2025-02-03T03:04:07.5Z","modified":"2025-02-03T03:04:08.123456Z","sourcePosition":"project:///index.ts#{index},7"}}"#,
            self.provider
        );
        self.before = urn;
        members
    }
}

/// Compact text with the line breaks it has three levels deep in an export.
fn indented(json: &str) -> io::Result<Vec<u8>> {
    let out = "    ".repeat(3).into_bytes();
    let mut writer = Writer::fragment(out, Layout::indented(4), 3);
    writer.raw(json)?;
    writer.end()
}
