//! `agent-surface describe`: what a model would see, for a person.

use agent_mcp::mcp::{Asked, read_reply};
use agent_wire::Verb;
use serde_json::{Map, json};

use crate::{
    apps::{Apps, say},
    once,
};

pub(crate) fn run(app: Option<&str>) -> Result<(), String> {
    let apps = Apps::glance(None)?;
    let app = apps.choose(app)?;
    let name = apps.name(app);
    let verb = Verb::named("describe_ui").ok_or("describe_ui is no verb of this version")?;
    let asked = Asked::new(verb, Map::new()).map_err(|why| why.to_string())?;

    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "hello",
        "params": {"name": "agent-surface describe"}});
    let describe = json!({"jsonrpc": "2.0", "id": 1, "method": verb.name,
        "params": asked.params()});
    let failed = |why: String| format!("{name}: {why}");
    for line in once::ask(app, &[hello, describe]).map_err(failed)? {
        let Some((id, reply)) = read_reply(&line.map_err(failed)?) else {
            return Err(failed("it answered with no reply".to_owned()));
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
    Err(failed("it quit before it answered".to_owned()))
}
