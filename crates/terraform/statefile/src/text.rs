//! Values, types and paths of the model as the JSON text they have in state files, for programs that show them.

use groundstate_states::{AttributePath, OutputValue, Type};

use crate::sensitive;
use crate::value::{encode_type, encode_value};

/// The value of an output as compact JSON, in the form it has in state files.
///
/// Nothing if the value does not conform to its type, which no reader of this crate returns.
///
/// ```
/// use groundstate_states::{OutputValue, Type, Value};
///
/// let output = OutputValue::new(Value::string("a<b"), Type::String);
/// assert_eq!(groundstate_statefile::value_json(&output).as_deref(), Some(r#""a\u003cb""#));
/// ```
pub fn value_json(output: &OutputValue) -> Option<String> {
    let mut out = String::new();
    encode_value(&mut out, &output.value, &output.value_type).ok().map(|()| out)
}

/// A type as compact JSON, in the form it has in state files, for example `["list","string"]`.
pub fn type_json(ty: &Type) -> String {
    let mut out = String::new();
    encode_type(&mut out, ty);
    out
}

/// Paths to sensitive attributes as compact JSON, in their order.
pub fn sensitive_paths_json(paths: &[AttributePath]) -> String {
    sensitive::encode(paths)
}
