//! Every property of a widget that egui tells: what it says to AccessKit, under AccessKit's names.

use agent_inspect::{Property, Value};
use egui::accesskit::{self as ak, Node};

use crate::scene::SceneNode;

/// What AccessKit says of a node. Of a secret one, nothing that its text could be made out from.
pub(crate) fn read(node: &Node, secret: bool) -> Vec<Property> {
    let mut all = vec![Property::new(
        "role",
        "Role",
        format!("{:?}", node.role()).as_str(),
    )];
    let text = |value: Option<&str>| match value {
        _ if secret => Value::Withheld,
        Some(text) => Value::Text(text.to_owned()),
        None => Value::None,
    };
    let number = |value: Option<f64>| match value {
        _ if secret => Value::Withheld,
        Some(number) => Value::Number(number),
        None => Value::None,
    };
    for (name, value) in [
        ("label", text(node.label())),
        ("value", text(node.value())),
        ("placeholder", node.placeholder().into()),
        ("description", text(node.description())),
        ("keyboard_shortcut", node.keyboard_shortcut().into()),
        ("url", text(node.url())),
        ("author_id", node.author_id().into()),
    ] {
        all.push(Property::new(name, "String", Value::None).holding(value));
    }
    for (name, value) in [
        ("numeric_value", number(node.numeric_value())),
        ("min_numeric_value", number(node.min_numeric_value())),
        ("max_numeric_value", number(node.max_numeric_value())),
        ("numeric_value_step", number(node.numeric_value_step())),
        ("scroll_x", node.scroll_x().into()),
        ("scroll_y", node.scroll_y().into()),
    ] {
        all.push(Property::new(name, "f64", Value::None).holding(value));
    }
    for (name, value) in [
        ("is_disabled", Some(node.is_disabled())),
        ("is_hidden", Some(node.is_hidden())),
        ("is_read_only", Some(node.is_read_only())),
        ("is_busy", Some(node.is_busy())),
        ("is_modal", Some(node.is_modal())),
        ("is_required", Some(node.is_required())),
        ("clips_children", Some(node.clips_children())),
        ("is_expanded", node.is_expanded()),
        ("is_selected", node.is_selected()),
    ] {
        all.push(Property::new(name, "bool", Value::None).holding(value.into()));
    }
    let word = |debug: Option<String>| debug.map_or(Value::None, Value::Text);
    let toggled = node.toggled().map(|it| format!("{it:?}"));
    let orientation = node.orientation().map(|it| format!("{it:?}"));
    let popup = node.has_popup().map(|it| format!("{it:?}"));
    for (name, kind, value) in [
        ("toggled", "Toggled", toggled),
        ("orientation", "Orientation", orientation),
        ("has_popup", "HasPopup", popup),
    ] {
        all.push(Property::new(name, kind, Value::None).holding(word(value)));
    }
    let actions: Vec<String> = ACTIONS
        .iter()
        .filter(|action| node.supports_action(**action))
        .map(|action| format!("{action:?}"))
        .collect();
    all.push(Property::new("actions", "[Action]", actions.join(" ")));
    all
}

const ACTIONS: &[ak::Action] = &[
    ak::Action::Click,
    ak::Action::Focus,
    ak::Action::Blur,
    ak::Action::Collapse,
    ak::Action::Expand,
    ak::Action::Decrement,
    ak::Action::Increment,
    ak::Action::ReplaceSelectedText,
    ak::Action::ScrollIntoView,
    ak::Action::SetTextSelection,
    ak::Action::SetValue,
];

/// Every property of a node of the scene.
pub(crate) fn of(node: &SceneNode, secret: bool) -> Vec<Property> {
    let id = node.widget.map(|id| format!("{id:?}"));
    let mut all = vec![
        Property::new("widget", "Id", id.as_deref()),
        Property::new("accessible", "bool", !node.properties.is_empty()),
    ];
    let size = node.size.and_then(|size| i64::try_from(size).ok());
    all.push(Property::new("rows", "Option<u64>", size));
    all.extend(node.properties.iter().cloned().map(|property| {
        // They were read by what was known of it beside its widget.
        let tells = matches!(property.name.as_str(), "label" | "value" | "description");
        match secret && tells {
            true => property.holding(Value::Withheld),
            false => property,
        }
    }));
    all
}
