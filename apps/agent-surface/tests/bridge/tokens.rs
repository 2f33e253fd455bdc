//! What a model pays, counted by the tokenizer of GPT-4o and later.

use std::fmt::Write as _;

use serde_json::json;

use crate::{
    peer::{self, Peer},
    support::Place,
};

/// The two limits, in tokens.
const TOOLS: usize = 2_000;
const THIRTY: usize = 400;

/// How many other nodes the window holds.
const OTHERS: [usize; 3] = [0, 1_000, 10_000];

/// The page that shows the figures.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tokens.md");

/// Says that the page is to be written. `cargo xtask tokens --write` does.
const WRITE: &str = "AGENT_SURFACE_WRITE_TOKENS";

/// What of ours was counted.
struct Counted {
    tools: usize,
    instructions: usize,
    /// One for each number of others.
    thirty: Vec<usize>,
    structured: usize,
    click: usize,
}

pub(crate) fn within_limits() {
    let ranks = tiktoken_rs::o200k_base().unwrap();
    let tokens = |text: &str| ranks.encode_ordinary(text).len();
    let ours = count(tokens);
    assert!(ours.tools < TOOLS, "tools/list: {}", ours.tools);
    for (others, tokens) in OTHERS.iter().zip(&ours.thirty) {
        assert!(*tokens < THIRTY, "thirty nodes among {others}: {tokens}");
    }
    let peer = peer::count(&OTHERS, tokens);
    if let Some(peer) = &peer {
        // One window, and whichever toolkit draws it: the same to a model.
        let seen = peer.thirty.iter().map(|thirty| thirty.ours);
        assert_eq!(seen.collect::<Vec<_>>(), ours.thirty);
        println!("{}", ours.table(peer));
    }
    if std::env::var_os(WRITE).is_some() {
        let peer = peer.expect("the page shows a peer too: write it by `cargo xtask tokens`");
        std::fs::write(PAGE, ours.page(&peer)).unwrap();
    }
    let page = std::fs::read_to_string(PAGE).unwrap();
    for (name, tokens) in ours.rows() {
        let row = format!("| {name} | {tokens} |");
        assert!(
            page.lines().any(|line| line.starts_with(&row)),
            "docs/tokens.md has no `{row}`: write it anew by `cargo xtask tokens --write`"
        );
    }
}

fn count(tokens: impl Fn(&str) -> usize) -> Counted {
    let mut counted = Counted {
        tools: 0,
        instructions: 0,
        thirty: Vec::new(),
        structured: 0,
        click: 0,
    };
    for others in OTHERS {
        let place = Place::new();
        let _app = place.app("org.example.thirty", &format!("thirty {others}"));
        let mut host = place.host(&[]);
        let (error, shown) = host.call("describe_ui", json!({}));
        assert!(!error && shown.lines().count() == 32, "{shown}");
        assert!(
            shown.contains("\n button \"Action 20\" [btn-20]\n textbox \"Field 01\" [field-01] v"),
            "{shown}"
        );
        counted.thirty.push(tokens(&shown));
        counted.structured = tokens(&host.call("describe_ui", json!({"structured": true})).1);
        counted.click = tokens(&host.call("click", json!({"id": "btn-10"})).1);
        let tools = host.ask("tools/list", json!({}))["result"]["tools"].to_string();
        counted.tools = tokens(&tools);
        let about = host.initialize("tester");
        counted.instructions = tokens(about["instructions"].as_str().unwrap());
    }
    counted
}

impl Counted {
    /// What each is called on the page, and what of ours it costs.
    fn rows(&self) -> Vec<(String, usize)> {
        let mut rows = vec![
            ("`tools/list`".to_owned(), self.tools),
            ("instructions".to_owned(), self.instructions),
        ];
        for (others, tokens) in OTHERS.iter().zip(&self.thirty) {
            rows.push((format!("the 30 among {others} others"), *tokens));
        }
        rows.push(("a click's answer".to_owned(), self.click));
        rows.push((
            "the 30 as JSON (`structured: true`)".to_owned(),
            self.structured,
        ));
        rows
    }

    fn table(&self, peer: &Peer) -> String {
        let mut filtered = vec![peer.tools, peer.instructions];
        filtered.extend(peer.thirty.iter().map(|thirty| thirty.filtered));
        filtered.push(peer.click);
        let mut unfiltered = vec![None; 2];
        unfiltered.extend(peer.thirty.iter().map(|thirty| Some(thirty.unfiltered)));

        let mut out = format!(
            "| | ours | `egui_mcp` {}, asked for buttons and for fields | asked for what there is |\n\
             |---|---:|---:|---:|\n",
            peer.version
        );
        let cell = |tokens: Option<usize>| tokens.map(|it| it.to_string()).unwrap_or_default();
        for (n, (name, ours)) in self.rows().into_iter().enumerate() {
            let theirs = cell(filtered.get(n).copied());
            let whole = cell(unfiltered.get(n).copied().flatten());
            let _ = writeln!(out, "| {name} | {ours} | {theirs} | {whole} |");
        }
        out
    }

    fn page(&self, peer: &Peer) -> String {
        let mut page = String::from(include_str!("tokens.head.md"));
        page.push_str(&self.table(peer));
        page.push_str(include_str!("tokens.tail.md"));
        page
    }
}
