//! `docs`: the pages that are made from the code, so that they cannot say something else.

use crate::{Options, workspace};

/// Where the page on the verbs is, from the root.
const VERBS: &str = "docs/verbs.md";

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let path = workspace::root()?.join(VERBS);
    let page = agent_wire::verbs_markdown();
    let current = std::fs::read_to_string(&path).is_ok_and(|there| there == page);
    if current {
        println!("{VERBS} is current");
        return Ok(());
    }
    if options.has("--check") {
        return Err(format!(
            "{VERBS} is not what the verb table says; write it anew by `cargo xtask docs`"
        ));
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("could not make {}: {error}", folder.display()))?;
    }
    std::fs::write(&path, page)
        .map_err(|error| format!("could not write {}: {error}", path.display()))?;
    println!("{VERBS} written");
    Ok(())
}
