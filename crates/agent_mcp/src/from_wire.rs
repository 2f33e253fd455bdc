//! Checked parameters into calls. With `to_wire`, the only place that knows both sides.

use agent_core::{Action, Call, Describe, Include, Target, Verb};
use agent_wire::{Args, words};

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
        Verb::Subscribe | Verb::PollEvents | Verb::Unsubscribe | Verb::WaitFor | Verb::Hello => {
            None
        }
    }
}

/// Whether the whole tree is asked for.
pub(crate) fn is_full(args: &Args<'_>) -> bool {
    args.text("mode") == Some(words::MODE_FULL)
}

/// The id that a request names, for the gate.
pub(crate) fn names<'a>(args: &Args<'a>) -> Option<&'a str> {
    args.id()
        .or_else(|| args.text("root"))
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
        include: Include {
            value: includes(words::INCLUDE_VALUE),
            state: includes(words::INCLUDE_STATE),
            actions: includes(words::INCLUDE_ACTIONS),
            frame: includes(words::INCLUDE_FRAME),
        },
    }
}
