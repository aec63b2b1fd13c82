//! Outputs of format 4: from members to the model.

use std::sync::Arc;

use groundstate_states::OutputValue;

use crate::instance::extra;
use crate::json::Cursor;
use crate::problem::Code;
use crate::sink::Sink;
use crate::value::{decode_value, read_type};
use crate::walk::OutputWire;

/// Reads type and value; `None` after a problem. No message shows a value: it may be a secret.
pub(crate) fn decode(wire: &OutputWire<'_>, sink: &mut Sink) -> Option<OutputValue> {
    let name = wire.name.decode();
    let Some((raw, offset)) = wire.value_type else {
        let why = format!("output {name:?} has no type; add the member \"type\", for example \"string\"");
        sink.problem(Code::OutputType, wire.name.offset, why);
        return None;
    };
    // Both texts have been read before, so nothing stops here.
    let value_type = match read_type(&mut Cursor::new(raw)).ok()? {
        Ok(value_type) => value_type,
        Err(error) => {
            let why = format!("output {name:?} has an invalid type: {}", error.detail);
            sink.problem(Code::OutputType, offset + error.offset, why);
            return None;
        }
    };
    let Some((raw, offset)) = wire.value else {
        let why = format!("output {name:?} has no value; add the member \"value\"");
        sink.problem(Code::OutputValue, wire.name.offset, why);
        return None;
    };
    let base = sink.base;
    sink.base += offset;
    let value = decode_value(&mut Cursor::new(raw), &value_type, sink);
    sink.base = base;
    match value.ok()? {
        Ok(value) => Some(OutputValue {
            value,
            value_type,
            sensitive: wire.sensitive,
            deprecated: wire
                .deprecated
                .map(|text| Arc::from(&*text.decode()))
                .filter(|text: &Arc<str>| !text.is_empty()),
            extra: extra(&wire.extra),
        }),
        Err(error) => {
            let why =
                format!("output {name:?} has a value that does not conform to its type: {}", error.detail);
            sink.problem(Code::OutputValue, offset + error.offset, why);
            None
        }
    }
}
