//! An MCP host, as small as can be: it starts `agent-surface mcp` and calls its tools.

use std::{
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::Result;

/// A bridge in a process of its own, and the way to it.
pub(crate) struct Bridge {
    process: Child,
    input: ChildStdin,
    lines: BufReader<ChildStdout>,
    asked: u64,
}

impl Bridge {
    /// To this app, among those that run in `place`.
    pub(crate) fn to(app: &str, place: &Path) -> Result<Self> {
        let mut process = Command::new(program()?)
            .args(["mcp", "--app", app])
            .env("XDG_RUNTIME_DIR", place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let mut bridge = Self {
            process,
            input: input.ok_or("no input")?,
            lines: BufReader::new(output.ok_or("no output")?),
            asked: 0,
        };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "a developer's agent", "version": "1"},
        });
        bridge.ask("initialize", hello)?;
        bridge.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(bridge)
    }

    /// Calls a tool, and prints that and what it says: of an action what came of it, of a look what
    /// is seen.
    pub(crate) fn show(&mut self, tool: &str, arguments: Value) -> Result<()> {
        println!("-> {tool} {arguments}");
        let said = self.call(tool, arguments)?;
        // The first line says of which app.
        for line in said.lines().filter(|line| !line.starts_with('#')) {
            let outcome = line.split_once(',').map(|(outcome, _)| outcome);
            let shown = outcome.filter(|it| *it == "allowed").unwrap_or(line);
            println!("   {shown}");
        }
        Ok(())
    }

    /// Calls a tool, and answers what it says.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<String> {
        let called = json!({"name": tool, "arguments": arguments});
        let result = self.ask("tools/call", called)?;
        let said = result["content"][0]["text"].as_str();
        Ok(said.ok_or("a tool said nothing")?.to_owned())
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        self.asked += 1;
        self.send(
            &json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}),
        )?;
        let mut line = String::new();
        self.lines.read_line(&mut line)?;
        let mut reply: Value = serde_json::from_str(&line)?;
        match reply.get("error") {
            None => Ok(reply["result"].take()),
            Some(error) => Err(format!("{method}: {error}").into()),
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        Ok(writeln!(self.input, "{message}")?)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Beside this program, else in `PATH`.
fn program() -> Result<PathBuf> {
    const NAME: &str = "agent-surface";
    let own = env::current_exe()?;
    let beside = own.parent().map(Path::to_owned);
    let path = env::var_os("PATH").unwrap_or_default();
    let found = beside
        .into_iter()
        .chain(env::split_paths(&path))
        .map(|folder| folder.join(NAME))
        .find(|program| program.is_file());
    Ok(found.ok_or("there is no agent-surface; first: cargo build -p agent-surface")?)
}
