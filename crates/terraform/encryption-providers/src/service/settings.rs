//! Options of a configuration as settings of a client.

use groundstate_encryption::Options;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
use groundstate_encryption::{BoxError, Value};

/// Sets one option of a client.
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
type Set<'s> = &'s mut dyn FnMut(&str, &str) -> Result<(), BoxError>;

/// Passes on every option but those that are the provider's own. Members of objects and blocks get dotted names, and lists are
/// joined by commas, as settings of clients have it.
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
pub(super) fn pass_on(options: &Options, own: &[&str], set: Set<'_>) -> Result<(), BoxError> {
    for name in options.names().filter(|name| !own.contains(name)) {
        let Some(value) = options.value(name)? else { continue };
        let mut named = |member: &str, text: &str| {
            // Texts of the client name its options; whose they are is said here.
            set(member, text).map_err(|error| options.wrong(name, error.to_string()).into())
        };
        pass(options, (name, name), value, &mut named)?;
    }
    Ok(())
}

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
fn pass(
    options: &Options,
    (option, name): (&str, &str),
    value: &Value,
    set: Set<'_>,
) -> Result<(), BoxError> {
    match value {
        Value::Null => Ok(()),
        Value::Text(text) => set(name, text),
        Value::Number(digits) => set(name, digits),
        Value::Bool(yes) => set(name, if *yes { "true" } else { "false" }),
        Value::Map(members) => members
            .iter()
            .try_for_each(|(member, value)| pass(options, (option, &format!("{name}.{member}")), value, set)),
        Value::List(items) => match items.as_slice() {
            // A block may be a list of one.
            [item @ Value::Map(_)] => pass(options, (option, name), item, set),
            items => {
                let texts: Option<Vec<&str>> = items.iter().map(text).collect();
                let texts = texts.ok_or_else(|| options.wrong(option, "it has to be a list of texts"))?;
                set(name, &texts.join(","))
            }
        },
        Value::Unknown(why) => Err(options.wrong(option, why.clone()).into()),
        _ => Err(options.wrong(option, "it has a value that means nothing here").into()),
    }
}

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        Value::Number(digits) => Some(digits),
        _ => None,
    }
}

/// An option that is base64, with the text as it stands.
#[cfg(any(feature = "gcp", feature = "vault"))]
pub(super) fn base64(
    options: &Options,
    name: &str,
) -> Result<Option<(String, Vec<u8>)>, groundstate_encryption::ConfigurationError> {
    use base64::Engine;
    let Some(text) = options.text(name)? else { return Ok(None) };
    let wrong = |_| options.wrong(name, "it is not base64 with padding");
    let bytes = base64::prelude::BASE64_STANDARD.decode(text.as_bytes()).map_err(wrong)?;
    Ok(Some((text.to_string(), bytes)))
}
