//! What a view is: its role, and the verbs that there is a way to perform on it.

use agent_core::{Role, VerbSet};
use objc2::{Message, msg_send, rc::Retained, runtime::NSObjectProtocol, sel};
use objc2_app_kit::{
    NSBox, NSBoxType, NSButton, NSButtonCell, NSCellStyleMask, NSComboBox, NSControl, NSImageView,
    NSOutlineView, NSPopUpButton, NSProgressIndicator, NSSearchField, NSSecureTextField, NSSlider,
    NSStepper, NSSwitch, NSTabView, NSTableView, NSTextField, NSTextView, NSView,
};
use objc2_foundation::NSString;

/// A view, as the class that it is used as.
pub(crate) enum Widget {
    /// It is pressed.
    Button(Retained<NSButton>),
    /// A button that stays down.
    Toggle(Retained<NSButton>),
    Checkbox(Retained<NSButton>),
    Radio(Retained<NSButton>),
    Switch(Retained<NSSwitch>),
    /// It shows the chosen one of its items.
    PopUp(Retained<NSPopUpButton>),
    /// A menu under a button.
    PullDown(Retained<NSPopUpButton>),
    Field(Retained<NSTextField>),
    Secure(Retained<NSTextField>),
    Search(Retained<NSTextField>),
    /// A field with suggestions.
    Combo(Retained<NSTextField>),
    Label(Retained<NSTextField>),
    Text(Retained<NSTextView>),
    Slider(Retained<NSSlider>),
    Stepper(Retained<NSStepper>),
    Progress(Retained<NSProgressIndicator>),
    Image,
    Separator,
    Group(Retained<NSBox>),
    Tabs,
    Table(Retained<NSTableView>),
    Outline(Retained<NSOutlineView>),
    /// Of a class that is not known here, but tells assistive technology what it is.
    Told(Retained<NSView>, Role),
    /// Anything else that is used like a control.
    Control,
    View,
}

/// Tries one class after the other, those that are made from others first.
macro_rules! first_of {
    ($view:expr; $($class:ty => $make:expr,)*) => {$(
        if let Some(view) = $view.downcast_ref::<$class>() {
            let make: fn(Retained<$class>) -> Widget = $make;
            return make(view.retain());
        }
    )*};
}

impl Widget {
    pub(crate) fn of(view: &NSView) -> Self {
        first_of! { view;
            NSSecureTextField => |it| Self::Secure(it.into_super()),
            NSSearchField => |it| Self::Search(it.into_super()),
            NSComboBox => |it| Self::Combo(it.into_super()),
            NSTextField => |it| if is_label(&it) { Self::Label(it) } else { Self::Field(it) },
            NSPopUpButton => |it| if it.pullsDown() { Self::PullDown(it) } else { Self::PopUp(it) },
            NSButton => button,
            NSSwitch => Self::Switch,
            NSSlider => Self::Slider,
            NSStepper => Self::Stepper,
            NSProgressIndicator => Self::Progress,
            NSOutlineView => Self::Outline,
            NSTableView => Self::Table,
            NSTextView => Self::Text,
            NSTabView => |_| Self::Tabs,
            NSImageView => |_| Self::Image,
            NSBox => |it| if it.boxType() == NSBoxType::Separator { Self::Separator } else { Self::Group(it) },
        }
        match told_role(view) {
            Some(role) => Self::Told(view.retain(), role),
            None if view.downcast_ref::<NSControl>().is_some() => Self::Control,
            None => Self::View,
        }
    }

    pub(crate) fn role(&self) -> Role {
        match self {
            Self::Button(_) | Self::Toggle(_) | Self::PullDown(_) => Role::Button,
            Self::Checkbox(_) => Role::Checkbox,
            Self::Radio(_) => Role::Radio,
            Self::Switch(_) => Role::Switch,
            Self::PopUp(_) => Role::Combobox,
            Self::Field(_) | Self::Secure(_) | Self::Combo(_) | Self::Text(_) => Role::Textbox,
            Self::Search(_) => Role::Searchbox,
            Self::Label(_) => Role::Text,
            Self::Slider(_) => Role::Slider,
            Self::Stepper(_) => Role::SpinButton,
            Self::Progress(_) => Role::ProgressBar,
            Self::Image => Role::Img,
            Self::Separator => Role::Separator,
            Self::Tabs => Role::TabList,
            Self::Table(table) if table.numberOfColumns() > 1 => Role::Table,
            Self::Table(_) => Role::List,
            Self::Outline(_) => Role::Tree,
            Self::Told(_, role) => *role,
            Self::Control => Role::Unknown,
            Self::Group(_) | Self::View => Role::Group,
        }
    }

    /// What there is a way to do to it, whatever its state.
    pub(crate) fn offers(&self) -> VerbSet {
        match self {
            Self::Button(_) => VerbSet::Click,
            Self::Toggle(_) | Self::Checkbox(_) | Self::Switch(_) => {
                VerbSet::Click | VerbSet::SetChecked
            }
            Self::Radio(_) => VerbSet::Click | VerbSet::Select,
            Self::Field(_) | Self::Secure(_) | Self::Search(_) | Self::Combo(_) => {
                VerbSet::SetText | VerbSet::Submit
            }
            Self::Text(_) => VerbSet::SetText,
            Self::Slider(_) | Self::Stepper(_) => VerbSet::SetValue,
            Self::Told(view, role) if is_pressed(*role) && can_be_pressed(view) => VerbSet::Click,
            _ => VerbSet::empty(),
        }
    }

    /// The field, if it is one line of text that is edited by the window's field editor.
    pub(crate) fn field(&self) -> Option<&NSTextField> {
        match self {
            Self::Field(field) | Self::Secure(field) | Self::Search(field) | Self::Combo(field) => {
                Some(field)
            }
            _ => None,
        }
    }

    /// The button, if it is on or off.
    pub(crate) fn on_off(&self) -> Option<&NSButton> {
        match self {
            Self::Toggle(button) | Self::Checkbox(button) | Self::Radio(button) => Some(button),
            _ => None,
        }
    }
}

/// What a view tells assistive technology that it is, in ARIA's words. `None`: nothing, or only
/// that it holds other things.
fn told_role(view: &NSView) -> Option<Role> {
    if !view.respondsToSelector(sel!(accessibilityRole)) {
        return None;
    }
    // SAFETY: it answers this, with a string or none.
    let told: Option<Retained<NSString>> = unsafe { msg_send![view, accessibilityRole] };
    Some(match told?.to_string().as_str() {
        "AXButton" | "AXMenuButton" => Role::Button,
        "AXCheckBox" => Role::Checkbox,
        "AXRadioButton" => Role::Radio,
        "AXRadioGroup" => Role::RadioGroup,
        "AXPopUpButton" | "AXComboBox" => Role::Combobox,
        "AXLink" => Role::Link,
        "AXTextField" | "AXTextArea" => Role::Textbox,
        "AXStaticText" => Role::Text,
        "AXHeading" => Role::Heading,
        "AXSlider" => Role::Slider,
        "AXIncrementor" => Role::SpinButton,
        "AXProgressIndicator" | "AXBusyIndicator" => Role::ProgressBar,
        "AXImage" => Role::Img,
        "AXList" => Role::List,
        "AXTable" => Role::Table,
        "AXOutline" => Role::Tree,
        "AXRow" => Role::Row,
        "AXCell" => Role::Cell,
        "AXTabGroup" => Role::TabList,
        "AXToolbar" => Role::Toolbar,
        "AXScrollBar" => Role::ScrollBar,
        "AXSplitter" => Role::Separator,
        _ => return None,
    })
}

/// What people press, whatever it does then.
fn is_pressed(role: Role) -> bool {
    matches!(
        role,
        Role::Button | Role::Checkbox | Role::Radio | Role::Link
    )
}

/// Whether assistive technology may press it, or it has an action to send.
fn can_be_pressed(view: &NSView) -> bool {
    may_press(view)
        || view
            .downcast_ref::<NSControl>()
            .is_some_and(|it| it.action().is_some())
}

fn may_press(view: &NSView) -> bool {
    let press = sel!(accessibilityPerformPress);
    if !view.respondsToSelector(press) {
        return false;
    }
    // Every view of macOS answers; this tells which of them do anything.
    let tells = view.respondsToSelector(sel!(isAccessibilitySelectorAllowed:));
    // SAFETY: it answers this, and takes a selector.
    !tells || unsafe { msg_send![view, isAccessibilitySelectorAllowed: press] }
}

/// Presses it as assistive technology does. `false`: it is not to be pressed so.
pub(crate) fn press(view: &NSView) -> bool {
    // SAFETY: it answers this, and takes nothing.
    may_press(view) && unsafe { msg_send![view, accessibilityPerformPress] }
}

/// A field that shows words and takes none.
fn is_label(field: &NSTextField) -> bool {
    !field.isEditable() && !field.isBezeled() && !field.isBordered()
}

/// `setButtonType:` can't be asked back. What is asked is what assistive technology is told
/// where that is there, else how the button shows that it is on, and by which picture.
fn button(button: Retained<NSButton>) -> Widget {
    let Some(cell) = button
        .cell()
        .and_then(|cell| cell.downcast::<NSButtonCell>().ok())
    else {
        return Widget::Button(button);
    };
    if cell.showsStateBy() == NSCellStyleMask::NoCellMask {
        return Widget::Button(button);
    }
    if button.respondsToSelector(sel!(accessibilityRole)) {
        let is = |told: Option<Retained<NSString>>, word: &str| {
            told.is_some_and(|told| told.to_string() == word)
        };
        // SAFETY: it answers this, with a string or none.
        let (role, subrole) = unsafe {
            let role: Option<Retained<NSString>> = msg_send![&*button, accessibilityRole];
            let subrole: Option<Retained<NSString>> = msg_send![&*button, accessibilitySubrole];
            (role, subrole)
        };
        if is(role.clone(), "AXRadioButton") {
            return Widget::Radio(button);
        }
        let is_box = is(role, "AXCheckBox") && !is(subrole, "AXToggle");
        return if is_box {
            Widget::Checkbox(button)
        } else {
            Widget::Toggle(button)
        };
    }
    let picture = button.image().and_then(|image| image.name());
    let picture = picture.map(|name| name.to_string()).unwrap_or_default();
    if picture.ends_with("Radio") || picture.ends_with("RadioButton") {
        Widget::Radio(button)
    } else if picture.ends_with("Switch") {
        Widget::Checkbox(button)
    } else {
        Widget::Toggle(button)
    }
}
