//! Properties: whatever a toolkit can tell of a widget, by its own names and types.

/// One property of a widget. Made so that a toolkit's own description fits: the fields of an
/// AccessKit node, a GObject's `GParamSpec`s, the properties of a Slint element, the keys that an
/// AppKit class is known to answer safely.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// What the toolkit calls it.
    pub name: String,
    /// What the toolkit calls its type: `bool`, `gchararray`, `NSString`.
    pub kind: String,
    /// What it holds.
    pub value: Value,
}

/// What a property holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    None,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any number.
    Number(f64),
    /// Words, or whatever else can be written down: an enum's variant, a colour.
    Text(String),
    /// Something secret: it was not read (rule 8).
    Withheld,
}

impl Property {
    /// A property of a type that the toolkit names.
    pub fn new(name: impl Into<String>, kind: impl Into<String>, value: impl Into<Value>) -> Self {
        Self {
            name: name.into(),
            kind: kind.into(),
            value: value.into(),
        }
    }
}

impl Property {
    /// The same, holding this.
    #[must_use]
    pub fn holding(mut self, value: Value) -> Self {
        self.value = value;
        self
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}
