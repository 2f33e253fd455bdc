//! The app's views as the rules look at them. Each answer costs what is around the node; only
//! the order among many siblings costs as many as there are.

use agent_core::{Facts, Frame, Label, LiveTree, Marks, Role, States, Tag, Verb, VerbSet};
use objc2::{msg_send, rc::Retained, runtime::NSObjectProtocol, sel};
use objc2_app_kit::{
    NSButton, NSControl, NSControlStateValueMixed, NSControlStateValueOn, NSMenuItem, NSPanel,
    NSPopUpButton, NSTabState, NSTableView, NSTextField, NSTextView, NSView, NSWindow,
};
use objc2_foundation::{NSRect, NSString};

use super::{
    class, editing,
    finding::{Look, Thing, outline_item},
    menus, perform, rows,
    table::{self, Node},
    tagging::HasNode,
    widget::Widget,
};

impl LiveTree for Look {
    type Key = Node;

    fn windows(&self) -> Vec<Node> {
        Look::windows(self).to_vec()
    }

    fn is_window(&self, node: Node) -> bool {
        self.is_top(node)
    }

    fn parent(&self, node: Node) -> Option<Node> {
        Look::parent(self, node)
    }

    fn position(&self, node: Node) -> usize {
        Look::position(self, node)
    }

    fn children(&self, node: Node) -> Vec<Node> {
        Look::children(self, node).to_vec()
    }

    fn tag(&self, node: Node) -> Option<&Tag> {
        Look::tag(self, node)
    }

    fn facts(&self, node: Node) -> Facts {
        let mut facts = Facts {
            role: Role::Unknown,
            states: States::empty(),
            offers: VerbSet::empty(),
            size: None,
        };
        match self.thing(node) {
            Thing::Window(window) => window_facts(self, &window, &mut facts),
            Thing::View(view) => view_facts(node, &view, &mut facts),
            Thing::Menu(_) => facts.role = Role::MenuBar,
            Thing::MenuItem(item) => item_facts(self, &item, &mut facts),
            Thing::Tab(tab) => {
                facts.role = Role::Tab;
                facts.offers = VerbSet::Select;
                if tab.tabState() == NSTabState::SelectedTab {
                    facts.states |= States::SELECTED;
                }
            }
            Thing::Row(table, number) => row_facts(&table, number, &mut facts),
            Thing::Gone => facts.states = States::HIDDEN,
        }
        facts
    }

    fn class(&self, node: Node) -> String {
        match self.thing(node) {
            Thing::Window(it) => class::name(&it),
            Thing::View(it) => class::name(&it),
            Thing::Menu(it) => class::name(&it),
            Thing::MenuItem(it) => class::name(&it),
            Thing::Tab(it) => class::name(&it),
            Thing::Row(..) => "row".to_owned(),
            Thing::Gone => String::new(),
        }
    }

    fn label(&self, node: Node) -> Label<Node> {
        let Some(view) = self.view(node) else {
            return Label::None;
        };
        if view.respondsToSelector(sel!(accessibilityTitleUIElement)) {
            // SAFETY: it answers this, with an element or none.
            let element: Option<Retained<objc2::runtime::AnyObject>> =
                unsafe { msg_send![&view, accessibilityTitleUIElement] };
            if let Some(by) = element.and_then(|it| it.downcast::<NSView>().ok()) {
                return Label::By(vec![by.agent_node()]);
            }
        }
        if view.respondsToSelector(sel!(accessibilityLabel)) {
            // SAFETY: it answers this, with a string or none.
            let label: Option<Retained<NSString>> = unsafe { msg_send![&view, accessibilityLabel] };
            if let Some(label) = label.map(|it| it.to_string()).filter(|it| !it.is_empty()) {
                return Label::Text(label);
            }
        }
        Label::None
    }

    fn text(&self, node: Node) -> Option<String> {
        match self.thing(node) {
            Thing::Window(window) => Some(window.title().to_string()),
            Thing::View(view) => view_text(self, &view),
            Thing::MenuItem(item) => Some(item.title().to_string()),
            Thing::Tab(tab) => Some(tab.label().to_string()),
            Thing::Row(table, number) => (table.numberOfColumns() == 1
                || rows::outline(&table).is_some())
            .then(|| rows::text(&table, number))
            .flatten(),
            Thing::Menu(_) | Thing::Gone => None,
        }
    }

    fn has_text(&self, node: Node) -> bool {
        match self.thing(node) {
            Thing::View(view) => match Widget::of(&view) {
                Widget::Image
                | Widget::Separator
                | Widget::Tabs
                | Widget::Table(_)
                | Widget::Outline(_)
                | Widget::View
                | Widget::Told(..)
                | Widget::Control => false,
                Widget::Group(group) => group.title().length() > 0,
                _ => true,
            },
            Thing::Menu(_) | Thing::Gone => false,
            Thing::Window(_) | Thing::MenuItem(_) | Thing::Tab(_) | Thing::Row(..) => true,
        }
    }

    fn text_stamp(&self, node: Node) -> u64 {
        table::stamp(node)
    }

    fn frame(&self, node: Node) -> Option<Frame> {
        match self.thing(node) {
            Thing::Window(window) => {
                let size = window.contentView()?.frame().size;
                Some(Frame {
                    x: 0.0,
                    y: 0.0,
                    width: size.width,
                    height: size.height,
                })
            }
            Thing::View(view) => in_window(&view, view.bounds()),
            Thing::Row(table, number) => in_window(&table, table.rectOfRow(number)),
            Thing::Menu(_) | Thing::MenuItem(_) | Thing::Tab(_) | Thing::Gone => None,
        }
    }

    fn claimants(&self, id: &str) -> Vec<Node> {
        Look::claimants(self, id)
    }

    fn tagged(&self) -> Vec<Node> {
        Look::tagged(self)
    }

    fn blocked_by(&self, node: Node) -> Option<Node> {
        let window = self.window_of(node);
        // One that was closed blocks nobody, though its loop may still have to notice.
        let sheet = |window: &NSWindow| window.attachedSheet().filter(|it| self.is_shown(it));
        if let Some(mut top) = window.as_deref().and_then(sheet) {
            while let Some(over) = sheet(&top) {
                top = over;
            }
            return Some(top.agent_node());
        }
        let modal = self
            .app()
            .modalWindow()
            .filter(|modal| self.is_shown(modal))?;
        let reachable =
            window.is_some_and(|window| window.worksWhenModal() || is_over(&window, &modal));
        (!reachable).then(|| modal.agent_node())
    }

    fn bounds(&self, node: Node) -> Option<(f64, f64)> {
        match Widget::of(&*self.view(node)?) {
            Widget::Slider(slider) => Some((slider.minValue(), slider.maxValue())),
            Widget::Stepper(stepper) => Some((stepper.minValue(), stepper.maxValue())),
            _ => None,
        }
    }

    fn activates(&self, node: Node, verb: Verb) -> Option<Node> {
        if verb != Verb::Submit {
            return None;
        }
        let widget = Widget::of(&*self.view(node)?);
        let button: Retained<NSView> = perform::pressed_by_enter(widget.field()?)?
            .into_super()
            .into_super();
        Some(button.agent_node())
    }

    fn has_row(&self, list: Node, key: &str) -> bool {
        rows::row_of_key(list, key).is_some()
    }
}

/// Whether a window is this one, or lies over it as its sheet or child.
fn is_over(window: &NSWindow, modal: &NSWindow) -> bool {
    if std::ptr::eq(window, modal) {
        return true;
    }
    let parent = window.sheetParent().or_else(|| window.parentWindow());
    parent.is_some_and(|parent| is_over(&parent, modal))
}

/// A rectangle of a view in points from the top left of its window's content.
pub(crate) fn in_window(view: &NSView, rect: NSRect) -> Option<Frame> {
    let content = view.window()?.contentView()?;
    let rect = view.convertRect_toView(rect, None);
    let inside = content.convertRect_toView(content.bounds(), None);
    let (origin, size) = (rect.origin, rect.size);
    Some(Frame {
        x: origin.x - inside.origin.x,
        y: inside.origin.y + inside.size.height - origin.y - size.height,
        width: size.width,
        height: size.height,
    })
}

/// Whether a rectangle of a view is scrolled out of sight in anything around it.
pub(crate) fn is_offscreen(view: &NSView, rect: NSRect) -> bool {
    let mut around = view.enclosingScrollView();
    while let Some(scroll) = around {
        let clip = scroll.contentView();
        let rect = view.convertRect_toView(rect, Some(&clip));
        let shown = clip.bounds();
        let apart =
            |from: f64, length: f64, at: f64, size: f64| from + length <= at || at + size <= from;
        if apart(
            rect.origin.x,
            rect.size.width,
            shown.origin.x,
            shown.size.width,
        ) || apart(
            rect.origin.y,
            rect.size.height,
            shown.origin.y,
            shown.size.height,
        ) {
            return true;
        }
        around = scroll.enclosingScrollView();
    }
    false
}

fn window_facts(look: &Look, window: &NSWindow, facts: &mut Facts) {
    let modal = look
        .app()
        .modalWindow()
        .is_some_and(|modal| std::ptr::eq(&*modal, window))
        || window.sheetParent().is_some();
    let is_panel = window.downcast_ref::<NSPanel>().is_some();
    facts.role = if modal || is_panel {
        Role::Dialog
    } else {
        Role::Window
    };
    if modal {
        facts.states |= States::MODAL;
    }
}

fn view_facts(node: Node, view: &NSView, facts: &mut Facts) {
    let widget = Widget::of(view);
    facts.role = widget.role();
    facts.offers = widget.offers();
    let states = &mut facts.states;
    states.set(States::HIDDEN, view.isHidden());
    states.set(States::OFFSCREEN, is_offscreen(view, view.bounds()));
    states.set(States::FOCUSED, has_focus(view));
    if let Some(control) = view.downcast_ref::<NSControl>() {
        states.set(States::DISABLED, !control.isEnabled());
    }
    if let Some(field) = widget.field() {
        states.set(States::READ_ONLY, !field.isEditable());
    }
    if let Some(button) = widget.on_off() {
        let on = if matches!(widget, Widget::Toggle(_)) {
            States::PRESSED
        } else {
            States::CHECKED
        };
        states.set(on, is_on(button));
        states.set(States::MIXED, is_mixed(button));
    }
    match &widget {
        Widget::Secure(_) => states.insert(States::SECRET),
        Widget::Switch(switch) => {
            states.set(States::CHECKED, switch.state() == NSControlStateValueOn)
        }
        Widget::Text(text) => states.set(States::READ_ONLY, !text.isEditable()),
        Widget::Table(table) => facts.size = size(node, table),
        Widget::Outline(table) => facts.size = size(node, table),
        _ => {}
    }
    let focusable = match &widget {
        Widget::Label(_) | Widget::Separator | Widget::Image | Widget::Progress(_) => false,
        Widget::Text(_) => true,
        widget if widget.field().is_some() => true,
        // A disabled control says that it takes none, but that is for its state to say.
        _ => view.acceptsFirstResponder() || facts.states.contains(States::DISABLED),
    };
    if focusable && view.downcast_ref::<NSControl>().is_some() || matches!(widget, Widget::Text(_))
    {
        facts.offers |= VerbSet::Focus;
    }
}

pub(crate) fn is_on(button: &NSButton) -> bool {
    button.state() == NSControlStateValueOn
}

fn is_mixed(button: &NSButton) -> bool {
    button.state() == NSControlStateValueMixed
}

fn size(node: Node, table: &NSTableView) -> Option<u64> {
    rows::has_keys(node).then(|| u64::try_from(table.numberOfRows()).unwrap_or_default())
}

/// Whether it, or the editor that edits for it, is its window's first responder.
fn has_focus(view: &NSView) -> bool {
    let Some(first) = view.window().and_then(|window| window.firstResponder()) else {
        return false;
    };
    if std::ptr::eq::<NSView>(
        first
            .downcast_ref::<NSView>()
            .map_or(std::ptr::null(), std::ptr::from_ref),
        view,
    ) {
        return true;
    }
    view.downcast_ref::<NSTextField>().is_some_and(|field| {
        editing::editor(field).is_some_and(|editor| {
            std::ptr::eq::<NSTextView>(
                first
                    .downcast_ref::<NSTextView>()
                    .map_or(std::ptr::null(), std::ptr::from_ref),
                &*editor,
            )
        })
    })
}

fn item_facts(look: &Look, item: &NSMenuItem, facts: &mut Facts) {
    if item.isSeparatorItem() {
        facts.role = Role::Separator;
        return;
    }
    let states = &mut facts.states;
    states.set(States::HIDDEN, menus::is_hidden(item));
    states.set(States::DISABLED, !menus::is_enabled(item));
    let on = item.state() == NSControlStateValueOn;
    if item.hasSubmenu() {
        facts.role = Role::Menu;
    } else if let Some(menus::Owner::PopUp(button)) = menus::owner(look.mtm, item)
        && !button.pullsDown()
    {
        facts.role = Role::Option;
        facts.offers = VerbSet::Select;
        let chosen = button.selectedItem();
        let is_it = chosen.is_some_and(|chosen| std::ptr::eq(&*chosen, item));
        states.set(States::SELECTED, is_it);
    } else {
        facts.role = Role::MenuItem;
        facts.offers = VerbSet::Click;
        states.set(States::CHECKED, on);
        states.set(States::MIXED, item.state() == NSControlStateValueMixed);
    }
}

fn row_facts(table: &NSTableView, number: isize, facts: &mut Facts) {
    facts.role = match Widget::of(table).role() {
        Role::Tree => Role::TreeItem,
        Role::Table => Role::Row,
        _ => Role::ListItem,
    };
    facts.offers = VerbSet::Select;
    let states = &mut facts.states;
    states.set(States::SELECTED, table.isRowSelected(number));
    states.set(
        States::OFFSCREEN,
        is_offscreen(table, table.rectOfRow(number)),
    );
    if let Some((outline, item)) = outline_item(table, number)
        && editing::is_expandable(outline, &item)
    {
        facts.offers |= VerbSet::Expand | VerbSet::Collapse;
        let open = editing::is_expanded(outline, &item);
        facts.states |= if open {
            States::EXPANDED
        } else {
            States::COLLAPSED
        };
    }
}

fn view_text(look: &Look, view: &NSView) -> Option<String> {
    let widget = Widget::of(view);
    if let Some(field) = widget.field() {
        return (!matches!(widget, Widget::Secure(_))).then(|| editing::field_text(field));
    }
    match widget {
        Widget::Button(it) | Widget::Toggle(it) | Widget::Checkbox(it) | Widget::Radio(it) => {
            Some(it.title().to_string())
        }
        Widget::PullDown(button) => button.itemAtIndex(0).map(|item| item.title().to_string()),
        Widget::PopUp(button) => Some(chosen(look, &button)),
        Widget::Label(label) => Some(label.stringValue().to_string()),
        Widget::Text(text) => Some(text.string().to_string()),
        Widget::Slider(it) => Some(it.doubleValue().to_string()),
        Widget::Stepper(it) => Some(it.doubleValue().to_string()),
        Widget::Progress(it) => Some(it.doubleValue().to_string()),
        Widget::Group(group) => Some(group.title().to_string()),
        _ => None,
    }
}

/// What a pop-up shows: the chosen item's title, but not if that is kept from agents, who would
/// read it here.
fn chosen(look: &Look, button: &NSPopUpButton) -> String {
    let Some(item) = button.selectedItem() else {
        return String::new();
    };
    if is_kept_back(look, &item) {
        String::new()
    } else {
        item.title().to_string()
    }
}

/// Whether an item's title is for the eyes of a person alone.
pub(crate) fn is_kept_back(look: &Look, item: &NSMenuItem) -> bool {
    look.tag(item.agent_node()).is_some_and(|tag| {
        tag.get_exposed() == Some(false)
            || tag.get_marks().intersects(Marks::SECRET | Marks::EXCLUDED)
    })
}
