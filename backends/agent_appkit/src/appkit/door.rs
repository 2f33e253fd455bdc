//! The one Objective-C object that AppKit sends messages to: work that other threads leave,
//! notifications, a timer, undo.

use std::{
    cell::OnceCell,
    sync::atomic::{AtomicPtr, Ordering},
};

use objc2::{
    MainThreadMarker, MainThreadOnly, define_class, msg_send,
    rc::{Retained, autoreleasepool},
    runtime::{AnyObject, NSObject},
    sel,
};
use objc2_app_kit::{
    NSApplicationDidUpdateNotification, NSApplicationWillTerminateNotification,
    NSComboBoxSelectionDidChangeNotification, NSControlTextDidChangeNotification,
    NSControlTextDidEndEditingNotification, NSEventTrackingRunLoopMode,
    NSMenuDidSendActionNotification, NSMenuItem, NSModalPanelRunLoopMode,
    NSOutlineViewItemDidCollapseNotification, NSOutlineViewItemDidExpandNotification,
    NSOutlineViewSelectionDidChangeNotification, NSTableViewSelectionDidChangeNotification,
    NSTextDidChangeNotification, NSTextDidEndEditingNotification, NSTextField, NSView,
    NSWindowDidBecomeKeyNotification, NSWindowDidDeminiaturizeNotification,
    NSWindowDidMiniaturizeNotification, NSWindowDidResignKeyNotification,
    NSWindowWillCloseNotification,
};
use objc2_foundation::{
    NSArray, NSDefaultRunLoopMode, NSNotification, NSNotificationCenter, NSNumber, NSRunLoopMode,
    NSString, NSThread, NSTimer, NSUndoManager, ns_string,
};

use super::{
    asking, editing,
    table::{self, Node, Sort},
    turn,
};

define_class!(
    // SAFETY: NSObject asks nothing of those that are made from it; there is no `Drop`.
    #[unsafe(super(NSObject))]
    #[thread_kind = MainThreadOnly]
    struct Door;

    impl Door {
        #[unsafe(method(agentWork:))]
        fn work(&self, _: Option<&AnyObject>) {
            asking::work(self.mtm());
            turn::work(self.mtm());
        }

        #[unsafe(method(agentTurnOver:))]
        fn turn_over(&self, _: Option<&AnyObject>) {
            turn::went_on(self.mtm());
        }

        #[unsafe(method(agentTick:))]
        fn tick(&self, _: &AnyObject) {
            turn::look_again(self.mtm());
        }

        #[unsafe(method(agentUpdated:))]
        fn updated(&self, _: &NSNotification) {
            turn::look_again(self.mtm());
            #[cfg(feature = "inspector")]
            super::inspect::follow(self.mtm());
        }

        #[unsafe(method(agentHappened:))]
        fn happened(&self, _: &NSNotification) {
            turn::happened();
        }

        #[unsafe(method(agentTerminates:))]
        fn terminates(&self, _: &NSNotification) {
            turn::end();
        }

        #[unsafe(method(agentTextChanged:))]
        fn text_changed(&self, note: &NSNotification) {
            if let Some(view) = view_of(note) {
                turn::text_changed(self.mtm(), &view);
            }
        }

        #[unsafe(method(agentTextEnded:))]
        fn text_ended(&self, note: &NSNotification) {
            if let Some(view) = view_of(note) {
                turn::text_ended(&view, ended_by_return(note));
            }
        }

        #[unsafe(method(agentMenuUsed:))]
        fn menu_used(&self, note: &NSNotification) {
            let info = note.userInfo();
            let item = info.and_then(|info| info.objectForKey(ns_string!("MenuItem")));
            if let Some(item) = item.and_then(|it| it.downcast::<NSMenuItem>().ok()) {
                turn::item_was_used(&item);
            }
        }

        #[unsafe(method(agentUndo:))]
        fn undo(&self, edit: &NSArray<NSString>) {
            let (Some(node), Some(text)) = (edit.firstObject(), edit.lastObject()) else {
                return;
            };
            let Ok(number) = node.to_string().parse() else {
                return;
            };
            let node = Node::from_number(number);
            // SAFETY: views are put in as views, and this is the main thread.
            let view: Option<Retained<NSView>> = unsafe { table::object(node, Sort::View) };
            if let Some(field) = view.and_then(|view| view.downcast::<NSTextField>().ok()) {
                editing::undo(&field, node, &text);
            }
        }
    }
);

thread_local! {
    static DOOR: OnceCell<Retained<Door>> = const { OnceCell::new() };
}

/// For other threads, which send it one message that AppKit takes to the main thread. It is kept
/// until that thread ends.
static ADDRESS: AtomicPtr<AnyObject> = AtomicPtr::new(std::ptr::null_mut());

fn with<R>(f: impl FnOnce(&Door) -> R) -> Option<R> {
    DOOR.with(|door| door.get().map(|door| f(door)))
}

/// Tells Cocoa that there will be other threads, before one of ours sends the first message: it
/// sets its locks up at the first thread of its own, and threads of Rust's are none. See "Using
/// POSIX Threads in a Cocoa Application" in Apple's Threading Programming Guide. On GNUstep, where
/// a thread of ours would set them up beside the main one, that has crashed an app that was just
/// drawing.
fn announce_threads() {
    if NSThread::isMultiThreaded() {
        return;
    }
    // SAFETY: every class answers `self`, on any thread.
    unsafe {
        NSThread::detachNewThreadSelector_toTarget_withObject(
            sel!(self),
            objc2::class!(NSObject).as_ref(),
            None,
        );
    }
}

/// Makes it, and has it hear of what happens. Once.
pub(crate) fn open(mtm: MainThreadMarker) {
    DOOR.with(|cell| {
        cell.get_or_init(|| {
            announce_threads();
            // SAFETY: `init` of NSObject.
            let door: Retained<Door> = unsafe { msg_send![Door::alloc(mtm), init] };
            hear(&door);
            let address: *const Door = Retained::as_ptr(&door);
            ADDRESS.store(address.cast_mut().cast(), Ordering::Release);
            door
        });
    });
}

fn hear(door: &Door) {
    let centre = NSNotificationCenter::defaultCenter();
    // SAFETY: each method takes a notification. The observer lives as long as the app.
    unsafe {
        for (selector, name) in [
            (sel!(agentUpdated:), NSApplicationDidUpdateNotification),
            (
                sel!(agentTerminates:),
                NSApplicationWillTerminateNotification,
            ),
            (sel!(agentTextChanged:), NSControlTextDidChangeNotification),
            (
                sel!(agentTextEnded:),
                NSControlTextDidEndEditingNotification,
            ),
            (sel!(agentTextChanged:), NSTextDidChangeNotification),
            (sel!(agentTextEnded:), NSTextDidEndEditingNotification),
            (sel!(agentMenuUsed:), NSMenuDidSendActionNotification),
            (
                sel!(agentHappened:),
                NSTableViewSelectionDidChangeNotification,
            ),
            (
                sel!(agentHappened:),
                NSOutlineViewSelectionDidChangeNotification,
            ),
            (sel!(agentHappened:), NSOutlineViewItemDidExpandNotification),
            (
                sel!(agentHappened:),
                NSOutlineViewItemDidCollapseNotification,
            ),
            (
                sel!(agentHappened:),
                NSComboBoxSelectionDidChangeNotification,
            ),
            (sel!(agentHappened:), NSWindowDidBecomeKeyNotification),
            (sel!(agentHappened:), NSWindowDidResignKeyNotification),
            (sel!(agentHappened:), NSWindowDidMiniaturizeNotification),
            (sel!(agentHappened:), NSWindowDidDeminiaturizeNotification),
            (sel!(agentHappened:), NSWindowWillCloseNotification),
        ] {
            centre.addObserver_selector_name_object(door, selector, Some(name), None);
        }
    }
}

fn view_of(note: &NSNotification) -> Option<Retained<NSView>> {
    note.object()?.downcast().ok()
}

/// `NSTextMovement` of an edit that Enter ended.
const RETURN: isize = 16;

fn ended_by_return(note: &NSNotification) -> bool {
    let movement = note
        .userInfo()
        .and_then(|info| info.objectForKey(ns_string!("NSTextMovement")));
    movement
        .and_then(|it| it.downcast::<NSNumber>().ok())
        .is_some_and(|it| it.integerValue() == RETURN)
}

/// The modes in which a main thread waits for something to do.
fn modes() -> Retained<NSArray<NSRunLoopMode>> {
    // SAFETY: constants.
    unsafe {
        NSArray::from_slice(&[
            NSDefaultRunLoopMode,
            NSModalPanelRunLoopMode,
            NSEventTrackingRunLoopMode,
        ])
    }
}

/// Has the main thread call [`turn::work`] when it comes to it. Any thread.
pub(crate) fn wake() {
    let door = ADDRESS.load(Ordering::Acquire);
    if door.is_null() {
        return;
    }
    autoreleasepool(|_| {
        let none: Option<&AnyObject> = None;
        // SAFETY: any thread may send this to an object that lives; the method takes an object.
        unsafe {
            let _: () = msg_send![
                door,
                performSelectorOnMainThread: sel!(agentWork:),
                withObject: none,
                waitUntilDone: false,
                modes: &*modes()
            ];
        }
    });
}

/// Has [`turn::work`] called a little later, when what is on the stack now is over.
pub(crate) fn wake_later() {
    perform_later(sel!(agentWork:), 0.02);
}

/// Has [`turn::went_on`] called as soon as the run loop goes on, be it a nested one.
pub(crate) fn tell_when_it_goes_on() {
    perform_later(sel!(agentTurnOver:), 0.0);
}

fn perform_later(selector: objc2::runtime::Sel, seconds: f64) {
    with(|door| {
        let none: Option<&AnyObject> = None;
        // SAFETY: the methods take an object.
        unsafe {
            let _: () = msg_send![
                door,
                performSelector: selector,
                withObject: none,
                afterDelay: seconds,
                inModes: &*modes()
            ];
        }
    });
}

/// Takes [`tell_when_it_goes_on`] back.
pub(crate) fn need_not_tell() {
    with(|door| {
        let none: Option<&AnyObject> = None;
        // SAFETY: every class answers this.
        unsafe {
            let _: () = msg_send![
                objc2::class!(NSObject),
                cancelPreviousPerformRequestsWithTarget: door,
                selector: sel!(agentTurnOver:),
                object: none
            ];
        }
    });
}

/// A timer that calls [`turn::look_again`] until it is invalidated.
pub(crate) fn timer(seconds: f64) -> Option<Retained<NSTimer>> {
    with(|door| {
        let none: Option<&AnyObject> = None;
        // SAFETY: the method takes the timer.
        unsafe {
            let timer: Retained<NSTimer> = msg_send![
                objc2::class!(NSTimer),
                timerWithTimeInterval: seconds,
                target: door,
                selector: sel!(agentTick:),
                userInfo: none,
                repeats: true
            ];
            let run_loop: Retained<AnyObject> = msg_send![objc2::class!(NSRunLoop), currentRunLoop];
            for mode in &*modes() {
                let _: () = msg_send![&run_loop, addTimer: &*timer, forMode: &*mode];
            }
            timer
        }
    })
}

/// Lets the user take an edit of a field back. What is kept is the text, not the field.
pub(crate) fn can_undo(undo: &NSUndoManager, node: Node, before: &NSString) {
    let edit = NSArray::from_slice(&[&*NSString::from_str(&node.number().to_string()), before]);
    // An undo manager that groups what one event does opens its groups itself.
    let groups = undo.groupingLevel() == 0 && !undo.groupsByEvent();
    with(|door| {
        if groups {
            undo.beginUndoGrouping();
        }
        // SAFETY: the method takes the array.
        unsafe { undo.registerUndoWithTarget_selector_object(door, sel!(agentUndo:), Some(&edit)) };
        if groups {
            undo.endUndoGrouping();
        }
    });
}
