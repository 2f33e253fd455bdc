//! Answers into reply lines: cut where they are long, in the wire's words. Runs on a writer's
//! thread: the UI thread pays for none of it.

use std::{sync::Arc, time::Duration};

use agent_core::{Answer, Fault, Place, Polled, Refusal, Role, Subscribed, Verb, cut};
use agent_wire::{
    Changed, Failure, NodeValue, Outcome, Parent, Pushed, Reason, RequestId, Waited, error_line,
    limits, notification_line, result_line,
};

/// The line that answers request `id`, which asked for `verb`.
pub(crate) fn line(id: &RequestId, verb: Verb, answer: Answer) -> Vec<u8> {
    match answer {
        Answer::Described(mut description) => match description.since.take() {
            Some(since) => result_line(id, &changed(description, since)),
            None => result_line(id, &described(description)),
        },
        // The server makes a subscription of it: this is never sent.
        Answer::Heard { .. } => error_line(Some(id), &Failure::internal()),
        Answer::Waited { met, revision } => result_line(id, &Waited { met, revision }),
        Answer::Text(text) => result_line(id, &read(text)),
        Answer::Acted(acted) => result_line(id, &done(verb, acted)),
        Answer::Refused(refusal) => result_line(id, &refused(refusal)),
        Answer::Fault(fault) => error_line(Some(id), &failure(verb, fault)),
    }
}

/// About how many bytes the line will have, for the bound of what a client leaves unread. Runs
/// on the UI thread: looks at lengths only.
pub(crate) fn weight(answer: &Answer) -> usize {
    const FRAME: usize = 64;
    const NODE: usize = 96;
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    FRAME
        + match answer {
            Answer::Described(description) => description
                .nodes
                .iter()
                .map(|node| NODE + node.id.len() + node.name.len() + text(&node.value))
                .sum(),
            Answer::Text(read) => text(&read.text),
            Answer::Acted(acted) => NODE * acted.events.len() + text(&acted.text),
            Answer::Refused(Refusal::VersionConflict { text: now, .. }) => text(now),
            Answer::Refused(_)
            | Answer::Fault(_)
            | Answer::Heard { .. }
            | Answer::Waited { .. } => NODE,
        }
}

/// The user is being asked; the client is to come back then.
pub(crate) fn pending(retry_after: Duration) -> Failure {
    Failure::consent_pending(milliseconds(retry_after).max(1))
}

/// A time, as the wire has them.
pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Whether the app was acted on. A handler that failed may have done its work in part.
pub(crate) fn performed(answer: &Answer) -> bool {
    matches!(answer, Answer::Acted(_) | Answer::Fault(Fault::Internal(_)))
}

fn described(description: agent_core::Description) -> agent_wire::Described {
    agent_wire::Described {
        revision: description.revision,
        complete: description.complete,
        nodes: description.nodes.into_iter().map(node).collect(),
    }
}

fn changed(description: agent_core::Description, since: agent_core::Since) -> Changed {
    Changed {
        revision: description.revision,
        since: since.revision,
        complete: description.complete,
        changed: description.nodes.into_iter().map(node).collect(),
        removed: since
            .removed
            .iter()
            .map(|id| id.as_ref().to_owned())
            .collect(),
    }
}

/// The reply to a subscription.
pub(crate) fn subscribed(id: &RequestId, made: Subscribed, revision: u64) -> Vec<u8> {
    let reply = agent_wire::Subscribed {
        subscription: name(made.id),
        revision,
        gap: made.gap,
    };
    result_line(id, &reply)
}

/// What a subscription has heard.
pub(crate) fn polled(id: &RequestId, connection: u64, polled: &Polled) -> Vec<u8> {
    let reply = agent_wire::Polled {
        events: polled
            .events
            .iter()
            .map(|it| heard(it, connection))
            .collect(),
        dropped: polled.dropped,
        next: polled.next,
    };
    result_line(id, &reply)
}

/// What a subscription has heard, as notifications.
pub(crate) fn pushed(connection: u64, subscription: u64, polled: &Polled) -> Vec<u8> {
    let mut lines = Vec::new();
    // What was dropped was older than all that is left.
    let mut dropped = polled.dropped;
    for it in &polled.events {
        let pushed = Pushed {
            subscription: name(subscription),
            event: heard(it, connection),
            dropped: std::mem::take(&mut dropped),
        };
        lines.extend(notification_line("event", &pushed));
    }
    lines
}

fn name(subscription: u64) -> String {
    format!("s{subscription}")
}

fn node(node: agent_core::Described) -> agent_wire::Node {
    let name = cut(node.name, limits::NAME_GRAPHEMES);
    let (value, value_length) = match node.value {
        None => (None, None),
        Some(value) => match number(node.role, &value) {
            Some(number) => (Some(NodeValue::Number(number)), None),
            None => {
                let value = cut(value, limits::VALUE_GRAPHEMES);
                (Some(NodeValue::Text(value.text)), value.full_length)
            }
        },
    };
    let (class, exposed, text) = match node.full {
        None => (None, None, None),
        Some(full) => (
            Some(cut(full.class, limits::NAME_GRAPHEMES).text),
            Some(full.exposed),
            full.text
                .map(|text| cut(text, limits::VALUE_GRAPHEMES).text),
        ),
    };
    agent_wire::Node {
        id: node.id.as_ref().to_owned(),
        role: node.role.word().into(),
        name: name.text,
        actionable: node.actionable,
        parent: match (node.parent, node.parent_id) {
            (_, Some(id)) => Some(Parent::Id(id.as_ref().to_owned())),
            (index, None) => index.map(Parent::Index),
        },
        after: node.place.map(|place| match place {
            Place::First => None,
            Place::After(id) => Some(id.as_ref().to_owned()),
        }),
        name_length: name.full_length.map(size),
        value,
        value_length: value_length.map(size),
        version: node.version,
        state: node.states.words().map(Into::into).collect(),
        actions: node
            .actions
            .verbs()
            .map(|verb| verb.word().into())
            .collect(),
        frame: node
            .frame
            .map(|frame| [frame.x, frame.y, frame.width, frame.height]),
        size: node.size.map(size),
        omitted: (node.omitted > 0).then(|| size(node.omitted)),
        class,
        exposed,
        text,
    }
}

/// The value of what holds a number, as one.
fn number(role: Role, value: &str) -> Option<f64> {
    let numeric = matches!(
        role,
        Role::Slider | Role::SpinButton | Role::ProgressBar | Role::ScrollBar
    );
    let number: f64 = value.parse().ok().filter(|_| numeric)?;
    // Text that happens to say `NaN` or `inf` stays text: JSON has no such numbers.
    number.is_finite().then_some(number)
}

fn read(read: agent_core::TextRead) -> agent_wire::Text {
    agent_wire::Text {
        text: read.text,
        version: read.version,
        length: read.length.map(size),
        from: read.from.map(size),
        more: read.more,
    }
}

fn done(verb: Verb, acted: agent_core::Acted) -> agent_wire::Acted {
    let events = acted.events.iter();
    // Moving the view is nothing that an event tells of.
    let tells = verb != Verb::ScrollTo;
    agent_wire::Acted {
        version: acted.version,
        text: acted.text.and_then(whole),
        revision: Some(acted.revision),
        events: tells.then(|| events.map(event).collect()),
        more: tells && acted.more,
        ..agent_wire::Acted::new(Outcome::Allowed)
    }
}

fn event(event: &agent_core::Event) -> agent_wire::Event {
    agent_wire::Event {
        seq: event.seq,
        source: event.source.as_ref().to_owned(),
        verb: event.verb.word().into(),
        role: event.role.word().into(),
        revision: event.revision,
        request: None,
        detail: None,
    }
}

/// An event, as this connection hears it: marked, if that is what its own request brought about.
fn heard(it: &agent_core::Event, connection: u64) -> agent_wire::Event {
    let cause = it.cause.as_ref();
    let own = cause.filter(|cause| cause.connection == connection);
    agent_wire::Event {
        request: own.and_then(|cause| serde_json::from_str(&cause.request).ok()),
        ..event(it)
    }
}

/// A request's id, as the name that events carry back. `None`: it is too long to be told with
/// each event.
pub(crate) fn request_name(id: &RequestId) -> Option<Arc<str>> {
    let name = serde_json::to_string(id).ok()?;
    (name.len() <= limits::SHORT_TEXT_BYTES).then(|| name.into())
}

fn outcome(refusal: &Refusal) -> Outcome {
    match refusal {
        Refusal::NotFound => Outcome::NotFound,
        Refusal::NotExposed => Outcome::NotExposed,
        Refusal::NotActionable { .. } => Outcome::NotActionable,
        Refusal::VersionConflict { .. } => Outcome::VersionConflict,
        Refusal::Ambiguous => Outcome::Ambiguous,
        Refusal::NeedsConfirmation => Outcome::NeedsConfirmation,
    }
}

fn refused(refusal: Refusal) -> agent_wire::Acted {
    use agent_wire::Acted;
    let outcome = outcome(&refusal);
    match refusal {
        Refusal::NotActionable { why: reason, by } => Acted {
            by,
            ..Acted::not_actionable(why(reason))
        },
        Refusal::VersionConflict { version, text } => Acted {
            version: Some(version),
            text: text.and_then(whole),
            ..Acted::new(outcome)
        },
        Refusal::NotFound
        | Refusal::NotExposed
        | Refusal::Ambiguous
        | Refusal::NeedsConfirmation => Acted::new(outcome),
    }
}

fn why(why: agent_core::Why) -> agent_wire::Why {
    use agent_core::Why as Core;
    use agent_wire::Why as Wire;
    match why {
        Core::Ceiling => Wire::Ceiling,
        Core::Disabled => Wire::Disabled,
        Core::Hidden => Wire::Hidden,
        Core::ReadOnly => Wire::ReadOnly,
        Core::BlockedByModal => Wire::BlockedByModal,
        Core::Secret => Wire::Secret,
        Core::NotOffered => Wire::NotOffered,
    }
}

fn failure(verb: Verb, fault: Fault) -> Failure {
    match fault {
        Fault::WindowGone => Failure::window_gone(),
        Fault::InvalidParams { name, why } => {
            Failure::new(Reason::InvalidParams, format!("parameter `{name}`: {why}"))
        }
        Fault::Unsupported => Failure::unsupported(verb.word()),
        Fault::Denied => Failure::consent_denied(),
        // What it said stays with the app: it may quote anything that the app knows.
        Fault::Internal(_) => Failure::internal(),
        Fault::Closed => Failure::new(
            Reason::Internal,
            "the app is closing, and has not finished this",
        ),
    }
}

/// A text that the reply can hold; half of one would be taken for all of it. `get_text` reads
/// a longer one in parts.
fn whole(text: String) -> Option<String> {
    (text.len() <= limits::TEXT_BYTES).then_some(text)
}

fn size(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_and_the_wire_have_the_same_words() {
        for refusal in [
            Refusal::NotFound,
            Refusal::NotExposed,
            Refusal::NotActionable {
                why: agent_core::Why::Ceiling,
                by: None,
            },
            Refusal::VersionConflict {
                version: 1,
                text: None,
            },
            Refusal::Ambiguous,
            Refusal::NeedsConfirmation,
        ] {
            assert_eq!(refusal.word(), outcome(&refusal).as_str());
        }
        for fault in [
            Fault::WindowGone,
            Fault::InvalidParams {
                name: "id",
                why: String::new(),
            },
            Fault::Unsupported,
            Fault::Denied,
            Fault::Internal(String::new()),
            Fault::Closed,
        ] {
            let word = fault.word();
            assert_eq!(word, failure(Verb::Click, fault).reason.as_str());
        }
        let heard = Answer::Heard { revision: 1 };
        assert_eq!(heard.word(), Outcome::Allowed.as_str());
    }
}
