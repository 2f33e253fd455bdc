//! Must not compile: a button is told its title by a number.

use agent_surface::appkit::objc2_app_kit::NSButton;

pub fn title(button: &NSButton) {
    button.setTitle(7);
}

fn main() {}
