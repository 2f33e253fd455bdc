//! From (tree, id, verb, parameters) to a refusal or an authorised action.

use crate::{
    gate::{AuthGate, Request},
    id::{is_automatic, split_key},
    node::{LiveTree, States},
    policy::Confirmed,
    standing::{Standing, Standings},
    surface::{Surface, own_text, states},
    tag::Marks,
    verb::{Verb, VerbSet},
};

/// What an agent wants done to a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Press it.
    Click,
    /// Replace its text, or the range `from..to` of it, in Unicode scalar values.
    SetText {
        /// What to put there.
        value: String,
        /// The version that was read.
        base_version: u64,
        /// The range; all of it, if `None`.
        range: Option<(u64, u64)>,
    },
    /// Bring it, or the row of it with this key, into view.
    ScrollTo {
        /// A row's key.
        key: Option<String>,
    },
    /// Give it the keyboard focus.
    Focus,
    /// Press Enter in it.
    Submit,
    /// Select it.
    Select,
    /// Switch it on or off.
    SetChecked(bool),
    /// Set its number.
    SetValue(f64),
    /// Open it.
    Expand,
    /// Close it.
    Collapse,
}

impl Action {
    /// The verb that asks for it.
    pub const fn verb(&self) -> Verb {
        match self {
            Self::Click => Verb::Click,
            Self::SetText { .. } => Verb::SetText,
            Self::ScrollTo { .. } => Verb::ScrollTo,
            Self::Focus => Verb::Focus,
            Self::Submit => Verb::Submit,
            Self::Select => Verb::Select,
            Self::SetChecked(_) => Verb::SetChecked,
            Self::SetValue(_) => Verb::SetValue,
            Self::Expand => Verb::Expand,
            Self::Collapse => Verb::Collapse,
        }
    }
}

/// The node that a request names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Its id.
    pub id: String,
    /// Its window's id, where the request gave one.
    pub window: Option<String>,
}

impl Target {
    /// The same id in the window of this id alone.
    #[must_use]
    pub fn in_window(mut self, window: impl Into<String>) -> Self {
        self.window = Some(window.into());
        self
    }
}

impl From<String> for Target {
    /// In whichever window it is.
    fn from(id: String) -> Self {
        Self { id, window: None }
    }
}

impl From<&str> for Target {
    /// In whichever window it is.
    fn from(id: &str) -> Self {
        id.to_owned().into()
    }
}

/// Why an action is not possible on a node that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The developer never permits it here.
    Ceiling,
    /// It is disabled.
    Disabled,
    /// It is not shown.
    Hidden,
    /// Its text can't be edited.
    ReadOnly,
    /// Something modal lies over it.
    BlockedByModal,
    /// Its text is not told.
    Secret,
    /// This kind of widget has no such action.
    NotOffered,
}

impl Why {
    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ceiling => "ceiling",
            Self::Disabled => "disabled",
            Self::Hidden => "hidden",
            Self::ReadOnly => "read_only",
            Self::BlockedByModal => "blocked_by_modal",
            Self::Secret => "secret",
            Self::NotOffered => "not_offered",
        }
    }
}

/// What became of a request that named a node and was not done: an outcome, not an error.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// There is no such id now; also what an unexposed one gives an external agent (rule 1).
    NotFound,
    /// It is there and not exposed: told apart only in the app, and where `full` is armed.
    NotExposed,
    /// Its ceiling or its state forbids it.
    NotActionable {
        /// Which of them.
        why: Why,
        /// The modal that lies over it, if that is exposed.
        by: Option<String>,
    },
    /// The text has moved on since it was read.
    VersionConflict {
        /// Its version now.
        version: u64,
        /// What it is now, where that may be read.
        text: Option<String>,
    },
    /// Two nodes claim the id.
    Ambiguous,
    /// The user has to say yes to this first.
    NeedsConfirmation,
}

impl Refusal {
    /// The outcome on the wire.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::NotExposed => "not_exposed",
            Self::NotActionable { .. } => "not_actionable",
            Self::VersionConflict { .. } => "version_conflict",
            Self::Ambiguous => "ambiguous",
            Self::NeedsConfirmation => "needs_confirmation",
        }
    }

    pub(crate) const fn why(why: Why) -> Self {
        Self::NotActionable { why, by: None }
    }
}

/// Why a request could not be judged at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The exposed window that it names was there when it came in, and is gone.
    WindowGone,
    /// A parameter that only the live node can judge is wrong.
    InvalidParams {
        /// Which one.
        name: &'static str,
        /// What is wrong, without the value.
        why: String,
    },
    /// This toolkit can't do it.
    Unsupported,
    /// The gate said no when its turn came.
    Denied,
    /// The app failed at it; it may have acted in part.
    Internal(String),
    /// The app is going away.
    Closed,
}

impl Fault {
    /// The error's reason on the wire.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::WindowGone => "window_gone",
            Self::InvalidParams { .. } => "invalid_params",
            Self::Unsupported => "unsupported",
            Self::Denied => "consent_denied",
            Self::Internal(_) | Self::Closed => "internal",
        }
    }
}

/// Either kind of no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum No {
    /// An outcome.
    Refused(Refusal),
    /// An error.
    Fault(Fault),
}

impl From<Refusal> for No {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Fault> for No {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// An action that its node permits now. What is left to ask is the user, where the developer's
/// mark says so: [`Surface::authorise`] makes leave of it. Dropping it leaves no trace.
#[must_use = "what was judged is not authorised yet"]
#[derive(Debug, PartialEq)]
pub struct Judged<K> {
    node: K,
    action: Action,
    secret: bool,
    /// The node that the user is asked about.
    asks: Option<K>,
}

impl<K> Judged<K> {
    /// Whether the user is asked before it.
    pub fn asks(&self) -> bool {
        self.asks.is_some()
    }
}

/// Leave to do one thing to one node, now. Only the rules make one, in the same turn of the UI
/// thread that performs it (rule 4), and performing it uses it up: it can be neither copied nor
/// made by anybody else.
#[must_use = "an authorised action that is dropped was not performed, and must not be reported as if it was"]
#[derive(Debug, PartialEq)]
pub struct Authorised<K> {
    node: K,
    action: Action,
    secret: bool,
}

impl<K> Authorised<K> {
    /// The verb, to choose a way of performing by.
    pub fn verb(&self) -> Verb {
        self.action.verb()
    }

    /// Whether the node's text must not be read back.
    pub fn is_secret(&self) -> bool {
        self.secret
    }

    /// The node and what to do to it, to be done at once.
    pub fn perform(self) -> (K, Action) {
        (self.node, self.action)
    }
}

impl<K: PartialEq> Authorised<K> {
    /// The same leave for the next pass of this turn, where an action takes several and has just
    /// been judged again: the user's yes is good for it.
    ///
    /// # Errors
    /// What was judged is given back if that is about something else.
    pub fn renew(self, judged: Judged<K>) -> Result<Self, Judged<K>> {
        if self.node == judged.node && self.action == judged.action {
            Ok(Self {
                node: judged.node,
                action: judged.action,
                secret: judged.secret,
            })
        } else {
            Err(judged)
        }
    }
}

/// Who looks, as far as it changes what they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Whether an unexposed id is told apart from none: in the app itself, and for everyone
    /// where the app armed the full description.
    pub names_unexposed: bool,
    /// Whether the window that the request names was there, and exposed, when it came in.
    pub window_was_there: bool,
}

impl<K: Copy + Eq + std::hash::Hash + Ord + std::fmt::Debug> Surface<K> {
    /// Judges one action on one node, without asking anybody (rules 3, 5 and 6). Costs the
    /// node's depth.
    ///
    /// # Errors
    /// The outcome that the agent is told, or the error.
    pub fn judge<L: LiveTree<Key = K>>(
        &mut self,
        live: &L,
        target: &Target,
        action: Action,
        view: View,
    ) -> Result<Judged<K>, No> {
        let mut standings = Standings::new(live);
        let found = find(&mut standings, target, view);
        if let (Err(No::Refused(Refusal::NotFound)), Action::ScrollTo { key: None }) =
            (&found, &action)
            && let Some((list, key)) = unrealised(&mut standings, target, view)
        {
            return Ok(Judged {
                node: list,
                action: Action::ScrollTo { key: Some(key) },
                secret: false,
                asks: None,
            });
        }
        let (node, standing) = found?;
        let states = states(live, node, &standing);
        let secret = states.contains(States::SECRET);
        let verb = action.verb();

        if let Action::ScrollTo { key } = &action {
            if states.contains(States::HIDDEN) {
                return Err(Refusal::why(Why::Hidden).into());
            }
            if let Some(key) = key
                && !has_row(&mut standings, node, &standing, key)
            {
                return Err(Refusal::NotFound.into());
            }
            return Ok(Judged {
                node,
                action,
                secret,
                asks: None,
            });
        }
        permits(&mut standings, node, &standing, verb)?;
        if let Action::SetText {
            base_version,
            range,
            ..
        } = &action
        {
            let text = own_text(live, node, &standing);
            let version = self
                .versions
                .look(node, live.text_stamp(node), text.as_deref());
            if version != *base_version {
                return Err(Refusal::VersionConflict { version, text }.into());
            }
            if let Some((from, to)) = *range {
                let Some(text) = text else {
                    return Err(Fault::InvalidParams {
                        name: "from",
                        why: "a secret text is replaced whole: leave `from` and `to` out".into(),
                    }
                    .into());
                };
                let length = text.chars().count() as u64;
                if from > to || to > length {
                    return Err(Fault::InvalidParams {
                        name: if from > to { "from" } else { "to" },
                        why: format!("the text has {length} characters, and from <= to <= that"),
                    }
                    .into());
                }
            }
        }
        if let Action::SetValue(value) = action {
            let (least, greatest) = live.bounds(node).unwrap_or((f64::MIN, f64::MAX));
            // What is no number, or endless, is in no range.
            if !value.is_finite() || !(least..=greatest).contains(&value) {
                return Err(Fault::InvalidParams {
                    name: "value",
                    why: format!("it goes from {least} to {greatest}"),
                }
                .into());
            }
        }
        let asks = asks(&mut standings, node, &standing, verb)?;
        Ok(Judged {
            node,
            action,
            secret,
            asks,
        })
    }

    /// Asks the user, if the node's mark says so, tells the policy that it is about to happen,
    /// and gives leave for it. `live` holds the node and, if the user [is asked](Judged::asks),
    /// its whole window: that costs what is exposed there. Never waits.
    ///
    /// # Errors
    /// If the user said no, or has yet to answer.
    pub fn authorise<L: LiveTree<Key = K>>(
        &self,
        live: &L,
        judged: Judged<K>,
        gate: &AuthGate,
        request: &Request,
    ) -> Result<Authorised<K>, Refusal> {
        if let Some(about) = judged.asks {
            let question = self.question(live, about, &judged.action, request);
            if question.is_none_or(|question| gate.confirm(&question) == Confirmed::No) {
                return Err(Refusal::NeedsConfirmation);
            }
        }
        gate.acting(request);
        Ok(Authorised {
            node: judged.node,
            action: judged.action,
            secret: judged.secret,
        })
    }
}

/// What the widget offers, the ceiling allows and its state permits (rule 3), in this order but
/// for hidden: an immediate-mode toolkit doesn't know what it is that it doesn't show.
fn permits<L: LiveTree>(
    standings: &mut Standings<'_, L>,
    node: L::Key,
    standing: &Standing<L::Key>,
    verb: Verb,
) -> Result<(), Refusal> {
    let live = standings.live();
    if standing.inherited.contains(States::HIDDEN) {
        return Err(Refusal::why(Why::Hidden));
    }
    if !live.facts(node).offers.contains(verb.set()) {
        return Err(Refusal::why(Why::NotOffered));
    }
    if !standing.ceiling.contains(verb.set()) {
        return Err(Refusal::why(Why::Ceiling));
    }
    if let Some(modal) = live.blocked_by(node) {
        let by = standings
            .of(modal)
            .and_then(|standing| standing.id.as_deref().map(str::to_owned));
        let why = Why::BlockedByModal;
        return Err(Refusal::NotActionable { why, by });
    }
    if standing.inherited.contains(States::DISABLED) {
        return Err(Refusal::why(Why::Disabled));
    }
    let edits = (VerbSet::SetText | VerbSet::SetValue).contains(verb.set());
    if edits && states(live, node, standing).contains(States::READ_ONLY) {
        return Err(Refusal::why(Why::ReadOnly));
    }
    Ok(())
}

/// The node that the user is asked about before this verb on `node`, if a mark says so: of two of
/// which the toolkit presses one in the course of it, the one that has the consequences.
fn asks<L: LiveTree>(
    standings: &mut Standings<'_, L>,
    node: L::Key,
    standing: &Standing<L::Key>,
    verb: Verb,
) -> Result<Option<L::Key>, Refusal> {
    let asks = standing.marks.contains(Marks::CONFIRM).then_some(node);
    let Some(other) = standings.live().activates(node, verb) else {
        return Ok(asks);
    };
    let Some(standing) = standings.of(other) else {
        return Ok(asks);
    };
    // What is excluded does not exist for agents, so nothing they do may press it.
    if standing.is_excluded() {
        return Err(Refusal::why(Why::Ceiling));
    }
    permits(standings, other, &standing, Verb::Click)?;
    match standing.marks.contains(Marks::CONFIRM) {
        true => Ok(Some(other)),
        false => Ok(asks),
    }
}

/// What a verb on a node would be answered now, as far as that doesn't depend on its parameters
/// or on the version of a text: judged as a request is, and nothing comes of it. Costs the node's
/// depth.
///
/// # Errors
/// The outcome that the agent would be told.
pub fn verdict<L: LiveTree>(
    live: &L,
    target: &Target,
    verb: Verb,
    view: View,
) -> Result<(), Refusal> {
    let mut standings = Standings::new(live);
    let (node, standing) = match find(&mut standings, target, view) {
        Ok(found) => found,
        Err(No::Refused(refusal)) => return Err(refusal),
        Err(No::Fault(_)) => return Err(Refusal::NotFound),
    };
    if let Verb::ScrollTo | Verb::GetText = verb {
        if standing.inherited.contains(States::HIDDEN) {
            return Err(Refusal::why(Why::Hidden));
        }
        if verb == Verb::GetText && !live.has_text(node) {
            return Err(Refusal::why(Why::NotOffered));
        }
        return Ok(());
    }
    permits(&mut standings, node, &standing, verb)?;
    match asks(&mut standings, node, &standing, verb)? {
        Some(_) => Err(Refusal::NeedsConfirmation),
        None => Ok(()),
    }
}

/// An exposed node and where it stands.
type Found<K> = (K, std::rc::Rc<Standing<K>>);

/// The exposed node that a request names.
pub(crate) fn find<L: LiveTree>(
    standings: &mut Standings<'_, L>,
    target: &Target,
    view: View,
) -> Result<Found<L::Key>, No> {
    let live = standings.live();
    let within = match &target.window {
        None => None,
        Some(window) => Some(find_window(standings, window, view)?),
    };
    let mut found = None;
    let mut unexposed = false;
    for node in live.claimants(&target.id) {
        let Some(standing) = standings.of(node) else {
            continue;
        };
        if standing.is_excluded() || within.is_some_and(|window| window != standing.window) {
            continue;
        }
        if standing.id.as_deref() != Some(target.id.as_str()) {
            unexposed = true;
            continue;
        }
        if found.is_some() {
            return Err(Refusal::Ambiguous.into());
        }
        found = Some((node, standing));
    }
    match found {
        Some(found) => Ok(found),
        None if view.names_unexposed
            && (unexposed
                || is_automatic(&target.id) && crate::describe::has_place(live, &target.id)) =>
        {
            Err(Refusal::NotExposed.into())
        }
        None => Err(Refusal::NotFound.into()),
    }
}

/// The exposed node that a request names, without judging anything else about it.
///
/// # Errors
/// Why there is none: not found, not exposed, ambiguous, or its window is gone.
pub fn locate<L: LiveTree>(live: &L, target: &Target, view: View) -> Result<L::Key, No> {
    find(&mut Standings::new(live), target, view).map(|(node, _)| node)
}

/// The exposed window of this id.
pub(crate) fn find_window<L: LiveTree>(
    standings: &mut Standings<'_, L>,
    id: &str,
    view: View,
) -> Result<L::Key, No> {
    let live = standings.live();
    let mut windows = live.claimants(id).into_iter().filter(|node| {
        live.is_window(*node)
            && standings
                .of(*node)
                .is_some_and(|standing| standing.id.as_deref() == Some(id))
    });
    match (windows.next(), windows.next()) {
        (Some(window), None) => Ok(window),
        (Some(_), Some(_)) => Err(Refusal::Ambiguous.into()),
        (None, _) if view.window_was_there => Err(Fault::WindowGone.into()),
        (None, _) => Err(Refusal::NotFound.into()),
    }
}

/// Whether a lazy list, or a list whose rows have keys, has this row.
fn has_row<L: LiveTree>(
    standings: &mut Standings<'_, L>,
    list: L::Key,
    standing: &Standing<L::Key>,
    key: &str,
) -> bool {
    let live = standings.live();
    if live.has_row(list, key) {
        return true;
    }
    let Some(id) = standing
        .id
        .as_deref()
        .and_then(|list| crate::id::keyed_id(list, key).ok())
    else {
        return false;
    };
    live.claimants(&id).into_iter().any(|row| {
        standings
            .of(row)
            .is_some_and(|row| row.id.as_deref() == Some(id.as_str()))
    })
}

/// For an id that no widget has: the lazy list that it names a row of, and the row's key.
fn unrealised<L: LiveTree>(
    standings: &mut Standings<'_, L>,
    target: &Target,
    view: View,
) -> Option<(L::Key, String)> {
    let (list, key) = split_key(&target.id)?;
    let list = Target {
        id: list.to_owned(),
        window: target.window.clone(),
    };
    let (node, standing) = find(standings, &list, view).ok()?;
    let hidden = standing.inherited.contains(States::HIDDEN);
    (!hidden && standings.live().has_row(node, &key)).then_some((node, key))
}

/// What a node offers an agent to read: its text and version (`get_text`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRead {
    /// The part that was asked for; absent for a secret.
    pub text: Option<String>,
    /// Its version.
    pub version: u64,
    /// How long the whole is, in Unicode scalar values; absent for a secret.
    pub length: Option<u64>,
    /// Where the part begins, if not at the beginning.
    pub from: Option<u64>,
    /// Whether there is more after it.
    pub more: bool,
}

/// The most that one reply holds of a text, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

impl<K: Copy + Eq + std::hash::Hash + Ord + std::fmt::Debug> Surface<K> {
    /// Reads a node's text, from the character `from` on and at most `limit` of them.
    ///
    /// # Errors
    /// The outcome that the agent is told, or the error.
    pub fn read_text<L: LiveTree<Key = K>>(
        &mut self,
        live: &L,
        target: &Target,
        from: Option<u64>,
        limit: Option<u64>,
        view: View,
    ) -> Result<TextRead, No> {
        let mut standings = Standings::new(live);
        let (node, standing) = find(&mut standings, target, view)?;
        if states(live, node, &standing).contains(States::HIDDEN) {
            return Err(Refusal::why(Why::Hidden).into());
        }
        if !live.has_text(node) {
            return Err(Refusal::why(Why::NotOffered).into());
        }
        let text = own_text(live, node, &standing);
        let version = self
            .versions
            .look(node, live.text_stamp(node), text.as_deref());
        let Some(text) = text else {
            return Ok(TextRead {
                text: None,
                version,
                length: None,
                from: None,
                more: false,
            });
        };
        let length = text.chars().count() as u64;
        let begin = from.unwrap_or(0);
        if begin > length {
            return Err(Fault::InvalidParams {
                name: "from",
                why: format!("the text has {length} characters"),
            }
            .into());
        }
        let mut part = String::new();
        let mut taken = 0;
        for c in text.chars().skip(begin as usize) {
            if Some(taken) == limit || part.len() + c.len_utf8() > MAX_TEXT_BYTES {
                break;
            }
            part.push(c);
            taken += 1;
        }
        Ok(TextRead {
            more: begin + taken < length,
            text: Some(part),
            version,
            length: Some(length),
            from,
        })
    }

    /// The version of a node's text as it is now, for the reply to an edit, and what it holds
    /// where that is not `wanted`.
    pub fn after_edit<L: LiveTree<Key = K>>(
        &mut self,
        live: &L,
        node: K,
        wanted: Option<&str>,
    ) -> Option<(u64, Option<String>)> {
        let standing = Standings::new(live).of(node)?;
        let text = own_text(live, node, &standing);
        let version = self
            .versions
            .look(node, live.text_stamp(node), text.as_deref());
        Some((version, text.filter(|text| Some(text.as_str()) != wanted)))
    }
}
