//! The prompt of a terminal, over streams.

use std::{
    io::{BufReader, Read, Write as _},
    os::unix::net::UnixStream,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use agent_consent::{Consent, Terminal, TerminalTexts};
use agent_core::{AuthGate, Channel, Decision, Request, Scope, Verb};
use agent_test_support::eventually;

/// An input that counts how often it is waited for.
struct Counted(UnixStream, Arc<AtomicUsize>);

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.read(into)
    }
}

/// A user at a keyboard.
struct Desk {
    keyboard: UnixStream,
    screen: Arc<Mutex<String>>,
    /// How often the prompt has begun to read what is typed.
    reads: Arc<AtomicUsize>,
    gate: AuthGate,
    _consent: Consent,
}

impl Desk {
    fn new() -> Self {
        Self::reading(TerminalTexts::default())
    }

    fn reading(texts: TerminalTexts) -> Self {
        let (keyboard, input) = UnixStream::pair().unwrap();
        let reads = Arc::new(AtomicUsize::new(0));
        let input = Counted(input, reads.clone());
        let (output, mut shown) = UnixStream::pair().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let shows = screen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = shown.read(&mut bytes) {
                shows
                    .lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        let folder = agent_test_support::folder();
        let terminal = Terminal::over(BufReader::new(input), output).unwrap();
        let consent = Consent::builder("org.example.orders")
            .prompt(terminal.with_texts(texts))
            .rules_dir(folder.path().join("rules"))
            .no_log()
            .build();
        Self {
            keyboard,
            screen,
            reads,
            gate: consent.gate(),
            _consent: consent,
        }
    }

    fn types(&mut self, line: &str) {
        // In one piece, as a terminal gives a line.
        let line = format!("{line}\n");
        self.keyboard.write_all(line.as_bytes()).unwrap();
    }

    fn sees(&self, what: &str) {
        eventually(what, || self.screen.lock().unwrap().contains(what));
        self.screen.lock().unwrap().clear();
    }
}

fn request(connection: u64) -> Request {
    Request {
        number: 1,
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
    eventually("it waits for the next line", || {
        desk.reads.load(Ordering::SeqCst) >= 2
    });
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

#[test]
fn the_terminals_own_words_can_be_replaced() {
    let mut desk = Desk::reading(TerminalTexts {
        choose: "Eine Zahl bis {count}: ".into(),
        withdrawn: "(hat sich erledigt)".into(),
    });
    desk.gate.met(&request(1));
    desk.gate.ask(&request(1));
    desk.sees("> ");
    desk.types("7");
    desk.sees("Eine Zahl bis 2: ");
    desk.gate.gone(1);
    desk.sees("\n(hat sich erledigt)\n");
}
