//! `agent-surface inspect`, up to the window that it opens and what that shows.

use std::process::{Command, Output};

use agent_test_support::{Client, TempDir, eventually, folder};
use serde_json::{Value, json};

use crate::{
    app::{self, ID, Program},
    screen::Screen,
};

const TITLE: &str = "Inspector";

fn agent_surface(runtime: &TempDir, arguments: &[&str]) -> Command {
    let program = std::env::var("ONSCREEN_COMMAND")
        .expect("run by `cargo xtask onscreen`, which builds the command");
    let mut command = app::command(program, runtime);
    command.args(arguments);
    command
}

/// Runs it to its end.
fn output(command: &mut Command) -> Output {
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

/// What it says when it opens no window.
fn refused(command: &mut Command) -> String {
    let said = output(command);
    let words = String::from_utf8(said.stderr).unwrap();
    assert!(!said.status.success(), "{words}");
    assert!(words.starts_with("agent-"), "who says it: {words}");
    assert!(!words.contains("panicked"), "{words}");
    words
}

/// The window that it opened, which lets agents in.
struct Window {
    program: Program,
    agent: Client,
    screen: Screen,
}

impl Window {
    fn open(runtime: &TempDir, arguments: &[&str]) -> Self {
        let screen = Screen::open();
        let mut command = agent_surface(runtime, &["inspect", "--let-agents-in"]);
        let mut program = Program::start(command.args(arguments));
        let address = program.says("Serving at ");
        let agent = Client::connect(address.as_ref());
        screen.window(TITLE);
        Self {
            program,
            agent,
            screen,
        }
    }

    fn text(&mut self, id: &str) -> String {
        let read = self
            .agent
            .ask("get_text", json!({"id": id, "timeout_ms": 30_000}));
        read["result"]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Waits until its status says this.
    #[track_caller]
    fn says(&mut self, wanted: &str) {
        let mut said = String::new();
        eventually(&format!("a status of {wanted:?}"), || {
            said = self.text("status");
            said.contains(wanted)
        });
    }

    /// Waits for the row that shows this.
    fn row(&mut self, name: &str) -> String {
        let mut row = None;
        eventually(&format!("a row for {name:?}"), || {
            let described = self.agent.get("describe_ui", json!({"timeout_ms": 30_000}));
            let mut nodes = described["nodes"].as_array().unwrap().iter();
            let shows = |node: &&Value| {
                let id = node["id"].as_str().unwrap();
                id.starts_with("tree/") && node["name"].as_str().unwrap().contains(name)
            };
            row = nodes.find(shows).map(|node| node["id"].clone());
            row.is_some()
        });
        row.unwrap().as_str().unwrap().to_owned()
    }
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn inspect_opens_a_window_that_shows_the_app() {
    let runtime = folder();
    let (_app, _) = app::start(ID, 1.0, &[], &runtime);
    let mut window = Window::open(&runtime, &[]);
    for name in ["Save", "Untagged", "Caption", "Password"] {
        window.row(name);
    }
    // As any agent is told of it, and a person.
    let mut outline = String::new();
    eventually("the outline", || {
        let said = output(&mut agent_surface(
            &runtime,
            &["describe", "agent-inspector"],
        ));
        outline = String::from_utf8(said.stdout).unwrap();
        said.status.success()
    });
    for expected in ["[search]", "[status]", "Untagged", ID] {
        assert!(outline.contains(expected), "no {expected:?} in {outline}");
    }
    assert!(!outline.contains("hunter2"), "{outline}");
    // What is done to the command is done to the window.
    window.program.kill();
    let Window { screen, .. } = window;
    eventually("it is closed", || screen.find(TITLE).is_none());
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn the_window_says_that_the_app_is_gone_and_finds_it_again_with_what_was_selected() {
    let runtime = folder();
    let (mut app, _) = app::start(ID, 1.0, &[], &runtime);
    let mut window = Window::open(&runtime, &[ID]);
    let row = window.row("Save");
    window
        .agent
        .get("click", json!({"id": row, "timeout_ms": 30_000}));
    eventually("it is selected", || {
        window.text("selected").contains("Save")
    });
    app.kill();
    window.says("looking again");
    let (_app, _) = app::start(ID, 1.0, &[], &runtime);
    window.says("nodes");
    eventually("it is selected again", || {
        window.text("selected").contains("Save") && window.text("answer").contains("agents")
    });
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn where_several_run_they_are_listed_and_each_can_be_chosen() {
    let runtime = folder();
    let (one, _) = app::start(ID, 1.0, &[], &runtime);
    let (other, _) = app::start("org.example.other", 1.0, &[], &runtime);
    let words = refused(&mut agent_surface(&runtime, &["inspect"]));
    for expected in ["several apps run", ID, "org.example.other"] {
        assert!(words.contains(expected), "{words}");
    }
    let words = refused(&mut agent_surface(&runtime, &["inspect", "nobody"]));
    assert!(
        words.contains("does not run") && words.contains(ID),
        "{words}"
    );
    drop(other);

    // The same app twice: what is written in the first tells them apart.
    let (twin, at) = app::start(ID, 1.0, &[], &runtime);
    let mut agent = Client::connect(&at);
    app::click(&mut agent, "save");
    let words = refused(&mut agent_surface(&runtime, &["inspect", ID]));
    let named = |program: &Program| {
        let number = program.child.id().to_string();
        let mut words = words.split([' ', ',', '\n']);
        words.find(|it| it.ends_with(&number)).map(str::to_owned)
    };
    let one = named(&one).unwrap_or_else(|| panic!("{words}"));
    let mut window = Window::open(&runtime, &[&one]);
    window.row("saved 0,");
    let twin = named(&twin).unwrap_or_else(|| panic!("{words}"));
    drop(window);
    let mut window = Window::open(&runtime, &[&twin]);
    window.row("saved 1,");
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn what_opens_no_window_is_said_with_the_reason() {
    let runtime = folder();
    let words = refused(&mut agent_surface(&runtime, &["inspect"]));
    assert!(words.contains("no app that lets agents in"), "{words}");
    let (unarmed, _) = app::start(ID, 1.0, &["--unarmed"], &runtime);
    let words = refused(&mut agent_surface(&runtime, &["inspect"]));
    assert!(words.contains("arm_inspector()"), "{words}");
    drop(unarmed);
    let (_app, _) = app::start(ID, 1.0, &[], &runtime);
    for display in ["", ":99999"] {
        let mut command = agent_surface(&runtime, &["inspect"]);
        let words = refused(command.env("DISPLAY", display));
        assert!(words.to_lowercase().contains("display"), "{words}");
    }
    let mut command = agent_surface(&runtime, &["inspect"]);
    refused(command.env_remove("DISPLAY"));
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn the_window_says_that_the_gate_does_not_let_it_in() {
    let runtime = folder();
    let (_app, _) = app::start(ID, 1.0, &["--no-inspector"], &runtime);
    let mut window = Window::open(&runtime, &[]);
    window.says("Scope::Inspector");
}
