//! `agent-surface consent`: what the user has decided about agents, in files that apps watch. An
//! app that runs follows within a second.

use std::fmt::Write as _;

use agent_consent::{Rule, Store, utc};
use agent_mcp::mcp::{clean, quote};

use crate::{apps::say, options::Revoke};

pub(crate) fn run(app: Option<&str>, revoke: Option<&Revoke>) -> Result<(), String> {
    let stores = Store::of_user().map_err(|why| format!("the rules can't be read: {why}"))?;
    let mut found = Vec::new();
    for store in stores {
        let loaded = store.load();
        for problem in loaded.problems {
            let path = quote(&problem.path.to_string_lossy());
            eprintln!("agent-surface: {path} counts for nothing: {}", problem.why);
        }
        let meant = loaded.rules.into_iter();
        let mut meant: Vec<Rule> = meant
            .filter(|rule| app.is_none_or(|app| rule.app == app))
            .collect();
        meant.sort_by(|a, b| (&a.name, a.id()).cmp(&(&b.name, b.id())));
        if !meant.is_empty() {
            found.push((store, meant));
        }
    }
    match revoke {
        None => {
            say(&listed(&found));
            Ok(())
        }
        Some(Revoke::All) => forget(&found, |_| true),
        Some(Revoke::One(name)) => {
            // Nothing is the beginning of everything, and means none.
            let is_it =
                |rule: &Rule| !name.is_empty() && rule.id().as_str().starts_with(name.as_str());
            let rules = found.iter().flat_map(|(_, rules)| rules);
            let meant: Vec<&Rule> = rules.filter(|rule| is_it(rule)).collect();
            match meant.as_slice() {
                [] => Err(format!(
                    "no rule is called {}; without --revoke they are listed",
                    quote(name)
                )),
                [_] => forget(&found, is_it),
                several => Err(which(name, several)),
            }
        }
    }
}

fn forget(found: &[(Store, Vec<Rule>)], is_it: impl Fn(&Rule) -> bool) -> Result<(), String> {
    let mut failed = Ok(());
    for (store, rules) in found {
        for rule in rules.iter().filter(|rule| is_it(rule)) {
            let (app, name) = (clean(&rule.app), quote(&rule.name));
            match store.remove(&rule.id()) {
                Ok(()) => say(&format!("forgotten: {name} in {app}\n")),
                Err(why) => failed = Err(format!("{name} in {app} is still remembered: {why}")),
            }
        }
    }
    failed
}

/// Whole, so that there is always more to say.
fn which(name: &str, several: &[&Rule]) -> String {
    let mut out = format!("several rules begin with {}, say which:", quote(name));
    for rule in several {
        let (id, app, name) = (rule.id(), clean(&rule.app), quote(&rule.name));
        let _ = write!(out, "\n  {}  {name} in {app}", id.as_str());
    }
    out
}

fn listed(found: &[(Store, Vec<Rule>)]) -> String {
    let mut out = String::new();
    let mut app = None;
    for rule in found.iter().flat_map(|(_, rules)| rules) {
        if app != Some(&rule.app) {
            let _ = writeln!(out, "{}", clean(&rule.app));
            app = Some(&rule.app);
        }
        let id = rule.id();
        let id = id.as_str().get(..8).unwrap_or_default();
        let answer = if rule.allow { "may" } else { "may not" };
        let since = utc(rule.since);
        let until = rule.until.map_or("for good".to_owned(), |until| {
            format!("until {}", utc(until))
        });
        let _ = writeln!(
            out,
            "  {id}  {} {answer}, since {since}, {until}",
            quote(&rule.name)
        );
        let last = rule
            .last_used
            .map(|last| format!(", last {}", utc(last)))
            .unwrap_or_default();
        let _ = writeln!(out, "            used {} times{last}", rule.uses);
        for line in &rule.evidence {
            let _ = writeln!(out, "            {}", quote(line));
        }
    }
    if out.is_empty() {
        out.push_str("nothing is saved about any agent; what ends with an app is shown there\n");
    }
    out
}
