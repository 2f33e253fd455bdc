//! Clients that die, or never listen.

use std::{io::Write as _, os::unix::net::UnixStream, path::Path, sync::atomic::Ordering};

use agent_test_support::{Client, LONG, eventually, folder};
use serde_json::json;

use crate::app::{counting, process, serve, told};

/// A client in a process of its own: it is let in, asks for much, begins a line that it never
/// ends, and waits for what comes.
pub(crate) fn client(address: &Path) {
    let mut client = Client::connect(address);
    client.get("hello", json!({"name": "doomed"}));
    client.get("describe_ui", json!({}));
    println!("let in");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    for _ in 0..20 {
        client.send("click", json!({"id": "save", "timeout_ms": 30_000}));
    }
    client
        .stream
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":")
        .unwrap();
    println!("asked");
    std::io::stdin().lines().for_each(drop);
}

#[test]
fn rule_9_a_client_that_is_killed_leaves_nothing_behind() {
    let (app, clicks) = counting();
    let folder = folder();
    let surface = serve(&app, folder.path().join("s"));
    let mut doomed = process("client", surface.address().unwrap())
        .spawn()
        .unwrap();
    told(&mut doomed, "let in");
    let client = &surface.clients()[0];
    assert_eq!(client.peer.as_ref().unwrap().pid, Some(doomed.id()));
    let mut other = Client::connect(surface.address().unwrap());
    other.get("hello", json!({}));
    // While the app is busy it asks, and dies before its turn.
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    app.post(move |_| wait.recv().unwrap());
    doomed.stdin.as_mut().unwrap().write_all(b"now\n").unwrap();
    told(&mut doomed, "asked");
    other.get("hello", json!({}));
    doomed.kill().unwrap();
    doomed.wait().unwrap();
    eventually("it is forgotten", || surface.clients().len() == 1);
    go_on.send(()).unwrap();
    other.get("describe_ui", json!({}));
    assert_eq!(clicks.load(Ordering::SeqCst), 0);
    assert_eq!(other.click("save")["result"]["outcome"], "allowed");
    assert_eq!(clicks.load(Ordering::SeqCst), 1);
}

#[test]
fn rule_9_a_client_that_never_reads_keeps_nobody_waiting() {
    let (app, _) = counting();
    let folder = folder();
    let surface = serve(&app, folder.path().join("s"));
    let mut deaf = UnixStream::connect(surface.address().unwrap()).unwrap();
    deaf.set_nonblocking(true).unwrap();
    let mut other = Client::connect(surface.address().unwrap());
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{}}\n".repeat(500);
    let mut written = 0_usize;
    let begun = std::time::Instant::now();
    for round in 0..200 {
        match deaf.write(&line) {
            Ok(more) => written += more,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            // It was closed for what it left unread.
            Err(_) => break,
        }
        if round % 10 == 0 {
            assert_eq!(other.click("save")["result"]["outcome"], "allowed");
        }
    }
    assert!(written > 0);
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
    drop(deaf);
    eventually("it is forgotten", || surface.clients().len() == 1);
}
