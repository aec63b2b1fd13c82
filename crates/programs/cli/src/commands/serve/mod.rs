//! `groundstate serve`: the state server, from its configuration to its end.

mod announce;
mod signals;

use std::io::Write;
use std::sync::Arc;

use groundstate_blobs::BlobStore;
use groundstate_server::StoreEncryption;
use groundstate_server::config::Config;
use groundstate_server::edge::{
    Ended, Measured, Metrics, OpenedStore, Opening, Server, Service, ServiceError, StartError, key_note,
    notify,
};
use tokio::runtime::Builder;

use crate::args::ServeArgs;
use crate::input::server::{configured, context, note, of_encryption, refused, sources, unusable, variable};
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::server_store::node;

/// The least number of threads that answer requests. A step of a request may take a while, such as the digest of a part: with more threads than cores
/// the system shares the cores, and short requests wait for no such step.
const LEAST_THREADS: usize = 16;

pub(super) fn run(args: &ServeArgs) -> Result {
    let config = configuration(args)?;
    if args.check {
        let mut out = Output::stdout();
        out.write_all(config.to_string().as_bytes())?;
        out.finish()?;
        return Ok(Outcome::Clean);
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let runtime = Builder::new_multi_thread().worker_threads(cores.max(LEAST_THREADS)).enable_all().build();
    let runtime = runtime
        .map_err(|error| Failure::new(Kind::Unreachable, format!("the server cannot start: {error}")))?;
    let outcome = runtime.block_on(serve(args, config));
    // Work that was given up does not keep the process.
    runtime.shutdown_background();
    outcome
}

/// The configuration of the command line, the environment and the file.
fn configuration(args: &ServeArgs) -> Result<Config> {
    let texts = [
        ("--public-url", "public_url", &args.public_url),
        ("--tls-certificate", "tls.certificate", &args.tls_certificate),
        ("--tls-key", "tls.key", &args.tls_key),
        ("--tls-client-ca", "tls.client_ca", &args.tls_client_ca),
        ("--metrics-listen", "metrics.listen", &args.metrics_listen),
    ];
    let switches = [
        ("--insecure-plain-http", "insecure_plain_http", args.insecure_plain_http),
        ("--insecure-no-authentication", "insecure_no_authentication", args.insecure_no_authentication),
    ];
    let listen = args.listen.iter().map(|address| ("--listen", "listen", address.as_str()));
    let texts =
        texts.iter().filter_map(|(argument, name, value)| Some((*argument, *name, value.as_deref()?)));
    let switches =
        switches.iter().filter(|(_, _, on)| *on).map(|(argument, name, _)| (*argument, *name, "true"));
    let mut sources = sources(&args.server)?;
    for (argument, name, value) in listen.chain(texts).chain(switches) {
        sources = sources.argument(argument, name, value).map_err(|error| refused(&error))?;
    }
    configured(&args.server, &sources)
}

async fn serve(args: &ServeArgs, config: Config) -> Result {
    let context = context();
    let mut opened =
        OpenedStore::open(&config.store, &context, &variable).map_err(|error| unusable(&error))?;
    let opening = Opening::default().init(args.init).note(note(&args.server, &config.store));
    opened.check(&config.store, &context, &opening).await.map_err(|error| unusable(&error))?;
    let notes = opened.notes.iter().cloned().chain(config.tls.as_ref().and_then(key_note));
    notes.for_each(|note| Messages::stderr().warning(&note));
    if config.store.is_volatile() {
        Messages::stderr()
            .warning("everything is kept in memory, and nothing survives the end of this server");
    }

    let encryption = StoreEncryption::open(&config, opened.store, &context).await;
    let encryption = encryption.map_err(|error| of_encryption(&error))?;
    encryption.notes.iter().for_each(|note| Messages::stderr().warning(note));

    let metrics = Metrics::new();
    let store: Arc<dyn BlobStore> = Arc::new(Measured::new(encryption.store, metrics.clone()));
    let service = Service::open(&config, store, &context, &metrics, &node());
    let service = service.map_err(|error| not_started(&error))?;
    let asks_clients = service.asks_clients().await.map_err(|error| not_started(&error))?;
    config.check_authentication(asks_clients).map_err(|error| refused(&error))?;
    let notes = service.check_secrets_key(&config).await.map_err(|error| not_started(&error))?;
    notes.iter().for_each(|note| Messages::stderr().warning(note));
    let server = Server::bind(&config, service.parts()).map_err(|error| not_bound(&error))?;

    service.record_start().await.map_err(|error| not_started(&error))?;
    // Before the first word, so that a signal that answers it is heard.
    let signals = signals::listen(args, config.clone(), &server)?;
    announce::print(&config, &server, encryption.key.as_deref(), asks_clients)?;
    tell_manager("READY=1");
    let ended = server.run().await;
    if !matches!(ended, Ended::Abandoned(_)) {
        service.record_end().await;
    }
    let signal = signals.seen();
    match ended {
        Ended::Finished => Ok(Outcome::Clean),
        Ended::Abandoned(requests) => {
            let message = format!("told to end at once, while {requests} requests were being worked on");
            let hint = "whether their writes are stored is not known to their clients; each is stored whole or not at all";
            Err(Failure::new(Kind::Signal(signal), message).hint(hint))
        }
        _ => {
            let message = "closed connections before their requests were answered; every write that had begun is stored";
            Messages::stderr().warning(message);
            Ok(Outcome::Clean)
        }
    }
}

/// Tells the service manager, if one started the server.
fn tell_manager(state: &str) {
    notify(std::env::var_os("NOTIFY_SOCKET").as_deref(), state);
}

fn not_started(error: &ServiceError) -> Failure {
    Failure::new(Kind::of_cause(error).unwrap_or(Kind::NoState), chain(error))
}

fn not_bound(error: &StartError) -> Failure {
    let failure = Failure::new(Kind::of_cause(error).unwrap_or(Kind::NoState), chain(error));
    match error {
        StartError::Listen(_) => failure.hint("choose another address with `--listen ADDRESS`"),
        _ => failure,
    }
}
