//! Telling the service manager how the server is, as `sd_notify(3)` does.

/// Sends a state such as `READY=1` to the socket that `NOTIFY_SOCKET` names; nothing is sent where there is none. A service manager that
/// does not listen is no reason to end.
#[cfg(target_os = "linux")]
pub fn notify(socket: Option<&std::ffi::OsStr>, state: &str) {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    let address = match socket.map(OsStrExt::as_bytes) {
        Some([b'@', name @ ..]) => SocketAddr::from_abstract_name(name),
        Some(path @ [b'/', ..]) => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(path)),
        _ => return,
    };
    let send = |address| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address);
    drop(address.and_then(send));
}

/// There is no such service manager here.
#[cfg(not(target_os = "linux"))]
pub fn notify(_: Option<&std::ffi::OsStr>, _: &str) {}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    use super::notify;

    fn heard(socket: &UnixDatagram) -> String {
        let mut text = [0; 64];
        let length = socket.recv(&mut text).unwrap();
        String::from_utf8(text[..length].to_vec()).unwrap()
    }

    #[test]
    fn the_manager_hears_it_on_a_path_and_on_an_abstract_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        notify(Some(path.as_os_str()), "READY=1");
        assert_eq!(heard(&socket), "READY=1");

        let name = format!("groundstate-notify-{}", std::process::id());
        let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        notify(Some(format!("@{name}").as_ref()), "STOPPING=1");
        assert_eq!(heard(&socket), "STOPPING=1");

        // No manager, one that is gone, and what is no name of a socket.
        notify(None, "READY=1");
        notify(Some(folder.path().join("gone").as_os_str()), "READY=1");
        notify(Some("vsock:2:1".as_ref()), "READY=1");
    }
}
