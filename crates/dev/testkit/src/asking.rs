//! One request over HTTP on a connection of its own, for tests whose servers may be killed meanwhile.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than any server of a test takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// What was answered.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The status.
    pub status: u16,
    /// The whole body.
    pub body: Vec<u8>,
}

/// Sends a request to `HOST:PORT` and reads the whole answer. `headers` are lines of the head, such as an `Authorization`.
///
/// # Errors
///
/// If there is no connection, or it ends before the answer does. The request may have been carried out then.
pub fn ask(address: &str, method: &str, path: &str, headers: &[&str], body: &[u8]) -> io::Result<Asked> {
    let mut answer = Vec::new();
    let status = ask_into(address, method, path, headers, body, &mut answer)?;
    Ok(Asked { status, body: answer })
}

/// The same, with a place for the body of the answer. Gives the status.
///
/// # Errors
///
/// Those of [`ask`].
pub fn ask_into(
    address: &str,
    method: &str,
    path: &str,
    headers: &[&str],
    body: &[u8],
    answer: &mut dyn Write,
) -> io::Result<u16> {
    let at: SocketAddr = address.parse().map_err(|_| invalid("the address of the server"))?;
    let mut stream = TcpStream::connect_timeout(&at, PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    // A server may answer before it has read everything.
    let sent = stream.write_all(body);
    let mut reader = BufReader::new(stream);
    let (status, length) = read_head(&mut reader)?;
    let read = match length {
        Length::Is(length) => io::copy(&mut (&mut reader).take(length), answer)? == length,
        Length::Chunked => read_chunks(&mut reader, answer)?,
        Length::ToTheEnd => io::copy(&mut reader, answer).is_ok(),
    };
    if !read {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    sent.map(|()| status)
}

enum Length {
    Is(u64),
    Chunked,
    ToTheEnd,
}

fn read_head(reader: &mut impl BufRead) -> io::Result<(u16, Length)> {
    let first = line(reader)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| invalid("the first line of an answer"))?;
    let mut length = Length::ToTheEnd;
    loop {
        let line = line(reader)?.to_ascii_lowercase();
        match line.split_once(':').map(|(name, value)| (name, value.trim())) {
            None => return Ok((status, length)),
            Some(("content-length", value)) => {
                length = Length::Is(value.parse().map_err(|_| invalid("the length of an answer"))?);
            }
            Some(("transfer-encoding", "chunked")) => length = Length::Chunked,
            Some(_) => {}
        }
    }
}

/// Whether the last chunk came.
fn read_chunks(reader: &mut impl BufRead, answer: &mut dyn Write) -> io::Result<bool> {
    loop {
        let size = line(reader)?;
        let size = u64::from_str_radix(&size, 16).map_err(|_| invalid("the size of a chunk"))?;
        let is_whole = io::copy(&mut reader.by_ref().take(size), answer)? == size;
        line(reader)?;
        if size == 0 || !is_whole {
            return Ok(is_whole);
        }
    }
}

/// The next line, without its end.
fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    match line.strip_suffix("\r\n") {
        Some(line) => Ok(line.to_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what} cannot be read"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::ask;

    /// What is made of an answer.
    fn answered(answer: &'static str) -> std::io::Result<(u16, String)> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut request = [0; 1000];
            let length = client.read(&mut request).unwrap();
            client.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let asked = ask(&address, "GET", "/x", &["A: b"], b"");
        let request = server.join().unwrap();
        assert!(request.starts_with("GET /x HTTP/1.1\r\n") && request.contains("\r\nA: b\r\n"), "{request}");
        asked.map(|asked| (asked.status, String::from_utf8(asked.body).unwrap()))
    }

    #[test]
    fn answers_that_are_whole_are_told_from_those_that_are_not() {
        for (answer, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "ab"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "abc"),
            ("HTTP/1.1 200 OK\r\n\r\nabc", "abc"),
        ] {
            assert_eq!(answered(answer).unwrap(), (200, expected.to_owned()), "{answer}");
        }
        for answer in [
            "",
            "HTTP/1.1 200 OK\r\nConte",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
        ] {
            answered(answer).unwrap_err();
        }
    }
}
