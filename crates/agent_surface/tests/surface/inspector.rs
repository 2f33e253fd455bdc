//! What a developer's inspector is told, and that nothing of it shows in what agents are.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use agent_surface::{
    AuthGate, Decision, Scope, Surface, Tag, Verb,
    consent::{Consent, Mode, Rule, Store},
    egui::{AgentUi as _, AgentWidget as _, Role},
    headless::{Headless, Tree, Widget},
};
use agent_test_support::{Client, TempDir, allow, folder, reason};
use serde_json::{Value, json};

use crate::windowless::Windowless;

/// A served app, and what keeps it up.
pub(crate) struct Served {
    pub(crate) surface: Surface,
    _folder: TempDir,
    egui: Option<Windowless<Form>>,
    pub(crate) headless: Option<Headless>,
}

impl Served {
    pub(crate) fn client(&self) -> Client {
        Client::connect(self.surface.address().unwrap())
    }
}

/// The same small form in both toolkits: a named field, a secret, buttons of several kinds, rows,
/// and a panel that governs agents.
fn build(tree: &mut Tree) {
    tree.open_window(
        Widget::window("Form").tag("main").children([
            Widget::text_field("Customer")
                .tag("name")
                .value("Ada")
                .named("name"),
            Widget::text_field("Password")
                .tag(Tag::id("password").secret())
                .value("hunter2")
                .named("password"),
            Widget::button("Save").tag("save").on_click(|_, _| {}),
            Widget::button("Untagged"),
            Widget::button("Twice").tag("twice"),
            Widget::button("Twice again").tag("twice"),
            Widget::button("Kept").tag(Tag::id("kept").exposed(false)),
            Widget::new(agent_surface::headless::Kind::Group)
                .tag(Tag::new().excluded())
                .child(Widget::button("Allow the agent").tag("allow")),
            Widget::new(agent_surface::headless::Kind::Group)
                .tag(Tag::id("danger").ceiling([Verb::Focus]))
                .child(
                    Widget::button("Delete")
                        .tag(Tag::id("delete").confirm())
                        .enabled(false),
                ),
        ]),
    );
}

struct Form {
    name: String,
    password: String,
    more: bool,
}

impl Form {
    fn new() -> Self {
        Self {
            name: "Ada".into(),
            password: "hunter2".into(),
            more: false,
        }
    }
}

fn draw(ui: &mut egui::Ui, form: &mut Form) {
    ui.agent_window(Tag::id("main").label("Form"));
    let label = ui.label("Customer");
    ui.add(egui::TextEdit::singleline(&mut form.name).agent_id("name"))
        .labelled_by(label.id);
    let label = ui.label("Password");
    ui.add(egui::TextEdit::singleline(&mut form.password).agent(Tag::id("password").secret()))
        .labelled_by(label.id);
    ui.add(egui::Button::new("Save").agent_id("save"));
    ui.add(egui::Button::new("Untagged"));
    ui.add(egui::Button::new("Twice").agent_id("twice"));
    ui.add(egui::Button::new("Twice again").agent_id("twice"));
    ui.add(egui::Button::new("Kept").agent(Tag::id("kept").exposed(false)));
    ui.agent_tagged(Tag::new().excluded(), |ui| {
        ui.add(egui::Button::new("Allow the agent").agent_id("allow"));
    });
    let danger = Tag::id("danger").role(Role::Group).ceiling([Verb::Focus]);
    ui.agent_tagged(danger, |ui| {
        let delete = egui::Button::new("Delete").agent(Tag::id("delete").confirm());
        ui.add_enabled(false, delete);
    });
    if form.more {
        ui.label("More");
    }
}

pub(crate) fn headless(gate: AuthGate, armed: bool) -> Served {
    let folder = folder();
    let app = Headless::start("form", build);
    let mut builder = Surface::builder("form").gate(gate).headless(&app);
    if armed {
        builder = builder.arm_inspector();
    }
    let surface = builder.at(folder.path().join("form.sock")).serve().unwrap();
    Served {
        surface,
        _folder: folder,
        egui: None,
        headless: Some(app),
    }
}

pub(crate) fn egui(gate: AuthGate, armed: bool) -> Served {
    let folder = folder();
    let app = Windowless::start(Form::new(), draw);
    let mut builder = Surface::builder("form").gate(gate).egui(&app.ctx);
    if armed {
        builder = builder.arm_inspector();
    }
    let surface = builder.at(folder.path().join("form.sock")).serve().unwrap();
    Served {
        surface,
        _folder: folder,
        egui: Some(app),
        headless: None,
    }
}

pub(crate) type Serve = fn(AuthGate, bool) -> Served;
pub(crate) const BOTH: [(&str, Serve); 2] = [("headless", headless), ("egui", egui)];

pub(crate) fn tree(client: &mut Client) -> Vec<Value> {
    let tree = client.get("inspector.tree", json!({"timeout_ms": 20_000}));
    assert_eq!(tree["complete"], true, "{tree}");
    tree["nodes"].as_array().unwrap().clone()
}

/// The handle of the first node of this name.
pub(crate) fn handle(nodes: &[Value], name: &str) -> u64 {
    // Not the label that names it.
    let called = |node: &&Value| node["name"] == name;
    let control = |node: &&Value| called(node) && node["role"] != "text";
    let found = nodes.iter().find(control).or(nodes.iter().find(called));
    let found = found.unwrap_or_else(|| panic!("no {name:?} in {nodes:#?}"));
    found["node"].as_u64().unwrap()
}

pub(crate) const METHODS: &[&str] = &[
    "tree",
    "node",
    "highlight",
    "pick",
    "screenshot",
    "agent_view",
    "lint",
    "log",
    "consent",
];

#[test]
fn unarmed_it_is_unknown_like_any_other_word() {
    for (kind, serve) in BOTH {
        let served = serve(allow(), false);
        let mut client = served.client();
        for method in METHODS {
            let reply = client.ask(&format!("inspector.{method}"), json!({"node": 1}));
            assert_eq!(reason(&reply), "method_not_found", "{kind} {reply}");
        }
        let hello = client.get("hello", json!({}));
        assert_eq!(hello["armed"], json!([]), "{kind}");
    }
}

#[test]
fn rule_2_a_yes_to_an_agent_is_no_yes_to_the_inspector() {
    let gate = || {
        AuthGate::serve(|request| match request.scope {
            Scope::Surface | Scope::Full => Decision::Allow,
            Scope::Inspector => Decision::deny("no inspector here"),
        })
    };
    for (kind, serve) in BOTH {
        let served = serve(gate(), true);
        let mut client = served.client();
        client.get("describe_ui", json!({}));
        for method in METHODS {
            let params = match *method {
                "node" | "agent_view" => json!({"node": 1}),
                _ => json!({}),
            };
            let reply = client.ask(&format!("inspector.{method}"), params);
            assert_eq!(reason(&reply), "consent_denied", "{kind} {reply}");
        }
    }
}

#[test]
fn the_whole_tree_is_told_but_for_what_is_excluded() {
    for (kind, serve) in BOTH {
        let served = serve(allow(), true);
        let mut client = served.client();
        let nodes = tree(&mut client);
        for name in ["Save", "Untagged", "Kept", "Delete", "Customer"] {
            handle(&nodes, name);
        }
        let said = json!(nodes).to_string();
        assert!(!said.contains("Allow the agent"), "{kind}: {said}");
        assert!(!said.contains("hunter2"), "{kind}: {said}");
        let shown: Vec<&str> = nodes
            .iter()
            .filter(|node| node["shown"] == true)
            .filter_map(|node| node["id"].as_str())
            .collect();
        let expected = [
            "main", "name", "password", "save", "twice", "twice", "danger", "delete",
        ];
        assert_eq!(shown, expected, "{kind}");
        // Each after what it is in.
        for (at, node) in nodes.iter().enumerate() {
            let parent = &node["parent"];
            let before = nodes[..at].iter().any(|other| other["node"] == *parent);
            assert!(parent.is_null() || before, "{kind}: {node}");
        }
    }
}

#[test]
fn since_tells_what_changed() {
    let mut served = egui(allow(), true);
    let mut client = served.client();
    let whole = client.get("inspector.tree", json!({}));
    let since = |client: &mut Client, since: &Value| {
        client.get("inspector.tree", json!({ "since": since }))
    };
    let same = since(&mut client, &whole["revision"]);
    assert_eq!(same["revision"], whole["revision"]);
    assert_eq!(
        (&same["changed"], &same["removed"]),
        (&json!([]), &json!([]))
    );
    let app = served.egui.as_mut().unwrap();
    app.change(|form| form.more = true);
    let more = since(&mut client, &whole["revision"]);
    let added = more["changed"].as_array().unwrap();
    let label = handle(added, "More");
    app.change(|form| form.more = false);
    let less = since(&mut client, &more["revision"]);
    assert_eq!(less["removed"], json!([label]), "{less}");
    // What is not known any more is told as a whole.
    let odd = since(&mut client, &json!(1_000_000));
    assert!(odd["nodes"].is_array() && odd["since"].is_null(), "{odd}");
    let handles = |nodes: &Value| -> Vec<u64> {
        let nodes = nodes.as_array().unwrap().iter();
        nodes.map(|node| node["node"].as_u64().unwrap()).collect()
    };
    assert_eq!(
        handles(&odd["nodes"]),
        handles(&whole["nodes"]),
        "handles stay"
    );
}

#[test]
fn a_tree_comes_in_pages_that_make_the_whole() {
    for (kind, serve) in BOTH {
        let served = serve(allow(), true);
        let mut client = served.client();
        let whole = client.get("inspector.tree", json!({}));
        let pages = |client: &mut Client, since: Option<&Value>| {
            let (mut pages, mut from) = (Vec::new(), Value::Null);
            loop {
                let mut params = json!({"limit": 3});
                if let Some(since) = since {
                    params["since"] = since.clone();
                }
                if !from.is_null() {
                    params["from"] = from;
                }
                let page = client.get("inspector.tree", params);
                from = page["next"].clone();
                assert_eq!(page["complete"], from.is_null(), "{kind} {page}");
                pages.push(page);
                if from.is_null() {
                    return pages;
                }
            }
        };
        let told = |pages: &[Value], field: &str| {
            let nodes = pages
                .iter()
                .flat_map(|page| page[field].as_array().unwrap());
            let mut nodes: Vec<Value> = nodes.cloned().collect();
            nodes.sort_by_key(|node| node["node"].as_u64());
            nodes
        };
        let all = told(std::slice::from_ref(&whole), "nodes");
        let read = pages(&mut client, None);
        assert!(
            read.iter()
                .all(|page| page["nodes"].as_array().unwrap().len() <= 3)
        );
        assert_eq!(told(&read, "nodes"), all, "{kind}");
        // Nothing has changed since the first of them.
        let since = read[0]["revision"].clone();
        let changes = pages(&mut client, Some(&since));
        assert_eq!(told(&changes, "changed"), [] as [Value; 0], "{kind}");
        // And so do changes, all of them since a revision that is not known.
        let read = pages(&mut client, Some(&json!(1_000_000)));
        assert_eq!(told(&read, "nodes"), all, "{kind}");
        let reply = client.ask("inspector.tree", json!({"limit": 0}));
        assert_eq!(reason(&reply), "invalid_params", "{kind} {reply}");
    }
}

#[test]
fn what_changes_between_two_pages_is_told_after_the_last() {
    let mut served = egui(allow(), true);
    let mut client = served.client();
    let first = client.get("inspector.tree", json!({"limit": 2}));
    let app = served.egui.as_mut().unwrap();
    app.change(|form| form.more = true);
    // Somebody else looks, so that what is known moves on.
    served.client().get("inspector.tree", json!({}));
    let rest = json!({"from": first["next"]});
    let rest = client.get("inspector.tree", rest);
    assert_eq!(rest["complete"], true, "{rest}");
    let since = json!({"since": first["revision"]});
    let changes = client.get("inspector.tree", since);
    handle(changes["changed"].as_array().unwrap(), "More");
}

#[test]
fn what_the_user_has_decided_is_told_where_rules_decide() {
    let folder = folder();
    let rules = folder.path().join("rules");
    let store = Store::at(&rules);
    let rule = |name: &str, allow| Rule {
        app: "form".into(),
        scope: Scope::Surface,
        agent: format!("path:/usr/bin/{name}"),
        name: name.into(),
        program: Some(format!("/usr/bin/{name}")),
        content: None,
        evidence: vec![format!("/usr/bin/{name}"), "started by a shell".into()],
        allow,
        since: 1_700_000_000,
        until: None,
        last_used: None,
        uses: 0,
    };
    let used = Rule {
        last_used: Some(1_700_000_100),
        uses: 3,
        ..rule("ada", true)
    };
    let limited = Rule {
        until: Some(u64::from(u32::MAX)),
        scope: Scope::Full,
        ..rule("bob", false)
    };
    let over = Rule {
        until: Some(1_700_000_001 - 1_000_000_000),
        ..rule("eve", true)
    };
    for rule in [&used, &limited, &over] {
        store.save(rule).unwrap();
    }
    let consent = Consent::builder("form")
        .mode(Mode::AllowAll)
        .rules_dir(&rules)
        .no_log()
        .build();
    for (kind, serve) in BOTH {
        let served = serve(consent.gate(), true);
        let told = served.client().get("inspector.consent", json!({}));
        let expected = json!({
            "by": "consent", "mode": "allow_all", "complete": true,
            "rules": [
                {
                    "rule": used.id().as_str(), "name": "ada", "agent": "path:/usr/bin/ada",
                    "program": "/usr/bin/ada",
                    "evidence": ["/usr/bin/ada", "started by a shell"],
                    "scope": "surface", "allow": true, "stored": true,
                    "since_ms": 1_700_000_000_000_u64, "last_used_ms": 1_700_000_100_000_u64,
                    "uses": 3,
                },
                {
                    "rule": limited.id().as_str(), "name": "bob", "agent": "path:/usr/bin/bob",
                    "program": "/usr/bin/bob",
                    "evidence": ["/usr/bin/bob", "started by a shell"],
                    "scope": "full", "allow": false, "stored": true,
                    "since_ms": 1_700_000_000_000_u64,
                    "until_ms": u64::from(u32::MAX) * 1_000, "uses": 0,
                },
            ],
        });
        assert_eq!(told, expected, "{kind}");
        // Behind a policy of its own an app decides by itself, and nothing can be read.
        let own = serve(allow(), true);
        let told = own.client().get("inspector.consent", json!({}));
        let nothing = json!({"by": "app", "rules": [], "complete": true});
        assert_eq!(told, nothing, "{kind}");
    }
}

#[test]
fn rule_8_properties_are_told_and_secrets_are_withheld() {
    for (kind, serve) in BOTH {
        let served = serve(allow(), true);
        let mut client = served.client();
        let nodes = tree(&mut client);
        let mut properties = |name: &str| {
            let node = handle(&nodes, name);
            let told = client.get("inspector.node", json!({ "node": node }));
            assert_eq!(told["node"], node);
            let properties = told["properties"].as_array().unwrap().clone();
            assert!(properties.len() > 10, "{kind} {told}");
            let typed = |it: &Value| it["name"].is_string() && it["type"].is_string();
            assert!(properties.iter().all(typed), "{kind} {told}");
            properties
        };
        let holds = |properties: &[Value], value: &str| {
            properties.iter().any(|property| property["value"] == value)
        };
        assert!(holds(&properties("Customer"), "Ada"), "{kind}");
        let secret = properties("Password");
        assert!(!json!(secret).to_string().contains("hunter2"), "{kind}");
        let withheld = secret.iter().filter(|it| it["withheld"] == true).count();
        assert!(withheld > 0, "{kind} {secret:?}");
        let reply = client.ask("inspector.node", json!({"node": u64::MAX}));
        assert_eq!(reason(&reply), "invalid_params", "{kind} {reply}");
    }
}

#[test]
fn why_an_agent_sees_a_node_or_not() {
    for (kind, serve) in BOTH {
        let served = serve(allow(), true);
        let mut client = served.client();
        let nodes = tree(&mut client);
        let mut view = |name: &str| {
            let node = handle(&nodes, name);
            client.get("inspector.agent_view", json!({ "node": node }))
        };
        let verb = |view: &Value, verb: &str| {
            let verbs = view["verbs"].as_array().unwrap().iter();
            let mut verdicts = verbs.filter(|it| it["verb"] == verb);
            let verdict = verdicts.next().unwrap();
            let why = verdict["why"].as_str().map(|why| format!(": {why}"));
            format!(
                "{}{}",
                verdict["outcome"].as_str().unwrap(),
                why.unwrap_or_default()
            )
        };
        let save = view("Save");
        assert_eq!(save["exposed"]["why"], "shown", "{kind} {save}");
        assert_eq!(
            (&save["id"], &save["id_from"]),
            (&json!("save"), &json!("tag"))
        );
        assert!(
            save["place"].as_str().unwrap().ends_with("/button#0"),
            "{kind} {save}"
        );
        assert_eq!(verb(&save, "click"), "allowed", "{kind}");
        assert_eq!(
            verb(&save, "set_text"),
            "not_actionable: not_offered",
            "{kind}"
        );
        assert_eq!(save["narrowed"], json!([]));
        let untagged = view("Untagged");
        assert_eq!(untagged["exposed"]["why"], "no_tag", "{kind}");
        assert_eq!(verb(&untagged, "click"), "not_found", "{kind}");
        assert_eq!(view("Kept")["exposed"]["why"], "said_not_to", "{kind}");
        let twice = view("Twice");
        assert_eq!(twice["exposed"]["why"], "duplicate", "{kind}");
        assert_eq!(verb(&twice, "click"), "ambiguous", "{kind}");
        let delete = view("Delete");
        assert_eq!(verb(&delete, "click"), "not_actionable: ceiling", "{kind}");
        assert_eq!(verb(&delete, "focus"), "not_actionable: disabled", "{kind}");
        assert_eq!(delete["ceiling"], json!(["focus"]), "{kind}");
        let group = nodes.iter().find(|node| node["id"] == "danger").unwrap();
        assert_eq!(delete["narrowed"][0]["node"], group["node"], "{kind}");
        assert_eq!(delete["marks"][0]["mark"], "confirm", "{kind}");
        assert_eq!(verb(&view("Customer"), "set_text"), "allowed", "{kind}");
    }
}

#[test]
fn lint_finds_the_two_of_one_id() {
    for (kind, serve) in BOTH {
        let served = serve(allow(), true);
        let mut client = served.client();
        let found = client.get("inspector.lint", json!({}));
        let findings = found["findings"].as_array().unwrap();
        let lints: Vec<_> = findings
            .iter()
            .map(|it| it["lint"].as_str().unwrap())
            .collect();
        assert_eq!(lints, ["duplicate_id"], "{kind} {found}");
        assert_eq!(findings[0]["ids"], json!(["twice"]));
        assert_eq!(findings[0]["nodes"].as_array().unwrap().len(), 2);
    }
}

/// When an inspector looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looks {
    Never,
    /// Between two things that happen.
    Between,
    /// While they happen.
    Beside,
}

/// An inspector that asks everything it can, again and again, until it is dropped.
struct Beside {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<usize>>,
}

impl Beside {
    fn start(served: &Served, seed: u64) -> Self {
        let mut client = served.client();
        let over: Arc<AtomicBool> = Arc::default();
        let until = over.clone();
        tree(&mut client);
        let thread = std::thread::spawn(move || {
            let mut dice = agent_test_support::Random(seed);
            let mut asked = 0;
            while !until.load(Ordering::Relaxed) || asked < 30 {
                let nodes = tree(&mut client);
                let node = dice.one_of(&nodes)["node"].clone();
                for method in METHODS {
                    // Making a picture into a file takes long without optimisation.
                    if *method == "screenshot" && asked % 40 > 8 {
                        continue;
                    }
                    let mut params = match *method {
                        "node" | "agent_view" | "highlight" => json!({"node": node}),
                        _ => json!({}),
                    };
                    params["timeout_ms"] = 20_000.into();
                    let reply = client.ask(&format!("inspector.{method}"), params);
                    // The node may be gone by now.
                    let ok = ["none", "unsupported", "invalid_params"].contains(&reason(&reply));
                    assert!(ok, "{reply}");
                    asked += 1;
                }
            }
            asked
        });
        Self {
            over,
            thread: Some(thread),
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take()
            && let Err(why) = thread.join()
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(why);
        }
    }
}

/// What an agent and an app do to each other, and the lines that the agent is answered.
fn conversation(kind: &str, seed: u64, looks_when: Looks) -> Vec<String> {
    let served = match kind {
        "egui" => egui(allow(), true),
        _ => headless(allow(), true),
    };
    let mut inspector = (looks_when == Looks::Between).then(|| served.client());
    let _beside = (looks_when == Looks::Beside).then(|| Beside::start(&served, seed));
    let mut looks = 0;
    let mut look = |last: &str| {
        let Some(client) = &mut inspector else { return };
        let nodes = tree(client);
        let node = nodes[seed as usize % nodes.len()]["node"].clone();
        client.get("inspector.highlight", json!({ "node": node }));
        for (method, params) in [
            ("node", json!({ "node": node })),
            ("agent_view", json!({ "node": node })),
            ("lint", json!({})),
            ("log", json!({})),
            ("pick", json!({})),
            ("screenshot", json!({})),
        ] {
            // Making a picture into a file takes long without optimisation.
            if method == "screenshot" && looks > 0 {
                continue;
            }
            let reply = client.ask(&format!("inspector.{method}"), params);
            let ok = ["none", "unsupported"].contains(&reason(&reply));
            assert!(ok, "after {last}: {reply}");
        }
        looks += 1;
    };
    // It is there before the agent is.
    look("nothing");
    let mut agent = served.client();
    let mut dice = agent_test_support::Random(seed);
    let mut lines = Vec::new();
    let include = json!({"include": ["value", "state", "actions", "frame"]});
    let mut version = 1;
    for number in 0..14 {
        // What the app does by itself; several times, so that who looks in between is found out.
        for _ in 0..dice.below(3) {
            let what = dice.below(3);
            if let Some(app) = &served.egui {
                match what {
                    0 => app.change(|form| form.more = !form.more),
                    1 => app.change(|form| form.name.push('x')),
                    _ => app.change(|form| form.password.push('x')),
                }
            }
            if let Some(app) = &served.headless {
                app.run(move |tree| {
                    let name = if what == 2 { "password" } else { "name" };
                    let field = tree.find(name).unwrap();
                    let text = format!("{number} {what}");
                    tree.set_text(field, text);
                });
            }
            look("a change");
        }
        let id = *dice.one_of(&["save", "name", "password", "twice", "delete", "nowhere"]);
        let (method, mut params) = match dice.below(8) {
            0 | 1 => ("describe_ui", include.clone()),
            2 => ("get_text", json!({ "id": id })),
            3 => ("click", json!({ "id": id })),
            4 | 5 => {
                let value = format!("v{number}");
                let edit = json!({"id": "name", "value": value, "base_version": version});
                ("set_text", edit)
            }
            6 => ("subscribe", json!({})),
            _ => ("poll_events", json!({"subscription": "s1"})),
        };
        if method != "poll_events" {
            params["timeout_ms"] = 20_000.into();
        }
        agent.send(method, params);
        let line = agent.line();
        let reply: Value = serde_json::from_str(&line).unwrap();
        if let Some(now) = reply["result"]["version"].as_u64() {
            version = now;
        }
        lines.push(format!("{method}: {line}"));
    }
    lines
}

#[test]
fn rule_1_an_inspector_shows_in_no_reply_to_an_agent() {
    for (kind, _) in BOTH {
        for seed in 1..=4 {
            let without = conversation(kind, seed, Looks::Never);
            for looks in [Looks::Between, Looks::Beside] {
                let with = conversation(kind, seed, looks);
                assert_eq!(with, without, "{kind}, seed {seed}, {looks:?}");
            }
        }
    }
}

#[test]
fn a_highlight_changes_neither_the_tree_nor_where_things_are_nor_events() {
    for (kind, serve) in BOTH {
        let served = serve(allow(), true);
        let (mut client, mut agent) = (served.client(), served.client());
        agent.get("subscribe", json!({}));
        let before = client.get("inspector.tree", json!({}));
        let nodes = before["nodes"].as_array().unwrap();
        let save = handle(nodes, "Save");
        client.get("inspector.highlight", json!({ "node": save }));
        let after = client.get("inspector.tree", json!({}));
        assert_eq!(before, after, "{kind}");
        let polled = agent.get("poll_events", json!({"subscription": "s1"}));
        assert_eq!(polled["events"], json!([]), "{kind}");
        client.get("inspector.highlight", json!({}));
        assert_eq!(client.get("inspector.tree", json!({})), after, "{kind}");
        let reply = client.ask("inspector.highlight", json!({"node": u64::MAX}));
        assert_eq!(reason(&reply), "invalid_params", "{kind}");
    }
}

#[test]
fn events_are_told_without_anybody_listening() {
    let served = headless(allow(), true);
    let (mut client, mut agent) = (served.client(), served.client());
    tree(&mut client);
    agent.click("save");
    tree(&mut client);
    let log = client.get("inspector.log", json!({}));
    let told = log["entries"].as_array().unwrap();
    let clicked = |it: &&Value| it["kind"] == "event" && it["source"] == "save";
    let clicked = told.iter().find(clicked).expect("the click was heard");
    assert_eq!(clicked["verb"], "clicked", "{log}");
    let later = client.get("inspector.log", json!({"after": log["last"]}));
    assert_eq!(later["entries"], json!([]));
}

/// The outcomes of all calls in the log.
pub(crate) fn outcomes(client: &mut Client) -> Vec<String> {
    let log = client.get("inspector.log", json!({}));
    let entries = log["entries"].as_array().unwrap().iter();
    let calls = entries.filter(|it| it["kind"] == "call");
    calls
        .map(|it| {
            let word = |key: &str| it[key].as_str().unwrap_or("-").to_owned();
            [
                word("client"),
                word("verb"),
                word("target"),
                word("outcome"),
            ]
            .join(" ")
        })
        .collect()
}

#[test]
fn what_agents_asked_is_told_with_what_came_of_it() {
    for (kind, serve) in BOTH {
        let served = serve(allow(), true);
        let (mut client, mut agent) = (served.client(), served.client());
        agent.get("hello", json!({"name": "an agent"}));
        agent.click("save");
        agent.click("nowhere");
        agent.click("delete");
        let expected = [
            "an agent hello - allowed",
            "an agent click save allowed",
            "an agent click nowhere not_found",
            "an agent click delete not_actionable",
        ];
        assert_eq!(outcomes(&mut client), expected, "{kind}");
    }
}

#[test]
fn rule_11_what_is_excluded_has_no_handle() {
    for (kind, serve) in BOTH {
        let served = serve(allow(), true);
        let mut client = served.client();
        let nodes = tree(&mut client);
        let known: Vec<u64> = nodes.iter().filter_map(|it| it["node"].as_u64()).collect();
        // Handles count up: those that are missing between the others are of what is excluded.
        let (first, last) = (known.iter().min().unwrap(), known.iter().max().unwrap());
        let mut tried = 0;
        for node in (*first..=*last)
            .take(200)
            .filter(|node| !known.contains(node))
        {
            tried += 1;
            for method in ["node", "agent_view", "highlight", "screenshot"] {
                let method = format!("inspector.{method}");
                let reply = client.ask(&method, json!({ "node": node }));
                assert_eq!(reason(&reply), "invalid_params", "{kind} {method} {reply}");
            }
        }
        assert!(tried > 0, "{kind}: {known:?}");
    }
}
