//! What agents see of one node, and why: the answer to "why can't the agent see my button?".

use std::sync::Arc;

use agent_core::{
    LiveTree, Marks, ROOT_ID, Refusal, Standings, States, Tag, TagFault, Target, Verb, VerbSet,
    automatic_id, verdict,
};

use crate::look::{AGENT, Inspect};

/// Whether agents are shown a node, or why not. The first reason that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// They are.
    Shown,
    /// Its developer said nothing of it: no tag.
    NoTag,
    /// It has a tag without an id or a key, which only passes on what it says to what is inside.
    TagWithoutId,
    /// It has a key, and nothing around it is exposed that the key could stand below.
    KeyWithoutList,
    /// The tag says `exposed(false)`.
    SaidNotTo,
    /// What the tag says can't be.
    Fault(TagFault),
    /// It is exposed, and hidden now, itself or by what is around it: the handle of what hides it.
    Hidden {
        /// What is hidden: the node itself, or what is around it.
        by: u64,
    },
    /// It is shown, and no agent can address it: another node claims the same id.
    Duplicate,
}

/// Where a node's id comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdSource {
    /// It has none that agents could use.
    None,
    /// The developer's own id.
    Tag,
    /// A key from data, below the exposed node around it.
    Key {
        /// The key, as it was given.
        key: String,
        /// The id of that node.
        within: Arc<str>,
    },
}

/// What a call would be answered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The verb.
    pub verb: Verb,
    /// `None`: allowed.
    pub refused: Option<Refusal>,
}

/// What agents see of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentView {
    /// Whether they are shown it.
    pub exposure: Exposure,
    /// Its place, as a full description would name it if it had no id.
    pub place: String,
    /// The id that it is exposed under.
    pub id: Option<Arc<str>>,
    /// Where that comes from.
    pub source: IdSource,
    /// What they may ever do.
    pub ceiling: VerbSet,
    /// The handles of the nodes whose tags took something from that, outermost first, and what
    /// each took.
    pub narrowed: Vec<(u64, VerbSet)>,
    /// Its marks, each with the handle of the outermost node that has it.
    pub marks: Vec<(Marks, u64)>,
    /// What each verb that names a node would be answered now, the form of its parameters and a
    /// text's version apart.
    pub verdicts: Vec<Verdict>,
}

/// What agents see of a node. `None`: it is in no window, or excluded.
pub fn view<L: Inspect>(live: &L, node: L::Key) -> Option<AgentView> {
    let mut standings = Standings::new(live);
    let standing = standings.of(node)?;
    if standing.is_excluded() {
        return None;
    }
    let path = path(live, node);
    let mut narrowed = Vec::new();
    let mut left = VerbSet::all();
    for at in &path {
        let ceiling = live.tag(*at).map_or(VerbSet::all(), Tag::get_ceiling);
        let taken = left - ceiling;
        if !taken.is_empty() {
            narrowed.push((live.handle(*at), taken));
        }
        left &= ceiling;
    }
    let own = |at: &L::Key| live.tag(*at).map_or(Marks::empty(), Tag::get_marks);
    let marks = [Marks::SECRET, Marks::RELAYED, Marks::CONFIRM]
        .into_iter()
        .filter_map(|mark| {
            let first = path.iter().find(|at| own(at).contains(mark))?;
            Some((mark, live.handle(*first)))
        })
        .collect();
    let window = standings.of(standing.window)?.id.clone();
    let target = standing.id.as_deref().map(|id| Target {
        id: id.to_owned(),
        window: window.as_deref().map(str::to_owned),
    });
    let verdicts: Vec<Verdict> = VerbSet::ACTING
        .union(Verb::GetText.set())
        .verbs()
        .map(|verb| Verdict {
            verb,
            refused: match &target {
                Some(target) => verdict(live, target, verb, AGENT).err(),
                None => Some(Refusal::NotFound),
            },
        })
        .collect();
    let within = standing.within.as_ref().map(|(_, id)| id.clone());
    let tag = live.tag(node);
    let key = tag.and_then(Tag::get_key);
    let source = match (&standing.id, key, within) {
        (None, ..) => IdSource::None,
        (Some(_), Some(key), Some(within)) => IdSource::Key {
            key: key.to_owned(),
            within,
        },
        (Some(_), ..) => IdSource::Tag,
    };
    let exposure = match (&standing.id, tag, standing.fault) {
        (_, _, Some(fault)) => Exposure::Fault(fault),
        (None, None, _) => Exposure::NoTag,
        (None, Some(tag), _) if tag.get_exposed() == Some(false) => Exposure::SaidNotTo,
        (None, Some(tag), _) if tag.get_key().is_some() => Exposure::KeyWithoutList,
        (None, Some(_), _) => Exposure::TagWithoutId,
        (Some(_), ..) => {
            let hidden = |at: &&L::Key| live.facts(**at).states.contains(States::HIDDEN);
            let ambiguous = verdicts_are_ambiguous(&verdicts);
            match path.iter().find(hidden) {
                Some(by) => Exposure::Hidden {
                    by: live.handle(*by),
                },
                None if ambiguous => Exposure::Duplicate,
                None => Exposure::Shown,
            }
        }
    };
    Some(AgentView {
        exposure,
        place: place(&mut standings, &path),
        id: standing.id.clone(),
        source,
        ceiling: standing.ceiling,
        narrowed,
        marks,
        verdicts,
    })
}

fn verdicts_are_ambiguous(verdicts: &[Verdict]) -> bool {
    let ambiguous = |verdict: &Verdict| verdict.refused == Some(Refusal::Ambiguous);
    verdicts.iter().any(ambiguous)
}

/// The automatic id of the last node of a path: its role and how many of that role come before,
/// below the id of what it is in; what is excluded is not counted.
fn place<L: LiveTree>(standings: &mut Standings<'_, L>, path: &[L::Key]) -> String {
    let live = standings.live();
    let mut around = ROOT_ID.to_owned();
    let mut place = String::new();
    let mut siblings = live.windows();
    for node in path {
        let role = standings.role(*node);
        let before = siblings
            .iter()
            .take_while(|sibling| *sibling != node)
            .filter(|sibling| {
                standings.role(**sibling) == role
                    && standings
                        .of(**sibling)
                        .is_some_and(|standing| !standing.is_excluded())
            })
            .count();
        place = automatic_id(&around, role, before);
        let own = live.tag(*node).filter(|tag| tag.fault().is_none());
        around = match (standings.of(*node), own.and_then(Tag::get_id)) {
            (Some(standing), _) if standing.id.is_some() => {
                standing.id.as_deref().unwrap_or_default().to_owned()
            }
            (_, Some(id)) => id.to_owned(),
            _ => place.clone(),
        };
        siblings = live.children(*node);
    }
    place
}

/// From the window down to the node.
fn path<L: LiveTree>(live: &L, node: L::Key) -> Vec<L::Key> {
    let mut path = vec![node];
    let mut at = node;
    while let Some(parent) = live.parent(at) {
        path.push(parent);
        at = parent;
    }
    path.reverse();
    path
}
