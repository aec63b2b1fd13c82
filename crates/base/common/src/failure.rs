//! The macros that define the errors of stores: what was attempted, where, why, and what callers can do about it.

/// Defines an enum of which each variant has its words.
///
/// The method that is named gives the words, `Display` writes them. A last variant behind `..` carries words of its own.
/// The test that no two variants have the same words comes with it.
///
/// ```
/// groundstate_common::worded! {
///     /// What was attempted.
///     pub enum Op => as_str {
///         /// Reading all of it.
///         Read = "read",
///         ..Other
///     }
/// }
///
/// assert_eq!(Op::Read.to_string(), "read");
/// assert_eq!(Op::Other("fold").as_str(), "fold");
/// assert_ne!(Op::Other("read"), Op::Read);
/// ```
#[macro_export]
macro_rules! worded {
    (
        $(#[$meta:meta])*
        pub enum $name:ident => $words:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $text:literal,)+
            $(..$other:ident)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[doc = $doc])+ $variant,)+
            $(
                /// One without a variant, in words that a place can follow.
                $other(&'static str),
            )?
        }

        impl $name {
            /// Its words in messages.
            pub fn $words(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                    $(Self::$other(words) => words,)?
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.$words())
            }
        }

        #[cfg(test)]
        #[test]
        fn no_two_have_the_same_words() {
            let words = [$($text),+];
            assert_eq!(::std::collections::BTreeSet::from(words).len(), words.len());
        }
    };
}

/// An error of work on a thread of its own, which every error of [`failure!`](crate::failure) is.
pub trait ThreadFailure: Sized {
    /// What is attempted.
    type Op: Copy;

    /// The error when no thread can be started: nothing has happened.
    fn no_thread(op: Self::Op, target: &str, error: std::io::Error) -> Self;

    /// The error when the thread ends without an answer, which is a defect.
    fn no_answer(op: Self::Op, target: &str) -> Self;
}

/// Defines the error of a contract: one pointer wide, with a kind, an operation, the place, a message, a next step and a cause.
///
/// `kind` is an enum with `summary()`, its words when no message is set, and has `Unavailable` (nothing has happened) and
/// `Internal` (a defect) for the [`ThreadFailure`]; `op` is displayed behind "cannot". What else an error of this contract keeps is
/// `Default`: `more` is not displayed, `told` is, behind the message. The error is
///
/// - built by `new`, `because`, `next_step` and `with_source`;
/// - read by `kind`, `op`, `target`, `message`, `step` and `reason`, and found behind other errors by `find`;
/// - displayed as "cannot OP TARGET: MESSAGE; STEP", without the cause, which is its `source`.
///
/// The module that defines it adds what is its own, and reaches `more` or `told` as `self.0.more`.
///
/// ```
/// use groundstate_common::{failure, worded};
///
/// worded! {
///     /// What a caller can do about an error.
///     pub enum ErrorKind => summary {
///         /// Retry later.
///         Unavailable = "the store does not answer",
///         /// Report it.
///         Internal = "there is a defect in the store",
///     }
/// }
///
/// failure! {
///     /// Why an operation did not happen.
///     pub struct Error { kind: ErrorKind, op: &'static str }
/// }
///
/// let error = Error::new(ErrorKind::Unavailable, "read", "s3://b/k").with_source(std::io::Error::other("cut"));
/// assert_eq!(error.to_string(), "cannot read s3://b/k: the store does not answer");
/// assert_eq!(error.next_step("try again").reason(), "the store does not answer; try again");
/// ```
#[macro_export]
macro_rules! failure {
    ($(#[$meta:meta])* pub struct $name:ident { kind: $kind:ty, op: $op:ty }) => {
        $crate::failure! { @define [$(#[$meta])*] $name, $kind, $op, (), [] }
    };
    ($(#[$meta:meta])* pub struct $name:ident { kind: $kind:ty, op: $op:ty, more: $more:ty }) => {
        $crate::failure! { @define [$(#[$meta])*] $name, $kind, $op, $more, [] }
    };
    ($(#[$meta:meta])* pub struct $name:ident { kind: $kind:ty, op: $op:ty, told: $more:ty }) => {
        $crate::failure! { @define [$(#[$meta])*] $name, $kind, $op, $more, [more] }
    };
    (@define [$($meta:tt)*] $name:ident, $kind:ty, $op:ty, $more:ty, [$($told:ident)?]) => {
        /// A cause of any type.
        pub type BoxError = ::std::boxed::Box<dyn ::std::error::Error + Send + Sync>;

        $($meta)*
        #[derive(Debug)]
        pub struct $name(::std::boxed::Box<Inner>);

        #[derive(Debug)]
        struct Inner {
            kind: $kind,
            op: $op,
            target: String,
            message: Option<String>,
            next_step: Option<String>,
            more: $more,
            source: Option<BoxError>,
        }

        /// The text of an error behind its place.
        struct Reason<'e>(&'e Inner);

        impl ::std::fmt::Display for Reason<'_> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let Inner { kind, message, next_step, more: _, .. } = self.0;
                f.write_str(message.as_deref().unwrap_or(kind.summary()))?;
                $(::std::fmt::Display::fmt(&self.0.$told, f)?;)?
                next_step.iter().try_for_each(|step| write!(f, "; {step}"))
            }
        }

        impl $name {
            /// An error of `kind`: `op` is what was attempted, `target` names the place without secrets.
            pub fn new(kind: $kind, op: $op, target: impl ::std::fmt::Display) -> Self {
                let (target, more) = (target.to_string(), <$more>::default());
                let inner = Inner { kind, op, target, message: None, next_step: None, more, source: None };
                Self(::std::boxed::Box::new(inner))
            }

            /// Says in words why, in place of the kind's own words; lower case, no full stop, no secrets.
            #[must_use]
            pub fn because(mut self, message: impl Into<String>) -> Self {
                self.0.message = Some(message.into());
                self
            }

            /// Says what to do next; an order, lower case, no full stop.
            #[must_use]
            pub fn next_step(mut self, step: impl Into<String>) -> Self {
                self.0.next_step = Some(step.into());
                self
            }

            /// Keeps the cause.
            #[must_use]
            pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
                self.0.source = Some(source.into());
                self
            }

            /// What a caller can do about it.
            pub fn kind(&self) -> $kind {
                self.0.kind
            }

            /// The operation that failed.
            pub fn op(&self) -> $op {
                self.0.op
            }

            /// The place it failed at.
            pub fn target(&self) -> &str {
                &self.0.target
            }

            /// Why it failed, in words: the message, or the kind's.
            pub fn message(&self) -> &str {
                self.0.message.as_deref().unwrap_or(self.0.kind.summary())
            }

            /// What to do next, if that is known.
            pub fn step(&self) -> Option<&str> {
                self.0.next_step.as_deref()
            }

            /// The text without the operation and the place, for errors that go on from it.
            pub fn reason(&self) -> String {
                Reason(&self.0).to_string()
            }

            /// The first error of this type in `error` and its causes, which wrappers may hide it behind.
            pub fn find<'e>(error: &'e (dyn ::std::error::Error + 'static)) -> Option<&'e Self> {
                ::std::iter::successors(Some(error), |error| error.source())
                    .find_map(|error| error.downcast_ref::<Self>())
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let Inner { op, target, .. } = &*self.0;
                write!(f, "cannot {op} {target}: {}", Reason(&self.0))
            }
        }

        impl ::std::error::Error for $name {
            fn source(&self) -> Option<&(dyn ::std::error::Error + 'static)> {
                self.0.source.as_ref().map(|source| &**source as _)
            }
        }

        impl $crate::ThreadFailure for $name {
            type Op = $op;

            fn no_thread(op: $op, target: &str, error: ::std::io::Error) -> Self {
                let message = "no thread can be started for it";
                Self::new(<$kind>::Unavailable, op, target).because(message).with_source(error)
            }

            fn no_answer(op: $op, target: &str) -> Self {
                Self::new(<$kind>::Internal, op, target)
            }
        }

        const _: () = assert!(size_of::<$name>() == size_of::<usize>(), "an error is one pointer");
    };
}
