//! Methods of AppKit that are replaced once, each calling on to what was there: `dealloc`, to
//! hear that an object goes, and the sending of a control's action, to hear that it was used.
//! The same is done on both runtimes, so what is tested is what ships.

use std::sync::{Once, OnceLock};

use objc2::{
    ClassType, MainThreadMarker, ffi,
    runtime::{AnyClass, AnyObject, Bool, Imp, Sel},
    sel,
};
use objc2_app_kit::{NSControl, NSMenu, NSMenuItem, NSTabViewItem, NSView, NSWindow};

use super::{table, turn};

/// Replaces them, the first time that it is called.
pub(crate) fn install(_: MainThreadMarker) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        hear_dealloc::<0>(NSView::class());
        hear_dealloc::<1>(NSWindow::class());
        hear_dealloc::<2>(NSMenu::class());
        hear_dealloc::<3>(NSMenuItem::class());
        hear_dealloc::<4>(NSTabViewItem::class());
        hear_actions();
    });
}

type Dealloc = unsafe extern "C-unwind" fn(*mut AnyObject, Sel);
type SendAction =
    unsafe extern "C-unwind" fn(*mut AnyObject, Sel, Option<Sel>, *mut AnyObject) -> Bool;

/// What was there before, a slot for each class: a method doesn't know which class it is of.
static DEALLOC: [OnceLock<Dealloc>; 5] = [const { OnceLock::new() }; 5];
static SEND_ACTION: OnceLock<SendAction> = OnceLock::new();

/// Puts `new` in the place of a class's own or inherited method, and answers what was there.
fn replace(class: &AnyClass, selector: Sel, new: Imp) -> Option<Imp> {
    let method = class.instance_method(selector)?;
    let before = method.implementation();
    // SAFETY: the caller gives an implementation of the same signature, and the types are those
    // of the method that is replaced.
    unsafe {
        let types = ffi::method_getTypeEncoding(method);
        ffi::class_replaceMethod(std::ptr::from_ref(class).cast_mut(), selector, new, types);
    }
    Some(before)
}

fn hear_dealloc<const SLOT: usize>(class: &AnyClass) {
    let new: Dealloc = dealloc::<SLOT>;
    // SAFETY: any method may be passed on as an `Imp`.
    let new: Imp = unsafe { std::mem::transmute(new) };
    // The slot is filled before anybody else can be let go: this is the main thread, and what
    // another thread lets go meanwhile is not in the table yet.
    if let Some(before) = class
        .instance_method(sel!(dealloc))
        .map(|it| it.implementation())
    {
        // SAFETY: this is the signature of every `dealloc`.
        let before: Dealloc = unsafe { std::mem::transmute(before) };
        if DEALLOC[SLOT].set(before).is_ok() {
            replace(class, sel!(dealloc), new);
        }
    }
}

unsafe extern "C-unwind" fn dealloc<const SLOT: usize>(this: *mut AnyObject, selector: Sel) {
    table::gone(this);
    if let Some(before) = DEALLOC[SLOT].get() {
        // SAFETY: the method that was there, with what it was sent.
        unsafe { before(this, selector) }
    }
}

fn hear_actions() {
    let new: SendAction = send_action;
    // SAFETY: any method may be passed on as an `Imp`.
    let new: Imp = unsafe { std::mem::transmute(new) };
    let selector = sel!(sendAction:to:);
    if let Some(method) = NSControl::class().instance_method(selector) {
        // SAFETY: `- (BOOL)sendAction:(SEL)action to:(id)target`.
        let before: SendAction = unsafe { std::mem::transmute(method.implementation()) };
        if SEND_ACTION.set(before).is_ok() {
            replace(NSControl::class(), selector, new);
        }
    }
}

unsafe extern "C-unwind" fn send_action(
    this: *mut AnyObject,
    selector: Sel,
    action: Option<Sel>,
    target: *mut AnyObject,
) -> Bool {
    // SAFETY: a method runs on an object of its class, alive.
    if let Some(control) = unsafe { this.cast::<NSControl>().as_ref() } {
        turn::control_was_used(control);
    }
    match SEND_ACTION.get() {
        // SAFETY: the method that was there, with what it was sent.
        Some(before) => unsafe { before(this, selector, action, target) },
        None => Bool::NO,
    }
}
