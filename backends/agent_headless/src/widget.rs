//! Widgets before they are in a tree: what they are built from.

use std::{cell::RefCell, rc::Rc};

use agent_core::Tag;

use crate::{kind::Kind, tree::Tree};

/// A node of a [`Tree`]: never given to another widget during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub(crate) u64);

/// Shared, so that it outlives a widget that it removes, and stays in its place while it runs,
/// even if it panics.
pub(crate) type Handler = Rc<RefCell<dyn FnMut(&mut Tree, Node)>>;

/// Which handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    Click,
    Change,
    Submit,
}

#[derive(Clone, Default)]
pub(crate) struct Handlers {
    pub(crate) click: Option<Handler>,
    pub(crate) change: Option<Handler>,
    pub(crate) submit: Option<Handler>,
}

impl Handlers {
    pub(crate) fn get(&self, on: On) -> Option<&Handler> {
        match on {
            On::Click => self.click.as_ref(),
            On::Change => self.change.as_ref(),
            On::Submit => self.submit.as_ref(),
        }
    }

    pub(crate) fn set(&mut self, on: On, handler: Handler) {
        *match on {
            On::Click => &mut self.click,
            On::Change => &mut self.change,
            On::Submit => &mut self.submit,
        } = Some(handler);
    }
}

/// What a widget is and holds, without what is around it. To be read by tests and printers;
/// changed through the [`Tree`] only.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Props {
    /// Its kind.
    pub kind: Kind,
    /// What its developer says of it to agents.
    pub tag: Option<Tag>,
    /// Its caption, its title, or what was typed into it.
    pub text: String,
    /// Its accessible name, where that is not its caption.
    pub label: String,
    /// What it shows while it is empty. Never a name nor a value.
    pub hint: String,
    /// Its number.
    pub number: f64,
    /// The least number.
    pub min: f64,
    /// The greatest number.
    pub max: f64,
    /// The distance between two numbers; 0 for none.
    pub step: f64,
    /// How many characters it takes.
    pub max_length: Option<usize>,
    /// Whether it is on.
    pub checked: bool,
    /// Whether it is neither on nor off.
    pub mixed: bool,
    /// For a menu item: whether it can be on or off.
    pub checkable: bool,
    /// Whether it is the chosen one.
    pub selected: bool,
    /// Whether it is open.
    pub expanded: bool,
    /// Whether it takes input.
    pub enabled: bool,
    /// Whether it is shown.
    pub visible: bool,
    /// Whether its text or number can't be edited.
    pub read_only: bool,
    /// Whether it is working.
    pub busy: bool,
    /// For a button: whether Enter in a field presses it.
    pub is_default: bool,
}

impl Props {
    /// Whether it can be on or off.
    pub fn is_switch(&self) -> bool {
        self.kind.is_switch() || self.checkable
    }
}

/// What a widget's `value` is given as.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

/// The rows of a lazy list, by number from 1: only those in view exist as widgets.
#[derive(Clone)]
pub struct Rows {
    pub(crate) count: u64,
    pub(crate) text: Rc<dyn Fn(u64) -> String>,
    pub(crate) keyed: bool,
}

impl Rows {
    /// `count` rows, each with the text that `text` makes of its number.
    pub fn new(count: u64, text: impl Fn(u64) -> String + 'static) -> Self {
        Self {
            count,
            text: Rc::new(text),
            keyed: false,
        }
    }

    /// Gives each row its number as its key, which exposes it as `list/number`.
    #[must_use]
    pub fn keyed(mut self) -> Self {
        self.keyed = true;
        self
    }
}

/// A widget to be put into a [`Tree`], with everything inside it. UI thread only: its handlers
/// may hold what no other thread may touch.
///
/// ```
/// use agent_headless::Widget;
/// let form = Widget::window("Orders").tag("main").children([
///     Widget::text_field("Customer").tag("customer"),
///     Widget::button("Save").tag("save").on_click(|tree, button| {
///         tree.set_text(button, "Saved");
///     }),
/// ]);
/// ```
#[must_use = "a widget is not shown before it is added to a tree"]
pub struct Widget {
    pub(crate) props: Props,
    pub(crate) handlers: Handlers,
    pub(crate) rows: Option<Rows>,
    pub(crate) name: Option<String>,
    pub(crate) children: Vec<Widget>,
    /// Of a row of a lazy list: its number.
    pub(crate) row: Option<u64>,
}

macro_rules! captioned {
    ($($(#[$doc:meta])* $name:ident = $kind:ident;)*) => {
        impl Widget { $(
            $(#[$doc])*
            pub fn $name(text: impl Into<String>) -> Self {
                Self::new(Kind::$kind).text(text)
            }
        )* }
    };
}

macro_rules! labelled {
    ($($(#[$doc:meta])* $name:ident = $kind:ident;)*) => {
        impl Widget { $(
            $(#[$doc])*
            pub fn $name(label: impl Into<String>) -> Self {
                Self::new(Kind::$kind).label(label)
            }
        )* }
    };
}

captioned! {
    /// A window of this title.
    window = Window;
    /// A dialog of this title.
    dialog = Dialog;
    /// A button of this caption.
    button = Button;
    /// A toggle button of this caption.
    toggle = Toggle;
    /// A checkbox of this caption.
    checkbox = Checkbox;
    /// A radio button of this caption.
    radio = Radio;
    /// A switch of this caption.
    switch = Switch;
    /// A link of this caption.
    link = Link;
    /// These words.
    words = Label;
    /// These words above others.
    heading = Heading;
    /// An option of this text.
    option = Option;
    /// A tab of this caption.
    tab = Tab;
    /// A tree item of this text.
    tree_item = TreeItem;
    /// A list item of this text.
    list_item = ListItem;
    /// A menu of this caption.
    menu = Menu;
    /// A menu item of this caption.
    menu_item = MenuItem;
}

labelled! {
    /// A group of this name.
    group = Group;
    /// A list of this name.
    list = List;
    /// A row of tabs of this name.
    tabs = Tabs;
    /// A tree of this name.
    tree = Tree;
    /// A text field of this name.
    text_field = TextField;
    /// A password field of this name.
    password_field = PasswordField;
    /// A text area of this name.
    text_area = TextArea;
    /// A search field of this name.
    search_field = SearchField;
    /// A combo box of this name.
    combo = Combo;
    /// A slider of this name, from 0 to 100.
    slider = Slider;
    /// A field for a number, of this name.
    spin = Spin;
}

impl Widget {
    /// An empty widget of a kind.
    pub fn new(kind: Kind) -> Self {
        // A spin button knows no bounds before it is given some; a slider must have them.
        let (min, max) = if kind == Kind::Spin {
            (f64::NEG_INFINITY, f64::INFINITY)
        } else {
            (0.0, 100.0)
        };
        Self {
            props: Props {
                kind,
                tag: None,
                text: String::new(),
                label: String::new(),
                hint: String::new(),
                number: 0.0,
                min,
                max,
                step: 0.0,
                max_length: None,
                checked: false,
                mixed: false,
                checkable: false,
                selected: false,
                expanded: false,
                enabled: true,
                visible: true,
                read_only: false,
                busy: false,
                is_default: false,
            },
            handlers: Handlers::default(),
            rows: None,
            name: None,
            children: Vec::new(),
            row: None,
        }
    }

    /// What its developer says of it to agents; a string alone is an id.
    pub fn tag(mut self, tag: impl Into<Tag>) -> Self {
        self.props.tag = Some(tag.into());
        self
    }

    /// A name to [find](Tree::find) it by: for scripts and tests, unknown to agents.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Its caption or title; of a field, what is typed in it.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.props.text = text.into();
        self
    }

    /// Its accessible name, where that is not its caption.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.props.label = label.into();
        self
    }

    /// What it holds: a text, or a number.
    pub fn value(mut self, value: impl Into<Value>) -> Self {
        let numeric = self.props.kind.is_number();
        match value.into() {
            Value::Text(text) if numeric => self.props.number = text.trim().parse().unwrap_or(0.0),
            Value::Text(text) => self.props.text = text,
            Value::Number(number) if numeric => self.props.number = number,
            Value::Number(number) => self.props.text = number.to_string(),
        }
        self
    }

    /// What it shows while it is empty.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.props.hint = hint.into();
        self
    }

    /// Whether it is on. A menu item becomes one that can be.
    pub fn checked(mut self, checked: bool) -> Self {
        self.props.checked = checked;
        self.props.checkable = self.props.kind == Kind::MenuItem;
        self
    }

    /// Neither on nor off.
    pub fn mixed(mut self) -> Self {
        self.props.mixed = true;
        self
    }

    /// Whether it is the chosen one. Of several in one list, the last that says so is.
    pub fn selected(mut self, selected: bool) -> Self {
        self.props.selected = selected;
        self
    }

    /// Whether it is open.
    pub fn expanded(mut self, expanded: bool) -> Self {
        self.props.expanded = expanded;
        self
    }

    /// The least number.
    pub fn min(mut self, min: f64) -> Self {
        self.props.min = min;
        self
    }

    /// The greatest number.
    pub fn max(mut self, max: f64) -> Self {
        self.props.max = max;
        self
    }

    /// The distance between two numbers.
    pub fn step(mut self, step: f64) -> Self {
        self.props.step = step;
        self
    }

    /// How many characters it takes.
    pub fn max_length(mut self, characters: usize) -> Self {
        self.props.max_length = Some(characters);
        self
    }

    /// Whether it takes input.
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.props.enabled = enabled;
        self
    }

    /// Whether it is shown.
    pub fn visible(mut self, visible: bool) -> Self {
        self.props.visible = visible;
        self
    }

    /// Whether its text or number can't be edited.
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.props.read_only = read_only;
        self
    }

    /// Makes it the button that Enter presses in the fields of its window that don't listen to
    /// Enter themselves.
    pub fn default_button(mut self) -> Self {
        self.props.is_default = true;
        self
    }

    /// Makes a list or table a lazy one.
    pub fn rows(mut self, rows: Rows) -> Self {
        self.rows = Some(rows);
        self
    }

    /// What is inside it, after what is already.
    pub fn children(mut self, children: impl IntoIterator<Item = Widget>) -> Self {
        self.children.extend(children);
        self
    }

    /// One more thing inside it.
    pub fn child(mut self, child: Widget) -> Self {
        self.children.push(child);
        self
    }

    /// What happens when it is pressed, by anybody. It may change the tree in any way, and
    /// remove its own widget; it is not called again while it runs.
    pub fn on_click(self, handler: impl FnMut(&mut Tree, Node) + 'static) -> Self {
        self.on(On::Click, handler)
    }

    /// What happens when a person or an agent changes what it holds. The app's own changes
    /// don't call it.
    pub fn on_change(self, handler: impl FnMut(&mut Tree, Node) + 'static) -> Self {
        self.on(On::Change, handler)
    }

    /// What happens when Enter is pressed in it.
    pub fn on_submit(self, handler: impl FnMut(&mut Tree, Node) + 'static) -> Self {
        self.on(On::Submit, handler)
    }

    fn on(mut self, on: On, handler: impl FnMut(&mut Tree, Node) + 'static) -> Self {
        self.handlers.set(on, Rc::new(RefCell::new(handler)));
        self
    }
}
