//! The order in which a request is decided, and the plain form of it: one call, which waits for
//! the user.

use std::path::Path;

use agent_core::{Decision, Scope};

use crate::{
    clock::{Clock as _, SystemClock},
    prompt::Answer,
    rule::{Rule, RuleId},
    store::Store,
};

/// How long [`Answer::Day`] holds, in seconds.
pub(crate) const DAY: u64 = 86_400;

/// What becomes of agents about whom nothing is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// The user is asked.
    #[default]
    Ask,
    /// They are let in.
    AllowAll,
    /// They are refused.
    DenyAll,
    /// Everybody is refused, whatever is remembered: "stop all agents".
    Lockdown,
}

/// What stands, before anybody is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Allow,
    Deny(&'static str),
    Ask,
}

/// Lockdown, then what is remembered, then the standing mode.
pub(crate) fn standing(mode: Mode, remembered: Option<bool>) -> Standing {
    match (mode, remembered) {
        (Mode::Lockdown, _) => Standing::Deny("all agents are stopped"),
        (_, Some(true)) => Standing::Allow,
        (_, Some(false)) => Standing::Deny("the user said no"),
        (Mode::AllowAll, None) => Standing::Allow,
        (Mode::DenyAll, None) => Standing::Deny("the app lets nobody in"),
        (Mode::Ask, None) => Standing::Ask,
    }
}

impl From<Standing> for Decision {
    fn from(standing: Standing) -> Self {
        match standing {
            Standing::Allow => Self::Allow,
            Standing::Deny(why) => Self::deny(why),
            Standing::Ask => Self::Ask,
        }
    }
}

/// Decides about an agent: by what is remembered in `rules_dir`, else by `mode`; where that is
/// [`Mode::Ask`], by what `prompt` answers, which is remembered if it is for longer than now.
/// `None` from it: the question was waved away, and nothing is remembered.
///
/// Reads and writes files, and waits as long as `prompt` does: not for the UI thread. An app
/// that has a window wants [`Consent`](crate::Consent), which waits for nothing.
///
/// The folder is one app's, and its name is taken for the app's id, as it is where
/// [`Consent`](crate::Consent) keeps rules: given that folder and an [`Agent::id`](crate::Agent::id)
/// for `agent_id`, both go by the same rules. Any other text that tells one agent from others does
/// as well.
/// The answer is [`Decision::Allow`] or [`Decision::Deny`]. A yes that could not be saved is a
/// yes all the same, and asked for again next time; what stands in place of a rule and is none
/// counts for nothing.
pub fn decide(
    rules_dir: impl AsRef<Path>,
    mode: Mode,
    agent_id: &str,
    prompt: impl FnOnce(&str) -> Option<Answer>,
) -> Decision {
    let store = Store::at(rules_dir.as_ref());
    let app = rules_dir.as_ref().file_name().unwrap_or_default();
    let app = app.to_string_lossy();
    let now = SystemClock.unix();
    let id = RuleId::of(&app, Scope::Surface, agent_id);
    let remembered = match mode {
        Mode::Lockdown => None,
        _ => store.find(&id).ok().flatten(),
    };
    let remembered = remembered
        .filter(|rule| rule.holds(now))
        .map(|rule| rule.allow);
    let standing = standing(mode, remembered);
    if standing != Standing::Ask {
        return standing.into();
    }
    let Some(answer) = prompt(agent_id) else {
        return Decision::deny("the user waved the question away");
    };
    if let Some(rule) = remember(&app, agent_id, answer, SystemClock.unix()) {
        // Not saved, it is asked for again: nobody is let in by that.
        let _ = store.save(&rule);
    }
    match answer.is_yes() {
        true => Decision::Allow,
        false => Decision::deny("the user said no"),
    }
}

fn remember(app: &str, agent: &str, answer: Answer, now: u64) -> Option<Rule> {
    let (allow, until) = kept(answer, now)?;
    Some(Rule {
        app: app.to_owned(),
        scope: Scope::Surface,
        agent: agent.to_owned(),
        name: agent.to_owned(),
        program: None,
        content: None,
        evidence: Vec::new(),
        allow,
        since: now,
        until,
        last_used: None,
        uses: 0,
    })
}

/// What of an answer is kept on the disk: whether it was a yes, and until when it holds.
pub(crate) fn kept(answer: Answer, now: u64) -> Option<(bool, Option<u64>)> {
    match answer {
        Answer::Always => Some((true, None)),
        Answer::Day => Some((true, Some(now.saturating_add(DAY)))),
        Answer::Never => Some((false, None)),
        Answer::Once | Answer::UntilQuit | Answer::No => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remembered_rule_then_the_mode_and_lockdown_before_all() {
        use Standing::{Allow, Ask};
        let denied = |standing| matches!(standing, Standing::Deny(_));
        let check = |mode, no: fn(Standing) -> bool, none: Standing| {
            assert_eq!(standing(mode, Some(true)), Allow, "{mode:?}");
            assert!(no(standing(mode, Some(false))), "{mode:?}");
            assert_eq!(standing(mode, None), none, "{mode:?}");
        };
        check(Mode::Ask, denied, Ask);
        check(Mode::AllowAll, denied, Allow);
        check(
            Mode::DenyAll,
            denied,
            Standing::Deny("the app lets nobody in"),
        );
        for remembered in [Some(true), Some(false), None] {
            assert!(denied(standing(Mode::Lockdown, remembered)));
        }
    }

    #[test]
    fn an_answer_is_remembered_for_who_it_was_given_and_no_longer_than_it_says() {
        let check = |answer, asked_again: bool, allowed: bool| {
            let folder = agent_test_support::folder();
            let rules = folder.path().join("rules");
            let ask = |agent, answer| {
                let mut asked = false;
                let decision = decide(&rules, Mode::Ask, agent, |_| {
                    asked = true;
                    answer
                });
                (asked, decision == Decision::Allow)
            };
            assert_eq!(ask("a", answer), (true, allowed), "{answer:?}");
            let again = ask("a", Some(Answer::Once));
            let expected = if asked_again {
                (true, true)
            } else {
                (false, allowed)
            };
            assert_eq!(again, expected, "{answer:?}");
            assert_eq!(ask("b", None), (true, false), "{answer:?}");
        };
        check(Some(Answer::Once), true, true);
        check(Some(Answer::UntilQuit), true, true);
        check(Some(Answer::Day), false, true);
        check(Some(Answer::Always), false, true);
        check(Some(Answer::No), true, false);
        check(Some(Answer::Never), false, false);
        check(None, true, false);
    }

    #[test]
    fn rule_13_a_broken_rule_is_asked_about() {
        let folder = agent_test_support::folder();
        let rules = folder.path().join("rules");
        let _ = decide(&rules, Mode::Ask, "a", |_| Some(Answer::Always));
        let file = std::fs::read_dir(&rules)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        std::fs::write(file, "{").unwrap();
        let denied = decide(&rules, Mode::Ask, "a", |_| Some(Answer::No));
        assert!(matches!(denied, Decision::Deny(_)));
    }
}
