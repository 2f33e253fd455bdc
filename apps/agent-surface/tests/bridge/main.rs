//! The command, run as an MCP host and a person run it, on apps in processes of their own.
//!
//! This program plays the apps too: with a variable in its environment it is one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

mod consent;
mod events;
mod peer;
mod support;
mod tests;
mod tokens;

fn main() -> std::process::ExitCode {
    support::play_a_role();
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| !it.starts_with('-'))
        .collect();
    let exact = std::env::args().any(|it| it == "--exact");
    if std::env::args().any(|it| it == "--list") {
        for (name, _) in tests::ALL {
            println!("{name}: test");
        }
        return std::process::ExitCode::SUCCESS;
    }
    // None of these is one.
    let only_ignored = std::env::args().any(|it| it == "--ignored");
    let is_wanted = |name: &str| {
        !only_ignored && wanted.is_empty()
            || wanted.iter().any(|it| {
                if exact {
                    name == it
                } else {
                    name.contains(it.as_str())
                }
            })
    };
    let chosen: Vec<_> = tests::ALL
        .iter()
        .filter(|(name, _)| is_wanted(name))
        .collect();
    println!("\nrunning {} tests", chosen.len());
    let running: Vec<_> = chosen
        .iter()
        .map(|(name, test)| {
            (
                *name,
                std::thread::Builder::new()
                    .name((*name).into())
                    .spawn(*test),
            )
        })
        .collect();
    let mut failed = 0;
    for (name, thread) in running {
        let ok = thread.is_ok_and(|thread| thread.join().is_ok());
        println!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
        failed += usize::from(!ok);
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    let passed = chosen.len() - failed;
    println!(
        "\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; {} filtered out; finished",
        tests::ALL.len() - chosen.len()
    );
    std::process::ExitCode::from(u8::from(failed > 0))
}
