//! What is likely a mistake in how an app tags its widgets: a plain function over what looks found.

use std::collections::{BTreeMap, HashMap, HashSet};

use agent_core::{Role, States, Tag, VerbSet};

use crate::look::{Look, Node};

/// A kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lint {
    /// Two nodes of a window claim one id: agents can reach neither.
    DuplicateId,
    /// Something that can be acted on has no name: an agent sees only what it is.
    NoName,
    /// Ids that count places: they mean other things when the order changes.
    PositionalId,
    /// Exposed, and in no look yet visible.
    NeverVisible,
    /// By its name it holds a secret, and is not marked as one.
    UnmarkedSecret,
}

impl Lint {
    /// Every one.
    pub const ALL: &[Self] = &[
        Self::DuplicateId,
        Self::NoName,
        Self::PositionalId,
        Self::NeverVisible,
        Self::UnmarkedSecret,
    ];

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::DuplicateId => "duplicate_id",
            Self::NoName => "no_name",
            Self::PositionalId => "positional_id",
            Self::NeverVisible => "never_visible",
            Self::UnmarkedSecret => "unmarked_secret",
        }
    }

    /// What to do about it.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::DuplicateId => {
                "agents can reach neither: give each its own id; give rows a key from their data"
            }
            Self::NoName => {
                "an agent sees only its role: give it a caption, a label, or Tag::label(..)"
            }
            Self::PositionalId => {
                "these ids count places, and name other things when the order changes: make them \
                 from the data"
            }
            Self::NeverVisible => {
                "it was hidden or had no size in every look since the inspector connected: if \
                 nobody ever sees it, it need not be exposed"
            }
            Self::UnmarkedSecret => {
                "by its name it holds a secret: mark it Tag::secret(), or use the toolkit's \
                 password field"
            }
        }
    }
}

/// One likely mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub lint: Lint,
    /// On which nodes, by handle.
    pub nodes: Vec<u64>,
    /// The ids that are meant, as an agent would write them.
    pub ids: Vec<String>,
}

/// What is likely wrong in what a look found. `visible`: the handles of what was visible in any
/// look so far.
pub fn lint(look: &Look, visible: &HashSet<u64>) -> Vec<Finding> {
    let exposed = || look.nodes.iter().filter(|node| node.id.is_some());
    let one = |lint, node: &Node| Finding {
        lint,
        nodes: vec![node.handle],
        ids: node.id.iter().map(|id| id.as_ref().to_owned()).collect(),
    };
    let mut findings = Vec::new();
    let mut same: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for node in exposed().filter(|node| node.duplicate) {
        if let Some(id) = node.id.as_deref() {
            same.entry(id).or_default().push(node.handle);
        }
    }
    findings.extend(same.into_iter().map(|(id, nodes)| Finding {
        lint: Lint::DuplicateId,
        nodes,
        ids: vec![id.to_owned()],
    }));
    let nameless = |node: &&Node| {
        let acts = (node.offers & node.ceiling).intersects(VerbSet::CONSEQUENTIAL);
        acts && node.role != Role::Window && node.name.trim().is_empty()
    };
    findings.extend(
        exposed()
            .filter(nameless)
            .map(|node| one(Lint::NoName, node)),
    );
    findings.extend(positional(look));
    let never = |node: &&Node| !is_visible(node) && !visible.contains(&node.handle);
    findings.extend(
        exposed()
            .filter(never)
            .map(|node| one(Lint::NeverVisible, node)),
    );
    findings.extend(
        exposed()
            .filter(|node| node.role.is_text_field() && !node.is_secret() && names_a_secret(node))
            .map(|node| one(Lint::UnmarkedSecret, node)),
    );
    findings
}

/// Whether a person could see it, scrolled into view.
pub(crate) fn is_visible(node: &Node) -> bool {
    let has_size = node
        .frame
        .is_none_or(|frame| frame.width > 0.0 && frame.height > 0.0);
    !node.states.contains(States::HIDDEN) && has_size
}

impl Look {
    /// The handles of what is visible in it.
    pub fn visible(&self) -> impl Iterator<Item = u64> {
        let visible = self.nodes.iter().filter(|node| is_visible(node));
        visible.map(|node| node.handle)
    }
}

/// How many siblings have to count before it is no accident.
const COUNTING: usize = 3;

/// Siblings whose ids are one stem and their place, counted from 0 or 1.
fn positional(look: &Look) -> Vec<Finding> {
    let mut siblings: HashMap<Option<u64>, Vec<(&Node, &str, u64)>> = HashMap::new();
    let mut parents = Vec::new();
    for node in &look.nodes {
        let tag = node.tag.as_ref().filter(|_| node.id.is_some());
        let given = tag.and_then(|tag| tag.get_id().or(Tag::get_key(tag)));
        if let Some((stem, number)) = given.and_then(counted) {
            let level = siblings.entry(node.parent).or_insert_with(|| {
                parents.push(node.parent);
                Vec::new()
            });
            level.push((node, stem, number));
        }
    }
    let mut findings = Vec::new();
    for level in parents.iter().filter_map(|parent| siblings.get(parent)) {
        let mut rest = level.as_slice();
        while let Some((_, stem, first)) = rest.first() {
            let run = rest
                .iter()
                .zip(*first..)
                .take_while(|((_, other, number), expected)| other == stem && number == expected)
                .count();
            let (counting, after) = rest.split_at(run.max(1));
            if counting.len() >= COUNTING && *first <= 1 {
                findings.push(Finding {
                    lint: Lint::PositionalId,
                    nodes: counting.iter().map(|(node, ..)| node.handle).collect(),
                    ids: counting
                        .iter()
                        .filter_map(|(node, ..)| node.id.as_deref().map(str::to_owned))
                        .collect(),
                });
            }
            rest = after;
        }
    }
    findings
}

/// An id that ends in a number, split before it.
fn counted(id: &str) -> Option<(&str, u64)> {
    let stem = id.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = id.get(stem.len()..)?;
    Some((stem, digits.parse().ok()?))
}

/// Words of which one alone tells that what is typed there is nobody else's business.
const SECRET_WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "apikey",
    "pin",
    "cvv",
    "cvc",
    "otp",
    "ssn",
    "iban",
    "passwort",
    "kennwort",
    "geheim",
];

/// Pairs of words that do.
const SECRET_PAIRS: &[(&str, &str)] = &[
    ("api", "key"),
    ("private", "key"),
    ("access", "key"),
    ("card", "number"),
    ("security", "code"),
];

/// Whether a field's id or name says that it holds a secret.
fn names_a_secret(node: &Node) -> bool {
    let id = node.id.as_deref().unwrap_or_default();
    [id, node.name.as_str()].into_iter().any(|text| {
        let words = words(text);
        words
            .iter()
            .any(|word| SECRET_WORDS.contains(&word.as_str()))
            || words.windows(2).any(|pair| match pair {
                [one, two] => SECRET_PAIRS.contains(&(one.as_str(), two.as_str())),
                _ => false,
            })
    })
}

/// The words of an id or a name, in lower case: `apiKey`, `api-key` and `API key` are two.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
