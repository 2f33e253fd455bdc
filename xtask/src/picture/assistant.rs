//! A program that stands in for an assistant: it starts our command, as an MCP client does.

use std::{
    io::Write as _,
    path::Path,
    process::{ChildStdin, Command, Stdio},
};

use serde_json::json;

use crate::recipes::RuntimeFolder;

/// Started by a shell that ends, so that nothing of where the picture is taken is seen in it. The
/// assistant itself is a shell under another name, by which it goes for a program of its own.
const START: &str =
    r#"exec 3<&0; { "$0" -c '"$0" mcp --app org.example.orders; :' "$1" <&3; :; } &"#;

/// Has it look at the app, which is its first request. It ends when its input does, which this
/// answers.
pub(super) fn start(bridge: &Path, runtime: &RuntimeFolder) -> std::io::Result<ChildStdin> {
    // Paths that are short, and tell nothing of the machine.
    let folder = runtime.0.join("bin");
    std::fs::create_dir(&folder)?;
    let [assistant, own] = ["assistant", "agent-surface"].map(|name| folder.join(name));
    std::fs::copy("/bin/sh", &assistant)?;
    std::fs::copy(bridge, &own)?;
    let mut shell = Command::new("sh")
        .args(["-c", START])
        .arg(assistant)
        .arg(own)
        .env("XDG_RUNTIME_DIR", &runtime.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    let mut input = shell.stdin.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
    shell.wait()?;
    for line in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "Assistant", "version": "1.0"},
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "describe_ui",
            "arguments": {},
        }}),
    ] {
        writeln!(input, "{line}")?;
    }
    Ok(input)
}
