//! The way onto the UI thread, from any other.

use std::{
    num::NonZeroUsize,
    sync::{Arc, atomic::Ordering},
};

use agent_core::{Backend, Call, EventSink, EventVerb, Job};
use egui::{Context, ViewportCommand, ViewportId};

use crate::{
    plugin::AgentPlugin,
    state::{Shared, lock},
};

/// One frame serves an action, in up to four passes: one that asks whether AccessKit is on for
/// somebody else, one that reads the target, one that acts, one that sees what came of it.
const PASSES: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// Makes a context's windows servable, and answers the backend to serve them by. Calling it
/// again for the same context answers the same one.
///
/// On the UI thread, outside a pass; with eframe in the creation closure:
/// `agent_egui::open(&cc.egui_ctx)`. Nothing is served by this alone, and nothing costs
/// anything until a client was admitted.
pub fn open(ctx: &Context) -> Arc<dyn Backend> {
    Arc::new(backend(ctx))
}

pub(crate) fn backend(ctx: &Context) -> EguiBackend {
    let shared = match ctx.plugin_opt::<AgentPlugin>() {
        Some(plugin) => plugin.lock().shared.clone(),
        None => {
            let shared = Arc::new(Shared::default());
            // Before the first pass, this one is as good a guess as there is.
            *lock(&shared.ui_thread) = Some(std::thread::current().id());
            ctx.add_plugin(AgentPlugin {
                shared: shared.clone(),
            });
            shared
        }
    };
    EguiBackend {
        ctx: ctx.clone(),
        shared,
    }
}

pub(crate) struct EguiBackend {
    pub(crate) ctx: Context,
    pub(crate) shared: Arc<Shared>,
}

impl Backend for EguiBackend {
    fn submit(&self, job: Job) {
        let acts = matches!(job.call, Call::Act { .. });
        let mut inbox = lock(&self.shared.inbox);
        inbox.push(job);
        if acts {
            // Only for the frames that serve it, and not against an app that wants one pass.
            // Under the lock under which it is put back when nothing waits.
            self.ctx.options_mut(|options| {
                if options.max_passes.get() > 1 && options.max_passes < PASSES {
                    lock(&self.shared.passes_before).get_or_insert(options.max_passes);
                    options.max_passes = PASSES;
                }
            });
        }
        drop(inbox);
        wake(&self.ctx, &self.shared);
    }

    fn purge(&self) {
        lock(&self.shared.inbox).purge();
    }

    fn has_window(&self, id: &str) -> bool {
        lock(&self.shared.windows).contains(id)
    }

    fn is_ui_thread(&self) -> bool {
        *lock(&self.shared.ui_thread) == Some(std::thread::current().id())
    }

    fn emit(&self, id: &str, verb: EventVerb) {
        if self.shared.clients.load(Ordering::Acquire) > 0 {
            lock(&self.shared.emitted).push(id, verb);
            // With nobody to hear it now, it is numbered at the next look.
            if self.shared.listeners.load(Ordering::Acquire) > 0 {
                wake(&self.ctx, &self.shared);
            }
        }
    }

    fn listen(&self, sink: EventSink) {
        *lock(&self.shared.sink) = Some(sink);
    }

    fn set_listeners(&self, listeners: usize) {
        self.shared.listeners.store(listeners, Ordering::Release);
    }

    fn set_clients(&self, clients: usize) {
        if clients > 0 {
            self.shared.ever.store(true, Ordering::Release);
        }
        self.shared.clients.store(clients, Ordering::Release);
        if clients > 0 {
            // The tags of a first pass are known by the time that the first request is.
            wake(&self.ctx, &self.shared);
        }
    }
}

/// Has every window draw, be it idle, hidden or minimised: egui runs no pass for a minimised
/// window but by the command, and draws a visible one by either.
pub(crate) fn wake(ctx: &Context, shared: &Shared) {
    let mut windows = lock(&shared.open).clone();
    if windows.is_empty() {
        windows.push(ViewportId::ROOT);
    }
    for window in windows {
        ctx.send_viewport_cmd_to(window, ViewportCommand::RequestPaintWhileHidden);
        ctx.request_repaint_of(window);
    }
}
