//! A headless window of `n` nodes, of which agents see 30.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::Sender,
    },
    time::Instant,
};

use agent_headless::{Headless, Kind, Tree, Widget};
use agent_surface::{
    Builder, Surface,
    consent::{Consent, Mode},
};

use crate::{
    BUTTONS, EXPOSED, FIELDS,
    pingpong::{self, Hop},
    served::{Folder, Served, counted, open_to_all},
    thread_clock::ThreadClock,
};

/// Opens the window. A click is counted, and shown in a label that agents don't see.
pub fn open_window(tree: &mut Tree, n: usize, clicks: &Arc<AtomicUsize>) {
    let buttons = BUTTONS.iter().enumerate().map(|(number, id)| {
        let clicks = clicks.clone();
        Widget::button(format!("Action {number:02}"))
            .tag(*id)
            .on_click(move |tree, _| {
                let clicked = clicks.fetch_add(1, Ordering::Relaxed) + 1;
                if let Some(status) = tree.find("status") {
                    tree.set_text(status, format!("clicked {clicked} times"));
                }
            })
    });
    let fields = FIELDS.iter().enumerate().map(|(number, id)| {
        let field = Widget::text_field(format!("Field {number}")).tag(*id);
        // One has a name, for the app to write to.
        if number == 0 {
            field.named("noticed")
        } else {
            field
        }
    });
    let rows = (EXPOSED..n).map(|row| Widget::words(format!("Row {row}")));
    let window = Widget::window("Bench")
        .tag("main")
        .children(buttons)
        .children(fields)
        .child(Widget::words("not clicked yet").named("status"))
        .child(Widget::new(Kind::Scroll).children(rows));
    tree.open_window(window);
}

/// The window, served at a socket, for one client.
///
/// # Errors
/// If there is no place for the socket.
pub fn serve(n: usize) -> io::Result<Served> {
    serve_to(n, |builder, _| builder)
}

/// The same, where `agent_consent` lets everybody in, tells the app of it and writes the log.
///
/// # Errors
/// If there is no place for the socket.
pub fn serve_with_consent(n: usize) -> io::Result<Served> {
    serve_to(n, |builder, folder| {
        let consent = Consent::builder("org.example.bench")
            .mode(Mode::AllowAll)
            .rules_dir(folder.beside("rules"))
            .log(folder.beside("log.jsonl"))
            .build();
        builder.gate(consent.gate())
    })
}

fn serve_to(n: usize, set: impl FnOnce(Builder, &Folder) -> Builder) -> io::Result<Served> {
    let folder = Folder::new()?;
    let clicks = Arc::new(AtomicUsize::new(0));
    let clicked = clicks.clone();
    let app = Headless::start("ui", move |tree| open_window(tree, n, &clicked));
    let ui = app.run(|_| ThreadClock::of_this_thread());
    let builder = open_to_all(Surface::builder("org.example.bench").headless(&app));
    let surface = set(builder, &folder)
        .at(folder.socket())
        .serve()
        .map_err(io::Error::other)?;
    let (handle, changes) = (app.handle(), AtomicUsize::new(0));
    let change = move |noted: Sender<Instant>| {
        let number = changes.fetch_add(1, Ordering::Relaxed);
        handle.post(move |tree| {
            // Nobody listens any more if the client has failed.
            let _ = noted.send(Instant::now());
            if let Some(field) = tree.find("noticed") {
                tree.set_text(field, format!("change {number}"));
            }
        });
    };
    Ok(Served::new(folder, ui, counted(clicks), (surface, app)).changing(Box::new(change)))
}

/// The ping-pong with a UI thread that is woken as the headless backend's is. It has no window, so
/// that its size doesn't matter.
///
/// # Errors
/// If there is no place for the socket.
pub fn ping_pong(_: usize) -> io::Result<Served> {
    let folder = Folder::new()?;
    let hop = Hop::default();
    let (told, clock) = std::sync::mpsc::channel();
    let there = hop.clone();
    let ui = std::thread::spawn(move || {
        if told.send(ThreadClock::of_this_thread()).is_ok() {
            there.run();
        }
    });
    let connection = pingpong::serve(&folder.socket(), hop, || ())?;
    let clock = clock.recv().map_err(io::Error::other)?;
    Ok(Served::new(
        folder,
        clock,
        counted(Arc::default()),
        (connection, ui),
    ))
}
