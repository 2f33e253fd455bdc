//! A picture of the window, taken by the app itself.

use std::{error::Error, path::Path};

use objc2_app_kit::NSBitmapImageFileType;
use objc2_foundation::{NSDate, NSDictionary, NSRunLoop};

use crate::app::Window;

/// Writes it as a PNG.
pub(crate) fn take(window: &Window, path: &Path) -> Result<(), Box<dyn Error>> {
    // The window has a moment to come up.
    NSRunLoop::currentRunLoop().runUntilDate(&NSDate::dateWithTimeIntervalSinceNow(0.5));
    let view = window.contentView().ok_or("the window is empty")?;
    let bounds = view.bounds();
    let picture = view
        .bitmapImageRepForCachingDisplayInRect(bounds)
        .ok_or("no picture can be made of the window")?;
    view.cacheDisplayInRect_toBitmapImageRep(bounds, &picture);
    // SAFETY: no property is given.
    let png = unsafe {
        picture.representationUsingType_properties(NSBitmapImageFileType::PNG, &NSDictionary::new())
    };
    std::fs::write(
        path,
        png.ok_or("the picture could not be encoded")?.to_vec(),
    )?;
    Ok(())
}
