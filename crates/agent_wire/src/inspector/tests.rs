use serde_json::json;

use super::{METHODS, NAMESPACE, method};
use crate::verbs::VERBS;

#[test]
fn rule_12_the_inspectors_methods_are_no_verbs() {
    for row in METHODS {
        assert!(row.name.starts_with(NAMESPACE), "{}", row.name);
        assert!(VERBS.iter().all(|verb| verb.name != row.name));
        assert!(!row.acting, "{}", row.name);
        assert_eq!(method(row.name).map(|found| found.name), Some(row.name));
    }
    assert!(method("inspector.exec").is_none() && method("describe_ui").is_none());
}

#[test]
fn parameters_are_judged_as_those_of_verbs_are() {
    let check = |name: &str, params: serde_json::Value, fits: bool| {
        let row = method(name).unwrap();
        assert_eq!(row.check(Some(&params)).is_ok(), fits, "{name} {params}");
    };
    check("inspector.tree", json!({}), true);
    check(
        "inspector.tree",
        json!({"since": 3, "timeout_ms": 100}),
        true,
    );
    check("inspector.tree", json!({"window": "main"}), false);
    check("inspector.node", json!({}), false);
    check("inspector.node", json!({"node": 1}), true);
    check("inspector.node", json!({"node": "1"}), false);
    check("inspector.screenshot", json!({"hide": "unexposed"}), true);
    check("inspector.screenshot", json!({"hide": "nothing"}), false);
    check("inspector.log", json!({"limit": 0}), false);
}
