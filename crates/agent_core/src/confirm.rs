//! The question that a confirm mark puts, and what a yes to it is for.

use std::hash::{BuildHasher as _, Hash, Hasher as _};

use crate::{
    authorise::Action,
    gate::Request,
    node::{LiveTree, States},
    policy::Question,
    standing::{Standings, name},
    surface::{Surface, own_text, project, states},
};

/// What comes and goes on a node without being anything that a yes is about.
const PASSING: States = States::FOCUSED.union(States::OFFSCREEN);

impl<K: Copy + Eq + Hash + Ord + std::fmt::Debug> Surface<K> {
    /// The question whether `action` may be done to `node`. `None`: it is in no window any more.
    pub(crate) fn question<L: LiveTree<Key = K>>(
        &self,
        live: &L,
        node: K,
        action: &Action,
        request: &Request,
    ) -> Option<Question> {
        let mut standings = Standings::new(live);
        let standing = standings.of(node)?;
        let window = standings.of(standing.window)?;
        Some(Question {
            request: request.clone(),
            window: name(&mut standings, standing.window, &window),
            // A default button need not be exposed: then the field that was named stands for it.
            node: match (&standing.id, &request.target) {
                (Some(id), _) => id.as_ref().to_owned(),
                (None, target) => target.clone().unwrap_or_default(),
            },
            name: name(&mut standings, node, &standing),
            action: action.clone(),
            seen: self.seen(&mut standings, node)?,
        })
    }

    /// A number for what the user sees of a node: its name, its state, and every exposed text of
    /// its window. The hash is keyed anew in each run, so that no two texts can be made whose
    /// numbers agree.
    fn seen<L: LiveTree<Key = K>>(&self, standings: &mut Standings<'_, L>, node: K) -> Option<u64> {
        let live = standings.live();
        let standing = standings.of(node)?;
        let mut seen = self.hashes.build_hasher();
        name(standings, node, &standing).hash(&mut seen);
        (states(live, node, &standing) - PASSING)
            .bits()
            .hash(&mut seen);
        for exposed in project(standings, |_| ()) {
            let shown = &exposed.standing;
            if shown.window != standing.window || shown.inherited.contains(States::HIDDEN) {
                continue;
            }
            shown.id.hash(&mut seen);
            name(standings, exposed.node, shown).hash(&mut seen);
            own_text(live, exposed.node, shown).hash(&mut seen);
        }
        Some(seen.finish())
    }
}
