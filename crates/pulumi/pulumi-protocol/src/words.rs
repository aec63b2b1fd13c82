//! Enumerations with the words of the protocol.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Defines enumerations of words: `ALL`, `as_str`, `parse`, `Display`, and serde that refuses other words.
macro_rules! words {
    ($($(#[$meta:meta])* $name:ident { $($(#[$word_meta:meta])* $variant:ident = $word:literal,)+ })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$word_meta])* $variant,)+ }

        impl $name {
            /// All of them, in the order of the protocol.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in documents.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// Reads the word; `None` for any other text.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::parse(&word).ok_or_else(|| D::Error::unknown_variant(&word, &[$($word),+]))
            }
        }
    )+};
}

words! {
    /// What an update does, in histories and in the operation that is running.
    UpdateKind {
        /// `pulumi up`.
        Update = "update",
        /// `pulumi preview`.
        Preview = "preview",
        /// `pulumi refresh`.
        Refresh = "refresh",
        /// `pulumi destroy`.
        Destroy = "destroy",
        /// `pulumi stack import`: a whole deployment was replaced.
        Import = "import",
        /// `pulumi import`: resources were taken into the state.
        ResourceImport = "resource-import",
        /// `pulumi stack rename`.
        Rename = "rename",
        /// `groundstate lock` at a server of this project: the stack is locked without an update. No version has it.
        Lock = "lock",
    }
    /// How an update in a history ended.
    UpdateResult {
        /// It was created only.
        NotStarted = "not-started",
        /// It holds the lease.
        InProgress = "in-progress",
        /// It completed.
        Succeeded = "succeeded",
        /// It failed, was cancelled, or its lease expired.
        Failed = "failed",
    }
    /// Where an update is, in the resource of its status.
    UpdateState {
        /// It was created only.
        NotStarted = "not started",
        /// It waits for a worker of the service.
        Requested = "requested",
        /// It holds the lease.
        Running = "running",
        /// It failed.
        Failed = "failed",
        /// It completed.
        Succeeded = "succeeded",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
    /// How the CLI prints a message of the service.
    MessageSeverity {
        /// A note.
        Info = "info",
        /// A warning.
        Warning = "warning",
        /// An error, which does not fail the command.
        Error = "error",
    }
    /// The words of the path at which an update is created.
    CreateKind {
        /// `pulumi up` and `pulumi import`.
        Update = "update",
        /// `pulumi preview`.
        Preview = "preview",
        /// `pulumi refresh`.
        Refresh = "refresh",
        /// `pulumi destroy`.
        Destroy = "destroy",
    }
}

impl UpdateState {
    /// Whether the update is over.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Failed | Self::Succeeded | Self::Cancelled)
    }
}

impl From<CreateKind> for UpdateKind {
    fn from(kind: CreateKind) -> Self {
        match kind {
            CreateKind::Update => Self::Update,
            CreateKind::Preview => Self::Preview,
            CreateKind::Refresh => Self::Refresh,
            CreateKind::Destroy => Self::Destroy,
        }
    }
}
