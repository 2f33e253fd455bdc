//! What GNUstep can't do, shown by GNUstep itself: when one of these fails, a case that is skipped
//! for it can be run.

use agent_appkit::{
    objc2::{
        MainThreadOnly, exception, msg_send,
        rc::{Retained, autoreleasepool},
        runtime::{AnyObject, Sel},
        sel,
    },
    objc2_app_kit::{NSApplication, NSModalPanelRunLoopMode, NSTextView, NSWindow},
    objc2_foundation::{NSArray, NSRange, NSString},
};

use super::app::{App, content, rect};

type Test = (&'static str, fn(&App));

pub(crate) const TESTS: &[Test] = &[
    ("gnustep_throws_when_a_second_edit_is_undone", undo),
    ("gnustep_blocks_every_window_with_a_sheet", sheet),
];

fn undo(app: &App) {
    let window = app.window("probe-undo");
    let text = NSTextView::initWithFrame(
        NSTextView::alloc(app.main_thread),
        rect(0.0, 0.0, 90.0, 60.0),
    );
    content(&window).addSubview(&text);
    text.setAllowsUndo(true);
    for word in ["one", "two"] {
        let all = NSRange::new(0, text.string().length());
        let word = NSString::from_str(word);
        assert!(text.shouldChangeTextInRange_replacementString(all, Some(&word)));
        text.replaceCharactersInRange_withString(all, &word);
        text.didChangeText();
        // What one turn does is undone together.
        app.turns(std::time::Duration::from_millis(100));
    }
    let undo = text.undoManager().expect("a text view in a window has one");
    let undone = exception::catch(std::panic::AssertUnwindSafe(|| undo.undo()));
    assert!(
        undone.is_err(),
        "GNUstep can do it now: run the cases that undo"
    );
    window.close();
}

fn sheet(app: &App) {
    let (window, sheet) = (app.window("probe-sheet"), app.window("probe-dialog"));
    let ns = NSApplication::sharedApplication(app.main_thread);
    // From another thread, as a timer does not wake a modal loop on GNUstep.
    let (handler, ended) = (
        Retained::as_ptr(&app.handler) as usize,
        Retained::as_ptr(&sheet) as usize,
    );
    let thread = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        autoreleasepool(|_| {
            // SAFETY: a constant; the method takes a window, and both are kept by the test.
            unsafe {
                let modes = NSArray::from_slice(&[NSModalPanelRunLoopMode]);
                let () = msg_send![
                    handler as *const AnyObject,
                    performSelectorOnMainThread: sel!(endModal:),
                    withObject: ended as *const AnyObject,
                    waitUntilDone: false,
                    modes: &*modes
                ];
            }
        });
    });
    begin(&ns, &sheet, &window);
    thread.join().unwrap();
    // It comes back when the modal loop is over, in which the handler saw what was modal.
    assert!(
        app.handler.saw_modal(),
        "a sheet blocks its window alone now: run the case"
    );
    sheet.close();
    window.close();
}

fn begin(ns: &Retained<NSApplication>, sheet: &NSWindow, over: &NSWindow) {
    let (none, nothing): (Option<&AnyObject>, *mut std::ffi::c_void) = (None, std::ptr::null_mut());
    // SAFETY: there is nobody to be told of its end.
    let () = unsafe {
        msg_send![
            ns,
            beginSheet: sheet,
            modalForWindow: over,
            modalDelegate: none,
            didEndSelector: None::<Sel>,
            contextInfo: nothing
        ]
    };
}
