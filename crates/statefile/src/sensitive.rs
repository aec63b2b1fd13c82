use crate::json::{Cursor, Stop};
use crate::sink::Sink;
use groundstate_states::AttributePath;
pub(crate) fn decode(c: &mut Cursor<'_>, _s: &mut Sink) -> Result<Vec<AttributePath>, Stop> {
    c.skip()?;
    Ok(vec![])
}
pub(crate) fn encode(_p: &[AttributePath]) -> String {
    "[]".into()
}
