//! The numbers of a journal: of its entries, and of the operations they tell of.

use std::fmt;

macro_rules! number {
    ($($(#[$meta:meta])* pub struct $name:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// The number as it stands in an entry.
            pub const fn new(number: u64) -> Self {
                Self(number)
            }

            /// The number.
            pub const fn get(self) -> u64 {
                self.0
            }

            /// Whether it is zero, which no entry and no operation has.
            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }

            /// The number after this one.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }

        impl From<u64> for $name {
            fn from(number: u64) -> Self {
                Self(number)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

number! {
    /// The number of an entry, from 1. Entries count in this order, whatever order they arrive in.
    pub struct SequenceId;
    /// The number of an operation, from 1. Entries that belong to none have 0.
    pub struct OperationId;
}
