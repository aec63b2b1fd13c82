//! Names that are kept whatever they say.

/// Defines identifier types for names that a snapshot may hold in any form, valid or not.
///
/// A snapshot with broken references must still be loaded, shown and repaired, so these types hold any text; what is valid
/// is a question to them, not a condition of their existence.
macro_rules! text_id {
    ($($(#[$meta:meta])* pub struct $name:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Holds the text as it stands.
            pub fn new(text: impl Into<std::sync::Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The text as it was read, whatever it holds.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Whether there is no text.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl From<std::sync::Arc<str>> for $name {
            fn from(text: std::sync::Arc<str>) -> Self {
                Self(text)
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                *self.0 == *other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                *self.0 == **other
            }
        }
    )+};
}

text_id! {
    /// The identifier that a provider gave to a resource.
    pub struct ResourceId;
    /// A key into the extensions of a snapshot.
    pub struct ExtensionRef;
    /// The identifier of a snippet, which resources made by it name.
    pub struct SnippetId;
}

impl ResourceId {
    /// The identifier in references that forbid default providers.
    pub const DENY_DEFAULT: &'static str = "denydefaultprovider";
}

pub(crate) use text_id;
