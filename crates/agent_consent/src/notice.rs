//! What the app hears of agents: who is connected, who acts, what was said to whom.

use std::{
    path::PathBuf,
    sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
};

use agent_core::{Channel, Scope, Verb};

use crate::{
    prompt::{Answer, QuestionId},
    rule::RuleId,
};

/// Notices that wait for an app to fetch them; beyond this the newest are lost, and counted.
const QUEUE: usize = 1_024;

/// An agent, as it is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// Its connection.
    pub connection: u64,
    /// Whether it is a part of the app.
    pub channel: Channel,
    /// What its program is called. `None`: it can't be identified, or is a part of the app.
    pub name: Option<String>,
    /// What it calls itself: a claim.
    pub claimed: Option<String>,
    /// See [`Agent::id`](crate::Agent::id).
    pub agent: Option<String>,
}

/// Something that happened. Names and paths in it come from outside and are not escaped: to show
/// one use [`Theirs::new`](crate::Theirs::new).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// An agent has made its first request.
    Connected {
        /// Who.
        who: Who,
    },
    /// The user is being asked about an agent, or will be when other questions are over.
    Asked {
        /// Who.
        who: Who,
        /// The question.
        question: QuestionId,
        /// To what it wants to be let in. `None`: it is one action that is asked about.
        scope: Option<Scope>,
    },
    /// The user said yes.
    Allowed {
        /// Who.
        who: Who,
        /// The question.
        question: QuestionId,
        /// For how long.
        answer: Answer,
    },
    /// The user said no, or waved the question away.
    Refused {
        /// Who.
        who: Who,
        /// The question.
        question: QuestionId,
        /// `None`: waved away.
        answer: Option<Answer>,
    },
    /// A question was taken back, as who asked is gone or what it was about has changed.
    Withdrawn {
        /// Which.
        question: QuestionId,
    },
    /// An agent was turned away at the gate: told once a connection.
    TurnedAway {
        /// Who.
        who: Who,
    },
    /// An agent begins to act.
    Acting {
        /// Who.
        who: Who,
        /// By which request: [`Acted`](Self::Acted) has the same.
        request: u64,
        /// What it does.
        verb: Verb,
        /// To which node.
        node: Option<String>,
    },
    /// An action is over; or nothing came of it, and there was no [`Acting`](Self::Acting).
    Acted {
        /// Who.
        who: Who,
        /// By which request.
        request: u64,
        /// What it did.
        verb: Verb,
        /// To which node.
        node: Option<String>,
        /// What came of it, as the agent was told.
        outcome: &'static str,
    },
    /// The last of a connection.
    Gone {
        /// Who.
        who: Who,
    },
    /// An agent's leave was taken back: nothing of this connection begins any more, and it hears
    /// nothing, unless it is let in again.
    Revoked {
        /// Who.
        who: Who,
    },
    /// All agents were stopped, or may go on.
    Lockdown {
        /// Whether they are stopped.
        on: bool,
    },
    /// The remembered answers are others than before.
    RulesChanged,
    /// An answer could not be saved: it holds until the app quits.
    NotSaved {
        /// Which.
        rule: RuleId,
        /// Why.
        why: String,
    },
    /// A rule that was revoked could not be removed from the disk.
    NotRemoved {
        /// Which.
        rule: RuleId,
        /// Why.
        why: String,
    },
    /// A file that should be a rule counts for nothing.
    BadRule {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The log can't be written; what agents do goes on.
    NotLogged {
        /// Why.
        why: String,
    },
    /// So many notices were lost, as nobody fetched them.
    Lost {
        /// How many.
        count: u64,
    },
}

/// Those who listen.
#[derive(Default)]
pub(crate) struct Listeners {
    all: Vec<(SyncSender<Notice>, u64)>,
}

impl Listeners {
    pub(crate) fn listen(&mut self) -> Receiver<Notice> {
        let (sender, receiver) = sync_channel(QUEUE);
        self.all.push((sender, 0));
        receiver
    }

    /// Never waits.
    pub(crate) fn tell(&mut self, notice: &Notice) {
        self.all.retain_mut(|(sender, lost)| {
            if *lost > 0 {
                match sender.try_send(Notice::Lost { count: *lost }) {
                    Ok(()) => *lost = 0,
                    Err(TrySendError::Full(_)) => {}
                    Err(TrySendError::Disconnected(_)) => return false,
                }
            }
            match sender.try_send(notice.clone()) {
                Ok(()) => true,
                Err(TrySendError::Full(_)) => {
                    *lost += 1;
                    true
                }
                Err(TrySendError::Disconnected(_)) => false,
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_10_nobody_waits_for_who_does_not_listen_and_what_is_lost_is_counted() {
        let mut listeners = Listeners::default();
        let receiver = listeners.listen();
        drop(listeners.listen());
        for _ in 0..QUEUE + 5 {
            listeners.tell(&Notice::RulesChanged);
        }
        assert_eq!(listeners.all.len(), 1);
        assert_eq!(receiver.try_iter().count(), QUEUE);
        listeners.tell(&Notice::RulesChanged);
        assert_eq!(receiver.try_recv(), Ok(Notice::Lost { count: 5 }));
        assert_eq!(receiver.try_recv(), Ok(Notice::RulesChanged));
    }
}
