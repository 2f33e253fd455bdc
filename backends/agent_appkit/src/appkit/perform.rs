//! An agent's actions, once the rules have allowed them: through the action paths that a
//! person's steps end in.

use agent_core::Action;
use objc2::{MainThreadMarker, msg_send, rc::Retained, runtime::AnyObject};
use objc2_app_kit::{
    NSButton, NSButtonCell, NSControl, NSControlStateValueMixed, NSControlStateValueOff,
    NSControlStateValueOn, NSMenuItem, NSSlider, NSStepper, NSSwitch, NSTabState, NSTabViewItem,
    NSTableView, NSTextField, NSView,
};
use objc2_foundation::NSIndexSet;

use super::{
    editing,
    finding::{Look, Thing, outline_item},
    live, menus, rows,
    table::{self, Node},
    turn,
    widget::{Widget, press},
};

/// Does it, now. Of a text that is written it answers how that would stand if the field took all
/// of it.
pub(crate) fn perform(
    mtm: MainThreadMarker,
    node: Node,
    action: Action,
    secret: bool,
) -> Option<String> {
    let look = Look::new(mtm);
    match look.thing(node) {
        Thing::View(view) => return on_view(node, &view, action, secret),
        Thing::Window(_) | Thing::Menu(_) | Thing::Gone => {}
        Thing::MenuItem(item) => on_item(&look, &item, &action),
        Thing::Tab(tab) => on_tab(&look, &tab, &action),
        Thing::Row(table, row) => on_row(&table, row, &action),
    }
    None
}

fn on_view(node: Node, view: &NSView, action: Action, secret: bool) -> Option<String> {
    let widget = Widget::of(view);
    match action {
        Action::Click => click(&widget),
        Action::SetText { value, range, .. } => return write(node, &widget, &value, range, secret),
        Action::ScrollTo { key: None } => scroll_to(view),
        Action::ScrollTo { key: Some(key) } => {
            if let (Some(row), Some(table)) = (rows::row_of_key(node, &key), rows::view(node)) {
                table.scrollRowToVisible(row);
                scroll_to(&table);
            }
        }
        Action::Focus => {
            if let Some(window) = view.window() {
                window.makeFirstResponder(Some(view));
            }
        }
        Action::Submit => {
            if let Some(field) = widget.field() {
                submit(node, field);
            }
        }
        Action::Select => {
            if let Widget::Radio(button) = &widget {
                light(button);
            }
        }
        Action::SetChecked(to) => set_checked(&widget, to),
        Action::SetValue(to) => match &widget {
            Widget::Slider(slider) => set_slider(slider, to),
            Widget::Stepper(stepper) => set_stepper(stepper, to),
            _ => {}
        },
        Action::Expand | Action::Collapse => {}
    }
    None
}

/// Sends a control's action to its target, as the end of a click does.
fn send(control: &NSControl) {
    // SAFETY: the control's own action, to its own target.
    unsafe { control.sendAction_to(control.action(), control.target().as_deref()) };
}

fn click(widget: &Widget) {
    match widget {
        Widget::Button(button) => send(button),
        Widget::Toggle(button) | Widget::Checkbox(button) => {
            button.setNextState();
            send(button);
        }
        Widget::Switch(switch) => {
            set_switch(switch, switch.state() != NSControlStateValueOn);
        }
        Widget::Radio(button) => light(button),
        Widget::Told(view, _) => {
            if !press(view)
                && let Some(control) = view.downcast_ref::<NSControl>()
            {
                send(control);
            }
        }
        _ => {}
    }
}

fn set_checked(widget: &Widget, to: bool) {
    match widget {
        Widget::Toggle(button) | Widget::Checkbox(button)
            if live::is_on(button) != to || button.state() == NSControlStateValueMixed =>
        {
            button.setState(if to {
                NSControlStateValueOn
            } else {
                NSControlStateValueOff
            });
            send(button);
        }
        Widget::Switch(switch) if (switch.state() == NSControlStateValueOn) != to => {
            set_switch(switch, to);
        }
        _ => {}
    }
}

fn set_switch(switch: &NSSwitch, to: bool) {
    switch.setState(if to {
        NSControlStateValueOn
    } else {
        NSControlStateValueOff
    });
    send(switch);
}

/// Puts a radio button on, and off those that go with it: AppKit's rule is that they are in the
/// same view and send the same action.
fn light(button: &NSButton) {
    if live::is_on(button) {
        return;
    }
    button.setState(NSControlStateValueOn);
    // SAFETY: asked on the main thread, and kept from here on.
    if let Some(around) = unsafe { button.superview() } {
        for view in &around.subviews() {
            if let Widget::Radio(other) = Widget::of(&view)
                && !std::ptr::eq(&*other, button)
                && other.action() == button.action()
                && live::is_on(&other)
            {
                other.setState(NSControlStateValueOff);
            }
        }
    }
    send(button);
}

fn set_slider(slider: &NSSlider, to: f64) {
    let to = if slider.allowsTickMarkValuesOnly() && slider.numberOfTickMarks() > 0 {
        slider.closestTickMarkValueToValue(to)
    } else {
        to
    };
    if slider.doubleValue() != to {
        slider.setDoubleValue(to);
        send(slider);
    }
}

fn set_stepper(stepper: &NSStepper, to: f64) {
    let (least, step) = (stepper.minValue(), stepper.increment());
    let to = if step > 0.0 {
        (least + ((to - least) / step).round() * step).min(stepper.maxValue())
    } else {
        to
    };
    if stepper.doubleValue() != to {
        stepper.setDoubleValue(to);
        send(stepper);
    }
}

/// Brings it into view, in each scroll view around it.
fn scroll_to(view: &NSView) {
    let mut around = view.enclosingScrollView();
    while let Some(scroll) = around {
        if let Some(document) = scroll.documentView() {
            let rect = view.convertRect_toView(view.bounds(), Some(&document));
            document.scrollRectToVisible(rect);
        }
        around = scroll.enclosingScrollView();
    }
}

fn write(
    node: Node,
    widget: &Widget,
    value: &str,
    range: Option<(u64, u64)>,
    secret: bool,
) -> Option<String> {
    let stamp = table::stamp(node);
    let wanted = match widget {
        Widget::Text(view) => {
            let before = range.map(|_| view.string().to_string());
            editing::write_view(view, value, range);
            splice(before, range, value)
        }
        widget => {
            let field = widget.field()?;
            let before = range.map(|_| editing::field_text(field));
            let wanted = splice(before, range, value);
            match editing::editor(field) {
                Some(editor) => editing::write_view(&editor, value, range),
                None => editing::write_field(field, node, &wanted, secret),
            }
            wanted
        }
    };
    if secret {
        turn::secret_was_written(node, stamp);
    }
    Some(wanted)
}

/// A text with a range of characters replaced.
fn splice(text: Option<String>, range: Option<(u64, u64)>, value: &str) -> String {
    let (Some(text), Some((from, to))) = (text, range) else {
        return value.to_owned();
    };
    let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let mut spliced: String = text.chars().take(at(from)).collect();
    spliced.push_str(value);
    spliced.extend(text.chars().skip(at(to)));
    spliced
}

/// Presses Enter in a field: its action if it has one, else the window's default button.
fn submit(node: Node, field: &NSTextField) {
    if editing::asks_for_commands(field)
        && let Some(editor) = editing::editor(field)
    {
        // The delegate may take the key for itself.
        // SAFETY: `- (void)insertNewline:(id)sender`.
        let _: () = unsafe { msg_send![&editor, insertNewline: None::<&AnyObject>] };
        turn::was_submitted(node);
        return;
    }
    if field.action().is_some() {
        field.validateEditing();
        turn::was_submitted(node);
        send(field);
        return;
    }
    let button = default_button(field);
    turn::was_submitted(node);
    if let Some(button) = button {
        click(&Widget::of(&button));
    }
}

/// The button that Enter in a field presses, if the app doesn't listen to Enter there.
pub(crate) fn pressed_by_enter(field: &NSTextField) -> Option<Retained<NSButton>> {
    if field.action().is_some() {
        return None;
    }
    default_button(field)
}

fn default_button(field: &NSTextField) -> Option<Retained<NSButton>> {
    let cell: Retained<NSButtonCell> = field.window()?.defaultButtonCell()?;
    // SAFETY: asked on the main thread, and kept from here on.
    unsafe { cell.controlView() }?.downcast().ok()
}

fn on_item(look: &Look, item: &NSMenuItem, action: &Action) {
    match (action, menus::owner(look.mtm, item)) {
        (Action::Select, Some(menus::Owner::PopUp(button))) => {
            if button
                .selectedItem()
                .is_some_and(|chosen| std::ptr::eq(&*chosen, item))
            {
                return;
            }
            button.selectItem(Some(item));
            if menus::sends_for_button(item) {
                send(&button);
            } else {
                // SAFETY: the item's own action, to its own target.
                unsafe { button.sendAction_to(item.action(), item.target().as_deref()) };
            }
        }
        (Action::Click, _) => {
            // SAFETY: asked on the main thread, and kept from here on.
            if let Some(menu) = unsafe { item.menu() } {
                menu.performActionForItemAtIndex(menu.indexOfItem(item));
            }
        }
        _ => {}
    }
}

fn on_tab(look: &Look, tab: &NSTabViewItem, action: &Action) {
    if let (Action::Select, Some(tabs)) = (action, tab.tabView(look.mtm))
        && tab.tabState() != NSTabState::SelectedTab
    {
        tabs.selectTabViewItem(Some(tab));
    }
}

fn on_row(table: &NSTableView, row: isize, action: &Action) {
    match action {
        Action::Select => {
            if let Ok(row) = usize::try_from(row)
                && !table.isRowSelected(row as isize)
            {
                table.selectRowIndexes_byExtendingSelection(
                    &NSIndexSet::indexSetWithIndex(row),
                    false,
                );
            }
        }
        Action::ScrollTo { .. } => {
            table.scrollRowToVisible(row);
            scroll_to(table);
        }
        Action::Expand | Action::Collapse => {
            let Some((outline, item)) = outline_item(table, row) else {
                return;
            };
            let open = *action == Action::Expand;
            if editing::is_expanded(outline, &item) == open {
                return;
            }
            // SAFETY: an item of this very outline.
            unsafe {
                if open {
                    outline.expandItem(Some(&item));
                } else {
                    outline.collapseItem(Some(&item));
                }
            }
        }
        _ => {}
    }
}
