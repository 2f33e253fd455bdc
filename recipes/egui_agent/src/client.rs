//! The agent's side: a client in a process of its own, which prints what it asks and what it
//! is told.

use std::{
    error::Error,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
};

use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A connection: a line out, a line back.
struct Agent {
    lines: BufReader<UnixStream>,
    asked: u64,
}

impl Agent {
    fn connect(address: &Path) -> Result<Self> {
        let stream = UnixStream::connect(address)?;
        Ok(Self {
            lines: BufReader::new(stream),
            asked: 0,
        })
    }

    /// Asks, prints both lines but for the frame that every message has, and answers the
    /// result, or `Null` for an error.
    fn ask(&mut self, what: &str, method: &str, params: Value) -> Result<Value> {
        self.asked += 1;
        println!("\n# {what}\n-> {method} {params}");
        let request = json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        self.lines.get_mut().write_all(format!("{request}\n").as_bytes())?;
        let mut line = String::new();
        self.lines.read_line(&mut line)?;
        let mut reply: Value = serde_json::from_str(&line)?;
        match reply.get("error") {
            Some(error) => {
                println!("<- error {} {}: {}", error["code"], error["data"]["reason"], error["message"]);
                Ok(Value::Null)
            }
            None => {
                let result = reply["result"].take();
                match result["nodes"].as_array() {
                    Some(nodes) => {
                        println!("<- revision {}, {} nodes", result["revision"], nodes.len());
                        nodes.iter().take(12).for_each(|node| println!("   {node}"));
                        if nodes.len() > 12 {
                            println!("   and {} more", nodes.len() - 12);
                        }
                    }
                    None => println!("<- {result}"),
                }
                Ok(result)
            }
        }
    }
}

/// The conversation, once. `full`: the app armed the whole tree, so look at that as well.
pub fn converse(address: &Path, full: bool) -> Result<()> {
    let mut agent = Agent::connect(address)?;
    agent.ask("What is here?", "describe_ui", json!({"include": ["value", "state"]}))?;
    if full {
        let whole = json!({"mode": "full"});
        agent.ask("And the whole tree, which the app armed?", "describe_ui", whole)?;
    }
    agent.ask("Press Save; the app's own handler runs.", "click", json!({"id": "save-btn"}))?;
    let read = agent.ask("Read the field, and its version.", "get_text", json!({"id": "name-field"}))?;
    let edit = json!({"id": "name-field", "value": "Ada", "base_version": read["version"].as_u64().unwrap_or(1)});
    agent.ask("Write to it.", "set_text", edit.clone())?;
    agent.ask("The same edit again: its version is stale by now.", "set_text", edit)?;
    agent.ask("Press Save again.", "click", json!({"id": "save-btn"}))?;
    let caption = json!({"id": "main/text#0"});
    agent.ask("Read the caption that has no tag, by its place.", "get_text", caption)?;
    Ok(())
}

/// A line to try by hand.
pub const EXAMPLE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"describe_ui"}"#;

/// Holds the conversation in a second process, and waits for its end.
pub fn in_a_process_of_its_own(address: &Path, full: bool) {
    let status = std::env::current_exe().and_then(|program| {
        let mut client = std::process::Command::new(program);
        client.arg("--client").arg(address).args(full.then_some("--full"));
        client.status()
    });
    if let Err(error) = status {
        eprintln!("the client could not be started: {error}");
    }
}
