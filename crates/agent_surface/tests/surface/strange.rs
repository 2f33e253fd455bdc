//! Text of any kind, from the widget to the line.

use agent_surface::{
    Surface, Tag,
    egui::{AgentUi as _, AgentWidget as _},
    headless::{Headless, Widget},
};
use agent_test_support::{Client, allow, folder};
use egui::Ui;
use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::windowless::Windowless;

fn texts() -> Vec<String> {
    let family = "👨\u{200d}👩\u{200d}👧\u{200d}👦";
    let flag = "🇩🇪";
    let mut texts: Vec<String> = [
        "\"",
        "\\\"}]}\n{\"jsonrpc\":\"2.0\"",
        "one\ntwo\r\nthree\rfour",
        "\u{0}\u{1}\u{7}\u{8}\u{b}\u{1b}[31m\u{7f}\u{80}\u{9f}",
        "a\u{2028}b\u{2029}c\u{85}d",
        "\u{202a}\u{202b}\u{202d}\u{202e}abc\u{202c}\u{2066}\u{2067}\u{2068}\u{2069}\u{200f}",
        "\u{301}\u{308}alone",
        "\u{feff}bom",
        "\u{fffd}\u{ffff}\u{10ffff}\u{e000}",
        "\t  spaces  \u{a0}\u{3000}",
    ]
    .map(str::to_owned)
    .to_vec();
    for length in [199, 200, 201, 1999, 2000, 2001, 2500] {
        texts.push("x".repeat(length));
        texts.push(family.repeat(length));
        texts.push(flag.repeat(length));
        texts.push("e\u{301}\u{302}".repeat(length));
        texts.push("\r\n".repeat(length));
        texts.push(format!("\u{301}{}", "한".repeat(length)));
    }
    // One grapheme of many marks.
    texts.push(format!("a{}", "\u{301}".repeat(5000)));
    texts
}

/// That what is shown of `whole` is it, or its beginning with a mark and its length.
fn assert_shown(shown: &Value, length: &Value, whole: &str, most: usize) {
    let shown = shown.as_str().unwrap();
    let graphemes = whole.graphemes(true).count();
    if graphemes <= most && length.is_null() {
        assert_eq!(shown, whole);
        return;
    }
    let beginning = shown.strip_suffix('…').expect("it is marked as cut");
    assert!(whole.starts_with(beginning), "{shown:?}");
    let border = whole
        .grapheme_indices(true)
        .any(|(at, _)| at == beginning.len());
    assert!(border, "cut inside a grapheme: {shown:?}");
    let kept = beginning.graphemes(true).count();
    assert!(
        kept <= most && (kept + 1 >= most || graphemes <= most),
        "{kept} of {graphemes}"
    );
    assert_eq!(*length, graphemes, "its full length");
}

/// Asks, and checks the line before it is JSON.
fn ask(client: &mut Client, method: &str, params: Value) -> Value {
    client.send(method, params);
    let line = client.line();
    let inside = line.strip_suffix('\n').expect("a whole line");
    assert!(!inside.contains(|c| c < ' '), "{inside:?}");
    let mut reply: Value = serde_json::from_str(inside).unwrap();
    assert!(reply["error"].is_null(), "{reply}");
    reply["result"].take()
}

fn read_whole(client: &mut Client, id: &str) -> (String, u64) {
    let mut text = String::new();
    loop {
        let from = text.chars().count();
        let part = ask(client, "get_text", json!({"id": id, "from": from}));
        text.push_str(part["text"].as_str().unwrap());
        if part["more"] != true {
            return (text, part["length"].as_u64().unwrap());
        }
    }
}

fn check(client: &mut Client, texts: &[String]) {
    let described = ask(client, "describe_ui", json!({"include": ["value"]}));
    let nodes = described["nodes"].as_array().unwrap().clone();
    let node = |id: &str| nodes.iter().find(|node| node["id"] == id).cloned();
    for (n, text) in texts.iter().enumerate() {
        if let Some(label) = node(&format!("label{n}")) {
            assert_shown(&label["name"], &label["name_length"], text, 200);
            let (whole, length) = read_whole(client, &format!("label{n}"));
            assert_eq!((&whole, length), (text, text.chars().count() as u64));
        }
        let Some(field) = node(&format!("field{n}")) else {
            continue;
        };
        assert_shown(&field["value"], &field["value_length"], text, 2000);
        let (whole, _) = read_whole(client, &format!("field{n}"));
        assert_eq!(&whole, text);
    }
}

/// One text after the other, so that no reply is cut for its size.
#[test]
fn rule_10_any_text_arrives_whole_or_cut_between_graphemes_on_headless() {
    let folder = folder();
    let app = Headless::start("strange", |tree| {
        tree.open_window(Widget::window("").tag("main").children([
            Widget::words("").tag("label0").named("label"),
            Widget::text_area("").tag("field0").named("field"),
        ]));
    });
    let builder = Surface::builder("org.example.strange").gate(allow());
    let surface = builder.headless(&app).at(folder.path().join("s"));
    let surface = surface.serve().unwrap();
    let mut client = Client::connect(surface.address().unwrap());
    for text in texts() {
        let set = text.clone();
        app.run(move |tree| {
            for name in ["label", "field"] {
                let node = tree.find(name).unwrap();
                tree.set_text(node, set.clone());
            }
        });
        check(&mut client, std::slice::from_ref(&text));
        // And the other way round.
        let read = ask(&mut client, "get_text", json!({"id": "field0"}));
        let written = format!("{text}{text}");
        let edit = json!({"id": "field0", "value": written, "base_version": read["version"]});
        let reply = ask(&mut client, "set_text", edit);
        assert_eq!(reply["outcome"], "allowed", "{reply}");
        assert_eq!(reply["text"], Value::Null);
        let held = app.run(|tree| {
            tree.props(tree.find("field").unwrap())
                .unwrap()
                .text
                .clone()
        });
        assert_eq!(held, written);
    }
}

#[test]
fn rule_10_any_text_arrives_whole_or_cut_between_graphemes_on_egui() {
    fn draw(ui: &mut Ui, text: &mut String) {
        ui.agent_window("main");
        let mut held = text.clone();
        ui.add(egui::Label::new(&*text).agent_id("label0"));
        ui.add(egui::TextEdit::multiline(&mut held).agent_id("field0"));
    }
    let folder = folder();
    let app = Windowless::start(String::new(), draw);
    let builder = Surface::builder("org.example.strange").gate(allow());
    let surface = builder.egui(&app.ctx).at(folder.path().join("s"));
    let surface = surface.serve().unwrap();
    let mut client = Client::connect(surface.address().unwrap());
    for text in texts() {
        // Laying out so much takes egui long in a build for tests.
        if text.len() > 20_000 {
            continue;
        }
        let set = text.clone();
        app.change(move |held| *held = set);
        check(&mut client, std::slice::from_ref(&text));
    }
}

#[test]
fn rule_5_any_key_is_one_harmless_id() {
    let keys: Vec<String> = texts().into_iter().filter(|key| key.len() < 60).collect();
    let folder = folder();
    let rows = keys.clone();
    let app = Headless::start("keys", move |tree| {
        let rows = rows
            .iter()
            .map(|key| Widget::list_item(key.clone()).tag(Tag::key(key.clone())));
        let list = Widget::list("").tag("list").children(rows);
        tree.open_window(Widget::window("").tag("main").child(list));
    });
    let builder = Surface::builder("org.example.keys").gate(allow());
    let surface = builder.headless(&app).at(folder.path().join("s"));
    let surface = surface.serve().unwrap();
    let mut client = Client::connect(surface.address().unwrap());
    let described = ask(&mut client, "describe_ui", json!({}));
    let nodes = described["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), keys.len() + 2);
    for (node, key) in nodes.iter().skip(2).zip(&keys) {
        let id = node["id"].as_str().unwrap();
        let rest = id.strip_prefix("list/").unwrap();
        assert!(
            rest.chars()
                .all(|c| c.is_alphanumeric() || "-_.:%".contains(c)),
            "{id:?}"
        );
        let (text, _) = read_whole(&mut client, id);
        assert_eq!(&text, key);
    }
    // Ids that no node can have.
    for id in [
        "list/",
        "list/%",
        "list/%zz",
        "\u{0}",
        "\u{202e}",
        "list/\"",
        &"x".repeat(200),
    ] {
        let reply = ask(&mut client, "click", json!({ "id": id }));
        assert_eq!(reply["outcome"], "not_found", "{id:?}");
    }
}
