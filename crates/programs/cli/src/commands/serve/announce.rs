//! What the server says when it has started: where it is, what to write into a configuration of Terraform, how Pulumi logs in.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};

use groundstate_common::one_line;
use groundstate_server::config::Config;
use groundstate_server::edge::Server;

use crate::report::error::Result;
use crate::report::output::Output;

/// Prints it on standard output.
pub(super) fn print(config: &Config, server: &Server, key: Option<&str>, asks_clients: bool) -> Result<()> {
    let mut out = Output::stdout();
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let urls: Vec<String> =
        server.addresses().into_iter().map(|address| format!("{scheme}://{}", reached(address))).collect();
    out.line(&format!("listening on {}", urls.join(", ")))?;
    if let Some(address) = server.metrics_address() {
        out.line(&format!("metrics on http://{address}/metrics"))?;
    }
    let encryption = match key {
        Some(key) => format!("encrypted by the key {}", one_line(key)),
        None => "not encrypted".to_owned(),
    };
    out.line(&format!("keeping everything in {}, {encryption}", one_line(&config.store.to_string())))?;
    out.line(match (asks_clients, config.insecure_no_authentication) {
        (true, _) => "requiring a token or a certificate from clients",
        (false, true) => "accepting every client that reaches an address, without credentials",
        (false, false) => "accepting clients on this machine without credentials",
    })?;
    let base = config.public_url.as_ref().map(ToString::to_string).or_else(|| urls.first().cloned());
    out.write_all(block(&base.unwrap_or_default(), asks_clients).as_bytes())?;
    out.finish()?;
    Ok(())
}

/// The address as a client of this machine writes it.
fn reached(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::new([127, 0, 0, 1].into(), address.port()),
        IpAddr::V6(ip) if ip.is_unspecified() => {
            SocketAddr::new(std::net::Ipv6Addr::LOCALHOST.into(), address.port())
        }
        _ => address,
    }
}

/// The scheme and host of a URL.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find('/').map_or(url.len(), |at| host + at);
    &url[..end]
}

/// The block to paste, and the Pulumi command.
fn block(base: &str, asks_clients: bool) -> String {
    let url = format!("{base}/tf/PROJECT/STATE");
    let mut text = format!(
        "\nterraform {{\n  backend \"http\" {{\n    address        = \"{url}\"\n    lock_address   = \"{url}\"\n    \
         unlock_address = \"{url}\"\n  }}\n}}\n"
    );
    // The CLI asks for a token also where none is needed.
    let token = if asks_clients {
        text.push_str("\nand in the environment: TF_HTTP_USERNAME=token TF_HTTP_PASSWORD=TOKEN\n");
        text.push_str(&format!("and for groundstate: GROUNDSTATE_HTTP_TRUSTED_SERVERS={}\n", origin(base)));
        "TOKEN"
    } else {
        "none"
    };
    text.push_str(&format!("\nPULUMI_ACCESS_TOKEN={token} pulumi login {base}\n"));
    text
}
