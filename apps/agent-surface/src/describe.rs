//! `agent-surface describe`: what a model would see, for a person.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    time::Duration,
};

use agent_mcp::mcp::{Asked, read_reply};
use agent_wire::Verb;
use serde_json::{Map, json};

use crate::{
    apps::{Apps, say},
    mcp::MAX_REPLY,
};

/// Longer than an app takes to say that it is busy.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn run(app: Option<&str>) -> Result<(), String> {
    let apps = Apps::glance(None)?;
    let app = apps.choose(app)?;
    let name = apps.name(app);
    let failed = |what: &str, why: &dyn std::fmt::Display| format!("{name}: {what}: {why}");
    let verb = Verb::named("describe_ui").ok_or("describe_ui is no verb of this version")?;
    let asked = Asked::new(verb, Map::new()).map_err(|why| why.to_string())?;

    let mut stream = app
        .connect()
        .map_err(|why| failed("could not connect", &why))?;
    let io = |why: std::io::Error| failed("could not ask", &why);
    stream.set_read_timeout(Some(PATIENCE)).map_err(io)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(io)?;
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "hello",
        "params": {"name": "agent-surface describe"}});
    let describe = json!({"jsonrpc": "2.0", "id": 1, "method": verb.name,
        "params": asked.params()});
    stream
        .write_all(format!("{hello}\n{describe}\n").as_bytes())
        .map_err(io)?;
    let lines = BufReader::new(stream).take(2 * MAX_REPLY as u64);
    for line in lines.split(b'\n') {
        let Some((id, reply)) = read_reply(&line.map_err(io)?) else {
            return Err(format!("{name}: it answered with no reply"));
        };
        if id == Some(agent_wire::RequestId::Int(0)) {
            continue;
        }
        let said = asked.said(&reply, Some(&name));
        if said.is_error {
            return Err(said.text);
        }
        say(&said.text);
        return Ok(());
    }
    Err(format!("{name}: it quit before it answered"))
}
