//! `cargo run -p agent_consent_recipe`: an app without a window, whose user is asked in the
//! terminal which agents to let in. Here the answers are written down, so that it runs anywhere;
//! with `--serve` they are yours.

mod agent;
mod user;

use std::{env, error::Error, fs, path::Path};

use agent_surface::{
    Surface,
    consent::{Answer, Consent, Terminal},
    headless::{Headless, Kind, Widget},
};
use user::User;

const APP: &str = "org.example.orders";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => show(),
        ["--serve"] => serve(),
        ["--agent", address] => agent::converse(Path::new(address)),
        _ => Err("usage: agent_consent [--serve]".into()),
    }
}

/// The app itself: a button that counts.
fn app() -> Headless {
    Headless::start("ui", |tree| {
        tree.open_window(Widget::window("Orders").tag("main").children([
            Widget::new(Kind::Label).text("nothing saved").tag("status"),
            Widget::button("Save").tag("save").on_click(|tree, _| {
                if let Some(status) = tree.find("status") {
                    tree.set_text(status, "saved");
                }
            }),
        ]));
    })
}

/// Asks you, in this terminal.
fn serve() -> Result<()> {
    let app = app();
    let consent = Consent::builder(APP).prompt(Terminal::new()?).build();
    let surface = Surface::builder(APP)
        .name("Orders")
        .gate(consent.gate())
        .headless(&app)
        .serve()?;
    if let Some(address) = surface.address() {
        println!("Serving at {}\nTry:", address.display());
        let line = r#"{"jsonrpc":"2.0","id":1,"method":"describe_ui"}"#;
        println!(
            "  echo '{line}' | socat -t2 - UNIX-CONNECT:{}",
            address.display()
        );
    }
    for notice in consent.notices() {
        println!("{notice:?}");
    }
    Ok(())
}

/// Shows what happens, with a user whose answers are written down.
fn show() -> Result<()> {
    let place = Place::make()?;
    let app = app();
    let user = User::answering([Answer::Always, Answer::No, Answer::Once]);
    let consent = Consent::builder(APP)
        .prompt(user)
        // Not the user's own: this is a show.
        .rules_dir(place.0.join("rules"))
        .log(place.0.join("log.jsonl"))
        .build();
    let surface = Surface::builder(APP)
        .name("Orders")
        .gate(consent.gate())
        .headless(&app)
        .serve()?;
    let address = surface.address().ok_or("nothing is served")?;
    // Two agents are two programs: copies of this one.
    let [ada, bob] = ["ada", "bob"].map(|name| place.0.join(name));
    for agent in [&ada, &bob] {
        fs::copy(env::current_exe()?, agent)?;
    }

    println!("== ada comes for the first time: the user is asked ==");
    agent::run(&ada, address)?;
    println!("\n== ada comes again: the user is left in peace ==");
    agent::run(&ada, address)?;
    println!("\n== bob is another program: the user is asked, and says no ==");
    agent::run(&bob, address)?;

    println!("\n== the user looks at who may, and takes it back ==");
    for remembered in consent.rules() {
        let rule = remembered.rule;
        println!("   {} may, and used it {} times", rule.name, rule.uses);
        consent.revoke(&remembered.id);
    }
    println!("\n== ada comes again: the user is asked again ==");
    agent::run(&ada, address)?;

    println!("\n== the user stops all agents ==");
    consent.stop_all();
    agent::run(&ada, address)?;
    Ok(())
}

/// A folder that is there for as long as the show runs.
struct Place(std::path::PathBuf);

impl Place {
    fn make() -> Result<Self> {
        let place = env::temp_dir().join(format!("agent_consent-{}", std::process::id()));
        fs::create_dir(&place)?;
        Ok(Self(place))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Left behind, it does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
