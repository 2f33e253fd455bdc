//! Texts: reading and writing them, through the editor that a person types into where one is at
//! work; and the small questions that AppKit's outlines answer.

use objc2::{msg_send, rc::Retained, runtime::AnyObject, sel};
use objc2_app_kit::{
    NSControlTextDidBeginEditingNotification, NSControlTextDidChangeNotification,
    NSControlTextDidEndEditingNotification, NSOutlineView, NSText, NSTextField, NSTextView,
};
use objc2_foundation::{NSNotificationCenter, NSRange, NSString, NSUndoManager};

use super::{
    door,
    table::{self, Node},
};

/// The editor of a field that somebody is typing into.
pub(crate) fn editor(field: &NSTextField) -> Option<Retained<NSTextView>> {
    let editor: Option<Retained<NSText>> = field.currentEditor();
    editor?.downcast().ok()
}

/// A field's text, as it stands there while it is edited too.
pub(crate) fn field_text(field: &NSTextField) -> String {
    match editor(field) {
        Some(editor) => editor.string().to_string(),
        None => field.stringValue().to_string(),
    }
}

/// Where so many characters end, in UTF-16 units, which AppKit counts in.
fn units(text: &str, characters: u64) -> usize {
    let characters = usize::try_from(characters).unwrap_or(usize::MAX);
    text.chars().take(characters).map(char::len_utf16).sum()
}

/// Replaces a text, or a range of characters of it, as typing there does: the delegate may
/// refuse, it is told, and it is one step of undo.
pub(crate) fn write_view(view: &NSTextView, value: &str, range: Option<(u64, u64)>) {
    let range = match range {
        // A whole text is not read, only its length is taken: it may be a secret.
        None => NSRange::new(0, view.string().length()),
        Some((from, to)) => {
            let text = view.string().to_string();
            let from = units(&text, from);
            NSRange::new(from, units(&text, to) - from)
        }
    };
    let value = NSString::from_str(value);
    if !view.shouldChangeTextInRange_replacementString(range, Some(&value)) {
        return;
    }
    view.replaceCharactersInRange_withString(range, &value);
    view.didChangeText();
}

/// Writes to a field that nobody is typing into: its focus stays where it is, and whoever hears
/// of a person's edits hears of this one.
pub(crate) fn write_field(field: &NSTextField, node: Node, text: &str, secret: bool) {
    let before = (!secret).then(|| field.stringValue());
    field.setStringValue(&NSString::from_str(text));
    if let Some(before) = before
        && let Some(undo) = undo_manager(field)
    {
        door::can_undo(&undo, node, &before);
    }
    tell_edited(field);
}

/// Takes back what was written, as the user's undo does; that can be taken back too.
pub(crate) fn undo(field: &NSTextField, node: Node, text: &NSString) {
    if let Some(editor) = editor(field) {
        return write_view(&editor, &text.to_string(), None);
    }
    write_field(field, node, &text.to_string(), false);
    table::text_changed(node);
}

fn undo_manager(field: &NSTextField) -> Option<Retained<NSUndoManager>> {
    field.window()?.undoManager()
}

/// What a person's edit sends: to the delegate, and to whoever else listens.
fn tell_edited(field: &NSTextField) {
    let centre = NSNotificationCenter::defaultCenter();
    // SAFETY: names of notifications that a field posts of itself.
    unsafe {
        for name in [
            NSControlTextDidBeginEditingNotification,
            NSControlTextDidChangeNotification,
            NSControlTextDidEndEditingNotification,
        ] {
            centre.postNotificationName_object(name, Some(field));
        }
    }
    let sends = field
        .cell()
        .is_some_and(|cell| cell.sendsActionOnEndEditing());
    if sends {
        // SAFETY: the field's own action, to its own target.
        unsafe { field.sendAction_to(field.action(), field.target().as_deref()) };
    }
}

pub(crate) fn is_expandable(outline: &NSOutlineView, item: &AnyObject) -> bool {
    // SAFETY: an item of this very outline.
    unsafe { msg_send![outline, isExpandable: item] }
}

pub(crate) fn is_expanded(outline: &NSOutlineView, item: &AnyObject) -> bool {
    // SAFETY: an item of this very outline.
    unsafe { msg_send![outline, isItemExpanded: item] }
}

/// Whether Enter in a field reaches a delegate that may take it for itself.
pub(crate) fn asks_for_commands(field: &NSTextField) -> bool {
    // SAFETY: asked on the main thread, and kept from here on.
    let delegate: Option<Retained<AnyObject>> = unsafe { msg_send![field, delegate] };
    delegate.is_some_and(|it| {
        // SAFETY: every object answers this.
        unsafe { msg_send![&it, respondsToSelector: sel!(control:textView:doCommandBySelector:)] }
    })
}
