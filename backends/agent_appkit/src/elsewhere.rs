//! Other systems than macOS: there is no AppKit to open, so nothing here can be called.

use std::sync::Arc;

/// There is no main thread of AppKit's here, and so no value of this.
#[derive(Clone, Copy, Debug)]
pub enum MainThreadMarker {}

/// Never called: there is no [`MainThreadMarker`] to call it with.
pub fn open(main_thread: MainThreadMarker) -> Arc<dyn agent_core::Backend> {
    match main_thread {}
}
