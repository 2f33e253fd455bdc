//! What kind of thing a node is, in the words of [WAI-ARIA](https://www.w3.org/TR/wai-aria-1.2/#role_definitions).

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident = $word:literal;)*) => {
        /// A node's role. Words are ARIA's, except `window`, `text` and `unknown`, which ARIA
        /// has no role for that an element could carry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Role { $($(#[$doc])* $name,)* }

        impl Role {
            /// Every role.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word on the wire.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

roles! {
    /// A top-level window.
    Window = "window";
    /// A window or panel that asks something.
    Dialog = "dialog";
    /// A dialog that warns.
    AlertDialog = "alertdialog";
    /// A set of things that belong together.
    Group = "group";
    /// A list of items that are not chosen from.
    List = "list";
    /// An item of a list.
    ListItem = "listitem";
    /// A list to choose from.
    ListBox = "listbox";
    /// A set of tabs.
    TabList = "tablist";
    /// One tab.
    Tab = "tab";
    /// What a tab shows.
    TabPanel = "tabpanel";
    /// A tree.
    Tree = "tree";
    /// An item of a tree.
    TreeItem = "treeitem";
    /// A table.
    Table = "table";
    /// A row of a table.
    Row = "row";
    /// A cell of a row.
    Cell = "cell";
    /// A header of a column.
    ColumnHeader = "columnheader";
    /// A bar of tools.
    Toolbar = "toolbar";
    /// A bar of menus.
    MenuBar = "menubar";
    /// A menu.
    Menu = "menu";
    /// An item of a menu.
    MenuItem = "menuitem";
    /// An item of a menu that is checked or not.
    MenuItemCheckbox = "menuitemcheckbox";
    /// A button; a toggle button has the state `pressed`.
    Button = "button";
    /// A checkbox.
    Checkbox = "checkbox";
    /// A radio button.
    Radio = "radio";
    /// A set of radio buttons.
    RadioGroup = "radiogroup";
    /// A switch.
    Switch = "switch";
    /// A link.
    Link = "link";
    /// A text field, password field or text area.
    Textbox = "textbox";
    /// A field to search with.
    Searchbox = "searchbox";
    /// A box to choose from a list that opens.
    Combobox = "combobox";
    /// An option of a list box or combo box.
    Option = "option";
    /// A slider.
    Slider = "slider";
    /// A field for a number.
    SpinButton = "spinbutton";
    /// How far something has come.
    ProgressBar = "progressbar";
    /// A bar that scrolls.
    ScrollBar = "scrollbar";
    /// Words.
    Text = "text";
    /// A heading.
    Heading = "heading";
    /// A picture, or a canvas.
    Img = "img";
    /// A line between things.
    Separator = "separator";
    /// A hint that appears beside what it is about.
    Tooltip = "tooltip";
    /// A message that appears by itself.
    Alert = "alert";
    /// What a status line says.
    Status = "status";
    /// Nothing that ARIA has a word for.
    Unknown = "unknown";
}

impl Role {
    /// The role that the wire calls `word`.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.word() == word)
    }

    /// Whether a node without a label of its own is named by what is inside it
    /// ([ARIA 1.2, 5.2.8.4](https://www.w3.org/TR/wai-aria-1.2/#namefromcontent)). Rows, cells
    /// and groups are left out on purpose: their contents may be unexposed (rule 1).
    pub const fn named_from_content(self) -> bool {
        matches!(
            self,
            Self::Button
                | Self::Link
                | Self::Checkbox
                | Self::Radio
                | Self::Switch
                | Self::Tab
                | Self::MenuItem
                | Self::MenuItemCheckbox
                | Self::Option
                | Self::TreeItem
                | Self::Heading
        )
    }

    /// Whether a node's own text is a value that changes (what was typed or set) rather than
    /// what it is called.
    pub const fn has_value(self) -> bool {
        matches!(
            self,
            Self::Textbox
                | Self::Searchbox
                | Self::Combobox
                | Self::Slider
                | Self::SpinButton
                | Self::ProgressBar
                | Self::ScrollBar
        )
    }

    /// Whether the value is text that is typed, and so has a version.
    pub const fn is_text_field(self) -> bool {
        matches!(self, Self::Textbox | Self::Searchbox)
    }
}

#[cfg(test)]
mod tests {
    use super::Role;

    #[test]
    fn words_are_unique_and_readable_back() {
        for role in Role::ALL {
            assert_eq!(Role::from_word(role.word()), Some(*role));
        }
    }
}
