//! How checkpoints and histories are compressed.

/// How a file is compressed. Reading goes by the first bytes, the ending of a key only says how it was meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    #[default]
    Plain,
    /// By gzip, with `.gz` behind the key.
    Gzip,
    /// By zstd, with `.zst` behind the key.
    Zstd,
}

impl Compression {
    /// All three, in the order in which lists have their keys.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Gzip, Self::Zstd];

    /// What stands behind a key.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
        }
    }

    /// What the first bytes show.
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0x1f, 0x8b, 0x08, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }

    /// A name without the ending of a compression, of which one is taken away at most.
    pub(crate) fn strip(name: &str) -> &str {
        name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name)
    }
}
