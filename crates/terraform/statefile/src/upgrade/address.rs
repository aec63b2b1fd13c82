//! Legacy addresses: keys of `resources` and texts of `provider` in formats 1 to 3.

use groundstate_states::addr::{InstanceKey, Module, ProviderConfig, Resource, ResourceMode};

/// Reads `TYPE.NAME`, `TYPE.NAME.INDEX` or one of these behind `data.`.
///
/// Terraform lets Go find out the base of the index, so that `010` is 8 there. No release wrote anything but plain
/// decimal, so whatever else stands there was made by hand and is refused.
pub(crate) fn resource(text: &str) -> Result<(Resource, InstanceKey), String> {
    let parts: Vec<&str> = text.splitn(6, '.').collect();
    let (mode, rest) = match parts.as_slice() {
        ["data", rest @ ..] if rest.len() >= 2 => (ResourceMode::Data, rest),
        all => (ResourceMode::Managed, all),
    };
    let (type_name, name, index) = match *rest {
        [type_name, name] => (type_name, name, None),
        [type_name, name, index] => (type_name, name, Some(index)),
        _ => {
            return Err(format!(
                "{text:?} is not a resource address; it has to be TYPE.NAME or TYPE.NAME.INDEX"
            ));
        }
    };
    let key = index.map_or(Ok(InstanceKey::None), |index| {
        plain_decimal(index).map(InstanceKey::Int).ok_or_else(|| {
            format!(
                "the index {index:?} of {text:?} is not a plain decimal number from 0 to 9223372036854775807"
            )
        })
    })?;
    Ok((Resource { mode, type_name: type_name.into(), name: name.into() }, key))
}

fn plain_decimal(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|&number| plain && i64::try_from(number).is_ok())
}

/// Finds the provider configuration of a resource in `module`.
pub(super) fn provider(text: &str, module: &Module, host: &str) -> Result<ProviderConfig, String> {
    // Terraform 0.11 wrote whole addresses, its predecessors what stood in the configuration.
    let parsed = match text.contains("provider.") {
        true => ProviderConfig::parse_legacy(text, host),
        false => ProviderConfig::from_compact(text, module.clone(), host),
    };
    let written_out = |config: ProviderConfig| match config.source.is_quotable() {
        true => ProviderConfig { source: config.source.written_out(), ..config },
        // Both products read this type only in the old form, which has no place for a registry.
        false => config,
    };
    parsed.map(written_out).map_err(|error| {
        if text.contains("${") {
            format!(
                "provider {text:?} has an alias with an interpolation, which Terraform 0.11 never supported but did \
                 not refuse; rename the alias to a plain name with Terraform 0.11 first"
            )
        } else {
            error.to_string()
        }
    })
}

/// The provider of a resource that names none: its type up to the first underscore.
pub(super) fn implied_provider(type_name: &str) -> &str {
    type_name.split('_').next().unwrap_or(type_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_of_resource_address() {
        for (text, mode, type_name, name, key) in [
            ("aws_x.foo", ResourceMode::Managed, "aws_x", "foo", InstanceKey::None),
            ("aws_x.foo.0", ResourceMode::Managed, "aws_x", "foo", InstanceKey::Int(0)),
            ("aws_x.foo.120", ResourceMode::Managed, "aws_x", "foo", InstanceKey::Int(120)),
            ("data.aws_x.foo", ResourceMode::Data, "aws_x", "foo", InstanceKey::None),
            ("data.aws_x.foo.3", ResourceMode::Data, "aws_x", "foo", InstanceKey::Int(3)),
            ("data.foo", ResourceMode::Managed, "data", "foo", InstanceKey::None),
            ("data.data.data", ResourceMode::Data, "data", "data", InstanceKey::None),
        ] {
            let expected = Resource { mode, type_name: type_name.into(), name: name.into() };
            assert_eq!(resource(text), Ok((expected, key)), "{text}");
        }
    }

    #[test]
    fn refuses_addresses_that_no_release_wrote() {
        for text in [
            "",
            "aws_x",
            "aws_x.foo.bar",
            "aws_x.foo.0.1",
            "data.aws_x.foo.0.1",
            "data.aws_x.foo.bar",
            r#"aws_x.foo.["a.b"]"#,
            "a.b.010",
            "a.b.0x1f",
            "a.b.0o17",
            "a.b.1_000",
            "a.b.-1",
            "a.b.+1",
            "a.b.",
            "a.b.9223372036854775808",
        ] {
            assert!(resource(text).is_err(), "{text}");
        }
    }

    #[test]
    fn takes_the_provider_from_the_type() {
        assert_eq!(implied_provider("aws_instance_x"), "aws");
        assert_eq!(implied_provider("external"), "external");
    }
}
