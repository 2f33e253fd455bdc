//! Menus: the app's own, and those under buttons.

use std::{cell::RefCell, collections::HashMap};

use objc2::{
    MainThreadMarker, Message,
    rc::Retained,
    runtime::{AnyObject, NSObjectProtocol},
    sel,
};
use objc2_app_kit::{NSApplication, NSMenu, NSMenuItem, NSPopUpButton, NSPopUpButtonCell, NSView};

use super::{
    table::{self, Node, Sort},
    tagging::HasNode,
};

/// What a menu's items are in.
pub(crate) enum Owner {
    /// The app's menu bar.
    Bar(Retained<NSMenu>),
    /// A submenu's item.
    Item(Retained<NSMenuItem>),
    PopUp(Retained<NSPopUpButton>),
}

pub(crate) fn main_menu(mtm: MainThreadMarker) -> Option<Retained<NSMenu>> {
    NSApplication::sharedApplication(mtm).mainMenu()
}

fn is(a: &NSMenu, b: &NSMenu) -> bool {
    std::ptr::eq(a, b)
}

pub(crate) fn items(menu: &NSMenu) -> Vec<Retained<NSMenuItem>> {
    menu.itemArray().iter().collect()
}

/// The nodes of its items.
pub(crate) fn nodes(menu: &NSMenu) -> Vec<Node> {
    items(menu).iter().map(|item| item.agent_node()).collect()
}

thread_local! {
    /// The button that a menu was last found under; looked at again before it is believed.
    static BUTTONS: RefCell<HashMap<usize, Node>> = RefCell::default();
}

/// What an item is in.
pub(crate) fn owner(mtm: MainThreadMarker, item: &NSMenuItem) -> Option<Owner> {
    // SAFETY: it is asked on the main thread, and kept from here on.
    let menu = unsafe { item.menu() }?;
    // SAFETY: the same.
    if let Some(above) = unsafe { menu.supermenu() } {
        let item = items(&above)
            .into_iter()
            .find(|item| item.submenu().is_some_and(|submenu| is(&submenu, &menu)))?;
        return Some(Owner::Item(item));
    }
    if main_menu(mtm).is_some_and(|main| is(&main, &menu)) {
        return Some(Owner::Bar(menu));
    }
    button(mtm, item, &menu).map(Owner::PopUp)
}

fn button(
    mtm: MainThreadMarker,
    item: &NSMenuItem,
    menu: &NSMenu,
) -> Option<Retained<NSPopUpButton>> {
    let shows = |button: &NSPopUpButton| button.menu().is_some_and(|shown| is(&shown, menu));
    // An item without an action of its own sends its button's.
    let cell = item
        .target()
        .and_then(|target| target.downcast::<NSPopUpButtonCell>().ok());
    // SAFETY: asked on the main thread, and kept from here on.
    if let Some(view) = cell.and_then(|cell| unsafe { cell.controlView() })
        && let Ok(button) = view.downcast::<NSPopUpButton>()
        && shows(&button)
    {
        return Some(button);
    }
    let address = std::ptr::from_ref(menu) as usize;
    let before = BUTTONS.with_borrow(|all| all.get(&address).copied());
    // SAFETY: views are put in as views; main thread.
    if let Some(view) = before.and_then(|node| unsafe { table::object::<NSView>(node, Sort::View) })
        && let Ok(button) = view.downcast::<NSPopUpButton>()
        && shows(&button)
    {
        return Some(button);
    }
    let button = NSApplication::sharedApplication(mtm)
        .windows()
        .iter()
        .filter_map(|window| window.contentView())
        .find_map(|view| find(&view, &shows));
    if let Some(button) = &button {
        let view: &NSView = button;
        let node = view.agent_node();
        BUTTONS.with_borrow_mut(|all| {
            all.retain(|_, node| table::sort(*node).is_some());
            all.insert(address, node)
        });
    }
    button
}

fn find(view: &NSView, is: &dyn Fn(&NSPopUpButton) -> bool) -> Option<Retained<NSPopUpButton>> {
    if let Some(button) = view.downcast_ref::<NSPopUpButton>() {
        return is(button).then(|| button.retain());
    }
    view.subviews().iter().find_map(|view| find(&view, is))
}

/// Whether choosing an item of a button's menu sends the button's action rather than its own.
pub(crate) fn sends_for_button(item: &NSMenuItem) -> bool {
    item.action().is_none()
        || item.target().is_some_and(|target: Retained<AnyObject>| {
            target.downcast::<NSPopUpButtonCell>().is_ok()
        })
}

/// Whether an item is left out of its menu. GNUstep has no such items.
pub(crate) fn is_hidden(item: &NSMenuItem) -> bool {
    item.respondsToSelector(sel!(isHidden)) && item.isHidden()
}

/// Whether an item may be chosen now: the app is asked as it is before a menu opens.
pub(crate) fn is_enabled(item: &NSMenuItem) -> bool {
    // SAFETY: asked on the main thread, and kept from here on.
    if let Some(menu) = unsafe { item.menu() }
        && menu.autoenablesItems()
    {
        menu.update();
    }
    item.isEnabled()
}
