//! What a model pays, counted by the tokenizer of GPT-4o and later.

use std::fmt::Write as _;

use serde_json::json;

use crate::support::Place;

/// The two limits, in tokens.
const TOOLS: usize = 2_000;
const THIRTY: usize = 400;

/// What of ours was counted.
pub(crate) struct Counted {
    tools: usize,
    instructions: usize,
    /// How many other nodes the window holds, and what the thirty cost then.
    thirty: Vec<(usize, usize)>,
    structured: usize,
    click: usize,
}

pub(crate) fn count() -> Counted {
    let ranks = tiktoken_rs::o200k_base().unwrap();
    let tokens = |text: &str| ranks.encode_ordinary(text).len();
    let mut counted = Counted {
        tools: 0,
        instructions: 0,
        thirty: Vec::new(),
        structured: 0,
        click: 0,
    };
    for others in [0, 1_000, 10_000] {
        let place = Place::new();
        let _app = place.app("org.example.thirty", &format!("thirty {others}"));
        let mut host = place.host(&[]);
        let (error, shown) = host.call("describe_ui", json!({}));
        assert!(!error && shown.lines().count() == 32, "{shown}");
        assert!(
            shown.contains("\n button \"Action 20\" [btn-20]\n textbox \"Field 01\" [field-01] v"),
            "{shown}"
        );
        counted.thirty.push((others, tokens(&shown)));
        counted.structured = tokens(&host.call("describe_ui", json!({"structured": true})).1);
        counted.click = tokens(&host.call("click", json!({"id": "btn-10"})).1);
        let tools = host.ask("tools/list", json!({}))["result"]["tools"].to_string();
        counted.tools = tokens(&tools);
        let about = host.initialize("tester");
        counted.instructions = tokens(about["instructions"].as_str().unwrap());
    }
    counted
}

pub(crate) fn within_limits() {
    let counted = count();
    println!("{}", counted.table());
    assert!(counted.tools < TOOLS, "tools/list: {}", counted.tools);
    for (others, tokens) in &counted.thirty {
        assert!(*tokens < THIRTY, "thirty nodes among {others}: {tokens}");
    }
    if std::env::var_os("AGENT_SURFACE_WRITE_TOKENS").is_some() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tokens.md");
        std::fs::write(page, counted.page()).unwrap();
    }
}

impl Counted {
    fn table(&self) -> String {
        let mut out = String::from("| | ours |\n|---|---:|\n");
        let _ = writeln!(out, "| `tools/list` | {} |", self.tools);
        let _ = writeln!(out, "| instructions | {} |", self.instructions);
        for (others, tokens) in &self.thirty {
            let _ = writeln!(out, "| the 30 among {others} others | {tokens} |");
        }
        let _ = writeln!(
            out,
            "| the 30 as JSON (`structured: true`) | {} |",
            self.structured
        );
        let _ = writeln!(out, "| a click's answer | {} |", self.click);
        out
    }

    fn page(&self) -> String {
        let mut page = String::from(include_str!("tokens.head.md"));
        page.push_str(&self.table());
        page.push_str(include_str!("tokens.tail.md"));
        page
    }
}
