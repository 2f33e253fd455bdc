//! Views: what they tell assistive technology that they are, where they are, and when.

use std::cell::Cell;

use agent_appkit::{
    AgentTagged, Tag,
    objc2::{DefinedClass as _, MainThreadOnly, define_class, msg_send, rc::Retained},
    objc2_app_kit::{NSEventTrackingRunLoopMode, NSView},
    objc2_foundation::NSString,
};
use agent_core::{Action, Answer, Call, Describe, Described, Include, Role, VerbSet};

use super::app::{App, act, content, rect};

type Test = (&'static str, fn(&App));

pub(crate) const TESTS: &[Test] = &[
    (
        "a_view_of_the_apps_own_is_what_assistive_technology_is_told",
        told,
    ),
    (
        "a_frame_is_in_points_from_the_top_of_the_window_however_views_count",
        frames,
    ),
    ("while_something_is_dragged_agents_are_served", tracking),
];

define_class!(
    // SAFETY: NSView asks nothing of those that are made from it; there is no `Drop`.
    #[unsafe(super(NSView))]
    #[thread_kind = MainThreadOnly]
    #[ivars = Cell<u32>]
    struct Knob;

    impl Knob {
        #[unsafe(method_id(accessibilityRole))]
        fn role(&self) -> Retained<NSString> {
            NSString::from_str("AXButton")
        }

        #[unsafe(method(accessibilityPerformPress))]
        fn press(&self) -> bool {
            self.ivars().set(self.ivars().get() + 1);
            true
        }
    }
);

define_class!(
    // SAFETY: as above.
    #[unsafe(super(NSView))]
    #[thread_kind = MainThreadOnly]
    struct Flipped;

    impl Flipped {
        #[unsafe(method(isFlipped))]
        fn flipped(&self) -> bool {
            true
        }
    }
);

/// What an agent is shown of one node.
fn node(app: &App, id: &str) -> Described {
    let describe = Describe {
        include: Include {
            actions: true,
            frame: true,
            ..Include::default()
        },
        ..Describe::default()
    };
    let Answer::Described(described) = app.answer(Call::Describe(describe)) else {
        panic!("no description");
    };
    let found = described.nodes.into_iter().find(|node| &*node.id == id);
    found.expect("it is exposed")
}

fn told(app: &App) {
    let window = app.window("told");
    let knob = Knob::alloc(app.main_thread).set_ivars(Cell::new(0));
    // SAFETY: `initWithFrame:` of NSView.
    let knob: Retained<Knob> =
        unsafe { msg_send![super(knob), initWithFrame: rect(0.0, 0.0, 20.0, 20.0)] };
    knob.set_agent(Tag::id("knob"));
    content(&window).addSubview(&knob);
    let shown = node(app, "knob");
    assert_eq!(shown.role, Role::Button);
    assert!(shown.actions.contains(VerbSet::Click) && shown.actionable);
    let answer = app.answer(act("knob", Action::Click));
    assert!(matches!(answer, Answer::Acted(_)), "{answer:?}");
    assert_eq!(knob.ivars().get(), 1);
    window.close();
}

fn frames(app: &App) {
    let window = app.window("frames");
    let height = content(&window).frame().size.height;
    // In a view that counts from below, as the content does, in one that counts from above.
    let place = rect(10.0, 20.0, 100.0, 60.0);
    // SAFETY: `initWithFrame:` of NSView.
    let (upright, flipped): (Retained<NSView>, Retained<Flipped>) = unsafe {
        (
            msg_send![NSView::alloc(app.main_thread), initWithFrame: place],
            msg_send![Flipped::alloc(app.main_thread), initWithFrame: place],
        )
    };
    let inner = |id: &'static str, within: &NSView| {
        // SAFETY: `initWithFrame:` of NSView.
        let view: Retained<NSView> = unsafe {
            msg_send![NSView::alloc(app.main_thread), initWithFrame: rect(5.0, 8.0, 30.0, 10.0)]
        };
        view.set_agent_id(id);
        within.addSubview(&view);
        content(&window).addSubview(within);
    };
    inner("below", &upright);
    inner("above", &flipped);
    let sides = |id: &str| {
        let frame = node(app, id).frame.expect("a frame");
        [frame.x, frame.y, frame.width, frame.height]
    };
    // 20 up to the place; 8 up from its lower edge, or 8 down from its upper one.
    assert_eq!(
        sides("below"),
        [15.0, height - (20.0 + 8.0 + 10.0), 30.0, 10.0]
    );
    assert_eq!(
        sides("above"),
        [15.0, height - (20.0 + 60.0) + 8.0, 30.0, 10.0]
    );
    window.close();
}

fn tracking(app: &App) {
    let window = app.window("tracking");
    app.button(&window, "drag", false);
    let before = app.handler.times();
    let answer = app.ask(act("drag", Action::Click));
    let answer = app.until_in(
        // SAFETY: a constant.
        unsafe { NSEventTrackingRunLoopMode },
        "an answer",
        || answer.try_recv().ok(),
    );
    assert!(matches!(answer, Answer::Acted(_)), "{answer:?}");
    assert_eq!(app.handler.times(), before + 1);
    window.close();
}
