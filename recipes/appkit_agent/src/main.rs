//! `cargo run -p appkit_agent`: the app, and an agent in a second process that operates it.

#[cfg(any(target_os = "macos", feature = "gnustep"))]
mod app;
// The same conversation as with the egui app.
#[cfg(any(target_os = "macos", feature = "gnustep"))]
#[path = "../../egui_agent/src/client.rs"]
mod client;
#[cfg(any(target_os = "macos", feature = "gnustep"))]
mod picture;
#[cfg(any(target_os = "macos", feature = "gnustep"))]
mod run;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    #[cfg(any(target_os = "macos", feature = "gnustep"))]
    return run::run();
    #[cfg(not(any(target_os = "macos", feature = "gnustep")))]
    Err("this app is for macOS; `cargo xtask appkit` runs it on Linux, on GNUstep".into())
}
