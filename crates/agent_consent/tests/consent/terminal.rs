//! The prompt of a terminal, over streams.

use std::{
    io::{BufReader, Read as _, Write as _},
    os::unix::net::UnixStream,
    sync::{Arc, Mutex},
};

use agent_consent::{Consent, Terminal};
use agent_core::{AuthGate, Channel, Decision, Request, Scope, Verb};
use agent_test_support::eventually;

/// A user at a keyboard.
struct Desk {
    keyboard: UnixStream,
    screen: Arc<Mutex<String>>,
    gate: AuthGate,
    _consent: Consent,
}

impl Desk {
    fn new() -> Self {
        let (keyboard, input) = UnixStream::pair().unwrap();
        let (output, mut reads) = UnixStream::pair().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let shows = screen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reads.read(&mut bytes) {
                shows
                    .lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        let folder = agent_test_support::folder();
        let consent = Consent::builder("org.example.orders")
            .prompt(Terminal::over(BufReader::new(input), output).unwrap())
            .rules_dir(folder.path().join("rules"))
            .no_log()
            .build();
        Self {
            keyboard,
            screen,
            gate: consent.gate(),
            _consent: consent,
        }
    }

    fn types(&mut self, line: &str) {
        writeln!(self.keyboard, "{line}").unwrap();
    }

    fn sees(&self, what: &str) {
        eventually(what, || self.screen.lock().unwrap().contains(what));
        self.screen.lock().unwrap().clear();
    }
}

fn request(connection: u64) -> Request {
    Request {
        channel: Channel::External,
        connection,
        claimed_name: Some("agent".into()),
        peer: None,
        verb: Verb::DescribeUi,
        scope: Scope::Surface,
        target: None,
    }
}

#[test]
fn a_number_answers_what_is_on_the_screen() {
    let mut desk = Desk::new();
    // Typed before the question was there: no answer to it.
    desk.types("2");
    desk.gate.met(&request(1));
    assert_eq!(desk.gate.check(&request(1)), Decision::Ask);
    std::thread::sleep(std::time::Duration::from_millis(50));
    desk.gate.ask(&request(1));
    desk.sees("May a program that can't be identified see and use this app?");
    desk.types("7");
    desk.sees("A number from 1 to 2: ");
    assert_eq!(desk.gate.check(&request(1)), Decision::Ask);
    desk.types(" 2 ");
    eventually("it is let in", || {
        desk.gate.check(&request(1)) == Decision::Allow
    });
    // Its question goes with it.
    desk.gate.met(&request(2));
    desk.gate.ask(&request(2));
    desk.sees("May a program");
    desk.gate.gone(2);
    desk.sees("(withdrawn)");
    // And so it does with the terminal.
    desk.gate.met(&request(3));
    desk.gate.ask(&request(3));
    desk.sees("May a program");
    desk.keyboard.shutdown(std::net::Shutdown::Both).unwrap();
    assert_eq!(desk.gate.check(&request(3)), Decision::Ask);
}
