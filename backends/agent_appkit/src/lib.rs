#![doc = include_str!("../README.md")]

#[cfg(not(any(target_os = "macos", feature = "gnustep")))]
mod elsewhere;
#[cfg(all(
    feature = "inspector",
    not(any(target_os = "macos", feature = "gnustep"))
))]
pub use elsewhere::inspectable;
#[cfg(not(any(target_os = "macos", feature = "gnustep")))]
pub use elsewhere::{MainThreadMarker, Panels, Question, Words, open};

#[cfg(any(target_os = "macos", feature = "gnustep"))]
mod appkit;
#[cfg(any(target_os = "macos", feature = "gnustep"))]
pub use appkit::{
    AgentRows, AgentTagged, AppKitHandle, Panels, Question, Words, known_objects, open,
    use_accessibility_identifiers,
};

#[cfg(all(feature = "inspector", any(target_os = "macos", feature = "gnustep")))]
pub use appkit::inspectable;

// The versions that these traits are for.
#[cfg(any(target_os = "macos", feature = "gnustep"))]
pub use {objc2, objc2::MainThreadMarker, objc2_app_kit, objc2_foundation};

pub use agent_core::{Role, Tag, Verb, VerbSet};
