//! What a migration would do with a state.

use crate::report::json::Json;

/// What would become of a state.
pub(super) enum Preview {
    /// It is there already, with this serial.
    Present { serial: u64 },
    /// It would be copied, perhaps over another one.
    Copy { serial: u64, bytes: usize, over: Option<u64> },
    /// It would be refused.
    Refuse { why: String },
}

impl Preview {
    /// The line for people.
    pub(super) fn line(&self) -> String {
        match self {
            Self::Present { serial } => format!("is there already, serial {serial}"),
            Self::Copy { serial, bytes, over } => {
                let over = over.map(|old| format!(", over serial {old}")).unwrap_or_default();
                format!("would be copied: serial {serial}, {bytes} bytes{over}")
            }
            Self::Refuse { why } => format!("would be refused: {why}"),
        }
    }

    /// Adds the members for programs.
    pub(super) fn members(&self, json: &mut Json) {
        match self {
            Self::Present { serial } => {
                json.text("outcome", "present");
                json.raw("serial", serial);
            }
            Self::Copy { serial, bytes, over } => {
                json.text("outcome", "would_copy");
                json.raw("serial", serial);
                json.raw("bytes", bytes);
                if let Some(over) = over {
                    json.raw("replaced_serial", over);
                }
            }
            Self::Refuse { why } => {
                json.text("outcome", "would_refuse");
                json.text("reason", why);
            }
        }
    }
}
