//! Every property of an object that can be told safely, by key-value coding: a list of keys whose
//! getters only tell, under AppKit's own names. A key that this system's class doesn't answer is
//! left out.

use agent_inspect::{Property, Value};
use objc2::{
    msg_send,
    rc::Retained,
    runtime::{AnyClass, AnyObject, Sel},
};
use objc2_app_kit::{NSControl, NSFont, NSImage, NSTableView, NSView};
use objc2_foundation::{NSNumber, NSRect, NSSize, NSString, NSValue};

use super::super::{
    class, editing,
    exceptions::catch,
    finding::{Look, Thing},
    live,
    table::Node,
    widget::Widget,
};

/// What kind of value a key holds.
#[derive(Clone, Copy)]
enum Kind {
    Bool,
    Integer,
    Number,
    /// A string that only the developer writes.
    Words,
    /// A string that shows what is shown to the user: withheld of a secret.
    Text,
    /// A whole number or a number that says the same.
    SecretInteger,
    SecretNumber,
    Size,
    Rect,
    /// Any object: its class is told, and of a font and an image the name.
    Object,
}

use Kind::{Bool, Integer, Number, Object, Rect, SecretInteger, SecretNumber, Size, Text, Words};

/// A key and its getter, where that has another name.
type Key = (&'static str, Option<&'static str>, Kind);

/// The keys of each class, its own only.
const KEYS: &[(&str, &[Key])] = &[
    (
        "NSView",
        &[
            ("frame", None, Rect),
            ("bounds", None, Rect),
            ("hidden", Some("isHidden"), Bool),
            ("alphaValue", None, Number),
            ("opaque", Some("isOpaque"), Bool),
            ("flipped", Some("isFlipped"), Bool),
            ("tag", None, Integer),
            ("toolTip", None, Text),
            ("identifier", None, Words),
            ("accessibilityIdentifier", None, Words),
            ("accessibilityLabel", None, Text),
            ("accessibilityRole", None, Words),
            ("accessibilitySubrole", None, Words),
            ("autoresizingMask", None, Integer),
            ("autoresizesSubviews", None, Bool),
            ("translatesAutoresizingMaskIntoConstraints", None, Bool),
            ("acceptsFirstResponder", None, Bool),
            ("canBecomeKeyView", None, Bool),
            ("wantsLayer", None, Bool),
            ("clipsToBounds", None, Bool),
        ],
    ),
    (
        "NSControl",
        &[
            ("enabled", Some("isEnabled"), Bool),
            ("continuous", Some("isContinuous"), Bool),
            ("alignment", None, Integer),
            ("font", None, Object),
            ("formatter", None, Object),
            ("target", None, Object),
            ("controlSize", None, Integer),
        ],
    ),
    (
        "NSButton",
        &[
            ("title", None, Text),
            ("alternateTitle", None, Text),
            ("state", None, Integer),
            ("allowsMixedState", None, Bool),
            ("bordered", Some("isBordered"), Bool),
            ("bezelStyle", None, Integer),
            ("transparent", Some("isTransparent"), Bool),
            ("image", None, Object),
            ("imagePosition", None, Integer),
            ("keyEquivalent", None, Words),
        ],
    ),
    (
        "NSPopUpButton",
        &[
            ("pullsDown", None, Bool),
            ("autoenablesItems", None, Bool),
            ("preferredEdge", None, Integer),
        ],
    ),
    ("NSSwitch", &[("state", None, Integer)]),
    (
        "NSTextField",
        &[
            ("editable", Some("isEditable"), Bool),
            ("selectable", Some("isSelectable"), Bool),
            ("bordered", Some("isBordered"), Bool),
            ("bezeled", Some("isBezeled"), Bool),
            ("drawsBackground", None, Bool),
            ("placeholderString", None, Words),
            ("delegate", None, Object),
        ],
    ),
    (
        "NSComboBox",
        &[
            ("completes", None, Bool),
            ("usesDataSource", None, Bool),
            ("numberOfVisibleItems", None, Integer),
        ],
    ),
    (
        "NSTextView",
        &[
            ("editable", Some("isEditable"), Bool),
            ("selectable", Some("isSelectable"), Bool),
            ("richText", Some("isRichText"), Bool),
            ("fieldEditor", Some("isFieldEditor"), Bool),
            ("allowsUndo", None, Bool),
            ("drawsBackground", None, Bool),
            ("font", None, Object),
            ("delegate", None, Object),
        ],
    ),
    (
        "NSSlider",
        &[
            ("doubleValue", None, SecretNumber),
            ("minValue", None, SecretNumber),
            ("maxValue", None, SecretNumber),
            ("numberOfTickMarks", None, Integer),
            ("allowsTickMarkValuesOnly", None, Bool),
        ],
    ),
    (
        "NSStepper",
        &[
            ("doubleValue", None, SecretNumber),
            ("minValue", None, SecretNumber),
            ("maxValue", None, SecretNumber),
            ("increment", None, SecretNumber),
            ("valueWraps", None, Bool),
            ("autorepeat", None, Bool),
        ],
    ),
    (
        "NSProgressIndicator",
        &[
            ("doubleValue", None, SecretNumber),
            ("minValue", None, SecretNumber),
            ("maxValue", None, SecretNumber),
            ("indeterminate", Some("isIndeterminate"), Bool),
        ],
    ),
    (
        "NSImageView",
        &[
            ("image", None, Object),
            ("imageScaling", None, Integer),
            ("editable", Some("isEditable"), Bool),
        ],
    ),
    (
        "NSBox",
        &[
            ("title", None, Text),
            ("boxType", None, Integer),
            ("titlePosition", None, Integer),
        ],
    ),
    (
        "NSScrollView",
        &[
            ("documentVisibleRect", None, Rect),
            ("contentSize", None, Size),
            ("hasVerticalScroller", None, Bool),
            ("hasHorizontalScroller", None, Bool),
            ("drawsBackground", None, Bool),
        ],
    ),
    (
        "NSTabView",
        &[
            ("contentRect", None, Rect),
            ("tabViewType", None, Integer),
            ("delegate", None, Object),
        ],
    ),
    (
        "NSTableView",
        &[
            ("numberOfColumns", None, Integer),
            ("selectedRow", None, SecretInteger),
            ("rowHeight", None, Number),
            ("allowsMultipleSelection", None, Bool),
            ("allowsEmptySelection", None, Bool),
            ("dataSource", None, Object),
            ("delegate", None, Object),
        ],
    ),
    ("NSOutlineView", &[("indentationPerLevel", None, Number)]),
    (
        "NSWindow",
        &[
            ("title", None, Text),
            ("frame", None, Rect),
            ("visible", Some("isVisible"), Bool),
            ("miniaturized", Some("isMiniaturized"), Bool),
            ("keyWindow", Some("isKeyWindow"), Bool),
            ("mainWindow", Some("isMainWindow"), Bool),
            ("canBecomeKeyWindow", None, Bool),
            ("documentEdited", Some("isDocumentEdited"), Bool),
            ("representedFilename", None, Text),
            ("level", None, Integer),
            ("styleMask", None, Integer),
            ("alphaValue", None, Number),
            ("opaque", Some("isOpaque"), Bool),
            ("hasShadow", None, Bool),
            ("worksWhenModal", None, Bool),
            ("releasedWhenClosed", Some("isReleasedWhenClosed"), Bool),
            ("backingScaleFactor", None, Number),
            ("minSize", None, Size),
            ("maxSize", None, Size),
            ("windowNumber", None, Integer),
            ("firstResponder", None, Object),
            ("delegate", None, Object),
        ],
    ),
    (
        "NSMenu",
        &[
            ("title", None, Text),
            ("autoenablesItems", None, Bool),
            ("delegate", None, Object),
        ],
    ),
    (
        "NSMenuItem",
        &[
            ("title", None, Text),
            ("enabled", Some("isEnabled"), Bool),
            ("hidden", Some("isHidden"), Bool),
            ("state", None, Integer),
            ("tag", None, Integer),
            ("keyEquivalent", None, Words),
            ("keyEquivalentModifierMask", None, Integer),
            ("separatorItem", Some("isSeparatorItem"), Bool),
            ("hasSubmenu", None, Bool),
            ("indentationLevel", None, Integer),
            ("toolTip", None, Text),
            ("target", None, Object),
        ],
    ),
    (
        "NSTabViewItem",
        &[
            ("label", None, Text),
            ("toolTip", None, Text),
            ("tabState", None, Integer),
            ("view", None, Object),
        ],
    ),
];

/// Every property of a node.
pub(super) fn of(look: &Look, node: Node, secret: bool) -> Vec<Property> {
    match look.thing(node) {
        Thing::Window(it) => by_keys(&it, secret),
        Thing::Menu(it) => by_keys(&it, secret),
        Thing::MenuItem(it) => {
            let mut all = by_keys(&it, secret);
            all.push(action(it.action()));
            all
        }
        Thing::Tab(it) => by_keys(&it, secret),
        Thing::View(it) => of_view(look, &it, secret),
        Thing::Row(table, number) => of_row(&table, number),
        Thing::Gone => Vec::new(),
    }
}

fn of_view(look: &Look, view: &NSView, secret: bool) -> Vec<Property> {
    let widget = Widget::of(view);
    // What a pop-up shows is its chosen item's title.
    let kept_back = match &widget {
        Widget::PopUp(button) => {
            let chosen = button.selectedItem();
            chosen.is_some_and(|item| live::is_kept_back(look, &item))
        }
        _ => false,
    };
    let secret = secret || kept_back || matches!(widget, Widget::Secure(_));
    let mut all = by_keys(view, secret);
    // Asking a field itself would end what is being typed into it.
    let text: Option<&dyn Fn() -> String> = match &widget {
        Widget::Text(view) => Some(&|| view.string().to_string()),
        Widget::Label(field) => Some(&|| field.stringValue().to_string()),
        widget if widget.field().is_some() => Some(&|| {
            let field = widget.field();
            field.map(editing::field_text).unwrap_or_default()
        }),
        _ => None,
    };
    if let Some(text) = text {
        let name = match widget {
            Widget::Text(_) => "string",
            _ => "stringValue",
        };
        let value = match secret {
            true => Value::Withheld,
            false => Value::Text(text()),
        };
        all.push(Property::new(name, "NSString", Value::None).holding(value));
    }
    if let Some(control) = view.downcast_ref::<NSControl>() {
        all.push(action(control.action()));
    }
    all
}

/// A selector is no object, so that key-value coding doesn't tell it.
fn action(action: Option<Sel>) -> Property {
    let name = action.map(|it| it.name().to_string_lossy().into_owned());
    Property::new("action", "SEL", name)
}

/// A row is no object: what its table tells of it.
fn of_row(table: &NSTableView, number: isize) -> Vec<Property> {
    let number_now = i64::try_from(number).unwrap_or(i64::MAX);
    vec![
        Property::new("row", "NSInteger", number_now),
        Property::new("rectOfRow", "NSRect", rect(table.rectOfRow(number))),
        Property::new("isRowSelected", "BOOL", table.isRowSelected(number)),
    ]
}

fn by_keys(object: &AnyObject, secret: bool) -> Vec<Property> {
    let mut all = vec![Property::new("class", "Class", classes(object))];
    for (name, keys) in KEYS {
        let name = std::ffi::CString::new(*name).ok();
        let class = name.and_then(|name| AnyClass::get(&name));
        if !class.is_some_and(|class| is_kind_of(object, class)) {
            continue;
        }
        for (key, getter, kind) in *keys {
            // A class may say again what another said: pop-ups of buttons, text views of texts.
            let known = all.iter().any(|property| property.name == *key);
            if !known && answers(object, getter.unwrap_or(key)) {
                all.push(property(object, key, *kind, secret));
            }
        }
    }
    all
}

/// A class, and those that it is made from.
fn classes(object: &AnyObject) -> String {
    let mut names = vec![class::name(object)];
    let mut at = object.class().superclass();
    while let Some(class) = at {
        names.push(class.name().to_string_lossy().into_owned());
        at = class.superclass();
    }
    names.join(" : ")
}

fn is_kind_of(object: &AnyObject, class: &AnyClass) -> bool {
    // SAFETY: every object answers this.
    unsafe { msg_send![object, isKindOfClass: class] }
}

fn answers(object: &AnyObject, getter: &str) -> bool {
    let Ok(getter) = std::ffi::CString::new(getter) else {
        return false;
    };
    let selector = Sel::register(&getter);
    // SAFETY: every object answers this.
    unsafe { msg_send![object, respondsToSelector: selector] }
}

fn property(object: &AnyObject, key: &str, kind: Kind, secret: bool) -> Property {
    let (kind_word, may_tell) = match kind {
        Bool => ("BOOL", false),
        Integer => ("NSInteger", false),
        Number => ("double", false),
        Words => ("NSString", false),
        Text => ("NSString", true),
        SecretInteger => ("NSInteger", true),
        SecretNumber => ("double", true),
        Size => ("NSSize", false),
        Rect => ("NSRect", false),
        Object => ("id", false),
    };
    let property = Property::new(key, kind_word, Value::None);
    if secret && may_tell {
        return property.holding(Value::Withheld);
    }
    let told = catch("a getter", || {
        let key = NSString::from_str(key);
        // SAFETY: every object answers this; the getter is there, and only tells.
        let value: Option<Retained<AnyObject>> = unsafe { msg_send![object, valueForKey: &*key] };
        value.map_or(Value::None, |value| self::value(&value, kind))
    });
    match told {
        Ok(value) => property.holding(value),
        Err(_) => Property::new(key, "threw an exception", Value::None),
    }
}

fn value(value: &AnyObject, kind: Kind) -> Value {
    let number = || value.downcast_ref::<NSNumber>();
    let boxed = || value.downcast_ref::<NSValue>();
    let told: Option<Value> = match kind {
        Bool => number().map(|it| it.boolValue().into()),
        Integer | SecretInteger => number().map(|it| it.longLongValue().into()),
        Number | SecretNumber => number().map(|it| it.doubleValue().into()),
        Words | Text => value
            .downcast_ref::<NSString>()
            .map(|it| it.to_string().into()),
        // SAFETY: the key is known to hold this.
        Size => boxed().map(|it| size(unsafe { msg_send![it, sizeValue] }).into()),
        // SAFETY: the same.
        Rect => boxed().map(|it| rect(unsafe { msg_send![it, rectValue] }).into()),
        Object => Some(named(value).into()),
    };
    told.unwrap_or(Value::None)
}

/// What an object is, and not what it says of itself, which may be anything that the app knows.
fn named(object: &AnyObject) -> String {
    let name = class::name(object);
    if let Some(font) = object.downcast_ref::<NSFont>() {
        return format!("{name} {} {}", font.fontName(), font.pointSize());
    }
    if let Some(image) = object.downcast_ref::<NSImage>().and_then(|it| it.name()) {
        return format!("{name} {image}");
    }
    name
}

fn size(size: NSSize) -> String {
    format!("{} x {}", size.width, size.height)
}

fn rect(rect: NSRect) -> String {
    let (at, size) = (rect.origin, size(rect.size));
    format!("{}, {}, {size}", at.x, at.y)
}
