//! The hooks of a context: where a pass begins and ends, and where AccessKit is switched on
//! for a pass that needs the tree, and off again, but never for somebody else.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering},
};

use egui::{Context, Event, FullOutput, Plugin, RawInput, Ui, ViewportId};

#[cfg(feature = "inspector")]
use crate::{inspect::Whole, layers::Layers};
use crate::{
    pass::{self, Pass},
    picture::picture,
    state::{Shared, Stage, Work, lock},
};

pub(crate) struct AgentPlugin {
    pub(crate) shared: Arc<Shared>,
}

impl Plugin for AgentPlugin {
    fn debug_name(&self) -> &'static str {
        "agent surface"
    }

    fn input_hook(&mut self, ctx: &Context, raw: &mut RawInput) {
        let id = raw.viewport_id;
        let shared = self.shared.clone();
        *lock(&shared.ui_thread) = Some(std::thread::current().id());
        let mut pass = Pass::new(ctx, shared.clone(), id);
        let mut state = lock(&shared.ui);
        let clients = shared.clients.load(Ordering::Acquire) > 0;
        #[cfg(feature = "inspector")]
        let inspected = {
            state.next_inspection(&shared);
            state.inspection.is_waiting() || shared.inspectors.load(Ordering::Acquire) > 0
        };
        #[cfg(not(feature = "inspector"))]
        let inspected = false;
        state.serving = clients;
        if !clients && !inspected && !shared.ever.load(Ordering::Relaxed) {
            // All that has to be known of the time before the first client.
            if raw
                .events
                .iter()
                .any(|event| matches!(event, Event::Ime(_)))
            {
                state.viewport(id).person.begin(ctx, raw);
            }
            drop(state);
            pass::begin(pass);
            return;
        }
        state.listening =
            clients && (shared.listeners.load(Ordering::Acquire) > 0 || !state.waiting.is_empty());
        // Those that have yet to draw since somebody is there to see it are windows, too; the app's
        // own is the first.
        {
            let open = lock(&shared.open);
            let own = open.iter().filter(|id| **id == ViewportId::ROOT);
            for id in own.chain(open.iter()) {
                state.viewport(*id);
            }
        }
        state.viewport(id).person.begin(ctx, raw);
        if clients || state.work.is_some() {
            state.next_work(&shared.inbox);
        }
        // What has begun completes and says so, though everybody was revoked meanwhile.
        pass.recording = clients || inspected || state.work.is_some();
        let viewport = state.viewport(id);
        viewport.pass += 1;
        if !viewport.again {
            viewport.frame = viewport.pass;
        }
        #[cfg(feature = "inspector")]
        let first = viewport.frame == viewport.pass;
        pass.number = viewport.pass;
        // A host of one pass a frame has nothing newer than the last frame.
        pass.frame = if viewport.one_pass { 0 } else { viewport.frame };
        // winit answers an empty title on X11, always: then what the app asked for, which egui
        // knows of child windows, and otherwise the label of the window's tag.
        let title = raw.viewports.get(&id).and_then(|info| info.title.clone());
        viewport.title = title
            .filter(|title| !title.is_empty())
            .or_else(|| ctx.viewport_for(id, |viewport| viewport.builder.title.clone()));
        viewport.focused = raw.focused;
        viewport.top_modal = ctx.memory(|memory| memory.top_modal_layer());
        let (probe, one_pass) = (viewport.probe, viewport.one_pass);
        // Agents come first.
        #[cfg(feature = "inspector")]
        {
            pass.inspects = state.work.is_none() && state.inspection.takes_turn(id, first);
        }
        #[cfg(feature = "inspector")]
        let inspects = pass.inspects;
        #[cfg(not(feature = "inspector"))]
        let inspects = false;
        if (state.wants_tree(id) || inspects) && state.ours.is_none() {
            match probe {
                // Nobody else has it on in this frame: on for this pass alone.
                Some(false) => {
                    ctx.enable_accesskit();
                    state.ours = Some(id);
                }
                // Between two frames somebody may switch it on, and egui doesn't tell. A host
                // that runs one pass a frame therefore keeps it on: dearer, but it never
                // silences a screen reader.
                None if one_pass => ctx.enable_accesskit(),
                _ => {}
            }
        }
        pass.whole = state.wants_everything() && state.wants_tree(id);
        if pass.whole || inspects {
            pass.inner = Some(Default::default());
        }
        pass.acting = matches!(&state.work, Some(Work::Act(act)) if act.stage == Stage::Act(id));
        drop(state);
        pass::begin(pass);
    }

    fn on_begin_pass(&mut self, ui: &mut Ui) {
        pass::current(ui.ctx(), |pass| pass.driven = true);
    }

    fn on_end_pass(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        let again = pass::current(&ctx, |pass| {
            #[cfg(feature = "inspector")]
            lock(&pass.shared.ui).draw_over(&ctx, pass.viewport, &pass.records);
            if !pass.recording {
                return false;
            }
            #[cfg(feature = "inspector")]
            if pass.inspects {
                pass.layers = Layers::now(&ctx);
            }
            let has_tree = ctx.viewport(|viewport| viewport.this_pass.accesskit_state.is_some());
            let layers = ctx.memory(|memory| {
                let shown = memory.areas().visible_layer_ids();
                shown.into_iter().collect::<HashSet<_>>()
            });
            let mut state = lock(&pass.shared.ui);
            pass.settled = state.is_settled(pass.viewport, layers);
            let again = state.wants_another_pass(pass.viewport, has_tree && pass.settled);
            #[cfg(feature = "inspector")]
            let again = again || pass.inspects && !has_tree;
            #[cfg(feature = "inspector")]
            if pass.inspects && !has_tree {
                state.inspection.asked_again(pass.viewport);
            }
            again
        });
        if again == Some(true) {
            ctx.request_discard("an agent is served");
        }
    }

    fn output_hook(&mut self, ctx: &Context, output: &mut FullOutput) {
        let Some(mut pass) = pass::end(ctx) else {
            return;
        };
        let shared = pass.shared.clone();
        let open: Vec<_> = output.viewport_output.keys().copied().collect();
        if !open.is_empty() {
            let mut known = lock(&shared.open);
            if *known != open {
                known.clone_from(&open);
            }
        }
        if pass.number == 0 {
            return;
        }
        let mut state = lock(&shared.ui);
        let id = pass.viewport;
        let update = output.platform_output.accesskit_update.as_ref();
        let most = ctx.options(|options| options.max_passes.get());
        let again = pass.driven
            && output.platform_output.requested_discard()
            && output.platform_output.num_completed_passes < most;
        match state.ours {
            Some(ours) if ours == id => {
                ctx.disable_accesskit();
                state.ours = None;
            }
            // On inside a pass that has it on for us: this says nothing of anybody else.
            Some(_) => {}
            None => {
                let on = update.is_some();
                let viewport = state.viewport(id);
                viewport.one_pass = !pass.driven || most == 1;
                viewport.probe = Some(on);
            }
        }
        state.viewport(id).person.end(ctx, id);
        state.viewport(id).again = again;
        if !again {
            state.viewport(id).probe = None;
        }
        let frame_over = !again;
        // The whole of it, where a picture is being taken.
        #[cfg(feature = "inspector")]
        let mut whole = None;
        if !open.is_empty() {
            state
                .viewports
                .retain(|viewport| open.contains(&viewport.id));
        }
        if pass.recording {
            let now = state.tick();
            let root_tag = pass.root_tag.take();
            let viewport = state.viewport(id);
            viewport.root_tag = root_tag;
            if let Some(update) = update
                && let Some(at) = state
                    .viewports
                    .iter()
                    .position(|viewport| viewport.id == id)
            {
                // Out of the list while its picture is taken from it.
                let mut viewport = state.viewports.remove(at);
                viewport.picture = picture(&mut state, &viewport, &pass, update, pass.whole);
                if pass.settled {
                    viewport.pictured = now;
                    viewport.seen = true;
                }
                #[cfg(feature = "inspector")]
                let all = pass.inspects.then(|| {
                    let all = picture(&mut state, &viewport, &pass, update, true);
                    Whole::new(all, &pass)
                });
                state.viewports.insert(at, viewport);
                #[cfg(feature = "inspector")]
                if let Some(all) = all {
                    whole = state.for_pictures(id, &all);
                    state.inspected(ctx, id, all);
                }
            }
            let viewport = state.viewport(id);
            viewport.records = std::mem::take(&mut pass.records);
            viewport.recorded = now;
            state.advance(&shared);
            state.next_work(&shared.inbox);
        }
        if frame_over {
            #[cfg(feature = "inspector")]
            state.inspected_frame_over(ctx, id, whole.as_ref());
            state.frame_over(id);
        }
        state.sweep();
        let windows = state.window_ids();
        let more = {
            let inbox = lock(&shared.inbox);
            let waits = state.work.is_some() || !inbox.is_empty();
            if !waits && let Some(before) = lock(&shared.passes_before).take() {
                ctx.options_mut(|options| options.max_passes = before);
            }
            // What waits for a person goes on with what the person does.
            let more = state.has_work(&inbox);
            #[cfg(feature = "inspector")]
            let more =
                more || state.inspection.is_waiting() || !lock(&shared.inspections).is_empty();
            more
        };
        drop(state);
        {
            let mut known = lock(&shared.windows);
            if *known != windows {
                *known = windows;
            }
        }
        if more && !again {
            crate::backend::wake(ctx, &shared);
        }
    }
}
