//! Objects that come and go: the table keeps none alive, and touches none that is gone.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use agent_appkit::{
    AgentTagged, Tag, known_objects,
    objc2::{
        MainThreadOnly, define_class, msg_send,
        rc::{Retained, autoreleasepool},
    },
    objc2_app_kit::NSView,
};
use agent_core::{Action, Answer, Call, Describe, Refusal};
use agent_test_support::{LONG, job};

use super::app::{App, act, content, rect};

type Test = (&'static str, fn(&App));

pub(crate) const TESTS: &[Test] = &[
    ("a_view_that_was_let_go_is_not_found", let_go),
    ("a_click_looks_at_no_view_but_those_around_it", cost),
    ("a_thousand_windows_leave_nothing_behind", thousand),
];

/// How much agents ask while the windows come and go, at least.
const ASKED: usize = 100;

static ALIVE: AtomicUsize = AtomicUsize::new(0);
/// How often a leaf was asked how it is.
static LOOKED_AT: AtomicUsize = AtomicUsize::new(0);

/// Counts the views that are alive.
struct Counted(Cell<bool>);

impl Drop for Counted {
    fn drop(&mut self) {
        if self.0.get() {
            ALIVE.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

define_class!(
    // SAFETY: it changes nothing of NSView; there is no `Drop`.
    #[unsafe(super(NSView))]
    #[thread_kind = MainThreadOnly]
    #[ivars = Counted]
    struct Leaf;

    impl Leaf {
        #[unsafe(method(isHidden))]
        fn is_hidden(&self) -> bool {
            LOOKED_AT.fetch_add(1, Ordering::SeqCst);
            // SAFETY: NSView answers this.
            unsafe { msg_send![super(self), isHidden] }
        }
    }
);

fn leaf(app: &App, id: String) -> Retained<Leaf> {
    let leaf = Leaf::alloc(app.main_thread).set_ivars(Counted(Cell::new(true)));
    ALIVE.fetch_add(1, Ordering::SeqCst);
    // SAFETY: `initWithFrame:` of NSView.
    let leaf: Retained<Leaf> =
        unsafe { msg_send![super(leaf), initWithFrame: rect(0.0, 0.0, 10.0, 10.0)] };
    leaf.set_agent(Tag::id(id));
    leaf
}

fn let_go(app: &App) {
    let window = app.window("let-go");
    autoreleasepool(|_| {
        let view = leaf(app, "leaf".to_owned());
        content(&window).addSubview(&view);
        assert!(app.ids().iter().any(|id| id == "leaf"));
        view.removeFromSuperview();
    });
    assert_eq!(ALIVE.load(Ordering::SeqCst), 0, "somebody keeps it alive");
    let answer = app.answer(act("leaf", Action::Focus));
    assert!(
        matches!(answer, Answer::Refused(Refusal::NotFound)),
        "{answer:?}"
    );
    window.close();
}

/// Five thousand views, none of them exposed, and a button among them.
fn cost(app: &App) {
    let window = app.window("large");
    autoreleasepool(|_| {
        for _ in 0..5_000 {
            let view = leaf(app, String::new());
            view.clear_agent();
            content(&window).addSubview(&view);
        }
        app.button(&window, "among-many", false);
        app.ids();
        let (before, known) = (LOOKED_AT.load(Ordering::SeqCst), known_objects());
        let answer = app.answer(act("among-many", Action::Click));
        assert!(matches!(answer, Answer::Acted(_)), "{answer:?}");
        assert_eq!(
            LOOKED_AT.load(Ordering::SeqCst),
            before,
            "views were looked at"
        );
        assert_eq!(known_objects(), known, "views were made known");
        window.close();
    });
}

/// Agents look and press all the while.
fn thousand(app: &App) {
    const WINDOWS: usize = 1_000;
    const VIEWS: usize = 5;
    let done = Arc::new(AtomicBool::new(false));
    let flood = {
        let (done, backend) = (done.clone(), app.backend());
        std::thread::spawn(move || {
            let mut asked = 0_usize;
            while !done.load(Ordering::SeqCst) || asked <= ASKED {
                let (look, looked) = job(Call::Describe(Describe::default()));
                let (press, pressed) = job(act("leaf-0", Action::Focus));
                backend.submit(look);
                backend.submit(press);
                // Either has come to nothing when the app is busy: go on.
                let _ = looked.recv_timeout(LONG);
                let _ = pressed.recv_timeout(LONG);
                asked += 2;
            }
            asked
        })
    };
    // What AppKit itself makes once, for the first windows, is not counted.
    open_and_close(app, VIEWS);
    app.turns(Duration::from_millis(50));
    let before = known_objects();
    for _ in 0..WINDOWS {
        open_and_close(app, VIEWS);
    }
    done.store(true, Ordering::SeqCst);
    app.turns(Duration::from_millis(200));
    while !flood.is_finished() {
        app.turn();
    }
    let asked = flood.join().unwrap();
    assert!(asked > ASKED, "agents asked {asked} times only");
    assert_eq!(ALIVE.load(Ordering::SeqCst), 0, "views are kept alive");
    let after = known_objects();
    // AppKit may keep a few of its own for itself.
    assert!(
        after < before + 20,
        "the table grew from {before} to {after}"
    );
}

fn open_and_close(app: &App, views: usize) {
    autoreleasepool(|_| {
        let window = app.window("passing");
        for n in 0..views {
            content(&window).addSubview(&leaf(app, format!("leaf-{n}")));
        }
        app.turn();
        window.close();
    });
}
