//! What cases can't show: exceptions, a main thread that does not come, objects that go, menus
//! and names of AppKit's own. On macOS `cargo test -p agent_appkit`, on Linux `cargo xtask appkit`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

#[cfg(any(target_os = "macos", feature = "gnustep"))]
mod acting;
#[cfg(any(target_os = "macos", feature = "gnustep"))]
mod app;
#[cfg(any(target_os = "macos", feature = "gnustep"))]
mod inspecting;
#[cfg(any(target_os = "macos", feature = "gnustep"))]
mod living;
#[cfg(feature = "gnustep")]
mod probes;
#[cfg(any(target_os = "macos", feature = "gnustep"))]
mod views;

#[cfg(any(target_os = "macos", feature = "gnustep"))]
fn main() {
    use agent_appkit::{MainThreadMarker, objc2::rc::autoreleasepool};

    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| !it.starts_with('-'))
        .collect();
    let main_thread = MainThreadMarker::new().expect("tests run on the main thread");
    let app = autoreleasepool(|_| app::App::open(main_thread));
    #[cfg(feature = "gnustep")]
    let probes = probes::TESTS;
    #[cfg(not(feature = "gnustep"))]
    let probes = &[];
    let all = [
        living::TESTS,
        probes,
        inspecting::TESTS,
        views::TESTS,
        acting::TESTS,
    ];
    for (name, test) in all.into_iter().flatten() {
        if wanted.is_empty() || wanted.iter().any(|it| name.contains(it)) {
            autoreleasepool(|_| test(&app));
            println!("test {name} ... ok");
        }
    }
}

#[cfg(not(any(target_os = "macos", feature = "gnustep")))]
fn main() {
    println!("there is no AppKit here: `cargo xtask appkit` runs these on GNUstep");
}
