//! What an agent does: it looks, and presses Save. While the user is being asked it waits and
//! asks again.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
    process::Command,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::Result;

/// In a process of its own.
pub(crate) fn run(program: &Path, address: &Path) -> Result<()> {
    let status = Command::new(program).arg("--agent").arg(address).status()?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{} ended with {status}", program.display()).into()),
    }
}

/// In that process.
pub(crate) fn converse(address: &Path) -> Result<()> {
    let mut lines = BufReader::new(UnixStream::connect(address)?);
    for (method, params) in [("describe_ui", json!({})), ("click", json!({"id": "save"}))] {
        while let Some(retry_after) = ask(&mut lines, method, &params)? {
            thread::sleep(retry_after);
        }
    }
    Ok(())
}

/// Asks, and prints what it is told. Answers when to come back, if it is told to.
fn ask(
    lines: &mut BufReader<UnixStream>,
    method: &str,
    params: &Value,
) -> Result<Option<Duration>> {
    println!("-> {method} {params}");
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    writeln!(lines.get_mut(), "{request}")?;
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let reply: Value = serde_json::from_str(&line)?;
    let result = &reply["result"];
    match (result["outcome"].as_str(), result["nodes"].as_array()) {
        (Some(outcome), _) => println!("<- {outcome}"),
        (_, Some(nodes)) => println!("<- {} nodes", nodes.len()),
        (None, None) => println!("<- {}", reply["error"]["data"]["reason"]),
    }
    let retry_after = reply["error"]["data"]["retry_after_ms"].as_u64();
    Ok(retry_after.map(Duration::from_millis))
}
