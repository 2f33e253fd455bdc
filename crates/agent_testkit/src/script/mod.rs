//! Plays the steps of a case: over the real socket, on a thread of its own, with as many
//! connections as the case names.

mod connection;
mod secrets;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use agent_test_support::Random;
use serde_json::{Map, Value, json};

use crate::{
    case::{AppStep, Case, Step, What},
    control::Control,
    fixture::Options,
    json as text,
    matching::{Variables, matches, substitute},
};

use connection::{Connection, Missing};
use secrets::Secrets;

/// How long after the last step a reply that nobody asked for still fails the case.
const LINGER: Duration = Duration::from_millis(30);

/// Where a case failed, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The step, as `steps[3]`; inside a repetition, with the round.
    pub step: String,
    /// The step, as it is written.
    pub json: String,
    /// What was expected, and what came.
    pub why: String,
    /// The tree as an agent sees it.
    pub agents_tree: String,
    /// The whole tree.
    pub whole_tree: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "in {}: {}", self.step, text::cut(&self.json, 2000))?;
        for line in self.why.lines() {
            writeln!(f, "  {line}")?;
        }
        for (title, tree) in [
            ("as the agent sees it", &self.agents_tree),
            ("the whole tree", &self.whole_tree),
        ] {
            writeln!(f, "  {title}:")?;
            for line in tree.lines() {
                writeln!(f, "    {line}")?;
            }
        }
        Ok(())
    }
}

/// Plays a case against the app that listens at `address`.
///
/// # Errors
/// Where it failed.
pub fn play(
    case: &Case,
    address: &Path,
    control: &Control,
    options: &Options,
) -> Result<(), Box<Failure>> {
    let mut player = Player {
        address: address.to_owned(),
        control: control.clone(),
        patience: options.step,
        status: options.status.clone(),
        shake: options.shake.map(Random),
        secrets: Arc::new(Secrets::new(&case.never_on_the_wire)),
        connections: BTreeMap::new(),
        variables: Variables::new(),
        later: HashMap::new(),
        sent: 0,
    };
    let begun = player.connect("a", None);
    let played = begun
        .map_err(|why| ("at the start".to_owned(), String::new(), why))
        .and_then(|()| player.steps(&case.steps, ""))
        .and_then(|()| {
            player
                .linger()
                .map_err(|why| ("after the last step".to_owned(), String::new(), why))
        });
    played.map_err(|(step, json, why)| {
        Box::new(Failure {
            step,
            json,
            why,
            agents_tree: player.agents_tree(),
            whole_tree: control
                .whole_tree()
                .unwrap_or_else(|why| format!("({why})")),
        })
    })
}

/// Step, as it is written, why.
type Failed = (String, String, String);

struct Player {
    address: PathBuf,
    control: Control,
    patience: Duration,
    status: Option<PathBuf>,
    shake: Option<Random>,
    secrets: Arc<Secrets>,
    connections: BTreeMap<String, Connection>,
    variables: Variables,
    /// On which connection, and under which id, something was sent to be awaited later.
    later: HashMap<String, (String, Value)>,
    sent: u64,
}

impl Player {
    fn steps(&mut self, steps: &[Step], round: &str) -> Result<(), Failed> {
        for step in steps {
            if let What::Repeat { times, steps } = &step.what {
                for n in 1..=*times {
                    self.steps(steps, &format!("{round} (round {n} of {times})"))?;
                }
                continue;
            }
            let name = format!("{}{round}", step.at);
            let json = step.json.to_string();
            if let Some(status) = &self.status {
                // Read by whoever ends this process, should it hang here.
                let _ = std::fs::write(status, format!("{name}: {json}"));
            }
            self.disturb();
            self.step(&step.what)
                .and_then(|()| self.no_strays())
                .map_err(|why| (name, json, why))?;
        }
        Ok(())
    }

    fn disturb(&mut self) {
        if let Some(random) = &mut self.shake
            && random.below(2) == 0
        {
            let time = Duration::from_micros(random.below(8000) as u64);
            self.control.rest(time);
        }
    }

    fn step(&mut self, what: &What) -> Result<(), String> {
        match what {
            What::Send {
                on,
                message,
                expect,
            } => {
                let id = self.send(on, message)?;
                self.reply(on, &[id], expect)
            }
            What::Later { on, message, name } => {
                let id = self.send(on, message)?;
                self.later.insert(name.clone(), (on.clone(), id));
                Ok(())
            }
            What::Await { name, expect } => match self.later.remove(name) {
                Some((on, id)) => self.reply(&on, &[id], expect),
                None => Err(format!("nothing was sent to be awaited as {name:?}")),
            },
            What::Raw {
                on,
                text,
                newline,
                expect,
            } => {
                let ids = raw_ids(text);
                let connection = self.on(on)?;
                if expect.is_some() {
                    // Under its own id or under null, but one reply.
                    connection.expect(ids[0].clone());
                }
                connection.send(text, *newline)?;
                match expect {
                    Some(expect) => self.reply(on, &ids, expect),
                    None => Ok(()),
                }
            }
            What::ExpectEvent { on, expect } => self.expect_event(on, expect),
            What::ExpectQuiet { on, ms } => {
                let time = Duration::from_millis(*ms);
                match self.on(on)?.listen(time) {
                    Ok(None) => Ok(()),
                    Ok(Some(event)) => Err(format!(
                        "expected no event for {ms} ms\nreceived {}",
                        text::short(&event, 2000)
                    )),
                    Err(missing) => Err(self.missing(missing, "quiet")),
                }
            }
            What::ExpectClosed(on) => {
                let until = Instant::now() + self.patience;
                match self.on(on)?.wait_closed(until) {
                    Ok(()) => Ok(()),
                    Err(missing) => Err(self.missing(missing, "the server to end the connection")),
                }
            }
            What::User(person) => self.control.person(person.clone()),
            What::App(app) => self.app(app),
            What::Connect { name, claims } => self.connect(name, claims.as_deref()),
            What::Disconnect(name) => match self.connections.remove(name) {
                Some(connection) => {
                    connection.shut();
                    Ok(())
                }
                None => Err(format!("there is no connection {name:?}")),
            },
            What::Sleep(ms) => {
                std::thread::sleep(Duration::from_millis(*ms));
                Ok(())
            }
            // Unrolled by `steps`.
            What::Repeat { .. } => Ok(()),
        }
    }

    fn on(&mut self, name: &str) -> Result<&mut Connection, String> {
        self.connections
            .get_mut(name)
            .ok_or_else(|| format!("there is no connection {name:?}"))
    }

    fn connect(&mut self, name: &str, claims: Option<&str>) -> Result<(), String> {
        let connection = Connection::open(&self.address, self.secrets.clone())?;
        self.connections.insert(name.to_owned(), connection);
        if let Some(claims) = claims {
            let message = json!({"method": "hello", "params": {"name": claims}});
            let message = message.as_object().cloned().unwrap_or_default();
            let id = self.send(name, &message)?;
            // It may be refused: the name is heard all the same.
            self.reply(name, &[id], &json!({}))?;
        }
        Ok(())
    }

    fn send(&mut self, on: &str, message: &Map<String, Value>) -> Result<Value, String> {
        self.sent += 1;
        let mut filled = Map::new();
        filled.insert("jsonrpc".into(), "2.0".into());
        filled.insert("id".into(), (100_000 + self.sent).into());
        for (key, value) in message {
            filled.insert(key.clone(), substitute(value, &self.variables));
        }
        let id = filled.get("id").cloned().unwrap_or(Value::Null);
        let connection = self.on(on)?;
        connection.expect(id.clone());
        connection.send(&Value::Object(filled).to_string(), true)?;
        Ok(id)
    }

    fn reply(&mut self, on: &str, ids: &[Value], expect: &Value) -> Result<(), String> {
        let until = Instant::now() + self.patience;
        let reply = match self.on(on)?.reply(ids, until) {
            Ok(reply) => reply,
            Err(missing) => {
                return Err(self.missing(missing, &format!("a reply to {}", ids[0])));
            }
        };
        matches(expect, &reply, &mut self.variables)
            .map_err(|mismatch| format!("{mismatch}\nin the reply {}", text::short(&reply, 4000)))
    }

    fn expect_event(&mut self, on: &str, expect: &Value) -> Result<(), String> {
        let until = Instant::now() + self.patience;
        let mut variables = self.variables.clone();
        let mut passed_over = Vec::new();
        let heard = self.on(on)?.event(until, |event| {
            let fits = matches(expect, event, &mut variables).is_ok();
            if !fits {
                passed_over.push(event.clone());
            }
            fits
        });
        self.variables = variables;
        heard.map_err(|missing| {
            format!(
                "{}\npassed over {}",
                self.missing(missing, &format!("an event that matches {expect}")),
                text::short(&Value::from(passed_over), 2000)
            )
        })
    }

    fn missing(&self, missing: Missing, what: &str) -> String {
        match missing {
            Missing::Timeout => format!(
                "expected {what}\nreceived nothing within {:?}",
                self.patience
            ),
            Missing::Closed => format!("expected {what}\nreceived the end of the connection"),
            Missing::Bad(why) => why,
        }
    }

    fn app(&mut self, app: &AppStep) -> Result<(), String> {
        if let Some(consent) = app.consent {
            self.control.consent(consent);
        }
        if app.revoke {
            self.control.revoke();
        }
        if let Some(answer) = app.answer {
            self.control.answer(answer)?;
        }
        if !app.effects.is_empty() {
            self.control.effects(app.effects.clone())?;
        }
        for (name, expected) in &app.counters {
            let counted = self.control.counter(name);
            if counted != *expected {
                return Err(format!(
                    "the counter {name:?}\nexpected {expected}\nreceived {counted}"
                ));
            }
        }
        if let Some(expected) = &app.prompts {
            let (open, shown) = self.control.prompts();
            let prompts = json!({"open": open, "shown": shown});
            matches(expected, &prompts, &mut self.variables)
                .map_err(|mismatch| format!("the questions {prompts}: {mismatch}"))?;
        }
        Ok(())
    }

    fn no_strays(&self) -> Result<(), String> {
        let strays = self.connections.iter();
        strays
            .filter_map(|(name, connection)| Some((name, connection.stray()?)))
            .map(|(name, stray)| format!("on connection {name}: {stray}"))
            .next()
            .map_or(Ok(()), Err)
    }

    fn linger(&self) -> Result<(), String> {
        std::thread::sleep(LINGER);
        self.no_strays()
    }

    /// What an agent is shown, by a connection of its own.
    fn agents_tree(&self) -> String {
        let look = || -> Result<Value, String> {
            let mut connection = Connection::open(&self.address, Arc::default())?;
            let id = Value::from("the report");
            connection.expect(id.clone());
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "describe_ui",
                "params": {"include": ["value", "state"], "timeout_ms": 1000}});
            connection.send(&request.to_string(), true)?;
            let until = Instant::now() + self.patience.min(Duration::from_secs(2));
            match connection.reply(&[id], until) {
                Ok(reply) => Ok(reply),
                Err(missing) => Err(self.missing(missing, "a description")),
            }
        };
        match look() {
            Ok(reply) => outline(&reply),
            Err(why) => format!("({why})"),
        }
    }
}

/// The ids that a reply to a raw line may have: its own, and null.
fn raw_ids(line: &str) -> Vec<Value> {
    let line = line.trim_start_matches('\u{feff}').trim();
    let own = serde_json::from_str::<Value>(line)
        .ok()
        .and_then(|value| value.get("id").cloned())
        .filter(|id| id.is_string() || id.is_i64() || id.is_u64());
    own.into_iter().chain([Value::Null]).collect()
}

/// A description, a line a node.
fn outline(reply: &Value) -> String {
    let Some(nodes) = reply.pointer("/result/nodes").and_then(Value::as_array) else {
        return text::short(reply, 2000);
    };
    let mut depths: Vec<usize> = Vec::new();
    let mut lines = String::new();
    for node in nodes {
        let parent = node.get("parent").and_then(Value::as_u64);
        let depth = parent.map_or(0, |parent| {
            depths.get(parent as usize).map_or(0, |depth| depth + 1)
        });
        depths.push(depth);
        let word = |key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default();
        lines += &"  ".repeat(depth);
        lines += &format!("{} {:?} [{}]", word("role"), word("name"), word("id"));
        if let Some(value) = node.get("value") {
            lines += &format!(" ={}", text::short(value, 80));
        }
        let states = node.get("state").and_then(Value::as_array);
        for state in states.into_iter().flatten().filter_map(Value::as_str) {
            lines += " ";
            lines += state;
        }
        if node.get("actionable") != Some(&Value::Bool(true)) {
            lines += " !";
        }
        lines += "\n";
    }
    lines
}
