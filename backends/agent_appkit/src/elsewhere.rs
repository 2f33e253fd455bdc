//! Other systems than macOS: there is no AppKit to open, so nothing here can be called.

use std::sync::Arc;

/// There is no main thread of AppKit's here, and so no value of this.
#[derive(Clone, Copy, Debug)]
pub enum MainThreadMarker {}

/// Never called: there is no [`MainThreadMarker`] to call it with.
pub fn open(main_thread: MainThreadMarker) -> Arc<dyn agent_core::Backend> {
    match main_thread {}
}

/// Never called.
#[cfg(feature = "inspector")]
pub fn inspectable(main_thread: MainThreadMarker) -> Arc<dyn agent_inspect::Inspectable> {
    match main_thread {}
}

/// A question to the user.
#[derive(Clone, Debug)]
pub struct Question {
    /// What the panel is called.
    pub title: String,
    /// The question itself.
    pub heading: Words,
    /// What the user should know to answer it.
    pub details: Vec<Words>,
    /// The words on the buttons.
    pub choices: Vec<String>,
}

/// A paragraph.
#[derive(Clone, Debug)]
pub struct Words {
    /// What stands there.
    pub shown: String,
    /// The whole of it, where that is cut.
    pub full: Option<String>,
}

/// Where questions to the user go. There is none here.
#[derive(Clone, Copy, Debug)]
pub struct Panels(MainThreadMarker);

impl Panels {
    /// Never called.
    pub fn new(main_thread: MainThreadMarker) -> Self {
        Self(main_thread)
    }

    /// Never called.
    pub fn show(self, _: u64, _: Question, _: impl FnOnce(Option<usize>) + Send + 'static) {
        match self.0 {}
    }

    /// Never called.
    pub fn withdraw(self, _: u64) {
        match self.0 {}
    }
}
