//! How often requests are repeated, and after which waits.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::{OsIds, Sleeper, SystemClock};
use groundstate_statemgr::{ErrorKind, StateStore};
use groundstate_statemgr_http::{HttpBackend, HttpConfig, HttpStore};
use groundstate_testkit::{Answer, Fault, HttpStateServer, Recorder, Server};

use crate::support::{PATH, info, sent, state};

/// Writes down how long it would sleep.
#[derive(Debug, Default)]
struct Waits(Mutex<Vec<u64>>);

impl Waits {
    fn seconds(&self) -> Vec<u64> {
        self.0.lock().expect("no test panics with it").clone()
    }
}

#[async_trait]
impl Sleeper for Waits {
    async fn sleep(&self, duration: Duration) {
        self.0.lock().expect("no test panics with it").push(duration.as_secs());
    }
}

fn client(server: &Server, change: impl FnOnce(&mut HttpConfig)) -> (HttpStore, Arc<Waits>) {
    let waits = Arc::new(Waits::default());
    let mut config = HttpConfig::locked(format!("{}{PATH}", server.endpoint()));
    change(&mut config);
    let sleeper: Arc<dyn Sleeper> = Arc::<Waits>::clone(&waits);
    let backend = HttpBackend::open(&config, Arc::new(SystemClock), sleeper, Arc::new(OsIds));
    (backend.expect("the options can be used").state(), waits)
}

#[tokio::test]
async fn the_waits_are_terraforms() {
    for (max, first, longest, expected) in
        [(2, 1, 30, &[1, 2][..]), (0, 1, 30, &[]), (6, 1, 5, &[1, 2, 4, 5, 5, 5]), (2, 10, 3, &[10, 10])]
    {
        let server = Recorder::start(Answer::new(500));
        let (store, waits) = client(&server, |config| {
            config.retry_max = max;
            config.retry_wait_min = Duration::from_secs(first);
            config.retry_wait_max = Duration::from_secs(longest);
        });
        let error = store.read().await.unwrap_err();
        assert_eq!((error.kind(), waits.seconds().as_slice()), (ErrorKind::Unavailable, expected), "{error}");
        assert_eq!(server.requests().len() as u32, max + 1);
    }
}

#[tokio::test]
async fn what_is_worth_another_attempt_is_what_the_server_did_not_decide() {
    for (fault, attempts) in [
        (Fault::refuse(429, "slow", None), 3),
        (Fault::refuse(500, "no", None), 3),
        (Fault::refuse(502, "no", None), 3),
        (Fault::refuse(503, "no", None), 3),
        (Fault::drop_before(), 3),
        (Fault::cut_body(3), 3),
        (Fault::refuse(501, "no", None), 1),
        (Fault::refuse(400, "no", None), 1),
        (Fault::refuse(403, "no", None), 1),
    ] {
        let server = HttpStateServer::start_blocking();
        server.put_state(PATH, state(1));
        server.fault(fault.clone().on("GET", "*"));
        let (store, waits) = client(&server, |_| {});
        store.read().await.unwrap_err();
        assert_eq!((sent(&server).len(), waits.seconds().len()), (attempts, attempts - 1), "{fault:?}");
        server.clear_faults();
        server.fault(fault.on("GET", "*").times(2));
        assert_eq!(store.read().await.is_ok(), attempts > 1);
    }
}

#[tokio::test]
async fn a_server_that_asks_for_a_wait_gets_it_unless_it_is_too_long() {
    let server = HttpStateServer::start_blocking();
    server.fault(Fault::unavailable(7).on("LOCK", "*").nth(1));
    let later = Answer::new(429)
        .header("date", "Sat, 21 Nov 2026 00:32:20 GMT")
        .header("retry-after", "Sat, 21 Nov 2026 00:32:31 GMT");
    server.fault(Fault::instead(later).on("LOCK", "*").nth(2));
    let (store, waits) = client(&server, |_| {});
    store.lock(&info("7")).await.unwrap();
    assert_eq!(waits.seconds(), [7, 11]);
    server.fault(Fault::unavailable(86_400).on("GET", "*"));
    let error = store.read().await.unwrap_err();
    assert!(error.to_string().contains("asks to wait 86400 s"), "{error}");
    assert_eq!(waits.seconds().len(), 2);
}

#[tokio::test]
async fn a_server_that_is_silent_for_too_long_is_given_up() {
    let server = HttpStateServer::start_blocking();
    server.put_state(PATH, state(1));
    server.fault(Fault::delay_answer(Duration::from_secs(30)).on("GET", "*"));
    let (store, waits) = client(&server, |config| config.request_timeout = Duration::from_secs(1));
    let error = store.read().await.unwrap_err();
    assert!(error.to_string().contains("GROUNDSTATE_REQUEST_TIMEOUT"), "{error}");
    assert_eq!(
        (error.kind(), waits.seconds().len()),
        (ErrorKind::Unavailable, 0),
        "it would take as long again"
    );
}
