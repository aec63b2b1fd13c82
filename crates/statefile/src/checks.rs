use crate::json::{Cursor, Stop};
use crate::sink::Sink;
use groundstate_states::*;
pub(crate) enum Element {
    Known(CheckAggregate),
    Opaque(RawJson),
}
pub(crate) fn decode_element(c: &mut Cursor<'_>, _s: &mut Sink) -> Result<Option<Element>, Stop> {
    c.skip()?;
    Ok(None)
}
pub(crate) fn encode(_p: &CheckResults) -> String {
    "null".into()
}
pub(crate) fn sorted(p: &CheckResults) -> CheckResults {
    p.clone()
}
