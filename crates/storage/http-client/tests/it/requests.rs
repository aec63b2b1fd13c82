//! What leaves, and what is read of an answer.

use std::error::Error;
use std::net::TcpListener;
use std::time::Duration;

use bytes::Bytes;
use groundstate_http_client::http::Method;
use groundstate_http_client::{
    Client, ClientOptions, NotSent, Request, SHORT_DEADLINE, SendError, TooLarge, address, read_whole,
};
use groundstate_testkit::{Answer, Authority, Recorder};

type Outcome = Result<(), Box<dyn Error>>;

fn client() -> Client {
    Client::new(ClientOptions::new()).expect("there is nothing wrong with these options")
}

#[tokio::test]
async fn any_method_is_sent_and_a_chunked_body_says_no_length() -> Outcome {
    let server = Recorder::start(Answer::new(200).body("yes"));
    let lock = Method::from_bytes(b"LOCK")?;
    for is_chunked in [false, true] {
        let request = Request::new(lock.clone(), address(&server.endpoint())?);
        let request = request.body(Bytes::from_static(b"{}")).chunked(is_chunked);
        let answer = client().send(request).await?;
        assert_eq!(read_whole(answer.into_body()).await?, "yes");
    }
    let empty = Request::new(Method::PUT, address(&server.endpoint())?).chunked(true);
    client().send(empty).await?;
    let lengths: Vec<_> = server
        .requests()
        .iter()
        .map(|request| {
            let header = |name| request.header(name).map(str::to_owned);
            (request.method.clone(), header("content-length"), header("transfer-encoding"))
        })
        .collect();
    let chunked = || Some("chunked".to_owned());
    assert_eq!(
        lengths,
        [
            ("LOCK".to_owned(), Some("2".to_owned()), None),
            ("LOCK".to_owned(), None, chunked()),
            ("PUT".to_owned(), None, chunked())
        ]
    );
    Ok(())
}

#[tokio::test]
async fn a_secret_does_not_leave_by_plain_http() -> Outcome {
    let server = Recorder::start(Answer::new(200));
    let distant = format!("http://0.0.0.0:{}/", server.address().port());
    let request = || Ok::<_, &str>(Request::new(Method::GET, address(&distant)?).reveals(true));
    let error = client().send(request()?).await.err().ok_or("it was sent")?;
    let SendError::NotSent(NotSent::PlainHttp { host }) = &error else { return Err(error.into()) };
    assert!(host.starts_with("0.0.0.0:") && !error.was_sent());
    assert!(server.requests().is_empty());
    let allowed = Client::new(ClientOptions::new().allow_plain_http(true))?;
    allowed.send(request()?).await?;
    client().send(Request::new(Method::GET, address(&server.endpoint())?).reveals(true)).await?;
    assert_eq!(server.requests().len(), 2);
    Ok(())
}

#[tokio::test]
async fn answers_are_read_up_to_their_limit_whatever_they_declare() -> Outcome {
    let endless = Recorder::start(Answer::new(200).body(vec![b'x'; 1 << 12]).endless());
    let declared = Recorder::start(Answer::new(200).body("x").declaring(1 << 40).endless());
    for server in [&endless, &declared] {
        let request = Request::new(Method::GET, address(&server.endpoint())?).limit(10_000, SHORT_DEADLINE);
        let outcome = match client().send(request).await {
            Ok(answer) => read_whole(answer.into_body()).await.map(drop),
            Err(error) => Err(error),
        };
        let error = outcome.err().ok_or("it was read")?;
        assert!(matches!(error, SendError::TooLarge(TooLarge { limit: 10_000 })), "{error:?}");
    }
    let slow = Recorder::start(Answer::new(200).body("x").dripping(Duration::from_millis(20)));
    let request =
        Request::new(Method::GET, address(&slow.endpoint())?).limit(1 << 20, Duration::from_secs(1));
    let answer = client().send(request).await?;
    let error = read_whole(answer.into_body()).await.err().ok_or("it was read")?;
    assert!(matches!(error, SendError::Deadline(_)) && error.was_sent(), "{error:?}");
    Ok(())
}

#[tokio::test]
async fn an_authority_that_is_not_trusted_is_a_failure_of_tls_before_anything_is_sent() -> Outcome {
    let authority = Authority::new();
    let server = Recorder::start_tls(&authority.certificate(&["localhost"]), Answer::new(204));
    let url = format!("https://localhost:{}/", server.address().port());
    let request = || Ok::<_, &str>(Request::new(Method::GET, address(&url)?));
    let error = client().send(request()?).await.err().ok_or("it was sent")?;
    assert!(matches!(error, SendError::Tls(_)) && !error.was_sent(), "{error:?}");
    for options in [
        ClientOptions::new().trust(authority.pem().as_bytes())?,
        ClientOptions::new().trust_only(authority.pem().as_bytes())?,
        ClientOptions::new().insecure(true),
    ] {
        assert_eq!(Client::new(options)?.send(request()?).await?.status(), 204);
    }
    let other = Authority::new();
    let wrong = Client::new(ClientOptions::new().trust_only(other.pem().as_bytes())?)?;
    assert!(matches!(wrong.send(request()?).await, Err(SendError::Tls(_))));
    Ok(())
}

#[tokio::test]
async fn what_is_not_a_certificate_or_a_key_is_refused_when_the_client_is_made() -> Outcome {
    assert!(ClientOptions::new().trust(b"hunter2").is_err());
    assert!(ClientOptions::new().identity(b"hunter2").is_err());
    let authority = Authority::new();
    let (one, other) = (authority.certificate(&["a.test"]), authority.certificate(&["b.test"]));
    let identity = |pem: String| ClientOptions::new().identity(pem.as_bytes());
    assert!(Client::new(identity(format!("{}{}", one.pem(), one.key_pem()))?).is_ok());
    let mixed = Client::new(identity(format!("{}{}", one.pem(), other.key_pem()))?);
    assert!(mixed.is_err(), "the key is another's");
    assert!(!format!("{:?}", identity(format!("{}{}", one.pem(), one.key_pem()))?).contains("PRIVATE"));
    Ok(())
}

#[tokio::test]
async fn no_server_is_no_connection() -> Outcome {
    // The port was free a moment ago. A recorder would go on to accept for a while after it is dropped.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let request = Request::new(Method::GET, address(&format!("http://127.0.0.1:{port}/?token=hunter2"))?);
    let error = client().send(request).await.err().ok_or("it was sent")?;
    assert!(matches!(error, SendError::Connect(_)) && !error.was_sent(), "{error:?}");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    Ok(())
}
