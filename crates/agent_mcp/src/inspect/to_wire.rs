//! What the inspector is told, in the words of the wire.

use agent_core::{Marks, Refusal, Scope, VerbSet, cut};
use agent_inspect::{Ask, Consent, ConsentRule, Exposure, IdSource, No, Picture, Told, Value};
use agent_wire::{
    Failure, ParamError, Reason, RequestId, Word,
    inspector::{
        self as wire, DecidedBy, Exposed, Finding, Lints, Marked, Narrowed, NodeProperties,
    },
    limits, result_line,
};
use base64::Engine as _;

use super::known::Page;

/// Pictures are halved until they have no more pixels than this.
const MOST_PIXELS: usize = 8 << 20;

/// Lines of evidence of a rule.
const MOST_EVIDENCE: usize = 64;

/// The line that answers `ask`.
pub(super) fn line(id: &RequestId, ask: &Ask, told: Told) -> Result<Vec<u8>, Failure> {
    Ok(match (ask, told) {
        (Ask::Node(node), Told::Node(properties)) => result_line(
            id,
            &NodeProperties {
                node: *node,
                properties: properties.into_iter().map(property).collect(),
            },
        ),
        (Ask::View(node), Told::View(view)) => result_line(id, &agent_view(*node, *view)),
        (_, Told::Highlighted) => result_line(id, &wire::Highlighted {}),
        (_, Told::Picked(node)) => result_line(id, &wire::Picked { node }),
        (_, Told::Picture(picture)) => result_line(id, &screenshot(picture)?),
        _ => return Err(Failure::internal()),
    })
}

pub(super) fn tree(id: &RequestId, page: Page) -> Vec<u8> {
    let Page {
        revision,
        complete,
        nodes,
        removed,
        next,
        ..
    } = page;
    match page.since {
        Some(since) => result_line(
            id,
            &wire::TreeChanges {
                revision,
                complete,
                since,
                changed: nodes,
                removed,
                next,
            },
        ),
        None => result_line(
            id,
            &wire::Tree {
                revision,
                complete,
                nodes,
                next,
            },
        ),
    }
}

pub(super) fn lint(id: &RequestId, findings: Vec<agent_inspect::Finding>) -> Vec<u8> {
    let complete = findings.len() <= limits::INSPECTOR_FINDINGS;
    let findings = findings.into_iter().take(limits::INSPECTOR_FINDINGS);
    let findings = findings.map(|finding| Finding {
        lint: finding.lint.word().into(),
        nodes: finding.nodes,
        ids: finding.ids,
        advice: finding.lint.advice().into(),
    });
    result_line(
        id,
        &Lints {
            findings: findings.collect(),
            complete,
        },
    )
}

pub(super) fn log(id: &RequestId, log: &super::log::Log, after: u64, limit: usize) -> Vec<u8> {
    let (entries, last, dropped) = log.after(after, limit);
    result_line(
        id,
        &wire::Log {
            entries,
            last,
            dropped,
        },
    )
}

pub(super) fn consent(id: &RequestId, consent: Option<Consent>) -> Vec<u8> {
    let told = match consent {
        None => wire::Consent {
            by: DecidedBy::App,
            mode: None,
            rules: Vec::new(),
            complete: true,
        },
        Some(Consent { mode, rules }) => wire::Consent {
            by: DecidedBy::Consent,
            mode: Some(mode.into()),
            complete: rules.len() <= limits::INSPECTOR_RULES,
            rules: rules
                .into_iter()
                .take(limits::INSPECTOR_RULES)
                .map(rule)
                .collect(),
        },
    };
    result_line(id, &told)
}

fn rule(rule: ConsentRule) -> wire::ConsentRule {
    let text = |text: String| cut(text, limits::VALUE_GRAPHEMES).text;
    let ms = |seconds: u64| seconds.saturating_mul(1_000);
    wire::ConsentRule {
        rule: rule.rule,
        name: cut(rule.name, limits::NAME_GRAPHEMES).text,
        agent: text(rule.agent),
        program: rule.program.map(text),
        evidence: rule
            .evidence
            .into_iter()
            .take(MOST_EVIDENCE)
            .map(text)
            .collect(),
        scope: match rule.scope {
            Scope::Surface => "surface",
            Scope::Full => "full",
            Scope::Inspector => "inspector",
        }
        .into(),
        allow: rule.allow,
        stored: rule.stored,
        since_ms: ms(rule.since),
        until_ms: rule.until.map(ms),
        last_used_ms: rule.last_used.map(ms),
        uses: rule.uses,
    }
}

pub(super) fn failure(no: No) -> Failure {
    match no {
        No::NotFound => ParamError::new("node", "be the handle of a node that is there now").into(),
        No::Unsupported(why) => Failure::new(
            Reason::Unsupported,
            format!("this app can't show that to an inspector: {why}"),
        ),
        No::Denied => Failure::consent_denied(),
        No::Closed => Failure::new(Reason::Internal, "the app is closing"),
    }
}

pub(super) fn node(node: agent_inspect::Node) -> wire::Node {
    let shown = node.is_shown();
    let name = cut(node.name, limits::NAME_GRAPHEMES).text;
    let text = node.text.map(|text| cut(text, limits::NAME_GRAPHEMES).text);
    let hidden = node.states.contains(agent_core::States::HIDDEN);
    wire::Node {
        node: node.handle,
        parent: node.parent,
        index: node.index,
        class: cut(node.class, limits::NAME_GRAPHEMES).text,
        role: node.role.word().into(),
        text: text.filter(|text| !text.is_empty() && *text != name),
        name,
        id: node.id.as_deref().map(str::to_owned),
        tagged: node.tag.is_some(),
        shown,
        state: node
            .states
            .words()
            .chain(hidden.then_some("hidden"))
            .map(Into::into)
            .collect(),
        // A hundredth of a point is finer than anything is drawn.
        frame: node.frame.map(|frame| {
            [frame.x, frame.y, frame.width, frame.height].map(|it| (it * 100.0).round() / 100.0)
        }),
    }
}

fn property(property: agent_inspect::Property) -> wire::Property {
    let withheld = property.value == Value::Withheld;
    wire::Property {
        name: property.name,
        kind: property.kind,
        value: match property.value {
            Value::None | Value::Withheld => serde_json::Value::Null,
            Value::Bool(value) => value.into(),
            Value::Integer(value) => value.into(),
            // JSON has no endless numbers.
            Value::Number(value) => match serde_json::Number::from_f64(value) {
                Some(number) => number.into(),
                None => value.to_string().into(),
            },
            Value::Text(text) => cut(text, limits::VALUE_GRAPHEMES).text.into(),
        },
        withheld,
    }
}

fn words(verbs: VerbSet) -> Vec<Word> {
    verbs.verbs().map(|verb| verb.word().into()).collect()
}

fn agent_view(node: u64, view: agent_inspect::AgentView) -> wire::AgentView {
    let (id_from, key, within) = match view.source {
        IdSource::None => (wire::IdSource::None, None, None),
        IdSource::Tag => (wire::IdSource::Tag, None, None),
        IdSource::Key { key, within } => (
            wire::IdSource::Key,
            Some(key),
            Some(within.as_ref().to_owned()),
        ),
    };
    wire::AgentView {
        node,
        exposed: exposed(node, view.exposure),
        place: view.place,
        id: view.id.as_deref().map(str::to_owned),
        id_from,
        key,
        within,
        ceiling: words(view.ceiling & VerbSet::ACTING),
        narrowed: view
            .narrowed
            .into_iter()
            .map(|(node, took)| Narrowed {
                node,
                took: words(took & VerbSet::ACTING),
            })
            .collect(),
        marks: view
            .marks
            .into_iter()
            .map(|(mark, node)| Marked {
                mark: mark_word(mark).into(),
                node,
            })
            .collect(),
        verbs: view.verdicts.into_iter().map(verdict).collect(),
    }
}

fn mark_word(mark: Marks) -> &'static str {
    if mark.contains(Marks::SECRET) {
        "secret"
    } else if mark.contains(Marks::CONFIRM) {
        "confirm"
    } else {
        "relayed"
    }
}

fn exposed(node: u64, exposure: Exposure) -> Exposed {
    use wire::Exposure as Word;
    let mut by = None;
    let (why, text) = match exposure {
        Exposure::Shown => (Word::Shown, "agents are shown it".to_owned()),
        Exposure::NoTag => (
            Word::NoTag,
            "agents are not shown it: it has no tag; give it one with an id".to_owned(),
        ),
        Exposure::TagWithoutId => (
            Word::TagWithoutId,
            "agents are not shown it: its tag has neither an id nor a key, and only says what \
             holds inside; give it an id"
                .to_owned(),
        ),
        Exposure::KeyWithoutList => (
            Word::KeyWithoutList,
            "agents are not shown it: it has a key, and nothing around it is exposed that the key \
             could stand below; give the list an id"
                .to_owned(),
        ),
        Exposure::SaidNotTo => (
            Word::SaidNotTo,
            "agents are not shown it: its tag says exposed(false)".to_owned(),
        ),
        Exposure::Fault(fault) => (Word::Fault, format!("agents are not shown it: {fault}")),
        Exposure::Hidden { by: hides } if hides == node => (
            Word::Hidden,
            "agents are not shown it now: it is hidden".to_owned(),
        ),
        Exposure::Hidden { by: hides } => {
            by = Some(hides);
            let text = "agents are not shown it now: something around it is hidden";
            (Word::Hidden, text.to_owned())
        }
        Exposure::Duplicate => (
            Word::Duplicate,
            "agents see it and can't address it: another node has the same id".to_owned(),
        ),
    };
    Exposed { why, text, by }
}

fn verdict(verdict: agent_inspect::Verdict) -> wire::Verdict {
    let (outcome, why, by) = match verdict.refused {
        None => ("allowed", None, None),
        Some(Refusal::NotFound) => ("not_found", None, None),
        Some(Refusal::NotExposed) => ("not_exposed", None, None),
        Some(Refusal::NotActionable { why, by }) => ("not_actionable", Some(why.word()), by),
        Some(Refusal::VersionConflict { .. }) => ("version_conflict", None, None),
        Some(Refusal::Ambiguous) => ("ambiguous", None, None),
        Some(Refusal::NeedsConfirmation) => ("needs_confirmation", None, None),
    };
    wire::Verdict {
        verb: verdict.verb.word().into(),
        outcome: outcome.into(),
        why: why.map(Into::into),
        by,
    }
}

fn screenshot(mut picture: Picture) -> Result<wire::Screenshot, Failure> {
    while picture.pixels.len() > MOST_PIXELS {
        picture = picture.halved();
    }
    let png = png(&picture).map_err(|_| Failure::internal())?;
    Ok(wire::Screenshot {
        png: base64::engine::general_purpose::STANDARD.encode(png),
        width: picture.width,
        height: picture.height,
        scale: picture.scale,
        from: [picture.from.0, picture.from.1],
    })
}

fn png(picture: &Picture) -> Result<Vec<u8>, png::EncodingError> {
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size(picture.width), size(picture.height));
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(picture.pixels.as_flattened())?;
    writer.finish()?;
    Ok(bytes)
}
