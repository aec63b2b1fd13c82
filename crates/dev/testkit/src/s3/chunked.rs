//! Bodies in chunks with signatures and checksums of their own (`aws-chunked`).

use bytes::{Bytes, BytesMut};

use super::error::{Refused, Result};
use crate::http::Request;

/// The bytes of an object as a request carries them, and the headers that follow them.
pub(super) struct Payload {
    pub(super) bytes: Bytes,
    pub(super) trailers: Vec<(String, String)>,
}

/// Takes the payload out of a request.
pub(super) fn payload(request: &Request) -> Result<Payload> {
    let streamed = request.header("x-amz-content-sha256").is_some_and(|hash| hash.starts_with("STREAMING-"));
    if !streamed {
        return Ok(Payload { bytes: request.body.clone(), trailers: Vec::new() });
    }
    decode(&request.body).ok_or_else(|| Refused::invalid("The body is not in chunks as its headers say"))
}

fn decode(mut rest: &[u8]) -> Option<Payload> {
    let mut bytes = BytesMut::new();
    loop {
        let line = take_line(&mut rest)?;
        let size = usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            break;
        }
        bytes.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size..)?.strip_prefix(b"\r\n")?;
    }
    let mut trailers = Vec::new();
    while let Some(line) = take_line(&mut rest).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        trailers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    Some(Payload { bytes: bytes.freeze(), trailers })
}

fn take_line<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
    let line = std::str::from_utf8(&rest[..end]).ok()?;
    *rest = &rest[end + 2..];
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn chunks_are_joined_and_trailers_are_read() {
        let body = b"4;chunk-signature=ab\r\nabcd\r\n2\r\nef\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n";
        let payload = decode(body).unwrap();
        assert_eq!(&payload.bytes[..], b"abcdef");
        assert_eq!(payload.trailers, [("x-amz-checksum-crc32".to_owned(), "AAAAAA==".to_owned())]);
    }

    #[test]
    fn a_body_that_ends_within_a_chunk_is_refused() {
        assert!(decode(b"4\r\nabc").is_none());
        assert!(decode(b"zz\r\n").is_none());
    }
}
