//! Settings under the names that Terraform's backends give them, from code, files and variables of the environment.

mod parse;
mod values;

#[cfg(feature = "aws")]
pub(crate) use values::ignored;
#[cfg(feature = "aws")]
pub(crate) use values::map;
pub(crate) use values::{
    ALLOW_PLAIN_HTTP, MAX_STATE_SIZE, REQUEST_TIMEOUT, Setting, Values, alias, flag, number, secret, text,
    user,
};

/// Defines a type of settings over a table of [`Setting`]s.
macro_rules! settings {
    ($(#[$attribute:meta])* $name:ident, $store:literal, $table:expr) => {
        $(#[$attribute])*
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name(pub(crate) $crate::settings::Values);

        impl $name {
            /// Settings of which none is set.
            pub fn new() -> Self {
                Self($crate::settings::Values::new($store, $table))
            }

            /// The names of all settings that [`set`](Self::set) takes.
            pub fn names() -> impl Iterator<Item = &'static str> {
                $table.iter().map(|setting| setting.name)
            }

            /// Sets one by its name. Texts are read when the store is opened; members of a group have dotted names, such as
            /// `endpoints.s3`. An empty text is as good as none.
            ///
            /// # Errors
            ///
            /// `Invalid` for a name that is not known, `Unsupported` for one that is known and cannot be honoured; both say what
            /// to do.
            pub fn set(&mut self, name: &str, value: &str) -> groundstate_blobs::Result<()> {
                self.0.set(name, value, groundstate_common::Origin::CommandLine)
            }

            /// Reads a map as `Deserialize` does, into settings that are there already; all of it has this origin.
            ///
            /// # Errors
            ///
            /// Those of [`set`](Self::set), and `Unsupported` for settings that the origin may not set.
            pub fn read_from<'de, D: serde::Deserializer<'de>>(
                &mut self,
                deserializer: D,
                origin: groundstate_common::Origin,
            ) -> Result<(), D::Error> {
                self.0.read(deserializer, origin)
            }

            /// Where the value under a name comes from, if one is set.
            pub fn origin(&self, name: &str) -> Option<groundstate_common::Origin> {
                self.0.origin(name)
            }

            /// Sets one by its name, like [`set`](Self::set).
            ///
            /// # Errors
            ///
            /// Those of [`set`](Self::set).
            pub fn with(mut self, name: &str, value: &str) -> groundstate_blobs::Result<Self> {
                self.set(name, value)?;
                Ok(self)
            }

            /// What is set under a name, by code or by the environment; `None` for secrets.
            pub fn get(&self, name: &str) -> Option<&str> {
                self.0.shown(name)
            }

            /// Fills in what is not set from variables, which `variable` looks up.
            ///
            /// # Errors
            ///
            /// `Unsupported` if a variable stands for something that cannot be honoured.
            pub fn or_from(mut self, variable: &dyn Fn(&str) -> Option<String>) -> groundstate_blobs::Result<Self> {
                self.0.fill(variable)?;
                Ok(self)
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl std::fmt::Debug for $name {
            /// Shows what is set, without secrets.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.debug(stringify!($name), f)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            /// Reads a map of names and texts, numbers, flags, lists, or maps of them, such as a backend block as JSON.
            /// Nulls are as good as none.
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut settings = Self::new();
                settings.0.read(deserializer, groundstate_common::Origin::CommandLine)?;
                Ok(settings)
            }
        }
    };
}

pub(crate) use settings;
