//! What the backends of all clouds have in common: options that are the backend's and not the service's, and history.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use groundstate_common::Origin;
use groundstate_statemgr_object::history::{Keeping, Retention};
use serde_json::{Map, Value};

use crate::error::BackendsError;
use crate::registry::Context;
use crate::settings::Settings;

/// The options of a backend, of which each is taken out once it is known what it means. The rest is the service's.
#[derive(Debug)]
pub(crate) struct Options<'s> {
    settings: &'s Settings,
    rest: Map<String, Value>,
}

impl<'s> Options<'s> {
    /// `own` are the options that Terraform and OpenTofu do not have, so that no `init` can have recorded them.
    pub(crate) fn of(settings: &'s Settings, own: &[&str]) -> Result<Self, BackendsError> {
        settings.only_from_user(&["history", "history_keep", "history_max_age"])?;
        settings.only_from_user(own)?;
        Ok(Self { settings, rest: settings.options().clone() })
    }

    /// Takes a text; an empty one counts as not given.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, BackendsError> {
        self.rest.remove(name);
        Ok(self.settings.text(name)?.map(str::to_owned))
    }

    /// Whether a text is given and empty, which means something in some options.
    #[cfg(feature = "s3")]
    pub(crate) fn is_empty_text(&self, name: &str) -> bool {
        self.rest.get(name).and_then(Value::as_str) == Some("")
    }

    /// Takes a text that has to be given.
    #[cfg(any(feature = "azurerm", feature = "s3"))]
    pub(crate) fn needed(&mut self, name: &str) -> Result<String, BackendsError> {
        self.text(name)?.ok_or_else(|| self.settings.wrong(name, "it has to be given"))
    }

    /// Takes a flag, which may be written as a text.
    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>, BackendsError> {
        self.rest.remove(name);
        self.settings.flag(name)
    }

    /// Takes the options of the history, which stand in the environment where a block has no room for them.
    pub(crate) fn keeping(&mut self, context: &Context) -> Result<Option<Keeping>, BackendsError> {
        let mut given = |name: &str, variable: &str| -> Result<Option<String>, BackendsError> {
            let value = match self.rest.remove(name) {
                Some(Value::String(text)) => Some(text),
                Some(value @ (Value::Bool(_) | Value::Number(_))) => Some(value.to_string()),
                Some(_) => return Err(self.settings.wrong(name, "it has to be a text")),
                None => context.variables.get(variable).map(str::to_owned),
            };
            Ok(value.filter(|value| !value.is_empty()))
        };
        let on = given("history", "GROUNDSTATE_HISTORY")?;
        let keep = given("history_keep", "GROUNDSTATE_HISTORY_KEEP")?;
        let age = given("history_max_age", "GROUNDSTATE_HISTORY_MAX_AGE")?;
        let mut retention = Retention::everything();
        if let Some(keep) = keep {
            let count = keep.parse::<NonZeroUsize>();
            let count =
                count.map_err(|_| self.settings.wrong("history_keep", "it has to be a number above 0"))?;
            retention = retention.keep(count);
        }
        if let Some(text) = age {
            let age = duration(&text)
                .ok_or_else(|| self.settings.wrong("history_max_age", "write it as 90d, 12h, 30m or 45s"))?;
            retention = retention.max_age(age);
        }
        let on = on.map(|on| self.settings.parsed_flag("history", &on)).transpose()?.unwrap_or(false);
        Ok(on.then(|| Keeping::new(retention, Arc::clone(&context.clock))))
    }
}

/// Settings of a service, which know where each of their values comes from.
pub(crate) trait ServiceSettings: Default {
    /// Takes options that all have this origin.
    fn take(&mut self, options: Value, origin: Origin) -> Result<(), serde_json::Error>;
}

#[cfg(feature = "s3")]
impl ServiceSettings for groundstate_blobs_cloud::S3Settings {
    fn take(&mut self, options: Value, origin: Origin) -> Result<(), serde_json::Error> {
        self.read_from(options, origin)
    }
}

#[cfg(feature = "gcs")]
impl ServiceSettings for groundstate_blobs_cloud::GcsSettings {
    fn take(&mut self, options: Value, origin: Origin) -> Result<(), serde_json::Error> {
        self.read_from(options, origin)
    }
}

#[cfg(feature = "azurerm")]
impl ServiceSettings for groundstate_blobs_cloud::AzureSettings {
    fn take(&mut self, options: Value, origin: Origin) -> Result<(), serde_json::Error> {
        self.read_from(options, origin)
    }
}

/// What is left for the service, as its own settings.
pub(crate) fn service_settings<T: ServiceSettings>(
    settings: &Settings,
    options: Options<'_>,
) -> Result<T, BackendsError> {
    let mut by_origin = BTreeMap::<Origin, Map<String, Value>>::new();
    for (name, value) in options.rest {
        by_origin.entry(settings.origin(&name)).or_default().insert(name, value);
    }
    let mut service = T::default();
    for (origin, options) in by_origin {
        service.take(Value::Object(options), origin).map_err(|error| BackendsError::Options {
            kind: settings.kind().to_owned(),
            why: error.to_string(),
        })?;
    }
    Ok(service)
}

/// Context for clients of services.
pub(crate) fn blobs(context: &Context) -> groundstate_blobs::Context {
    groundstate_blobs::Context::new(
        Arc::clone(&context.clock),
        Arc::clone(&context.sleeper),
        Arc::clone(&context.ids),
    )
}

/// That a client of a service cannot be made.
pub(crate) fn refused(settings: &Settings) -> impl Fn(groundstate_blobs::Error) -> BackendsError {
    let kind = settings.kind().to_owned();
    move |source| BackendsError::Blobs { kind: kind.clone(), source }
}

/// A number of days, hours, minutes or seconds.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "d" => 86_400,
        "h" => 3_600,
        "m" => 60,
        "s" => 1,
        _ => return None,
    };
    Some(Duration::from_secs(number.parse::<u64>().ok()?.checked_mul(seconds)?)).filter(|age| !age.is_zero())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::duration;

    #[test]
    fn ages_have_a_unit() {
        for (text, seconds) in [("90d", 7_776_000), ("12h", 43_200), ("30m", 1_800), ("45s", 45)] {
            assert_eq!(duration(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in
            ["", "d", "90", "0d", "-1d", "1.5h", "1y", "99999999999999999999d", "18446744073709551615d", "1ä"]
        {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
