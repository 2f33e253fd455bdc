//! `agent-surface describe`: what a model would see, for a person.

use std::time::{Duration, Instant};

use agent_mcp::mcp::{Asked, read_reply};
use agent_wire::{Reason, Verb};
use serde_json::{Map, json};

use crate::{
    apps::{Apps, say},
    once::Once,
};

/// How long the user has to answer a question about this program.
const ANSWERED_WITHIN: Duration = Duration::from_secs(120);

/// How often it is asked again meanwhile.
const AGAIN: Duration = Duration::from_millis(500);

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
    let mut once = Once::to(app).map_err(failed)?;
    once.send(&hello).map_err(failed)?;
    once.send(&describe).map_err(failed)?;
    let begun = Instant::now();
    let mut told = false;
    loop {
        let line = once.line().map_err(failed)?;
        let Some((id, reply)) = read_reply(&line) else {
            return Err(failed("it answered with no reply".to_owned()));
        };
        if id == Some(agent_wire::RequestId::Int(0)) {
            continue;
        }
        // The question is there as long as who asked is: the user is to have time to answer.
        if let Err(failure) = &reply
            && failure.reason == Reason::ConsentPending
            && begun.elapsed() < ANSWERED_WITHIN
        {
            if !std::mem::replace(&mut told, true) {
                eprintln!("agent-surface: {name} asks its user whether you may; answer there");
            }
            std::thread::sleep(AGAIN);
            once.send(&describe).map_err(failed)?;
            continue;
        }
        let said = asked.said(&reply, Some(&name));
        if said.is_error {
            return Err(said.text);
        }
        say(&said.text);
        return Ok(());
    }
}
