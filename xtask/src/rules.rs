//! `rules`: each test that ARCHITECTURE.md names for a rule, and SECURITY.md for a threat, is there.
//! A test that was renamed or lost would leave the rule without one, and the page still saying that
//! it is held.

use std::{collections::BTreeSet, path::Path};

use crate::{Options, workspace};

/// Where the rules are written down, from the root.
const PAGE: &str = "ARCHITECTURE.md";

/// Where the threats are, a table whose last column names the tests.
const THREATS: &str = "SECURITY.md";

/// The folders with our code.
const CODE: &[&str] = &[
    "apps", "crates", "backends", "recipes", "bench", "onscreen", "xtask",
];

/// What a test of a rule is called begins so, with the rule's number after it.
const PREFIX: &str = "rule_";

pub(crate) fn run(_: &Options) -> Result<(), String> {
    let root = workspace::root()?;
    let page = read(&root.join(PAGE))?;
    let named = named_on(&page);
    if named.is_empty() {
        return Err(format!(
            "{PAGE} names no test; it should, as `{PREFIX}1_...`"
        ));
    }
    let mut there = BTreeSet::new();
    for folder in CODE {
        let folder = root.join(folder);
        if folder.is_dir() {
            collect(&folder, &mut there)?;
        }
    }
    let threats = read(&root.join(THREATS))?;
    let against = named_in_last_column(&threats);
    if against.is_empty() {
        return Err(format!(
            "{THREATS} names no test; its table's last column should"
        ));
    }
    for (page, named) in [(PAGE, &named), (THREATS, &against)] {
        let lost: Vec<&str> = named
            .iter()
            .copied()
            .filter(|name| !there.contains(*name))
            .collect();
        if !lost.is_empty() {
            return Err(format!(
                "{page} names tests that are nowhere: {}; write them, or name the ones that took \
                 their place",
                lost.join(", ")
            ));
        }
    }
    let of_rules = there.iter().filter(|name| name.starts_with(PREFIX));
    println!(
        "{PAGE} names {} tests of rules, all there; {} are in the code. {THREATS} names {} tests, \
         all there",
        named.len(),
        of_rules.count(),
        against.len()
    );
    Ok(())
}

/// The tests that the page names between backticks. One that ends in dots is an example of a name.
fn named_on(page: &str) -> BTreeSet<&str> {
    page.split('`')
        .filter(|word| word.starts_with(PREFIX) && word.chars().all(is_of_a_name))
        .collect()
}

/// The tests that a table names between backticks in the last column of its rows.
fn named_in_last_column(page: &str) -> BTreeSet<&str> {
    page.lines()
        .filter_map(|line| {
            line.strip_prefix('|')?
                .strip_suffix('|')?
                .rsplit('|')
                .next()
        })
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|word| word.chars().all(is_of_a_name))
        .collect()
}

/// Adds the functions in all Rust files below `folder`.
fn collect(folder: &Path, there: &mut BTreeSet<String>) -> Result<(), String> {
    let cannot = |error| format!("could not list {}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.is_dir() {
            collect(&path, there)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            there.extend(functions_in(&read(&path)?));
        }
    }
    Ok(())
}

/// Those in a file's text; macros that make tests out of functions are seen so too, and what a
/// test target without a harness lists.
fn functions_in(code: &str) -> impl Iterator<Item = String> {
    code.lines().filter_map(|line| {
        let line = line.trim_start();
        let name = line.strip_prefix("pub(crate) ").unwrap_or(line);
        let name = name.strip_prefix("fn ")?;
        let end = name.find(|c| !is_of_a_name(c)).unwrap_or(name.len());
        Some(name[..end].to_owned())
    })
}

fn is_of_a_name(c: char) -> bool {
    c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit()
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path)
        .map_err(|error| format!("could not read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{functions_in, named_in_last_column, named_on};

    #[test]
    fn names_are_found_on_the_page_and_in_code() {
        let page =
            "Each is `rule_4_...`.\n| 1 | a | `rule_1_a`, `rule_1_b2` |\nrule_2_bare, `other`";
        let named: Vec<&str> = named_on(page).into_iter().collect();
        assert_eq!(named, ["rule_1_a", "rule_1_b2"]);
        let code = "#[test]\nfn rule_1_a() {\n        fn rule_1_b2(x in 0..3) {\n// fn rule_9_no()\npub(crate) fn other() {";
        let there: Vec<String> = functions_in(code).collect();
        assert_eq!(there, ["rule_1_a", "rule_1_b2", "other"]);
        let page =
            "| `a_b` | it | the test |\n|---|---|---|\n| x `no` | `y` | `a_b`, `c_d` |\n`e_f`";
        let named: Vec<&str> = named_in_last_column(page).into_iter().collect();
        assert_eq!(named, ["a_b", "c_d"]);
    }
}
