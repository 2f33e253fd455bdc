#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod consent;
mod job;
mod lint;
mod look;
mod picture;
mod property;
mod view;

pub use consent::{Consent, ConsentRule, ReadConsent};
pub use job::{Ask, Inspectable, Job, No, Told};
pub use lint::{Finding, Lint, lint};
pub use look::{Inspect, Layer, Look, Looker, MAX_NODES, Node, answer, find};
pub use picture::{Hide, Picture, Pixel};
pub use property::{Property, Value};
pub use view::{AgentView, Exposure, IdSource, Verdict, view};
