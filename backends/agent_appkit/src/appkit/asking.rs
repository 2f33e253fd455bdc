//! Questions to the user, each in a panel of its own that agents can't see or reach (rule 11).
//!
//! Not an `NSAlert`: that is modal, so that what it asks about would be blocked while it is
//! asked, and a yes is void once what the user saw has changed.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use agent_core::Tag;
use objc2::{
    DefinedClass, MainThreadMarker, MainThreadOnly, define_class, msg_send,
    rc::Retained,
    runtime::{NSObject, NSObjectProtocol, ProtocolObject},
    sel,
};
use objc2_app_kit::{
    NSApplication, NSBackingStoreType, NSButton, NSControl, NSEvent, NSEventModifierFlags,
    NSEventType, NSFont, NSPanel, NSScreen, NSStringDrawingOptions, NSTextField, NSView, NSWindow,
    NSWindowDelegate, NSWindowStyleMask,
};
use objc2_foundation::{NSNotification, NSPoint, NSRect, NSSize, NSString};

use super::{door, exceptions::catch, hooks, tagging::AgentTagged};

/// A question, in words that are ready to be shown.
#[derive(Clone, Debug)]
pub struct Question {
    /// What the panel is called.
    pub title: String,
    /// The question itself.
    pub heading: Words,
    /// What the user should know to answer it, a paragraph each.
    pub details: Vec<Words>,
    /// The words on the buttons, from the top. None of them is the default.
    pub choices: Vec<String>,
}

/// A paragraph.
#[derive(Clone, Debug)]
pub struct Words {
    /// What stands there.
    pub shown: String,
    /// The whole of it, where that is cut: in the paragraph's tool tip.
    pub full: Option<String>,
}

/// Is told which choice the user made; `None`: the panel was closed.
type Answer = Box<dyn FnOnce(Option<usize>) + Send>;

/// Where questions to the user go. Any thread.
#[derive(Clone, Copy, Debug)]
pub struct Panels(());

impl Panels {
    /// For an app whose main thread this is.
    pub fn new(main_thread: MainThreadMarker) -> Self {
        hooks::install(main_thread);
        door::open(main_thread);
        Self(())
    }

    /// Shows a question when the main thread comes to it, and doesn't wait. `number` is its own.
    /// The answer is told on the main thread. If it can't be shown, `answer` is dropped.
    pub fn show(
        self,
        number: u64,
        question: Question,
        answer: impl FnOnce(Option<usize>) + Send + 'static,
    ) {
        leave(Errand::Show(number, question, Box::new(answer)));
    }

    /// Takes a question off the screen, without an answer.
    pub fn withdraw(self, number: u64) {
        leave(Errand::Withdraw(number));
    }
}

enum Errand {
    Show(u64, Question, Answer),
    Withdraw(u64),
}

static ERRANDS: Mutex<VecDeque<Errand>> = Mutex::new(VecDeque::new());

fn leave(errand: Errand) {
    let mut errands = ERRANDS.lock().unwrap_or_else(PoisonError::into_inner);
    errands.push_back(errand);
    drop(errands);
    door::wake();
}

/// Does what was left. On the main thread.
pub(crate) fn work(mtm: MainThreadMarker) {
    loop {
        let mut errands = ERRANDS.lock().unwrap_or_else(PoisonError::into_inner);
        let next = errands.pop_front();
        drop(errands);
        let done = match next {
            None => return,
            Some(Errand::Withdraw(number)) => catch("closing a question", || {
                if let Some(asks) = take(number) {
                    asks.close();
                }
            }),
            Some(Errand::Show(number, question, answer)) => catch("showing a question", || {
                Asks::open(mtm, number, &question, answer)
            }),
        };
        if let Err(why) = done {
            log::error!("the user could not be asked: {why:?}");
        }
    }
}

thread_local! {
    static OPEN: RefCell<Vec<Retained<Asks>>> = const { RefCell::new(Vec::new()) };
}

/// Takes an open question out of the list.
fn take(number: u64) -> Option<Retained<Asks>> {
    OPEN.with_borrow_mut(|open| {
        let at = open.iter().position(|asks| asks.ivars().number == number)?;
        Some(open.remove(at))
    })
}

struct Is {
    number: u64,
    panel: Retained<NSPanel>,
    answer: Cell<Option<Answer>>,
    /// Since when it has been where it is.
    still: Cell<Instant>,
}

define_class!(
    // SAFETY: NSObject asks nothing of those that are made from it; there is no `Drop`.
    #[unsafe(super(NSObject))]
    #[thread_kind = MainThreadOnly]
    #[ivars = Is]
    struct Asks;

    // SAFETY: it asks nothing.
    unsafe impl NSObjectProtocol for Asks {}

    // SAFETY: the method has the signature that the protocol gives.
    unsafe impl NSWindowDelegate for Asks {
        #[unsafe(method(windowWillClose:))]
        fn closes(&self, _: &NSNotification) {
            self.tell(None);
        }

        #[unsafe(method(windowDidMove:))]
        fn moved(&self, _: &NSNotification) {
            self.ivars().still.set(Instant::now());
        }
    }

    impl Asks {
        #[unsafe(method(agentChoose:))]
        fn choose(&self, button: &NSControl) {
            if self.ivars().still.get().elapsed() < DEAD {
                return;
            }
            self.tell(usize::try_from(button.tag()).ok());
            self.close();
        }
    }
);

/// So long after it appeared or was moved its buttons do nothing: who presses one by then meant
/// what was there before.
const DEAD: Duration = Duration::from_millis(700);

const WIDE: f64 = 380.0;
const EDGE: f64 = 16.0;

impl Asks {
    fn open(mtm: MainThreadMarker, number: u64, question: &Question, answer: Answer) {
        let style = NSWindowStyleMask::Titled | NSWindowStyleMask::Closable;
        let frame = NSRect::new(NSPoint::new(0.0, 0.0), NSSize::new(WIDE, 100.0));
        let panel = NSPanel::initWithContentRect_styleMask_backing_defer(
            NSPanel::alloc(mtm),
            frame,
            style,
            NSBackingStoreType::Buffered,
            false,
        );
        // SAFETY: it is kept in the list as long as it is open.
        unsafe { panel.setReleasedWhenClosed(false) };
        panel.setTitle(&NSString::from_str(&question.title));
        panel.setFloatingPanel(true);
        panel.setHidesOnDeactivate(false);
        let window: &NSWindow = &panel;
        window.set_agent(Tag::new().excluded());
        let is = Is {
            number,
            panel: panel.clone(),
            answer: Cell::new(Some(answer)),
            still: Cell::new(Instant::now()),
        };
        // SAFETY: `init` of NSObject.
        let asks: Retained<Self> =
            unsafe { msg_send![super(Self::alloc(mtm).set_ivars(is)), init] };
        let high = asks.fill(question);
        panel.setContentSize(NSSize::new(WIDE, high));
        panel.setDelegate(Some(ProtocolObject::from_ref(&*asks)));
        panel.setFrameOrigin(place(mtm, &panel));
        OPEN.with_borrow_mut(|open| open.push(asks));
        panel.orderFront(None);
        turn_over(mtm);
        // Drawing it for the first time may take long.
        if let Some(asks) = OPEN.with_borrow(|open| open.last().cloned()) {
            asks.ivars().still.set(Instant::now());
        }
    }

    /// Puts the question into the panel, from the bottom up; answers how high it is.
    fn fill(&self, question: &Question) -> f64 {
        let mtm = self.mtm();
        let Some(content) = self.ivars().panel.contentView() else {
            return 0.0;
        };
        let mut at = EDGE;
        for (n, choice) in question.choices.iter().enumerate().rev() {
            let button = NSButton::initWithFrame(NSButton::alloc(mtm), line(at, 28.0));
            button.setTitle(&NSString::from_str(choice));
            button.setTag(isize::try_from(n).unwrap_or(-1));
            // SAFETY: `agentChoose:` takes a control, and this is kept as long as the panel is.
            unsafe {
                button.setTarget(Some(self));
                button.setAction(Some(sel!(agentChoose:)));
            }
            content.addSubview(&button);
            at += 34.0;
        }
        for words in question.details.iter().rev() {
            at += add_words(mtm, &content, words, at, false);
        }
        at + add_words(mtm, &content, &question.heading, at, true) + EDGE
    }

    fn tell(&self, choice: Option<usize>) {
        let before = take(self.ivars().number);
        if let Some(answer) = self.ivars().answer.take() {
            answer(choice);
        }
        drop(before);
    }

    fn close(&self) {
        // Without an answer, if there was none: the delegate is not asked.
        self.ivars().panel.setDelegate(None);
        self.ivars().panel.close();
    }
}

fn line(at: f64, high: f64) -> NSRect {
    NSRect::new(NSPoint::new(EDGE, at), NSSize::new(WIDE - 2.0 * EDGE, high))
}

/// Adds a paragraph; answers how high it is, with the space above it.
fn add_words(mtm: MainThreadMarker, content: &NSView, words: &Words, at: f64, bold: bool) -> f64 {
    let label = NSTextField::initWithFrame(NSTextField::alloc(mtm), line(at, 10_000.0));
    label.setStringValue(&NSString::from_str(&words.shown));
    if let Some(full) = &words.full {
        label.setToolTip(Some(&NSString::from_str(full)));
    }
    label.setEditable(false);
    label.setSelectable(false);
    label.setBezeled(false);
    label.setDrawsBackground(false);
    if bold {
        label.setFont(Some(&NSFont::boldSystemFontOfSize(0.0)));
    }
    if let Some(cell) = label.cell() {
        cell.setWraps(true);
    }
    let high = wrapped(&label).clamp(20.0, 300.0);
    label.setFrameSize(NSSize::new(WIDE - 2.0 * EDGE, high));
    content.addSubview(&label);
    high + 8.0
}

/// How high its words are where they wrap. GNUstep's cells measure one line, whatever their width.
fn wrapped(label: &NSTextField) -> f64 {
    /// What a cell keeps free beside its words.
    const CELL: f64 = 4.0;
    let room = NSSize::new(label.frame().size.width - 2.0 * CELL, 10_000.0);
    let lines = NSStringDrawingOptions::UsesLineFragmentOrigin;
    // SAFETY: an attributed string answers this, which takes a size and options.
    let words: NSRect = unsafe {
        msg_send![&label.attributedStringValue(), boundingRectWithSize: room, options: lines]
    };
    words.size.height.ceil() + CELL
}

/// Has the app's loop turn once more: GNUstep's draws only after an event, and may wait long for
/// the next one.
fn turn_over(mtm: MainThreadMarker) {
    let event = NSEvent::otherEventWithType_location_modifierFlags_timestamp_windowNumber_context_subtype_data1_data2(
        NSEventType::ApplicationDefined,
        NSPoint::new(0.0, 0.0),
        NSEventModifierFlags::empty(),
        0.0,
        0,
        None,
        0,
        0,
        0,
    );
    if let Some(event) = event {
        NSApplication::sharedApplication(mtm).postEvent_atStart(&event, false);
    }
}

/// Beside the window that the user works in, so that it covers none of it where there is room, and
/// below the panels that are open; in the corner of the screen, where there is no such window.
fn place(mtm: MainThreadMarker, panel: &NSPanel) -> NSPoint {
    let size = panel.frame().size;
    let Some(screen) = NSScreen::mainScreen(mtm).map(|screen| screen.visibleFrame()) else {
        return NSPoint::new(EDGE, EDGE);
    };
    let app = NSApplication::sharedApplication(mtm);
    let window = app.mainWindow().or_else(|| app.keyWindow());
    let most = screen.origin.x + screen.size.width - size.width;
    let (x, top) = match window.map(|window| window.frame()) {
        None => (
            screen.origin.x + EDGE,
            screen.origin.y + screen.size.height - EDGE,
        ),
        Some(window) => {
            let right = window.origin.x + window.size.width + EDGE;
            let left = window.origin.x - size.width - EDGE;
            let x = if right <= most {
                right
            } else if left >= screen.origin.x {
                left
            } else {
                most
            };
            (x, window.origin.y + window.size.height)
        }
    };
    let taken: Vec<NSRect> =
        OPEN.with_borrow(|open| open.iter().map(|it| it.ivars().panel.frame()).collect());
    let y = below(top - size.height, size.height, &taken);
    NSPoint::new(x, y.max(screen.origin.y))
}

/// Where something so high has room below what is taken, which all stands in one column.
fn below(top: f64, high: f64, taken: &[NSRect]) -> f64 {
    let mut y = top;
    while let Some(other) = taken.iter().find(|other| {
        let end = other.origin.y + other.size.height;
        y < end && other.origin.y < y + high
    }) {
        y = other.origin.y - high - EDGE;
    }
    y
}
