//! The app as it is started: its window, its surface, AppKit's own loop.

use std::{error::Error, path::Path};

use agent_surface::Surface;
use objc2::MainThreadMarker;
use objc2_app_kit::{NSApplication, NSApplicationActivationPolicy};

use crate::{app::Orders, client::Options, picture};

pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let Some(options) = Options::read()? else {
        return Ok(());
    };
    let mtm = MainThreadMarker::new().ok_or("AppKit runs on the main thread")?;
    let app = NSApplication::sharedApplication(mtm);
    if responds(&app) {
        app.setActivationPolicy(NSApplicationActivationPolicy::Regular);
    }
    let orders = Orders::new(mtm);
    orders.show();
    if let Some(path) = &options.picture {
        return picture::take(&app, orders.window(), path);
    }
    let _surface = serve(mtm, options)?;
    app.run();
    Ok(())
}

/// GNUstep has no activation policies.
fn responds(app: &NSApplication) -> bool {
    use objc2::runtime::NSObjectProtocol;
    app.respondsToSelector(objc2::sel!(setActivationPolicy:))
}

/// Lets agents in, as far as the door is open.
fn serve(mtm: MainThreadMarker, options: Options) -> Result<Surface, Box<dyn Error>> {
    let mut surface = Surface::builder("org.example.orders")
        .name("Orders")
        .gate(options.door.gate())
        .appkit(mtm);
    if options.full {
        surface = surface.arm_full();
    }
    let surface = surface.serve()?;
    if let Some(address) = surface.address() {
        let address: &Path = address;
        options.show(address);
    }
    Ok(surface)
}
