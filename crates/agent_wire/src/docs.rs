//! The table as a page for people.

use std::fmt::Write;

use crate::verbs::{Param, VERBS, Verb};

/// The page on the verbs, in Markdown. Depends on the table alone, so that the copy in the
/// repository can be compared with it.
pub fn verbs_markdown() -> String {
    let mut page = String::from(
        "# Verbs\n\n\
         <!-- Made from the verb table of agent_wire; change it there. -->\n\n\
         Each is a JSON-RPC method and, under the same name, an MCP tool. \
         Parameters that are not listed are refused. \
         A verb that names a node may answer `{outcome}` instead of its own result.\n",
    );
    for verb in VERBS {
        // Writing into a `String` does not fail.
        let _ = verb_section(&mut page, verb);
    }
    page
}

/// The page on the inspector's methods, made in the same way.
pub fn inspector_markdown() -> String {
    let mut page = String::from(
        "# The inspector's methods\n\n\
         <!-- Made from the table of agent_wire; change it there. -->\n\n\
         JSON-RPC methods on the app's socket, for a developer's tool: no verbs, and no MCP tools. \
         Answered where the app armed the inspector, and `method_not_found` elsewhere. \
         What they are for: [inspector.md](inspector.md).\n",
    );
    for method in crate::inspector::METHODS {
        // Writing into a `String` does not fail.
        let _ = verb_section(&mut page, method);
    }
    page
}

fn verb_section(page: &mut String, verb: &Verb) -> std::fmt::Result {
    writeln!(page, "\n## `{}`\n\n{}\n", verb.name, verb.summary)?;
    page.push_str("| parameter | must be | meaning |\n|---|---|---|\n");
    for param in verb.parameters() {
        param_row(page, param)?;
    }
    writeln!(page, "\nResult: {}\n\n{}", verb.result, effect(verb))
}

fn param_row(page: &mut String, param: Param) -> std::fmt::Result {
    let required = if param.required { " (required)" } else { "" };
    writeln!(
        page,
        "| `{}`{required} | {} | {} |",
        param.name,
        param.kind.expected(),
        param.doc
    )
}

fn effect(verb: &Verb) -> String {
    let mut words = vec![match (verb.read_only, verb.acting) {
        (true, _) => "Leaves the app as it is",
        (false, true) => "Acts on the node, if its ceiling and state allow",
        (false, false) => "Changes what the app keeps for this client",
    }];
    words.push(if verb.idempotent {
        "harmless to send twice"
    } else {
        "sent twice it is done twice"
    });
    if verb.destructive {
        words.push("may lose something of the user's");
    }
    words.join("; ") + "."
}
