//! Notes: what reading changed, left out or could not keep.

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NoteKind {
    /// Written in another form that means the same.
    Normalized,
    /// Left out because newer formats have no place for it, as the original does it.
    Dropped,
    /// Would be lost on writing; [`crate::EncodeOptions::allow_loss`] decides.
    Lost,
}

/// One remark of the reader about its input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// How much it matters.
    pub kind: NoteKind,
    /// What it says, without values of inputs or outputs.
    pub message: String,
    /// Index of the byte it belongs to; [`crate::SourcePos::of`] turns it into line and column.
    pub offset: usize,
}
