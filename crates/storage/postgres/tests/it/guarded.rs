//! Which servers get a password when a stranger may have written the connection string.

use std::fs;

use groundstate_postgres::{ErrorKind, Session, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Asks for the password in plain text, and gives what comes; nothing if the client leaves.
async fn ask_for_password(listener: &TcpListener) -> Option<String> {
    let (mut stream, _) = listener.accept().await.unwrap();
    let length = usize::try_from(stream.read_u32().await.unwrap()).unwrap();
    let mut login = vec![0; length - 4];
    stream.read_exact(&mut login).await.unwrap();
    // Authentication: 3 is the password in plain text.
    stream.write_all(b"R\0\0\0\x08\0\0\0\x03").await.unwrap();
    let mut answer = Vec::new();
    let mut buffer = [0; 256];
    while answer.len() < 5 {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => answer.extend_from_slice(&buffer[..count]),
        }
    }
    // A type, a length, and a text that ends with NUL.
    (answer[0] == b'p').then(|| String::from_utf8_lossy(&answer[5..answer.len() - 1]).into_owned())
}

#[tokio::test]
async fn a_server_that_a_stranger_names_gets_only_passwords_that_are_meant_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let passfile = |host: &str| {
        let file = folder.path().join(format!("pass-{}", host.len()));
        fs::write(&file, format!("{host}:*:*:*:s3cret\n")).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        file.display().to_string()
    };
    let (any, this) = (passfile("*"), passfile("127.0.0.1"));
    let place = format!("host=127.0.0.1 port={port} user=u dbname=d sslmode=disable");
    for (text, variable, is_guarded, is_sent) in [
        (place.clone(), ("PGPASSWORD", "s3cret"), false, true),
        (place.clone(), ("PGPASSWORD", "s3cret"), true, false),
        (place.clone(), ("PGPASSFILE", any.as_str()), true, false),
        (place.clone(), ("PGPASSFILE", this.as_str()), true, true),
        (format!("{place} password=s3cret"), ("PGPASSWORD", "other"), true, true),
    ] {
        let lookup = |name: &str| (name == variable.0).then(|| variable.1.to_owned());
        let mut settings = Settings::parse(&text, &[], &lookup).unwrap();
        if is_guarded {
            settings = settings.guard_password();
        }
        let session = async {
            let outcome = Session::connect(&settings).await;
            outcome.unwrap_err()
        };
        // The server leaves once it has an answer, so the client ends too.
        let (seen, error) = tokio::join!(ask_for_password(&listener), session);
        assert_eq!(seen.as_deref(), is_sent.then_some("s3cret"), "{text} {variable:?} {is_guarded}");
        if !is_sent {
            assert_eq!(error.kind(), ErrorKind::Unauthenticated);
            assert!(error.to_string().contains("your password is not sent to it"), "{error}");
        }
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }
}
