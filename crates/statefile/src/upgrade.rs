use crate::{DecodeOptions, File, ReadError};
pub(crate) fn read(_v: u64, _t: &[u8], _o: &DecodeOptions) -> Result<File, ReadError> {
    Err(ReadError::NoState)
}
