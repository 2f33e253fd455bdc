//! The rules of an agent surface, over plain data: which nodes an agent sees, under which ids,
//! what it may do to them, and whether what it read is still so.
//!
//! Nothing in here touches a toolkit, a socket, a file, a thread or a serialiser, so nothing in
//! here can fail on one. A backend implements [`LiveTree`] over its toolkit, keeps a [`Surface`]
//! and takes [`Job`]s from an [`Inbox`]; a server checks the [`AuthGate`] and hands jobs to a
//! [`Backend`].
//!
//! ```text
//! Tag ──► Standing ──► describe           what an agent is shown
//!            │
//!            └───────► judge ──► authorise ──► Authorised ──► the backend performs it, once
//!                                the user is asked, where a mark says so
//! ```

#![forbid(unsafe_code)]

mod authorise;
mod confirm;
mod cut;
mod describe;
mod event;
mod gate;
mod hub;
mod id;
mod keys;
mod node;
mod policy;
mod role;
mod standing;
mod surface;
mod tag;
mod turn;
mod verb;
mod versions;
mod wait;

pub use authorise::{
    Action, Authorised, Fault, Judged, MAX_TEXT_BYTES, No, Refusal, Target, TextRead, View, Why,
    locate, verdict,
};
pub use cut::{Cut, ELLIPSIS, cut};
pub use describe::{
    Describe, Described, Description, Full, Include, MAX_BYTES, MAX_NAME, MAX_NODES, MAX_VALUE,
    Place, Since,
};
pub use event::{Cause, Emitted, Event, EventVerb, caused};
pub use gate::{AuthGate, Channel, Decision, Peer, Reason, Request, Scope};
pub use hub::{Filter, Hub, Polled, Subscribed, Touched};
pub use id::{
    BadId, MAX_ID_BYTES, ROOT_ID, automatic_id, check_id, is_automatic, keyed_id, split_key,
};
pub use node::{Facts, Frame, Label, LiveTree, States};
pub use policy::{Confirmed, Connections, Pending, Policy, Question, RevokedUntil};
pub use role::Role;
pub use standing::{Standing, Standings, exposed_id};
pub use surface::{Changes, Surface, Warning};
pub use tag::{Marks, Tag, TagFault};
pub use turn::{
    Acted, Answer, Backend, Call, EventSink, Inbox, Job, ReplyTo, TURN_BUDGET, Ticket, Waiting,
    connection_number, request_number,
};
pub use verb::{Verb, VerbSet};
pub use versions::Versions;
pub use wait::{Condition, Until};
