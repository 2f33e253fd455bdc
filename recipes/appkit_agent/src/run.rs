//! The app as it is started: its window, its surface, AppKit's own loop.

use std::{env, error::Error, path::Path};

use agent_surface::{ServeError, Surface};
use objc2::{
    MainThreadMarker,
    rc::{Retained, autoreleasepool},
    runtime::NSObjectProtocol,
    sel,
};
use objc2_app_kit::{NSApplication, NSApplicationActivationPolicy};

use crate::{
    app::{Orders, Window},
    client::Options,
    picture,
};

pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    autoreleasepool(|_| in_a_pool())
}

fn in_a_pool() -> Result<(), Box<dyn Error>> {
    let mtm = MainThreadMarker::new().ok_or("AppKit runs on the main thread")?;
    let args: Vec<String> = env::args().skip(1).collect();
    if let [picture, path] = &args[..]
        && picture == "--picture"
    {
        return picture::take(&open(mtm).1, Path::new(path));
    }
    let Some(options) = Options::read()? else {
        return Ok(());
    };
    let (orders, _window) = open(mtm);
    let _surface = serve(mtm, &orders, options)?;
    NSApplication::sharedApplication(mtm).run();
    Ok(())
}

/// The app's window, on the screen.
fn open(mtm: MainThreadMarker) -> (Retained<Orders>, Window) {
    let app = NSApplication::sharedApplication(mtm);
    // GNUstep has no activation policies.
    if app.respondsToSelector(sel!(setActivationPolicy:)) {
        app.setActivationPolicy(NSApplicationActivationPolicy::Regular);
    }
    let orders = Orders::new(mtm);
    let window = orders.open();
    (orders, window)
}

/// Lets agents in, as far as the door is open.
fn serve(mtm: MainThreadMarker, orders: &Orders, options: Options) -> Result<Surface, ServeError> {
    let mut surface = Surface::builder("org.example.orders")
        .name("Orders")
        .gate(options.door.gate())
        .appkit(mtm);
    if options.full {
        surface = surface.arm_full();
    }
    if env::args().any(|arg| arg == "--inspect") {
        surface = surface.arm_inspector();
    }
    let surface = surface.serve()?;
    if let Some(address) = surface.address() {
        options.show(address, orders.closer());
    }
    Ok(surface)
}
