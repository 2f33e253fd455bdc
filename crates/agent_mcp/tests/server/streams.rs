//! `serve_fd`, and who is at the other end.

use std::{
    os::{fd::OwnedFd, unix::net::UnixStream},
    sync::{Arc, Mutex},
};

use agent_core::{AuthGate, Decision, Request};
use agent_mcp::{FdPeer, ServeError, serve_fd};
use serde_json::json;

use crate::support::{Fake, config};
use agent_test_support::{Client, allow, eventually};

/// Serves one half of a pair made here, and gives what the gate was told.
fn told(peer: FdPeer) -> Request {
    let seen = Arc::new(Mutex::new(None::<Request>));
    let seeing = seen.clone();
    let gate = AuthGate::serve(move |request| {
        *seeing.lock().unwrap() = Some(request.clone());
        Decision::Allow
    });
    let (ours, theirs) = UnixStream::pair().unwrap();
    let fake = Fake::start();
    let server = serve_fd(config(&fake, gate), ours.into(), peer).unwrap();
    assert_eq!(server.address(), None);
    let mut client = Client::over(theirs);
    client.ask("hello", json!({"name": "claim"}));
    assert_eq!(client.click("save")["result"]["outcome"], "allowed");
    server.stop();
    client.assert_closed();
    seen.lock().unwrap().take().unwrap()
}

#[test]
fn the_app_itself_is_never_taken_for_an_agent() {
    for peer in [FdPeer::Unknown, FdPeer::Pid(std::process::id())] {
        let request = told(peer);
        assert_eq!(request.peer, None);
        assert_eq!(request.claimed_name.as_deref(), Some("claim"));
    }
}

#[test]
fn the_app_says_who_it_is() {
    let request = told(FdPeer::Named("assistant".into()));
    let peer = request.peer.unwrap();
    assert_eq!((peer.pid, &peer.executable), (None, &None));
    assert_eq!(request.claimed_name.as_deref(), Some("assistant"));
    assert_eq!(peer.named.as_deref(), Some("assistant"));

    let parent = std::os::unix::process::parent_id();
    let peer = told(FdPeer::Pid(parent)).peer.unwrap();
    assert_eq!(peer.pid, Some(parent));
    assert!(peer.started.is_some());

    // Nobody: what can't be read isn't there.
    let peer = told(FdPeer::Pid(0x7fff_fff0)).peer.unwrap();
    assert_eq!((peer.started, &peer.executable), (None, &None));
}

#[test]
fn only_a_connected_stream_is_served() {
    let fake = Fake::start();
    let serve = |fd: OwnedFd| serve_fd(config(&fake, allow()), fd, FdPeer::Unknown);
    let file = std::fs::File::open("/proc/self/status").unwrap();
    let (datagram, _other) = std::os::unix::net::UnixDatagram::pair().unwrap();
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let connected = std::net::TcpStream::connect(tcp.local_addr().unwrap()).unwrap();
    for fd in [file.into(), datagram.into(), tcp.into(), connected.into()] {
        assert!(matches!(serve(fd), Err(ServeError::NotAStream)));
    }
    let wrong = agent_mcp::Config {
        app: "no id".into(),
        ..config(&fake, allow())
    };
    let (ours, _theirs) = UnixStream::pair().unwrap();
    assert!(matches!(
        serve_fd(wrong, ours.into(), FdPeer::Unknown),
        Err(ServeError::App(_))
    ));
}

#[test]
fn a_stream_that_does_not_block_is_served() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let fake = Fake::start();
    let server = serve_fd(config(&fake, allow()), ours.into(), FdPeer::Unknown).unwrap();
    let mut client = Client::over(theirs);
    std::thread::sleep(std::time::Duration::from_millis(50));
    client.assert_served("demo");
    drop(client);
    eventually("gone", || server.clients().is_empty());
}
