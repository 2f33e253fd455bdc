//! What is shown with the app: a client in a process of its own, which prints what it asks and
//! what it is told, and the door that is shut on it afterwards.

use std::{
    env,
    error::Error,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use agent_surface::{AuthGate, Decision};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = concat!(
    "usage: ",
    env!("CARGO_BIN_NAME"),
    " [--serve] [--full] [--inspect]
  --serve  keep the app up, and print how to talk to it
  --full   let agents see the whole tree too, to compare
  --inspect  let a developer look at everything, where the toolkit has that:
             `agent-surface inspect`"
);

/// How the app was started.
pub(crate) struct Options {
    serve: bool,
    pub(crate) full: bool,
    pub(crate) door: Door,
}

impl Options {
    /// From the command line. `None`: this process was the client, and is done.
    pub(crate) fn read() -> Result<Option<Self>> {
        let args: Vec<String> = env::args().skip(1).collect();
        let has = |flag: &str| args.iter().any(|arg| arg == flag);
        if let [client, address, ..] = &args[..]
            && client == "--client"
        {
            converse(Path::new(address), has("--full"))?;
            return Ok(None);
        }
        if let Some(odd) = args
            .iter()
            .find(|arg| !["--serve", "--full", "--inspect"].contains(&&***arg))
        {
            return Err(format!("{odd}: no such option\n{USAGE}").into());
        }
        Ok(Some(Self {
            serve: has("--serve"),
            full: has("--full"),
            door: Door(Arc::new(AtomicBool::new(true))),
        }))
    }

    /// Says where the app is served, or has a client talk to it, once through the open door
    /// and once when it is shut, and closes the app by `close`, from a thread of its own.
    pub(crate) fn show(self, address: &Path, close: impl FnOnce() + Send + 'static) {
        let place = address.display();
        if self.serve {
            let line = r#"{"jsonrpc":"2.0","id":1,"method":"describe_ui"}"#;
            println!("Serving at {place}\nTry:");
            println!("  echo '{line}' | socat -t2 - UNIX-CONNECT:{place}");
            return;
        }
        let address = address.to_owned();
        std::thread::spawn(move || {
            println!("== An agent connects ==");
            in_a_process_of_its_own(&address, self.full);
            self.door.0.store(false, Ordering::Relaxed);
            println!("\n== The app shuts its door ==");
            in_a_process_of_its_own(&address, self.full);
            close();
        });
    }
}

/// The simplest of gates: open to everybody of the user's, or to nobody.
pub(crate) struct Door(Arc<AtomicBool>);

impl Door {
    pub(crate) fn gate(&self) -> AuthGate {
        let open = self.0.clone();
        AuthGate::serve(move |_request| match open.load(Ordering::Relaxed) {
            true => Decision::Allow,
            false => Decision::deny("the door is shut"),
        })
    }
}

fn in_a_process_of_its_own(address: &Path, full: bool) {
    let done = env::current_exe().and_then(|program| {
        let mut client = Command::new(program);
        client.arg("--client").arg(address);
        client.args(full.then_some("--full")).status()
    });
    if let Err(error) = done {
        eprintln!("the client could not be started: {error}");
    }
}

/// A connection: a line out, a line back.
struct Agent {
    lines: BufReader<UnixStream>,
    asked: u64,
}

impl Agent {
    fn connect(address: &Path) -> Result<Self> {
        let lines = BufReader::new(UnixStream::connect(address)?);
        Ok(Self { lines, asked: 0 })
    }

    /// Asks, and prints what is asked and what comes back, but for what frames every message.
    /// Answers the result, or `Null` for an error.
    fn ask(&mut self, what: &str, method: &str, params: Value) -> Result<Value> {
        self.asked += 1;
        println!("\n# {what}\n-> {method} {params}");
        let request =
            json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        writeln!(self.lines.get_mut(), "{request}")?;
        let mut line = String::new();
        self.lines.read_line(&mut line)?;
        let mut reply: Value = serde_json::from_str(&line)?;
        if let Some(error) = reply.get("error") {
            println!("<- error {}: {}", error["data"]["reason"], error["message"]);
            return Ok(Value::Null);
        }
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

/// The conversation, once. `full`: the app armed the whole tree, so look at that as well.
fn converse(address: &Path, full: bool) -> Result<()> {
    let mut agent = Agent::connect(address)?;
    let exposed = json!({"include": ["value", "state"]});
    agent.ask("What is here?", "describe_ui", exposed)?;
    if full {
        let whole = json!({"mode": "full"});
        agent.ask("The whole tree, which the app armed.", "describe_ui", whole)?;
    }
    let save = || json!({"id": "save-btn"});
    agent.ask("Press Save; the app's own handler runs.", "click", save())?;
    let field = json!({"id": "name-field"});
    let read = agent.ask("Read the field, and its version.", "get_text", field)?;
    let version = read["version"].as_u64().unwrap_or(1);
    let edit = || json!({"id": "name-field", "value": "Ada", "base_version": version});
    agent.ask("Write to it.", "set_text", edit())?;
    agent.ask(
        "The same edit again: its version is stale by now.",
        "set_text",
        edit(),
    )?;
    agent.ask("Press Save again.", "click", save())?;
    let caption = json!({"id": "main/text#0"});
    agent.ask(
        "Read the caption that has no tag, by its place.",
        "get_text",
        caption,
    )?;
    Ok(())
}
