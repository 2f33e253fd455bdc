//! One window of `n` views, of which agents see 30, and AppKit's own loop on the main thread.

use std::{
    error::Error,
    io::BufRead as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use agent_bench::{
    BUTTONS, EXPOSED, FIELDS,
    appkit_app::{Order, Part},
    pingpong::{self, Hop},
    served::open_to_all,
};
use agent_surface::{Surface, appkit::AgentTagged};
use objc2::{
    DefinedClass, MainThreadMarker, MainThreadOnly, define_class, msg_send,
    rc::{Retained, autoreleasepool},
    runtime::{AnyObject, NSObject, Sel},
    sel,
};
use objc2_app_kit::{
    NSApplication, NSBackingStoreType, NSButton, NSScrollView, NSTextField, NSView, NSWindow,
    NSWindowStyleMask,
};
use objc2_foundation::{
    NSArray, NSDefaultRunLoopMode, NSPoint, NSRect, NSSize, NSString, ns_string,
};

/// What the window's handler needs.
#[derive(Default)]
struct State {
    clicks: Arc<AtomicUsize>,
    hop: Hop,
}

define_class!(
    // SAFETY: NSObject asks nothing of those that are made from it; there is no `Drop`.
    #[unsafe(super(NSObject))]
    #[thread_kind = MainThreadOnly]
    #[ivars = State]
    struct Handler;

    impl Handler {
        #[unsafe(method(clicked:))]
        fn clicked(&self, _: Option<&AnyObject>) {
            self.ivars().clicks.fetch_add(1, Ordering::Relaxed);
        }

        #[unsafe(method(answer:))]
        fn answer(&self, _: Option<&AnyObject>) {
            self.ivars().hop.answer();
        }

        #[unsafe(method(close:))]
        fn close(&self, _: Option<&AnyObject>) {
            NSApplication::sharedApplication(self.mtm()).terminate(None);
        }
    }
);

impl Handler {
    fn new(mtm: MainThreadMarker) -> Retained<Self> {
        let this = Self::alloc(mtm).set_ivars(State::default());
        // SAFETY: `init` of NSObject.
        unsafe { msg_send![super(this), init] }
    }

    /// What sends it this message on the main thread, from any thread.
    fn caller(&self, message: Sel) -> impl Fn() + Send + 'static {
        // It lives until the app ends.
        let address = std::ptr::from_ref(self) as usize;
        move || {
            autoreleasepool(|_| {
                let none: Option<&AnyObject> = None;
                // SAFETY: any thread may send this; the handler's methods take any object.
                unsafe {
                    let _: () = msg_send![
                        address as *const Self,
                        performSelectorOnMainThread: message,
                        withObject: none,
                        waitUntilDone: false,
                        modes: &*NSArray::from_slice(&[NSDefaultRunLoopMode])
                    ];
                }
            });
        }
    }
}

/// Serves what was ordered, until the standard input ends.
/// Says how often a button was clicked when it is ready, and whenever it is sent a line.
pub(crate) fn run(order: Order) -> Result<(), Box<dyn Error>> {
    autoreleasepool(|_| in_a_pool(order))
}

fn in_a_pool(Order { part, n, socket }: Order) -> Result<(), Box<dyn Error>> {
    let mtm = MainThreadMarker::new().ok_or("AppKit runs on the main thread")?;
    let app = NSApplication::sharedApplication(mtm);
    let handler = Handler::new(mtm);
    let _window = open(mtm, &handler, n, part == Part::App);
    let _surface = match part {
        Part::App => {
            let surface = open_to_all(Surface::builder("org.example.bench").appkit(mtm));
            Some(surface.at(socket).serve()?)
        }
        Part::PingPong => {
            let hop = handler.ivars().hop.clone();
            pingpong::serve(&socket, hop, handler.caller(sel!(answer:)))?;
            None
        }
    };
    let (clicks, close) = (handler.ivars().clicks.clone(), handler.caller(sel!(close:)));
    std::thread::spawn(move || {
        println!("{}", clicks.load(Ordering::Relaxed));
        for _ in std::io::stdin().lock().lines().map_while(Result::ok) {
            println!("{}", clicks.load(Ordering::Relaxed));
        }
        close();
    });
    app.run();
    Ok(())
}

/// Opens the window. A click is counted.
fn open(mtm: MainThreadMarker, handler: &Handler, n: usize, tagged: bool) -> Retained<NSWindow> {
    let style = NSWindowStyleMask::Titled | NSWindowStyleMask::Closable;
    // SAFETY: the window is kept by whoever called, and not let go by its closing.
    let window = unsafe {
        let window = NSWindow::initWithContentRect_styleMask_backing_defer(
            NSWindow::alloc(mtm),
            rect(100.0, 50.0, 800.0, 700.0),
            style,
            NSBackingStoreType::Buffered,
            false,
        );
        window.setReleasedWhenClosed(false);
        window
    };
    window.setTitle(ns_string!("Bench"));
    if tagged {
        window.set_agent_id("main");
    }
    if let Some(content) = window.contentView() {
        fill(mtm, &content, handler, n, tagged);
    }
    window.makeKeyAndOrderFront(None);
    // Nobody is typing.
    window.makeFirstResponder(None);
    window
}

fn fill(mtm: MainThreadMarker, content: &NSView, handler: &Handler, n: usize, tagged: bool) {
    let top = |line: usize| 670.0 - 30.0 * line as f64;
    for (number, id) in BUTTONS.into_iter().enumerate() {
        let column = (number % 5) as f64;
        let frame = rect(10.0 + 150.0 * column, top(number / 5), 140.0, 26.0);
        let button = NSButton::initWithFrame(NSButton::alloc(mtm), frame);
        button.setTitle(&NSString::from_str(&format!("Action {number:02}")));
        // SAFETY: `clicked:` takes any sender, and the handler outlives the window.
        unsafe {
            button.setTarget(Some(handler));
            button.setAction(Some(sel!(clicked:)));
        }
        if tagged {
            button.set_agent_id(id);
        }
        content.addSubview(&button);
    }
    for (number, id) in FIELDS.into_iter().enumerate() {
        let column = (number % 5) as f64;
        let frame = rect(10.0 + 150.0 * column, top(4 + number / 5), 140.0, 24.0);
        let field = NSTextField::initWithFrame(NSTextField::alloc(mtm), frame);
        if tagged {
            field.set_agent_id(id);
        }
        content.addSubview(&field);
    }
    let rows = NSView::initWithFrame(NSView::alloc(mtm), rect(0.0, 0.0, 740.0, 20.0 * n as f64));
    for row in EXPOSED..n {
        let frame = rect(0.0, 20.0 * (row - EXPOSED) as f64, 200.0, 18.0);
        let label = NSTextField::initWithFrame(NSTextField::alloc(mtm), frame);
        label.setStringValue(&NSString::from_str(&format!("Row {row}")));
        label.setEditable(false);
        label.setBezeled(false);
        rows.addSubview(&label);
    }
    let scroll =
        NSScrollView::initWithFrame(NSScrollView::alloc(mtm), rect(10.0, 10.0, 780.0, 480.0));
    scroll.setDocumentView(Some(&rows));
    content.addSubview(&scroll);
}

fn rect(x: f64, y: f64, width: f64, height: f64) -> NSRect {
    NSRect::new(NSPoint::new(x, y), NSSize::new(width, height))
}
