#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod error;
mod host;
mod in_flight;
mod limits;
mod pending;
mod session;
mod subscription;
mod sync;

pub use agent_core::{
    Acted, Cause, Describe, Described, Description, Event, EventVerb, Filter, Include, Polled,
    Refusal, Role, States, Target, TextRead, Until, Verb, VerbSet, Why,
};
pub use error::Error;
pub use host::{Host, Member};
pub use limits::{
    CONDITION_WAIT, EVENT_LOG, LONGEST_WAIT, REQUESTS_IN_FLIGHT, SUBSCRIPTION_QUEUE, SUBSCRIPTIONS,
    TEXT_BYTES_IN, UI_DEADLINE,
};
pub use pending::Pending;
pub use session::{Hello, Listen, Session, Waited};
pub use subscription::Subscription;
