//! Where the socket is, who may be there, and what stays behind.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{
        fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use agent_core::{AuthGate, Decision};
use agent_mcp::{ServeError, serve, serve_uds};
use serde_json::{Value, json};

use crate::support::{Fake, Folder, config, names, served};
use agent_test_support::{Client, allow, eventually, limit};

/// What a child process of this test is to do.
const ROLE: &str = "AGENT_MCP_TEST_ROLE";

/// This very test binary again, as somebody else.
fn command(role: &str, runtime: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["place::as_a_child", "--exact", "--nocapture"])
        .env(ROLE, role)
        .env("XDG_RUNTIME_DIR", runtime)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

fn child(role: &str, runtime: &Path) -> Child {
    command(role, runtime).spawn().unwrap()
}

/// What a child says after `word`.
fn says(child: &mut Child, word: &str) -> String {
    let out = BufReader::new(child.stdout.as_mut().unwrap());
    let said = out
        .lines()
        .map_while(Result::ok)
        .find_map(|line| Some(line.split_once(&format!("{word}: "))?.1.to_owned()));
    said.unwrap_or_else(|| panic!("the child said no {word}"))
}

/// Not a test: what a child does. Without a role there is nothing to do.
#[test]
fn as_a_child() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let wait = || {
        std::io::stdout().flush().unwrap();
        let _ = std::io::stdin().read_line(&mut String::new());
    };
    match role.split_once(' ').unwrap_or((&role, "")) {
        ("serve", app) => {
            let fake = Fake::start();
            let config = agent_mcp::Config {
                app: app.into(),
                ..config(&fake, allow())
            };
            let server = serve(config.clone()).unwrap();
            println!("address: {}", server.address().unwrap().display());
            let second = app.starts_with("two").then(|| serve(config).unwrap());
            if let Some(second) = &second {
                println!("second: {}", second.address().unwrap().display());
            }
            wait();
        }
        ("connect", address) => {
            let mut kept = Vec::new();
            for _ in 0..16 {
                let mut client = Client::connect(Path::new(address));
                client.assert_served("demo");
                kept.push(client);
            }
            let mut over = Client::connect(Path::new(address));
            println!("limit: {}", limit(&over.reply()));
            over.assert_closed();
            wait();
        }
        _ => panic!("{role}"),
    }
}

/// Leaves a socket that was bound and is never listened at again.
fn leave_stale(path: &Path) {
    drop(UnixListener::bind(path).unwrap());
    // A process that another test is starting has it open for a moment.
    eventually("nobody listens", || UnixStream::connect(path).is_err());
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_default_place_is_the_users_alone_and_is_left_empty() {
    let runtime = Folder::new();
    let mut child = child("serve demo", &runtime.0);
    let address = PathBuf::from(says(&mut child, "address"));
    let stem = format!("demo-{}", child.id());
    let folder = runtime.0.join("agent-surface");
    assert_eq!(address, folder.join(format!("{stem}.sock")));
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&address), 0o600);
    assert!(address.symlink_metadata().unwrap().file_type().is_socket());

    let json = folder.join(format!("{stem}.json"));
    assert_eq!(mode(&json), 0o600);
    let described: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert!(described["started"].as_u64().is_some());
    let mut expected = json!({"app": "demo", "name": "Demo \"one\"", "pid": child.id(),
        "address": address.to_str().unwrap(), "protocol": agent_wire::PROTOCOL, "armed": []});
    expected["started"] = described["started"].clone();
    assert_eq!(described, expected);
    assert_eq!(names(&folder).len(), 2);

    Client::connect(&address).assert_served("demo");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn who_is_at_the_other_end_is_what_the_kernel_says() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(None));
    let seeing = seen.clone();
    let served = crate::support::served_with(|config| {
        config.gate = AuthGate::serve(move |request| {
            *seeing.lock().unwrap() = request.peer.clone();
            Decision::Allow
        });
    });
    let address = served
        .server
        .address()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let mut child = child(&format!("connect {address}"), Path::new("/nowhere"));
    // Sixteen connections of one process, and no more.
    assert_eq!(says(&mut child, "limit"), "connections");
    let peer = seen.lock().unwrap().clone().unwrap();
    assert_eq!(peer.pid, Some(child.id()));
    assert_eq!(peer.executable, std::env::current_exe().ok());
    assert!(peer.started.is_some());
    assert_eq!(peer.uid, Some(served.folder.0.metadata().unwrap().uid()));
    assert_eq!(served.server.clients()[0].peer, Some(peer));
    // Others have room.
    served.connect().assert_served("demo");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_killed_apps_left_is_swept_and_nothing_else() {
    let runtime = Folder::new();
    let mut killed = child("serve killed", &runtime.0);
    says(&mut killed, "address");
    let mut live = child("serve live", &runtime.0);
    let live_address = says(&mut live, "address");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let folder = runtime.0.join("agent-surface");
    assert_eq!(names(&folder).len(), 4);
    std::fs::write(folder.join("notes.sock"), "no socket").unwrap();
    std::fs::write(folder.join("old-1.json"), "{}").unwrap();
    std::fs::write(folder.join("old-1.json.new"), "{").unwrap();
    std::fs::write(folder.join("readme"), "a file of the user's").unwrap();

    let mut next = child("serve next", &runtime.0);
    says(&mut next, "address");
    let (live_id, next_id) = (live.id(), next.id());
    let mut expected = vec![
        format!("live-{live_id}.json"),
        format!("live-{live_id}.sock"),
        format!("next-{next_id}.json"),
        format!("next-{next_id}.sock"),
        "notes.sock".into(),
        "readme".into(),
    ];
    expected.sort();
    assert_eq!(names(&folder), expected);
    Client::connect(Path::new(&live_address)).ask("hello", json!({}));
    for mut child in [live, next] {
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(names(&folder), ["notes.sock", "readme"]);
}

#[test]
fn twenty_at_once_over_stale_files_lose_nobody_and_leave_nothing() {
    let runtime = Folder::new();
    let folder = runtime.0.join("agent-surface");
    let mut first = child("serve first", &runtime.0);
    says(&mut first, "address");
    for number in 0..30 {
        leave_stale(&folder.join(format!("stale-{number}.sock")));
        std::fs::write(folder.join(format!("stale-{number}.json")), "{}").unwrap();
    }
    let mut children: Vec<Child> = (0..20)
        .map(|n| child(&format!("serve app{}", n % 3), &runtime.0))
        .collect();
    let addresses: Vec<String> = children
        .iter_mut()
        .map(|child| says(child, "address"))
        .collect();
    assert!(!names(&folder).iter().any(|name| name.starts_with("stale")));
    assert_eq!(names(&folder).len(), 42);
    // An order that is no order, half of it at once.
    let mut order: Vec<usize> = (0..20).map(|n| n * 7 % 20).collect();
    while let Some(next) = order.pop() {
        drop(children[next].stdin.take());
        if next % 2 == 0 {
            assert!(children[next].wait().unwrap().success());
        }
        for left in &order {
            let reply = Client::connect(Path::new(&addresses[*left])).ask("hello", json!({}));
            assert_eq!(reply["result"]["protocol"], agent_wire::PROTOCOL);
        }
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn a_long_id_is_shortened() {
    let runtime = Folder::new();
    let long = "a".repeat(200);
    let mut child = child(&format!("serve {long}"), &runtime.0);
    let address = says(&mut child, "address");
    assert!(address.len() <= 107, "{address}");
    assert!(
        address.ends_with(&format!("-{}.sock", child.id())),
        "{address}"
    );
    let reply = Client::connect(Path::new(&address)).ask("hello", json!({}));
    assert_eq!(reply["result"]["app"], long);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn two_servers_of_a_process_are_told_apart() {
    let runtime = Folder::new();
    let mut child = child("serve two", &runtime.0);
    let pid = child.id();
    let second = says(&mut child, "second");
    assert!(second.ends_with(&format!("/two-{pid}-2.sock")), "{second}");
    Client::connect(Path::new(&second)).ask("hello", json!({}));
    let folder = runtime.0.join("agent-surface");
    assert_eq!(names(&folder).len(), 4);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn a_runtime_folder_that_others_may_write_to_is_passed_over() {
    let (runtime, home) = (Folder::new(), Folder::new());
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(&runtime.0, open).unwrap();
    let mut child = command("serve demo", &runtime.0)
        .env_remove("XDG_CACHE_HOME")
        .env("HOME", &home.0)
        .spawn()
        .unwrap();
    let address = says(&mut child, "address");
    let folder = home.0.join(".cache/agent-surface");
    assert!(Path::new(&address).starts_with(&folder), "{address}");
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(runtime.names(), [""; 0]);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn without_the_folders_lock_nothing_of_others_is_touched() {
    let folder = Folder::new();
    let fake = Fake::start();
    let stale = folder.0.join("stale");
    leave_stale(&stale);
    let held = std::fs::File::open(&folder.0).unwrap();
    held.lock().unwrap();
    let serve = |path: &Path| serve_uds(config(&fake, allow()), path);
    // Somebody may be about to listen there.
    assert!(matches!(serve(&stale), Err(ServeError::InUse { .. })));
    let path = folder.0.join("s");
    let server = serve(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
    Client::connect(&path).assert_served("demo");
    drop(server);
    assert_eq!(folder.names(), ["stale"]);
    held.unlock().unwrap();
    drop(serve(&stale).unwrap());
}

#[test]
fn a_path_of_the_callers_choosing_is_bound_with_the_same_care() {
    let folder = Folder::new();
    let fake = Fake::start();
    let serve = |path: &Path| serve_uds(config(&fake, allow()), path);
    let path = folder.0.join("s");

    let first = serve(&path).unwrap();
    assert_eq!(first.address(), Some(path.as_path()));
    assert_eq!(mode(&path), 0o600);
    assert!(matches!(serve(&path), Err(ServeError::InUse { .. })));
    Client::connect(&path).assert_served("demo");
    drop(first);
    assert_eq!(folder.names(), [""; 0]);

    // A stale one is taken over.
    leave_stale(&path);
    let second = serve(&path).unwrap();
    Client::connect(&path).assert_served("demo");
    // Not ours any more: it stays.
    std::fs::remove_file(&path).unwrap();
    let other = UnixListener::bind(&path).unwrap();
    drop(second);
    assert_eq!(folder.names(), ["s"]);
    drop(other);
    std::fs::remove_file(&path).unwrap();

    std::fs::write(&path, "a file").unwrap();
    assert!(matches!(serve(&path), Err(ServeError::Occupied { .. })));
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(folder.0.join("elsewhere"), &path).unwrap();
    assert!(matches!(serve(&path), Err(ServeError::Occupied { .. })));
    std::fs::remove_file(&path).unwrap();

    // A folder that is missing is made.
    let made = serve(&folder.0.join("sub/s")).unwrap();
    assert_eq!(mode(&folder.0.join("sub")), 0o700);
    drop(made);
}

#[test]
fn a_folder_that_is_not_the_users_alone_is_refused() {
    let folder = Folder::new();
    let fake = Fake::start();
    let serve = |path: &Path| serve_uds(config(&fake, allow()), path).unwrap_err();
    let set = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&folder.0, permissions).unwrap();
    };
    let path = folder.0.join("s");
    for open in [0o755, 0o770, 0o707, 0o1777, 0o710] {
        set(open);
        let error = serve(&path);
        assert!(matches!(error, ServeError::FolderOpen { .. }), "{error}");
        assert!(error.to_string().contains("chmod 700"), "{error}");
    }
    set(0o700);
    assert_eq!(folder.names(), [""; 0]);

    let link = folder.0.join("link");
    std::os::unix::fs::symlink(&folder.0, &link).unwrap();
    assert!(matches!(
        serve(&link.join("s")),
        ServeError::NotAFolder { .. }
    ));
    std::fs::remove_file(&link).unwrap();
    std::fs::write(&link, "").unwrap();
    assert!(matches!(
        serve(&link.join("s")),
        ServeError::NotAFolder { .. }
    ));
    std::fs::remove_file(&link).unwrap();

    let long = folder.0.join("x".repeat(120));
    assert!(matches!(serve(&long), ServeError::PathTooLong { .. }));
    assert!(matches!(serve(Path::new("/")), ServeError::Occupied { .. }));
    let error = serve(&folder.0.join("no/such/folder/s"));
    assert!(matches!(error, ServeError::Io { .. }), "{error}");
    assert_eq!(folder.names(), [""; 0]);

    // Only root can give a folder away.
    if std::os::unix::fs::chown(&folder.0, Some(4711), None).is_ok() {
        let error = serve(&path);
        assert!(
            matches!(error, ServeError::FolderNotOurs { owner: 4711, .. }),
            "{error}"
        );
        std::os::unix::fs::chown(&folder.0, Some(0), None).unwrap();
    }
}

#[test]
fn the_app_goes_on_listening_when_clients_come_and_go() {
    let served = served();
    let address = served.server.address().unwrap();
    for _ in 0..200 {
        drop(UnixStream::connect(address).unwrap());
    }
    served.connect().assert_served("demo");
    eventually("forgotten", || served.server.clients().len() <= 1);
}
