//! What a case file says, read and checked: an unknown key, kind, effect, step or matcher is an
//! error that names file and place, and so is a name, a variable or a word of the wire that
//! can't be meant.

mod check;
mod read;
mod words;

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use agent_core::VerbSet;
use serde_json::{Map, Value};

pub(crate) use check::variable;
pub use read::parse;
pub(crate) use read::{SUFFIX, plain, repeated};
pub use words::BACKENDS;

/// What is wrong with a case file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub file: PathBuf,
    /// Where in it, as `steps[3].send.params`.
    pub at: String,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if !self.at.is_empty() {
            write!(f, "{}: ", self.at)?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for Fault {}

/// One case: a user interface, and a conversation with it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Where it was read from.
    pub file: PathBuf,
    /// What it is called in lists: its folder and its file's name without the suffix.
    pub id: String,
    /// The promise, in a sentence.
    pub name: String,
    /// Why it is worth keeping.
    pub from: String,
    /// The windows that are open when it begins.
    pub windows: Vec<Node>,
    /// What the app has switched on.
    pub app: App,
    /// The conversation.
    pub steps: Vec<Step>,
    /// What must be in no line that the product writes.
    pub never_on_the_wire: Vec<String>,
    /// The backends that can't run it, each with the reason.
    pub skip: BTreeMap<String, String>,
}

impl Case {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn load(file: &Path) -> Result<Self, Fault> {
        let text = std::fs::read_to_string(file).map_err(|error| Fault {
            file: file.to_owned(),
            at: String::new(),
            what: format!("can't be read: {error}"),
        })?;
        parse(file, &text)
    }
}

/// What the app has switched on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// Whether agents may see the whole tree.
    pub armed_full: bool,
    /// Whether the inspector is there.
    pub armed_inspector: bool,
    /// What the gate says at the start.
    pub consent: Consent,
    /// The verbs that the headless backend shall lack.
    pub unsupported: VerbSet,
}

/// What the gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Everything is let in.
    Allow,
    /// Nothing is.
    Deny,
    /// The user is asked.
    Ask,
    /// The app gave no policy.
    None,
}

/// What the user says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Allow,
    /// No.
    Deny,
    /// Nothing: it is waved away.
    Dismiss,
}

macro_rules! kinds {
    ($($name:ident = $word:literal;)*) => {
        /// What kind of widget a node is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "each is what its name says")]
        pub enum Kind { $($name,)* }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Its word in a case file.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

kinds! {
    Window = "window"; Dialog = "dialog"; Group = "group"; Scroll = "scroll"; List = "list";
    ListItem = "list_item"; Tabs = "tabs"; Tab = "tab"; Tree = "tree"; TreeItem = "tree_item";
    Table = "table"; Row = "row"; Cell = "cell"; Toolbar = "toolbar"; MenuBar = "menu_bar";
    Menu = "menu"; MenuItem = "menu_item"; Button = "button"; Toggle = "toggle";
    Checkbox = "checkbox"; Radio = "radio"; Switch = "switch"; Link = "link";
    TextField = "text_field"; PasswordField = "password_field"; TextArea = "text_area";
    SearchField = "search_field"; Combo = "combo"; Option = "option"; Slider = "slider";
    Spin = "spin"; Progress = "progress"; Label = "label"; Heading = "heading"; Image = "image";
    Separator = "separator"; Canvas = "canvas";
}

impl Kind {
    /// The kind of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }

    /// Whether text is typed into it.
    pub const fn is_field(self) -> bool {
        matches!(
            self,
            Self::TextField | Self::PasswordField | Self::TextArea | Self::SearchField
        )
    }

    /// Whether its value is a number.
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Slider | Self::Spin | Self::Progress)
    }
}

/// One widget, with all that is inside it.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    missing_docs,
    reason = "the keys of a node in a case file, and called as they are"
)]
pub struct Node {
    pub kind: Kind,
    /// The developer's agent id.
    pub id: Option<String>,
    /// What the case calls it, unknown to agents.
    pub reference: Option<String>,
    pub title: String,
    pub text: String,
    /// Its accessible name, where that is not its text.
    pub label: String,
    pub value: Option<Held>,
    pub hint: String,
    /// `None`: nothing is said; it matters for a menu item.
    pub checked: Option<bool>,
    pub selected: bool,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub step: Option<f64>,
    pub max_length: Option<usize>,
    pub enabled: bool,
    pub visible: bool,
    pub read_only: bool,
    pub key: Option<String>,
    pub ceiling: Option<VerbSet>,
    pub exposed: Option<bool>,
    pub secret: bool,
    pub excluded: bool,
    pub relayed: bool,
    pub confirm: bool,
    pub children: Vec<Node>,
    pub rows: Option<Rows>,
    pub on_click: Vec<Effect>,
    pub on_change: Vec<Effect>,
    pub on_submit: Vec<Effect>,
}

impl Node {
    /// What it holds at the start, as text.
    pub fn held_text(&self) -> String {
        match &self.value {
            Some(Held::Text(text)) => text.clone(),
            Some(Held::Number(number)) => number.to_string(),
            None => self.text.clone(),
        }
    }

    /// What it holds at the start, as a number.
    pub fn held_number(&self) -> f64 {
        match &self.value {
            Some(Held::Number(number)) => *number,
            Some(Held::Text(text)) => text.trim().parse().unwrap_or(0.0),
            None => 0.0,
        }
    }

    /// Its caption: its text, else its title.
    pub fn caption(&self) -> &str {
        if self.text.is_empty() {
            &self.title
        } else {
            &self.text
        }
    }

    /// It and everything inside it.
    pub fn all(&self) -> Vec<&Node> {
        let mut all = vec![self];
        let mut at = 0;
        while let Some(node) = all.get(at).copied() {
            all.extend(&node.children);
            at += 1;
        }
        all
    }
}

/// A `value` in a case file.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
}

/// The rows of a lazy list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// How many there are.
    pub count: u64,
    text: String,
    /// Whether each has its number as its key.
    pub keyed: bool,
}

impl Rows {
    /// The text of the row of this number, from 1.
    pub fn text(&self, number: u64) -> String {
        self.text.replace("{n}", &number.to_string())
    }
}

/// What an app does to its own user interface.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Sets one property.
    Set {
        /// Of which node.
        node: String,
        /// Which, and to what.
        to: Property,
    },
    /// Adds a node.
    Add {
        /// Inside which.
        parent: String,
        /// At which place; after the others if it is not said.
        at: Option<usize>,
        /// The node, or several of a kind.
        nodes: Vec<Node>,
    },
    /// Removes a node.
    Remove(String),
    /// Moves a node.
    Move {
        /// Which.
        node: String,
        /// To be inside which.
        parent: String,
        /// At which place.
        at: usize,
    },
    /// Opens a window or a dialog that blocks nothing.
    Open(Box<Node>),
    /// Opens a dialog that blocks its opener.
    Modal(Box<Node>),
    /// Closes one.
    Close(String),
    /// Keeps the UI thread busy for so many milliseconds.
    Block(u64),
    /// Fails, as a handler with a fault in it does.
    Panic(String),
    /// Counts how often it was run, under this name.
    Count(String),
}

/// A property that an effect sets.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    missing_docs,
    reason = "the keys of the effect, and called as they are"
)]
pub enum Property {
    Text(String),
    Value(Held),
    Checked(bool),
    Enabled(bool),
    Visible(bool),
    Name(String),
}

/// What a person does.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// To which node.
    pub node: String,
    /// What.
    pub does: Does,
}

/// What a person does to a node.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    missing_docs,
    reason = "the steps of a person in a case file, and called as they are"
)]
pub enum Does {
    Click,
    /// Inserts at the end.
    Type(String),
    Clear,
    Submit,
    /// Presses the toolkit's undo key.
    Undo,
    Check(bool),
    Select,
    /// From 0 to 1.
    Scroll(f64),
    CloseWindow,
    Resize {
        width: f64,
        height: f64,
    },
}

/// One step of the conversation.
#[derive(Clone, Debug)]
pub struct Step {
    /// Where it stands, as `steps[3]`.
    pub at: String,
    /// As it is written.
    pub json: Value,
    /// What it is.
    pub what: What,
}

/// What a step is. `on` is the connection's name.
#[derive(Clone, Debug)]
pub enum What {
    /// A request, whose reply is waited for.
    Send {
        /// The connection.
        on: String,
        /// The request, variables and all.
        message: Map<String, Value>,
        /// What its reply must match.
        expect: Value,
    },
    /// A request, whose reply may be waited for later, under this name.
    Later {
        /// The connection.
        on: String,
        /// The request, variables and all.
        message: Map<String, Value>,
        /// The name.
        name: String,
    },
    /// Waits for such a reply.
    Await {
        /// The name.
        name: String,
        /// What it must match.
        expect: Value,
    },
    /// Sends a text as it is.
    Raw {
        /// The connection.
        on: String,
        /// The text.
        text: String,
        /// Whether a line end follows.
        newline: bool,
        /// What its reply must match; `None`: no reply may come.
        expect: Option<Value>,
    },
    /// The next pushed event that matches.
    ExpectEvent {
        /// The connection.
        on: String,
        /// What it must match.
        expect: Value,
    },
    /// No pushed event for so many milliseconds.
    ExpectQuiet {
        /// The connection.
        on: String,
        /// How long.
        ms: u64,
    },
    /// The server ends this connection.
    ExpectClosed(String),
    /// What a person does.
    User(Person),
    /// What the app does, and what is asserted of it.
    App(AppStep),
    /// Another connection.
    Connect {
        /// What the case calls it.
        name: String,
        /// What the client calls itself.
        claims: Option<String>,
    },
    /// The client ends a connection.
    Disconnect(String),
    /// A last resort.
    Sleep(u64),
    /// Some steps several times.
    Repeat {
        /// How often.
        times: u64,
        /// Which.
        steps: Vec<Step>,
    },
}

/// What the app does in a step, in this order.
#[derive(Clone, Debug, Default)]
pub struct AppStep {
    /// The gate says this from now on.
    pub consent: Option<Consent>,
    /// All agents are revoked.
    pub revoke: bool,
    /// The oldest open question is answered.
    pub answer: Option<Answer>,
    /// Its user interface changes.
    pub effects: Vec<Effect>,
    /// How often counters must have been run.
    pub counters: BTreeMap<String, u64>,
    /// What the numbers of questions must match.
    pub prompts: Option<Value>,
}
