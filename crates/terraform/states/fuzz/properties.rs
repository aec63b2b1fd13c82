//! What has to hold for any text. The fuzz targets call it, and `tests/it/fuzzed.rs` with the inputs of the corpus.

use std::fmt::{Debug, Display};

use groundstate_states::addr::{
    AbsResource, AbsResourceInstance, AddrError, Checkable, CheckableKind, ConfigCheckable, ConfigResource,
    Module, ModuleInstance, OPENTOFU_REGISTRY, ProviderConfig, ProviderInstance, ProviderSource,
    TERRAFORM_REGISTRY, Target,
};
use groundstate_states::{Number, RawJson};

/// Each line as an address of every kind: what is read prints as text that is read as the same.
pub(crate) fn address_parse(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for text in text.lines() {
        let module = round_trip(text, ModuleInstance::parse);
        plain(text, ModuleInstance::is_plain(text), module);
        let resource = round_trip(text, AbsResource::parse);
        plain(text, AbsResource::is_plain(text), resource);
        let instance = round_trip(text, AbsResourceInstance::parse);
        plain(text, AbsResourceInstance::is_plain(text), instance);
        let config = round_trip(text, ConfigResource::parse);
        plain(text, ConfigResource::is_plain(text), config);
        round_trip(text, Module::parse);
        round_trip(text, Target::parse);
        for kind in ["resource", "output", "check", "var"].into_iter().filter_map(CheckableKind::from_wire) {
            round_trip(text, |text| Checkable::parse(kind, text));
            round_trip(text, |text| ConfigCheckable::parse(kind, text));
        }
        providers(text);
    }
}

fn providers(text: &str) {
    for host in [TERRAFORM_REGISTRY, OPENTOFU_REGISTRY] {
        round_trip(text, |text| ProviderSource::parse(text, host));
        round_trip(text, |text| ProviderInstance::parse(text, host));
        let config = round_trip(text, |text| ProviderConfig::parse(text, host));
        plain(text, ProviderConfig::is_plain(text), config);
        let Ok(legacy) = ProviderConfig::parse_legacy(text, host) else { continue };
        let Some(printed) = legacy.to_legacy() else { continue };
        assert_eq!(ProviderConfig::parse_legacy(&printed, host), Ok(legacy), "{printed:?} from {text:?}");
    }
}

/// Each text as JSON and as a number: what is accepted is canonical after one step.
pub(crate) fn json_parse(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(raw) = RawJson::parse(text) {
        let again = RawJson::parse(raw.as_str());
        assert_eq!(again.as_ref(), Ok(&raw), "compacted twice: {:?}", raw.as_str());
    }
    for text in text.lines() {
        let Ok(number) = Number::parse(text) else { continue };
        let again = Number::parse(number.as_str());
        assert_eq!(again.as_ref(), Ok(&number), "{:?} from {text:?}", number.as_str());
        assert_eq!(again.map(|again| again.as_str().to_owned()), Ok(number.as_str().to_owned()));
        assert!(RawJson::parse(number.as_str()).is_ok(), "{:?} is not JSON", number.as_str());
    }
}

/// What was read; its text is read as the same and prints the same.
fn round_trip<T>(text: &str, parse: impl Fn(&str) -> Result<T, AddrError>) -> Option<String>
where
    T: Debug + Display + PartialEq,
{
    let read = match parse(text) {
        Ok(read) => read,
        Err(error) => {
            assert!(error.position() <= text.len(), "{error:?} lies outside of {text:?}");
            return None;
        }
    };
    let printed = read.to_string();
    let again = parse(&printed);
    assert_eq!(again.as_ref(), Ok(&read), "{printed:?} from {text:?}");
    Some(printed)
}

/// The short way may only accept what the grammar accepts, spelled as it is printed.
fn plain(text: &str, is_plain: bool, printed: Option<String>) {
    assert!(!is_plain || printed.as_deref() == Some(text), "{text:?} is called plain, but is {printed:?}");
}
