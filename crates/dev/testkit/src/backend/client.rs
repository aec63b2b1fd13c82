//! Just enough of HTTP to make buckets and look at objects, independent of the clients under test.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// A header, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Asserts that the request was carried out.
    #[track_caller]
    pub(super) fn ok(self) -> Vec<u8> {
        assert!(self.status < 300, "{}: {}", self.status, String::from_utf8_lossy(&self.body));
        self.body
    }
}

/// Sends a request to `HOST:PORT` on a connection of its own.
pub(super) fn request(
    server: &str,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut stream = TcpStream::connect(server).expect("the server of the test listens");
    let mut head = format!(
        "{method} {target} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(&[head.as_bytes(), body].concat()).expect("the server of the test reads");
    let mut text = Vec::new();
    stream.read_to_end(&mut text).expect("the server of the test answers");
    parse(&text)
}

fn parse(text: &[u8]) -> Answer {
    let end = text.windows(4).position(|window| window == b"\r\n\r\n").expect("a head of an answer");
    let head = String::from_utf8_lossy(&text[..end]);
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let headers: Vec<_> =
        fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body = &text[end + 4..];
    let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    Answer { status, headers, body: if chunked { joined(body) } else { body.to_vec() } }
}

/// The chunks of a body, put together.
fn joined(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|window| window == b"\r\n").expect("the size of a chunk");
        let size = String::from_utf8_lossy(&rest[..line]);
        let size = usize::from_str_radix(size.trim(), 16).expect("a size in hexadecimal digits");
        if size == 0 {
            return body;
        }
        let start = line + 2;
        body.extend_from_slice(&rest[start..start + size]);
        rest = &rest[start + size + 2..];
    }
}
