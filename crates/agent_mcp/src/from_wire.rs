//! Checked parameters into calls. With `to_wire`, the only place that knows both sides.

use agent_core::{
    Action, Call, Condition, Describe, EventVerb, Filter, Include, Role, States, Target, Until,
    Verb,
};
use agent_wire::{Args, ParamError, words};

/// What a verb with these parameters asks of the UI. `None`: nothing; it is answered without.
pub(crate) fn call(verb: Verb, args: &Args<'_>) -> Option<Call> {
    let act = |action| {
        Some(Call::Act {
            target: target(args)?,
            action,
        })
    };
    match verb {
        Verb::DescribeUi => Some(Call::Describe(describe(args))),
        Verb::GetText => Some(Call::GetText {
            target: target(args)?,
            from: args.integer("from"),
            limit: args.integer("limit"),
        }),
        Verb::Click => act(Action::Click),
        Verb::SetText => act(Action::SetText {
            value: args.text("value")?.to_owned(),
            base_version: args.integer("base_version")?,
            range: args.range("from", "to"),
        }),
        Verb::ScrollTo => act(Action::ScrollTo {
            key: args.text("key").map(str::to_owned),
        }),
        Verb::Focus => act(Action::Focus),
        Verb::Submit => act(Action::Submit),
        Verb::Select => act(Action::Select),
        Verb::SetChecked => act(Action::SetChecked(args.boolean("checked")?)),
        Verb::SetValue => act(Action::SetValue(args.number("value")?)),
        Verb::Expand => act(Action::Expand),
        Verb::Collapse => act(Action::Collapse),
        Verb::Subscribe => Some(Call::Subscribe {
            node: args.text("node").map(|id| Target {
                id: id.to_owned(),
                window: args.window().map(str::to_owned),
            }),
        }),
        Verb::WaitFor => Some(Call::Wait(condition(args)?)),
        Verb::PollEvents | Verb::Unsubscribe | Verb::Hello => None,
    }
}

/// What only the server can tell is wrong with parameters of the right form.
pub(crate) fn misfit(verb: Verb, args: &Args<'_>) -> Result<(), ParamError> {
    match verb {
        Verb::DescribeUi if is_full(args) && args.integer("since").is_some() => {
            Err(ParamError::new(
                "since",
                "be left out of a full description: revisions move by what is exposed",
            ))
        }
        Verb::Subscribe => match args.text("role") {
            Some(role) if Role::from_word(role).is_none() => {
                Err(ParamError::new("role", "be a role as describe_ui shows it"))
            }
            _ => Ok(()),
        },
        Verb::WaitFor => {
            let until = args.text("until").unwrap_or_default();
            if until != "revision_after" && args.id().is_none() {
                return Err(ParamError::new("id", "be given for this condition"));
            }
            let fits = match until {
                "text_is" | "text_contains" => args.text("value").is_some(),
                "state" => args.text("value").and_then(States::from_word).is_some(),
                "revision_after" => args.integer("value").is_some(),
                _ => true,
            };
            if fits {
                Ok(())
            } else {
                let must = match until {
                    "state" => "be a state as describe_ui shows it",
                    "revision_after" => "be a revision",
                    _ => "be the text",
                };
                Err(ParamError::new("value", must))
            }
        }
        _ => Ok(()),
    }
}

fn condition(args: &Args<'_>) -> Option<Condition> {
    let text = || args.text("value").map(str::to_owned);
    let until = match args.text("until")? {
        "exists" => Until::Exists,
        "gone" => Until::Gone,
        "actionable" => Until::Actionable,
        "text_is" => Until::TextIs(text()?),
        "text_contains" => Until::TextContains(text()?),
        "state" => Until::State(States::from_word(args.text("value")?)?),
        _ => Until::RevisionAfter(args.integer("value")?),
    };
    Some(Condition {
        target: target(args),
        until,
        once: args.timeout_ms() == 0,
    })
}

/// Which events a subscription asks for.
pub(crate) fn filter(args: &Args<'_>) -> Filter {
    let verb = args.text("verb");
    Filter {
        node: args.text("node").map(Into::into),
        verb: EventVerb::ALL
            .iter()
            .copied()
            .find(|it| Some(it.word()) == verb),
        role: args.text("role").and_then(Role::from_word),
    }
}

/// The number in a subscription's id.
pub(crate) fn subscription(args: &Args<'_>) -> Option<u64> {
    args.text("subscription")?.strip_prefix('s')?.parse().ok()
}

/// Whether the whole tree is asked for.
pub(crate) fn is_full(args: &Args<'_>) -> bool {
    args.text("mode") == Some(words::MODE_FULL)
}

/// The id that a request names, for the gate.
pub(crate) fn names<'a>(args: &Args<'a>) -> Option<&'a str> {
    args.id()
        .or_else(|| args.text("root"))
        .or_else(|| args.text("node"))
        .or_else(|| args.window())
}

fn target(args: &Args<'_>) -> Option<Target> {
    Some(Target {
        id: args.id()?.to_owned(),
        window: args.window().map(str::to_owned),
    })
}

fn describe(args: &Args<'_>) -> Describe {
    let size = |name| {
        args.integer(name)
            .map(|n| usize::try_from(n).unwrap_or(usize::MAX))
    };
    let includes = |word| args.words("include").any(|included| included == word);
    Describe {
        full: is_full(args),
        window: args.window().map(str::to_owned),
        root: args.text("root").map(str::to_owned),
        depth: size("depth"),
        limit: size("limit"),
        since: args.integer("since"),
        include: Include {
            value: includes(words::INCLUDE_VALUE),
            state: includes(words::INCLUDE_STATE),
            actions: includes(words::INCLUDE_ACTIONS),
            frame: includes(words::INCLUDE_FRAME),
        },
    }
}
