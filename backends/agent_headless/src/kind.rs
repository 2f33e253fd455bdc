//! The kinds of widgets: what each is called, what role it has, what it offers by itself.

use agent_core::{Role, VerbSet};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $role:ident;)*) => {
        /// What kind of widget a node is. Each says which toolkit's behaviour it copies where
        /// toolkits differ.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind { $($(#[$doc])* $name,)* }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Its word, which is also its class name in a full description.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// The ARIA role it has by itself.
            pub const fn role(self) -> Role {
                match self { $(Self::$name => Role::$role,)* }
            }
        }
    };
}

kinds! {
    /// A top-level window, scrolled like a page. Copies GTK's `Window`: one that closes takes
    /// nothing with it but what is inside, not the windows that were opened from it.
    Window = "window", Window;
    /// A window that asks something, or such a panel inside a window (egui's `Modal` is one).
    /// Opened by [`Tree::open_modal`](crate::Tree::open_modal), it blocks its opener like a GTK
    /// window that is `modal` and `transient-for` it.
    Dialog = "dialog", Dialog;
    /// Things that belong together: GTK's `Box`, egui's `ui.group`, AppKit's `NSBox`.
    Group = "group", Group;
    /// A view onto more than fits: GTK's `ScrolledWindow`, egui's `ScrollArea`.
    Scroll = "scroll", Group;
    /// A list. Copies GTK's `ListView` over a `SingleSelection`: one row is selected at most,
    /// and with [`Rows`](crate::Rows) only the rows in view exist as widgets.
    List = "list", List;
    /// An item of a list. Copies GTK's `ListItem`: selecting it and activating it are two
    /// things; it can be clicked if the app listens to that.
    ListItem = "list_item", ListItem;
    /// A row of tabs. Copies GTK's `Notebook`: one tab is selected at most.
    Tabs = "tabs", TabList;
    /// One tab: it is selected by pressing it, as egui's `selectable_label` is.
    Tab = "tab", Tab;
    /// A tree. Copies GTK's `ListView` over a `TreeListModel`: what is inside a closed item is
    /// not shown.
    Tree = "tree", Tree;
    /// An item of a tree, which opens and closes if it has items inside. Starts closed, as in
    /// AppKit's `NSOutlineView`.
    TreeItem = "tree_item", TreeItem;
    /// A table. Copies GTK's `ColumnView`.
    Table = "table", Table;
    /// A row of a table: like a list item.
    Row = "row", Row;
    /// A cell of a row. It can be clicked if the app listens to that (GTK's `GestureClick`).
    Cell = "cell", Cell;
    /// A bar of tools: AppKit's `NSToolbar`.
    Toolbar = "toolbar", Toolbar;
    /// A bar of menus: AppKit's menu bar.
    MenuBar = "menu_bar", MenuBar;
    /// A menu. Copies AppKit: its items can be performed while it is closed
    /// (`performActionForItemAtIndex:`), and performing one closes it.
    Menu = "menu", Menu;
    /// An item of a menu; with [`checked`](crate::Widget::checked) it is one that is checked or
    /// not. Copies AppKit's `NSMenuItem`.
    MenuItem = "menu_item", MenuItem;
    /// A button. Copies AppKit and egui: pressing it does not take the keyboard focus away from
    /// a field.
    Button = "button", Button;
    /// A button that stays down. Copies GTK's `ToggleButton`: a press both toggles and clicks.
    Toggle = "toggle", Button;
    /// A checkbox. Copies egui's `Checkbox`: switching it is both a change and a click;
    /// indeterminate, it is checked by the next click.
    Checkbox = "checkbox", Checkbox;
    /// A radio button. Copies GTK's grouped `CheckButton`: it can't be switched off but by
    /// switching on another of its parent.
    Radio = "radio", Radio;
    /// A switch: GTK's `Switch`.
    Switch = "switch", Switch;
    /// A link: GTK's `LinkButton`, egui's `Link`.
    Link = "link", Link;
    /// A line of text. Copies GTK's `Entry`: what goes beyond its greatest length is not
    /// inserted, Enter activates the window's default button if the app listens to no Enter
    /// itself, and an edit from elsewhere leaves the focus where it is.
    TextField = "text_field", Textbox;
    /// A line that is not shown. Copies GTK's `PasswordEntry`, which keeps no undo history.
    PasswordField = "password_field", Textbox;
    /// Lines of text. Copies GTK's `TextView`: Enter is a new line, unless the app listens
    /// to Enter.
    TextArea = "text_area", Textbox;
    /// A line to search with: GTK's `SearchEntry`.
    SearchField = "search_field", Searchbox;
    /// A choice from a list that opens. Copies AppKit's `NSPopUpButton`: its options can be
    /// selected while it is closed, and what it shows is the selected one's text.
    Combo = "combo", Combobox;
    /// One of a choice.
    Option = "option", Option;
    /// A number between two. Copies egui's `Slider` with `step_by`: it keeps to its steps.
    Slider = "slider", Slider;
    /// A field for a number: GTK's `SpinButton`.
    Spin = "spin", SpinButton;
    /// How far something has come: GTK's `ProgressBar`. Nobody but the app moves it.
    Progress = "progress", ProgressBar;
    /// Words: GTK's `Label`, egui's `Label`. It offers nothing, though egui's AccessKit nodes
    /// of labels claim a click.
    Label = "label", Text;
    /// Words above others.
    Heading = "heading", Heading;
    /// A picture. It can be clicked if the app listens to that (egui's `Image` with
    /// `Sense::click`).
    Image = "image", Img;
    /// A line between things.
    Separator = "separator", Separator;
    /// What the app paints by itself: GTK's `DrawingArea`. It can be clicked if the app listens
    /// to that.
    Canvas = "canvas", Img;
}

impl Kind {
    /// The kind of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }

    /// Whether text is typed into it.
    pub const fn is_field(self) -> bool {
        matches!(
            self,
            Self::TextField | Self::PasswordField | Self::TextArea | Self::SearchField
        )
    }

    /// Whether its value is a number.
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Slider | Self::Spin | Self::Progress)
    }

    /// Whether it is on or off by itself (a menu item is so only if it was built checkable).
    pub const fn is_switch(self) -> bool {
        matches!(self, Self::Toggle | Self::Checkbox | Self::Switch)
    }

    /// Whether it is one of a choice, marked as selected.
    pub const fn is_choice(self) -> bool {
        matches!(
            self,
            Self::Option | Self::Tab | Self::Row | Self::ListItem | Self::TreeItem
        )
    }

    /// Whether it scrolls what is inside it.
    pub const fn scrolls(self) -> bool {
        matches!(
            self,
            Self::Window | Self::Scroll | Self::List | Self::Tree | Self::Table
        )
    }

    /// Whether it can have the keyboard focus.
    pub const fn takes_focus(self) -> bool {
        self.is_field()
            || self.is_switch()
            || matches!(
                self,
                Self::Button
                    | Self::Link
                    | Self::MenuItem
                    | Self::Radio
                    | Self::Combo
                    | Self::Slider
                    | Self::Spin
                    | Self::Tab
            )
    }

    /// Whether words belong to it even while it has none.
    pub(crate) const fn has_words(self) -> bool {
        !matches!(
            self,
            Self::Group
                | Self::Scroll
                | Self::List
                | Self::Tabs
                | Self::Tree
                | Self::Table
                | Self::Toolbar
                | Self::MenuBar
                | Self::Image
                | Self::Separator
                | Self::Canvas
        )
    }

    /// Whether it is pressed by a click and tells so.
    pub(crate) const fn is_pressed(self) -> bool {
        matches!(self, Self::Button | Self::Link | Self::MenuItem)
    }

    /// What it offers by itself, handlers and children apart.
    pub(crate) fn offers(self) -> VerbSet {
        let mut offers = match self {
            Self::Button | Self::Link | Self::MenuItem => VerbSet::Click,
            Self::Toggle | Self::Checkbox | Self::Switch => VerbSet::Click | VerbSet::SetChecked,
            // It can't be switched off, so `select` is the word for it.
            Self::Radio => VerbSet::Click | VerbSet::Select,
            Self::TextField | Self::PasswordField | Self::SearchField => {
                VerbSet::SetText | VerbSet::Submit
            }
            Self::TextArea => VerbSet::SetText,
            Self::Slider | Self::Spin => VerbSet::SetValue,
            Self::Combo | Self::Menu => VerbSet::Expand | VerbSet::Collapse,
            Self::Option | Self::Tab | Self::Row | Self::ListItem | Self::TreeItem => {
                VerbSet::Select
            }
            _ => VerbSet::empty(),
        };
        if self.takes_focus() {
            offers |= VerbSet::Focus;
        }
        offers
    }

    /// Whether it can be clicked where the app listens to clicks.
    pub(crate) const fn may_listen_to_clicks(self) -> bool {
        matches!(
            self,
            Self::ListItem | Self::Row | Self::Cell | Self::TreeItem | Self::Image | Self::Canvas
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_readable_back() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_word(kind.word()), Some(*kind));
        }
        assert_eq!(Kind::ALL.len(), 37);
    }

    #[test]
    fn what_is_only_looked_at_offers_nothing() {
        for kind in [
            Kind::Label,
            Kind::Heading,
            Kind::Progress,
            Kind::Window,
            Kind::Group,
        ] {
            assert_eq!(kind.offers(), VerbSet::empty(), "{kind:?}");
        }
    }
}
