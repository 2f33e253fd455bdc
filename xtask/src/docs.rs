//! `docs`: the pages that are made from the code, so that they cannot say something else.

use std::path::Path;

use crate::{Options, workspace};

/// A page, from the root, and what makes it.
type Page = (&'static str, fn() -> String);

const PAGES: &[Page] = &[
    ("docs/verbs.md", agent_wire::verbs_markdown),
    ("docs/inspector-methods.md", agent_wire::inspector_markdown),
];

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let root = workspace::root()?;
    for (name, make) in PAGES {
        bring_up_to_date(&root, name, &make(), options.has("--check"))?;
    }
    Ok(())
}

fn bring_up_to_date(root: &Path, name: &str, page: &str, check: bool) -> Result<(), String> {
    let path = root.join(name);
    let current = std::fs::read_to_string(&path).is_ok_and(|there| there == page);
    if current {
        println!("{name} is current");
        return Ok(());
    }
    if check {
        return Err(format!(
            "{name} is not what the tables say; write it anew by `cargo xtask docs`"
        ));
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("could not make {}: {error}", folder.display()))?;
    }
    std::fs::write(&path, page)
        .map_err(|error| format!("could not write {}: {error}", path.display()))?;
    println!("{name} written");
    Ok(())
}
