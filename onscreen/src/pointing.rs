//! An inspector in a process of its own: it has the app draw over a node, and stays until it is
//! killed.

use std::path::Path;

use agent_test_support::Client;
use serde_json::json;

pub(crate) fn point(address: &Path, name: &str) -> ! {
    let mut inspector = Client::connect(address);
    let tree = inspector.get("inspector.tree", json!({"timeout_ms": 30_000}));
    let nodes = tree["nodes"].as_array().expect("a tree");
    let mut called = nodes.iter().filter(|node| node["name"] == name);
    let node = called.next().expect("a node of this name")["node"].clone();
    inspector.get("inspector.highlight", json!({ "node": node }));
    println!("points");
    loop {
        std::thread::park();
    }
}
