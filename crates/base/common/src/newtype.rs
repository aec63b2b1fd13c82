//! The macro that defines identifier types, and the error they share.

use std::borrow::Cow;

use thiserror::Error;

/// A text that is not an identifier of its kind.
///
/// The message quotes at most the first 60 characters of the text, control characters escaped.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text} is not a valid {kind}: {reason}")]
pub struct InvalidId {
    kind: &'static str,
    text: String,
    reason: Cow<'static, str>,
}

impl InvalidId {
    /// The error for `text`, which is no `kind` because of `reason`.
    pub fn new(kind: &'static str, text: &str, reason: impl Into<Cow<'static, str>>) -> Self {
        const QUOTED: usize = 60;
        let start = text.char_indices().nth(QUOTED).map_or(text, |(end, _)| &text[..end]);
        let ellipsis = if start.len() < text.len() { "..." } else { "" };
        Self { kind, text: format!("{start:?}{ellipsis}"), reason: reason.into() }
    }

    /// What the text was to be, in words: `lock id`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Why it is not one.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// Defines identifier types: texts that are checked once and are not mixed up afterwards.
///
/// Each definition names the type, its name in messages, and a check: a function or closure from `&str` to a `Result`
/// whose error says why not, as a `&'static str` or a `String`. The type holds the text as it was given and has:
///
/// - `parse(&str)` and `FromStr`, `TryFrom<&str>` and `TryFrom<String>`: the check, and [`InvalidId`] when it fails;
/// - `as_str`, `AsRef<str>`, `Borrow<str>`, and `Display`, which `parse` reads back;
/// - cheap `Clone`, and equality, order and hash as the text has them, so that maps can be asked with a `&str`.
///
/// ```
/// use groundstate_common::string_id;
///
/// fn check(text: &str) -> Result<(), String> {
///     match text.find(char::is_whitespace) {
///         None if text.is_empty() => Err("it is empty".to_owned()),
///         None => Ok(()),
///         Some(at) => Err(format!("it has a space at byte {at}")),
///     }
/// }
///
/// string_id! {
///     /// The name of a workspace.
///     pub struct WorkspaceName: "workspace name" = check;
///     /// The name of a store.
///     pub struct StoreName: "store name" = check;
/// }
///
/// let name = WorkspaceName::parse("prod")?;
/// assert_eq!(name.as_str(), "prod");
/// let error = StoreName::parse("my store").unwrap_err();
/// assert_eq!(error.to_string(), r#""my store" is not a valid store name: it has a space at byte 2"#);
/// # Ok::<(), groundstate_common::InvalidId>(())
/// ```
///
/// Two kinds do not mix:
///
/// ```compile_fail,E0308
/// # use groundstate_common::string_id;
/// # fn check(_: &str) -> Result<(), &'static str> { Ok(()) }
/// # string_id! {
/// #     /// The name of a workspace.
/// #     pub struct WorkspaceName: "workspace name" = check;
/// #     /// The name of a store.
/// #     pub struct StoreName: "store name" = check;
/// # }
/// fn select(name: &WorkspaceName) {}
///
/// let store = StoreName::parse("prod").unwrap();
/// select(&store);
/// ```
#[macro_export]
macro_rules! string_id {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident: $kind:literal = $check:expr;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(::std::sync::Arc<str>);

        impl $name {
            #[doc = concat!("Checks `text` and holds it as a ", $kind, ".")]
            ///
            /// # Errors
            ///
            #[doc = concat!("`InvalidId` when `text` is not a valid ", $kind, ".")]
            $vis fn parse(text: &str) -> ::std::result::Result<Self, $crate::InvalidId> {
                match ($check)(text) {
                    ::std::result::Result::Ok(()) => ::std::result::Result::Ok(Self(text.into())),
                    ::std::result::Result::Err(reason) => {
                        ::std::result::Result::Err($crate::InvalidId::new($kind, text, reason))
                    }
                }
            }

            /// The text, as it was parsed.
            $vis fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&&*self.0).finish()
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::InvalidId;

            fn from_str(text: &str) -> ::std::result::Result<Self, $crate::InvalidId> {
                Self::parse(text)
            }
        }

        impl ::std::convert::TryFrom<&str> for $name {
            type Error = $crate::InvalidId;

            fn try_from(text: &str) -> ::std::result::Result<Self, $crate::InvalidId> {
                Self::parse(text)
            }
        }

        impl ::std::convert::TryFrom<::std::string::String> for $name {
            type Error = $crate::InvalidId;

            fn try_from(text: ::std::string::String) -> ::std::result::Result<Self, $crate::InvalidId> {
                Self::parse(&text)
            }
        }

        impl ::std::convert::AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl ::std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    )+};
}
