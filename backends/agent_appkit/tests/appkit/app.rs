//! An app for a test: windows with buttons, and requests by hand.

use std::{
    cell::{Cell, RefCell},
    sync::{Arc, mpsc::Receiver},
    time::{Duration, Instant},
};

use agent_appkit::{
    AgentTagged, MainThreadMarker, Tag,
    objc2::{
        DefinedClass, MainThreadOnly, define_class, msg_send,
        rc::{Retained, autoreleasepool},
        runtime::{AnyObject, NSObject},
        sel,
    },
    objc2_app_kit::{
        NSApplication, NSBackingStoreType, NSButton, NSEvent, NSEventModifierFlags, NSEventType,
        NSView, NSWindow, NSWindowStyleMask,
    },
    objc2_foundation::{
        NSDate, NSDefaultRunLoopMode, NSException, NSPoint, NSRect, NSRunLoop, NSRunLoopMode,
        NSSize, NSString, ns_string,
    },
};
use agent_core::{Action, Answer, Backend, Call, Describe, Target};
use agent_test_support::job;

/// What the handler heard.
#[derive(Default)]
pub(crate) struct Heard {
    times: Cell<u32>,
    modal: Cell<bool>,
}

define_class!(
    // SAFETY: NSObject asks nothing of those that are made from it; there is no `Drop`.
    #[unsafe(super(NSObject))]
    #[thread_kind = MainThreadOnly]
    #[ivars = Heard]
    pub(crate) struct Handler;

    impl Handler {
        #[unsafe(method(count:))]
        fn count(&self, _: Option<&AnyObject>) {
            self.once_more();
        }

        /// Leaves what it does until the run loop goes on.
        #[unsafe(method(leave:))]
        fn leave(&self, sender: &NSButton) {
            // SAFETY: `done:` takes the button, which is kept until then.
            let () = unsafe {
                msg_send![
                    self,
                    performSelector: sel!(done:),
                    withObject: sender,
                    afterDelay: 0.0f64
                ]
            };
        }

        #[unsafe(method(done:))]
        fn done(&self, sender: &NSButton) {
            sender.setTitle(ns_string!("Done"));
        }

        #[unsafe(method(endModal:))]
        fn end_modal(&self, sheet: &NSWindow) {
            let app = NSApplication::sharedApplication(self.mtm());
            let modal = app.modalWindow();
            self.ivars().modal.set(modal.is_some_and(|modal| std::ptr::eq(&*modal, sheet)));
            // SAFETY: it was begun with this very app.
            let () = unsafe { msg_send![&app, endSheet: sheet] };
            // A modal loop notices its end with the next event.
            let event = NSEvent::otherEventWithType_location_modifierFlags_timestamp_windowNumber_context_subtype_data1_data2(
                NSEventType::ApplicationDefined,
                NSPoint::new(0.0, 0.0),
                NSEventModifierFlags(0),
                0.0,
                0,
                None,
                0,
                0,
                0,
            );
            if let Some(event) = event {
                app.postEvent_atStart(&event, false);
            }
        }

        #[unsafe(method(fail:))]
        fn fail(&self, _: Option<&AnyObject>) {
            self.once_more();
            let why = NSString::from_str("a secret that the app knew");
            if let Some(exception) = NSException::new(ns_string!("Test"), Some(&why), None) {
                // GCC's runtime keeps nothing that is thrown alive.
                std::mem::ManuallyDrop::new(exception).raise();
            }
        }
    }
);

impl Handler {
    pub(crate) fn times(&self) -> u32 {
        self.ivars().times.get()
    }

    /// Whether a sheet was modal for the whole app when it was ended.
    #[cfg(feature = "gnustep")]
    pub(crate) fn saw_modal(&self) -> bool {
        self.ivars().modal.get()
    }

    fn once_more(&self) {
        self.ivars().times.set(self.ivars().times.get() + 1);
    }
}

pub(crate) struct App {
    pub(crate) main_thread: MainThreadMarker,
    backend: RefCell<Arc<dyn Backend>>,
    pub(crate) handler: Retained<Handler>,
}

impl App {
    pub(crate) fn open(main_thread: MainThreadMarker) -> Self {
        NSApplication::sharedApplication(main_thread).finishLaunching();
        let handler = Handler::alloc(main_thread).set_ivars(Heard::default());
        // SAFETY: `init` of NSObject.
        let handler = unsafe { msg_send![super(handler), init] };
        let backend = agent_appkit::open(main_thread);
        backend.set_clients(1);
        Self {
            main_thread,
            backend: RefCell::new(backend),
            handler,
        }
    }

    /// What its windows are served by.
    pub(crate) fn backend(&self) -> Arc<dyn Backend> {
        self.backend.borrow().clone()
    }

    /// Serves them again, after somebody else did.
    pub(crate) fn reopen(&self) {
        let backend = agent_appkit::open(self.main_thread);
        backend.set_clients(1);
        drop(self.backend.replace(backend));
    }

    /// A window with an id, on the screen.
    pub(crate) fn window(&self, id: &'static str) -> Retained<NSWindow> {
        let style = NSWindowStyleMask::Titled | NSWindowStyleMask::Closable;
        // SAFETY: it is kept by the test, and not let go by its closing.
        let window = unsafe {
            let window = NSWindow::initWithContentRect_styleMask_backing_defer(
                NSWindow::alloc(self.main_thread),
                rect(100.0, 100.0, 300.0, 200.0),
                style,
                NSBackingStoreType::Buffered,
                false,
            );
            window.setReleasedWhenClosed(false);
            window
        };
        window.set_agent(Tag::id(id));
        window.orderFront(None);
        window
    }

    /// A button in a window, whose press is heard by the handler: `count:` or `fail:`.
    pub(crate) fn button(
        &self,
        window: &NSWindow,
        id: &'static str,
        fails: bool,
    ) -> Retained<NSButton> {
        let button = NSButton::initWithFrame(
            NSButton::alloc(self.main_thread),
            rect(0.0, 0.0, 80.0, 24.0),
        );
        button.setTitle(&NSString::from_str(id));
        // SAFETY: both take any sender, and the handler outlives the window.
        unsafe {
            button.setTarget(Some(&self.handler));
            button.setAction(Some(if fails { sel!(fail:) } else { sel!(count:) }));
        }
        button.set_agent_id(id);
        content(window).addSubview(&button);
        button
    }

    /// Leaves a request, and does not wait.
    pub(crate) fn ask(&self, call: Call) -> Receiver<Answer> {
        let (job, answer) = job(call);
        self.backend().submit(job);
        answer
    }

    /// Leaves a request, and lets the run loop go on until it is answered.
    pub(crate) fn answer(&self, call: Call) -> Answer {
        let answer = self.ask(call);
        let begun = Instant::now();
        loop {
            if let Ok(answer) = answer.try_recv() {
                return answer;
            }
            assert!(
                begun.elapsed() < agent_test_support::LONG,
                "there is no answer"
            );
            self.turn();
        }
    }

    /// One pass of the run loop.
    pub(crate) fn turn(&self) {
        // SAFETY: a constant.
        Self::turn_in(unsafe { NSDefaultRunLoopMode });
    }

    fn turn_in(mode: &NSRunLoopMode) {
        autoreleasepool(|_| {
            let soon = NSDate::dateWithTimeIntervalSinceNow(0.01);
            NSRunLoop::currentRunLoop().runMode_beforeDate(mode, &soon);
        });
    }

    /// Lets the run loop go on until there is one.
    pub(crate) fn until<T>(&self, what: &str, is_there: impl FnMut() -> Option<T>) -> T {
        // SAFETY: a constant.
        self.until_in(unsafe { NSDefaultRunLoopMode }, what, is_there)
    }

    /// The same, as while a person does what takes the run loop's other modes.
    pub(crate) fn until_in<T>(
        &self,
        mode: &NSRunLoopMode,
        what: &str,
        mut is_there: impl FnMut() -> Option<T>,
    ) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = is_there() {
                return found;
            }
            assert!(begun.elapsed() < agent_test_support::LONG, "never: {what}");
            Self::turn_in(mode);
        }
    }

    /// Lets the run loop go on for so long.
    pub(crate) fn turns(&self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until {
            self.turn();
        }
    }

    /// The ids that an agent is shown.
    pub(crate) fn ids(&self) -> Vec<String> {
        match self.answer(Call::Describe(Describe::default())) {
            Answer::Described(description) => description
                .nodes
                .iter()
                .map(|node| node.id.to_string())
                .collect(),
            other => panic!("no description: {other:?}"),
        }
    }
}

pub(crate) fn act(id: &str, action: Action) -> Call {
    Call::Act {
        target: Target {
            id: id.to_owned(),
            window: None,
        },
        action,
    }
}

pub(crate) fn content(window: &NSWindow) -> Retained<NSView> {
    window.contentView().expect("a window has a content view")
}

pub(crate) fn rect(x: f64, y: f64, width: f64, height: f64) -> NSRect {
    NSRect::new(NSPoint::new(x, y), NSSize::new(width, height))
}
