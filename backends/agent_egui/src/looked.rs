//! What an AccessKit node says of its widget, in the words of the rules.

use agent_core::{Facts, Role, States, Verb, VerbSet};
use egui::accesskit as ak;

/// What a widget is and holds, as egui last told AccessKit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked {
    pub(crate) role: Role,
    pub(crate) states: States,
    pub(crate) offers: VerbSet,
    pub(crate) class: ak::Role,
    pub(crate) has_text: bool,
    /// The least and the greatest number.
    pub(crate) bounds: Option<(f64, f64)>,
}

impl Looked {
    /// Of a widget that has no AccessKit node: a group, or one that was never shown.
    pub(crate) fn unknown(role: Role) -> Self {
        Self {
            role,
            states: States::empty(),
            offers: VerbSet::empty(),
            class: ak::Role::GenericContainer,
            has_text: false,
            bounds: None,
        }
    }

    pub(crate) fn at(node: &ak::Node) -> Self {
        let role = role(node.role());
        let mut states = States::empty();
        states.set(States::DISABLED, node.is_disabled());
        states.set(States::READ_ONLY, node.is_read_only());
        states.set(States::BUSY, node.is_busy());
        states.set(States::MODAL, node.is_modal());
        states.set(States::SELECTED, node.is_selected() == Some(true));
        states.set(States::SECRET, node.role() == ak::Role::PasswordInput);
        match node.is_expanded() {
            Some(true) => states |= States::EXPANDED,
            Some(false) => states |= States::COLLAPSED,
            None => {}
        }
        match node.toggled() {
            // A selectable button says so by this too.
            Some(ak::Toggled::True) if role == Role::Button => states |= States::PRESSED,
            Some(ak::Toggled::True) => states |= States::CHECKED,
            Some(ak::Toggled::Mixed) => states |= States::MIXED,
            Some(ak::Toggled::False) | None => {}
        }
        Self {
            role,
            states,
            offers: offers(node, role),
            class: node.role(),
            has_text: has_text(node),
            bounds: node.min_numeric_value().zip(node.max_numeric_value()),
        }
    }

    pub(crate) fn facts(&self) -> Facts {
        Facts {
            role: self.role,
            states: self.states,
            offers: self.offers,
            size: None,
        }
    }
}

/// A widget's own text: a field's value, a label's words, a button's caption, a number.
pub(crate) fn text(node: &ak::Node) -> Option<String> {
    if let Some(value) = node.value() {
        return Some(value.to_owned());
    }
    if let Some(number) = node.numeric_value() {
        return Some(number.to_string());
    }
    if is_field(node.role()) {
        return Some(String::new());
    }
    node.label().map(str::to_owned)
}

/// Whether it has one, without copying it.
fn has_text(node: &ak::Node) -> bool {
    node.value().is_some()
        || node.numeric_value().is_some()
        || is_field(node.role())
        || node.label().is_some()
}

/// A field is empty rather than without text when egui gives no value.
fn is_field(role: ak::Role) -> bool {
    use ak::Role as R;
    matches!(
        role,
        R::TextInput | R::MultilineTextInput | R::SearchInput | R::PasswordInput
    )
}

/// What a person can do to this kind of widget. AccessKit's own list is no guide: egui lists a
/// click on every label whose text can be selected, and on disabled buttons.
fn offers(node: &ak::Node, role: Role) -> VerbSet {
    let mut offers = match role {
        Role::Button
        | Role::Link
        | Role::MenuItem
        | Role::MenuItemCheckbox
        | Role::TreeItem
        | Role::Combobox => Verb::Click.set(),
        Role::Checkbox | Role::Switch => Verb::Click.set() | Verb::SetChecked.set(),
        Role::Radio | Role::Tab | Role::Option => Verb::Click.set() | Verb::Select.set(),
        Role::Textbox | Role::Searchbox => Verb::SetText.set() | submit(node),
        Role::Slider | Role::SpinButton => Verb::SetValue.set(),
        // A custom widget or picture that senses clicks.
        Role::Unknown | Role::Img | Role::ListItem | Role::Row | Role::Cell
            if node.supports_action(ak::Action::Click) =>
        {
            Verb::Click.set()
        }
        _ => return VerbSet::empty(),
    };
    // A button that is down or not is egui's toggle button and its selectable label alike.
    if role == Role::Button && node.toggled().is_some() {
        offers |= Verb::SetChecked.set() | Verb::Select.set();
    }
    if node.is_expanded().is_some() {
        offers |= Verb::Expand.set() | Verb::Collapse.set();
    }
    if node.supports_action(ak::Action::Focus) {
        offers |= Verb::Focus.set();
    }
    offers
}

/// Enter in a field of several lines is a line.
fn submit(node: &ak::Node) -> VerbSet {
    match node.role() {
        ak::Role::MultilineTextInput => VerbSet::empty(),
        _ => Verb::Submit.set(),
    }
}

/// A toggle button's state in the words of the role that its developer gave it.
pub(crate) fn as_role(states: States, role: Role) -> States {
    let word = match role {
        Role::Option | Role::ListItem | Role::Row | Role::Tab | Role::TreeItem => States::SELECTED,
        Role::Checkbox | Role::Radio | Role::Switch | Role::MenuItemCheckbox => States::CHECKED,
        _ => return states,
    };
    let on = states.intersects(States::PRESSED | States::CHECKED | States::SELECTED);
    let mut states = states - (States::PRESSED | States::CHECKED | States::SELECTED);
    states.set(word, on);
    states
}

/// AccessKit's role in ARIA's words (the table in `docs/egui.md`).
pub(crate) fn role(role: ak::Role) -> Role {
    use ak::Role as R;
    match role {
        R::Button | R::DefaultButton | R::DisclosureTriangle | R::ColorWell => Role::Button,
        R::Link => Role::Link,
        R::CheckBox => Role::Checkbox,
        R::RadioButton => Role::Radio,
        R::RadioGroup => Role::RadioGroup,
        R::Switch => Role::Switch,
        R::TextInput
        | R::MultilineTextInput
        | R::PasswordInput
        | R::EmailInput
        | R::NumberInput
        | R::PhoneNumberInput
        | R::UrlInput
        | R::DateInput
        | R::TimeInput => Role::Textbox,
        R::SearchInput => Role::Searchbox,
        R::ComboBox | R::EditableComboBox => Role::Combobox,
        R::ListBox | R::MenuListPopup => Role::ListBox,
        R::ListBoxOption | R::MenuListOption => Role::Option,
        R::List => Role::List,
        R::ListItem => Role::ListItem,
        R::Label | R::TextRun | R::Paragraph => Role::Text,
        R::Heading => Role::Heading,
        R::Slider => Role::Slider,
        R::SpinButton => Role::SpinButton,
        R::ProgressIndicator | R::Meter => Role::ProgressBar,
        R::ScrollBar => Role::ScrollBar,
        R::Splitter => Role::Separator,
        R::Image | R::Canvas | R::Figure => Role::Img,
        R::Menu => Role::Menu,
        R::MenuBar => Role::MenuBar,
        R::MenuItem => Role::MenuItem,
        R::MenuItemCheckBox | R::MenuItemRadio => Role::MenuItemCheckbox,
        R::Tab => Role::Tab,
        R::TabList => Role::TabList,
        R::TabPanel => Role::TabPanel,
        R::Table | R::Grid | R::ListGrid => Role::Table,
        R::Row => Role::Row,
        R::Cell | R::GridCell => Role::Cell,
        R::ColumnHeader => Role::ColumnHeader,
        R::Tree | R::TreeGrid => Role::Tree,
        R::TreeItem => Role::TreeItem,
        R::Toolbar => Role::Toolbar,
        R::Tooltip => Role::Tooltip,
        R::Alert => Role::Alert,
        R::AlertDialog => Role::AlertDialog,
        R::Status => Role::Status,
        // A floating window of egui lies inside the app's own.
        R::Dialog | R::Window => Role::Dialog,
        R::Unknown => Role::Unknown,
        _ => Role::Group,
    }
}
