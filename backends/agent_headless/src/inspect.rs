//! What a developer's inspector is told: every property of a widget, and a picture of where
//! things are.

use agent_core::{Frame, LiveTree as _, States};
use agent_inspect::{
    Ask, Hide, Inspect, Inspectable, Job, Looker, No, Picture, Pixel, Property, Told, Value,
    answer, find,
};

use crate::{
    thread::HeadlessHandle,
    tree::Tree,
    widget::{Node, Props},
};

/// What is kept for inspectors, on the UI thread.
#[derive(Default)]
pub(crate) struct Inspection {
    looker: Looker<Node>,
    /// What is drawn over: a window that there is would show it.
    pub(crate) highlighted: Option<Node>,
}

impl Inspection {
    /// Answers one request.
    pub(crate) fn serve(&mut self, tree: &mut Tree, job: Job) {
        let Some(job) = job.enter(std::time::Instant::now()) else {
            return;
        };
        for (node, verb) in tree.take_overheard() {
            self.looker.happened(node, verb);
        }
        let told = match answer(tree, &mut self.looker, &job.ask) {
            Some(told) => told,
            None => self.show(tree, &job.ask),
        };
        job.answer(told);
    }

    fn show(&mut self, tree: &Tree, ask: &Ask) -> Result<Told, No> {
        match ask {
            Ask::Highlight(node) => {
                self.highlighted = match node {
                    Some(node) => Some(find(tree, *node)?),
                    None => None,
                };
                Ok(Told::Highlighted)
            }
            Ask::Screenshot { node, hide } => screenshot(tree, *node, *hide).map(Told::Picture),
            _ => Err(No::Unsupported("scripted widgets have no pointer")),
        }
    }
}

impl Inspectable for HeadlessHandle {
    fn submit(&self, job: Job) {
        self.inspect(job);
    }

    fn set_inspectors(&self, inspectors: usize) {
        self.inspectors(inspectors);
    }
}

impl Inspect for Tree {
    fn handle(&self, node: Node) -> u64 {
        node.0
    }

    fn node(&self, handle: u64) -> Option<Node> {
        let node = Node(handle);
        self.get(node).map(|_| node)
    }

    fn properties(&self, node: Node, secret: bool) -> Vec<Property> {
        let Some(props) = self.props(node) else {
            return Vec::new();
        };
        let Props {
            kind,
            tag: _,
            text,
            label,
            hint,
            number,
            min,
            max,
            step,
            max_length,
            checked,
            mixed,
            checkable,
            selected,
            expanded,
            enabled,
            visible,
            read_only,
            busy,
            is_default,
        } = props;
        let words = |name: &str, text: &str| {
            let value = match secret {
                true => Value::Withheld,
                false => Value::Text(text.to_owned()),
            };
            Property::new(name, "String", Value::None).holding(value)
        };
        let yes = |name: &str, value: &bool| Property::new(name, "bool", *value);
        let float = |name: &str, value: &f64| {
            let held = match secret {
                true => Value::Withheld,
                false => Value::Number(*value),
            };
            Property::new(name, "f64", Value::None).holding(held)
        };
        vec![
            Property::new("kind", "Kind", kind.word()),
            words("text", text),
            Property::new("label", "String", label.as_str()),
            Property::new("hint", "String", hint.as_str()),
            float("number", number),
            float("min", min),
            float("max", max),
            float("step", step),
            Property::new(
                "max_length",
                "Option<usize>",
                max_length.and_then(|most| i64::try_from(most).ok()),
            ),
            yes("checked", checked),
            yes("mixed", mixed),
            yes("checkable", checkable),
            yes("selected", selected),
            yes("expanded", expanded),
            yes("enabled", enabled),
            yes("visible", visible),
            yes("read_only", read_only),
            yes("busy", busy),
            yes("is_default", is_default),
        ]
    }
}

const PAPER: Pixel = [255, 255, 255, 255];
const INK: Pixel = [120, 120, 120, 255];

/// Pictures don't grow beyond this in either direction, in points.
const MOST: f64 = 4_096.0;

/// There is nothing to see, so a picture shows where things are: what has text, or can be acted
/// on, as a box.
fn screenshot(tree: &Tree, node: Option<u64>, hide: Hide) -> Result<Picture, No> {
    let look = Looker::default().look(tree);
    let (window, frame) = whose(tree, node)?;
    let size = tree.frame(window).unwrap_or_default();
    let mut picture = Picture::new(
        size.width.clamp(1.0, MOST) as usize,
        size.height.clamp(1.0, MOST) as usize,
        1.0,
        PAPER,
    );
    for node in &look.nodes {
        let boxed = node.text.is_some() || !node.offers.is_empty();
        let inside = tree
            .node(node.handle)
            .is_some_and(|node| tree.window_of(node) == Some(window));
        let seen = !node.states.intersects(States::HIDDEN | States::OFFSCREEN);
        if let Some(frame) = node.frame.filter(|_| boxed && inside && seen) {
            picture.outline(frame, INK);
        }
    }
    picture.black_out(&look, window.0, hide);
    Ok(match frame {
        Some(frame) => picture.crop(frame),
        None => picture,
    })
}

/// The window that is meant, and which part of it.
fn whose(tree: &Tree, node: Option<u64>) -> Result<(Node, Option<Frame>), No> {
    let Some(handle) = node else {
        let first = tree.windows.first().copied().ok_or(No::NotFound)?;
        return Ok((first, None));
    };
    let node = find(tree, handle)?;
    let window = tree.window_of(node).ok_or(No::NotFound)?;
    Ok((window, tree.frame(node).filter(|_| node != window)))
}
