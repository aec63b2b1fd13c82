//! The names of the JSON text machinery that this crate uses, and the layouts of its files.

pub(crate) use groundstate_json::{
    Cursor, Kind, Layout, Stop, Str, SyntaxError, Writer, compact, compact_as_written, describe, places,
};

pub use groundstate_json::{SourcePos, push_json_string};

/// The layout of state files: two blanks a level, or no white space at all.
pub(crate) fn layout(indented: bool) -> Layout {
    if indented { Layout::indented(2) } else { Layout::COMPACT }
}
