//! An ordinary small AppKit app: what makes it operable by agents is the lines with `agent`.

use std::cell::{OnceCell, RefCell};

use agent_surface::{Tag, appkit::AgentTagged};
use objc2::{
    DefinedClass, MainThreadMarker, MainThreadOnly, define_class, msg_send,
    rc::{Retained, autoreleasepool},
    runtime::{AnyObject, NSObject, NSObjectProtocol, ProtocolObject},
    sel,
};
use objc2_app_kit::{
    NSApplication, NSAutoresizingMaskOptions, NSBackingStoreType, NSButton, NSScrollView,
    NSTableColumn, NSTableView, NSTableViewDataSource, NSTextField, NSView, NSWindow,
    NSWindowStyleMask,
};
use objc2_foundation::{NSInteger, NSPoint, NSRect, NSSize, NSString, ns_string};

/// The app's one window.
pub(crate) type Window = Retained<NSWindow>;

/// A form for orders, and the orders.
pub(crate) struct Form {
    customer: OnceCell<Retained<NSTextField>>,
    status: OnceCell<Retained<NSTextField>>,
    list: OnceCell<Retained<NSTableView>>,
    orders: RefCell<Vec<String>>,
}

define_class!(
    // SAFETY: NSObject asks nothing of those that are made from it; there is no `Drop`.
    #[unsafe(super(NSObject))]
    #[thread_kind = MainThreadOnly]
    #[ivars = Form]
    pub(crate) struct Orders;

    // SAFETY: it asks nothing.
    unsafe impl NSObjectProtocol for Orders {}

    // SAFETY: the methods have the signatures that the protocol gives.
    unsafe impl NSTableViewDataSource for Orders {
        #[unsafe(method(numberOfRowsInTableView:))]
        fn count(&self, _: &NSTableView) -> NSInteger {
            NSInteger::try_from(self.ivars().orders.borrow().len()).unwrap_or(0)
        }

        #[unsafe(method_id(tableView:objectValueForTableColumn:row:))]
        fn order(&self, _: &NSTableView, _: Option<&NSTableColumn>, row: NSInteger) -> Option<Retained<AnyObject>> {
            let orders = self.ivars().orders.borrow();
            let order = usize::try_from(row).ok().and_then(|row| orders.get(row));
            order.map(|order| NSString::from_str(order).into())
        }
    }

    impl Orders {
        #[unsafe(method(save:))]
        fn save(&self, _: Option<&AnyObject>) {
            let form = self.ivars();
            let (Some(customer), Some(status), Some(list)) =
                (form.customer.get(), form.status.get(), form.list.get())
            else {
                return;
            };
            let customer = customer.stringValue().to_string();
            let customer = if customer.is_empty() { "nobody" } else { &customer };
            let saved = format!("saved for {customer}");
            println!("   app: {saved}");
            status.setStringValue(&NSString::from_str(&saved));
            form.orders.borrow_mut().insert(0, format!("Order for {customer}"));
            list.reloadData();
        }

        #[unsafe(method(close:))]
        fn close(&self, _: Option<&AnyObject>) {
            NSApplication::sharedApplication(self.mtm()).terminate(None);
        }
    }
);

impl Orders {
    pub(crate) fn new(mtm: MainThreadMarker) -> Retained<Self> {
        let form = Form {
            customer: OnceCell::new(),
            status: OnceCell::new(),
            list: OnceCell::new(),
            orders: RefCell::new((1..=500).map(|n| format!("Order {n}")).collect()),
        };
        let this = Self::alloc(mtm).set_ivars(form);
        // SAFETY: `init` of NSObject.
        unsafe { msg_send![super(this), init] }
    }

    /// Opens the window.
    pub(crate) fn open(&self) -> Window {
        let mtm = self.mtm();
        let frame = rect(200.0, 200.0, 420.0, 360.0);
        let style = NSWindowStyleMask::Titled | NSWindowStyleMask::Closable;
        // SAFETY: the window is kept by whoever called, and not let go by its closing.
        let window = unsafe {
            let window = NSWindow::initWithContentRect_styleMask_backing_defer(
                NSWindow::alloc(mtm),
                frame,
                style,
                NSBackingStoreType::Buffered,
                false,
            );
            window.setReleasedWhenClosed(false);
            window
        };
        window.setTitle(ns_string!("Orders"));
        window.set_agent_id("main");
        if let Some(content) = window.contentView() {
            self.fill(&content);
        }
        window.makeKeyAndOrderFront(None);
        window.makeFirstResponder(None);
        window
    }

    fn fill(&self, content: &NSView) {
        let mtm = self.mtm();
        let form = self.ivars();

        // Captions that no agent sees: they have no tag.
        content.addSubview(&label(
            mtm,
            "Internal: margin 12 %",
            rect(16.0, 324.0, 200.0, 20.0),
        ));
        content.addSubview(&label(mtm, "Customer", rect(16.0, 292.0, 70.0, 20.0)));

        let customer =
            NSTextField::initWithFrame(NSTextField::alloc(mtm), rect(90.0, 290.0, 200.0, 24.0));
        customer.set_agent(Tag::id("name-field").label("Customer"));
        content.addSubview(&customer);

        let save = NSButton::initWithFrame(NSButton::alloc(mtm), rect(300.0, 288.0, 90.0, 28.0));
        save.setTitle(ns_string!("Save"));
        // SAFETY: `save:` takes any sender, and the controller outlives the window.
        unsafe {
            save.setTarget(Some(self));
            save.setAction(Some(sel!(save:)));
        }
        save.set_agent_id("save-btn");
        content.addSubview(&save);

        let status = label(mtm, "nothing saved yet", rect(16.0, 260.0, 380.0, 20.0));
        status.set_agent_id("status");
        content.addSubview(&status);

        let list =
            NSTableView::initWithFrame(NSTableView::alloc(mtm), rect(0.0, 0.0, 370.0, 230.0));
        let column =
            NSTableColumn::initWithIdentifier(NSTableColumn::alloc(mtm), ns_string!("order"));
        column.setWidth(360.0);
        list.addTableColumn(&column);
        list.setHeaderView(None);
        list.set_agent(Tag::id("orders").label("Orders"));
        // SAFETY: the controller outlives the window.
        unsafe { list.setDataSource(Some(ProtocolObject::from_ref(self))) };
        let scroll =
            NSScrollView::initWithFrame(NSScrollView::alloc(mtm), rect(16.0, 16.0, 388.0, 234.0));
        scroll.setHasVerticalScroller(true);
        scroll.setAutoresizingMask(NSAutoresizingMaskOptions::ViewHeightSizable);
        scroll.setDocumentView(Some(&list));
        content.addSubview(&scroll);

        // Each is set once, here.
        let _ = (
            form.customer.set(customer),
            form.status.set(status),
            form.list.set(list),
        );
    }

    /// What ends the app, from any thread.
    pub(crate) fn closer(&self) -> impl FnOnce() + Send + 'static {
        // The controller lives until the app ends.
        let address = std::ptr::from_ref(self) as usize;
        move || {
            autoreleasepool(|_| {
                let none: Option<&AnyObject> = None;
                // SAFETY: any thread may send this; `close:` takes any sender.
                unsafe {
                    let _: () = msg_send![
                        address as *const Self,
                        performSelectorOnMainThread: sel!(close:),
                        withObject: none,
                        waitUntilDone: false
                    ];
                }
            });
        }
    }
}

fn label(mtm: MainThreadMarker, words: &str, frame: NSRect) -> Retained<NSTextField> {
    let label = NSTextField::initWithFrame(NSTextField::alloc(mtm), frame);
    label.setStringValue(&NSString::from_str(words));
    label.setEditable(false);
    label.setBezeled(false);
    label.setDrawsBackground(false);
    label
}

fn rect(x: f64, y: f64, width: f64, height: f64) -> NSRect {
    NSRect::new(NSPoint::new(x, y), NSSize::new(width, height))
}
