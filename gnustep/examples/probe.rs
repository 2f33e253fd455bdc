#![allow(unused, deprecated)]
use agent_appkit as _;
use objc2::rc::*; use objc2::runtime::*; use objc2::*; use objc2_app_kit::*; use objc2_foundation::*;
use std::time::*;
fn rect(x: f64, y: f64, w: f64, h: f64) -> NSRect { NSRect::new(NSPoint::new(x, y), NSSize::new(w, h)) }
define_class!(#[unsafe(super(NSObject))] #[thread_kind=MainThreadOnly] #[name="PH"] struct H; impl H {
  #[unsafe(method(go:))] fn go(&self, s: &AnyObject) { println!("action from {:?}", s.class().name()); }
  #[unsafe(method(press:))] fn press(&self, s: Option<&AnyObject>) { let app = NSApplication::sharedApplication(self.mtm()); let w = app.windows().iter().find(|w| w.title().to_string() == "main").unwrap();
    let c = w.contentView().unwrap(); let f: Retained<NSTextField> = c.subviews().objectAtIndex(1).downcast().unwrap(); w.makeFirstResponder(Some(&f)); let ed: Retained<NSTextView> = f.currentEditor().unwrap().downcast().unwrap(); ed.setAllowsUndo(true);
    let k = |t| NSEvent::keyEventWithType_location_modifierFlags_timestamp_windowNumber_context_characters_charactersIgnoringModifiers_isARepeat_keyCode(t, NSPoint::new(0.,0.), NSEventModifierFlags(0), 0.0, w.windowNumber(), None, ns_string!("a"), ns_string!("a"), false, 0).unwrap();
    if std::env::var("TYPE").is_ok() { w.sendEvent(&k(NSEventType::KeyDown)); w.sendEvent(&k(NSEventType::KeyUp)); }
    println!("typed {} level {} can {}", ed.string(), w.undoManager().unwrap().groupingLevel(), w.undoManager().unwrap().canUndo());
    unsafe { let _: () = msg_send![self, performSelector: sel!(two:), withObject: None::<&AnyObject>, afterDelay: 0.2f64]; } }
  #[unsafe(method(two:))] fn two(&self, s: Option<&AnyObject>) { let app = NSApplication::sharedApplication(self.mtm()); let w = app.windows().iter().find(|w| w.title().to_string() == "main").unwrap();
    let c = w.contentView().unwrap(); let f: Retained<NSTextField> = c.subviews().objectAtIndex(1).downcast().unwrap(); let ed: Retained<NSTextView> = f.currentEditor().unwrap().downcast().unwrap();
    let r = NSRange::new(0, ed.string().length()); let s = NSString::from_str("agent"); println!("level before {}", w.undoManager().unwrap().groupingLevel());
    if std::env::var("NOEDIT").is_err() {  ed.shouldChangeTextInRange_replacementString(r, Some(&s)); ed.replaceCharactersInRange_withString(r, &s); ed.didChangeText(); }
    println!("edited {} level {}", ed.string(), w.undoManager().unwrap().groupingLevel());
    unsafe { let _: () = msg_send![self, performSelector: sel!(three:), withObject: None::<&AnyObject>, afterDelay: 0.2f64]; } }
  #[unsafe(method(three:))] fn three(&self, s: Option<&AnyObject>) { let app = NSApplication::sharedApplication(self.mtm()); let w = app.windows().iter().find(|w| w.title().to_string() == "main").unwrap();
    let c = w.contentView().unwrap(); let f: Retained<NSTextField> = c.subviews().objectAtIndex(1).downcast().unwrap(); 
    let u = w.undoManager().unwrap(); println!("level {} can {}", u.groupingLevel(), u.canUndo());
    let r = objc2::exception::catch(std::panic::AssertUnwindSafe(|| u.undo())); println!("undo {:?} -> {:?}", r, f.currentEditor().map(|e| e.string().to_string())); 
    let r = objc2::exception::catch(std::panic::AssertUnwindSafe(|| u.undo())); println!("undo {:?} -> {:?}", r, f.currentEditor().map(|e| e.string().to_string())); std::process::exit(0); }
  #[unsafe(method(end:))] fn end(&self, s: Option<&AnyObject>) { std::process::exit(0) }
});
fn main() { let mtm = MainThreadMarker::new().unwrap(); autoreleasepool(|_| { let r = objc2::exception::catch(std::panic::AssertUnwindSafe(|| run(mtm))); if let Err(e) = r { println!("EXC {e:?}"); } }) }
fn win(mtm: MainThreadMarker, t: &str) -> Retained<NSWindow> { let w = unsafe { NSWindow::initWithContentRect_styleMask_backing_defer(NSWindow::alloc(mtm), rect(100.,100.,300.,200.), NSWindowStyleMask::Titled|NSWindowStyleMask::Closable, NSBackingStoreType::Buffered, false) }; unsafe { w.setReleasedWhenClosed(false) }; w.setTitle(&NSString::from_str(t)); w }
fn run(mtm: MainThreadMarker) {
  let app = NSApplication::sharedApplication(mtm);
  let h: Retained<H> = unsafe { msg_send![H::alloc(mtm), init] };
  let w = win(mtm, "main"); let c = w.contentView().unwrap();
  let b = NSButton::initWithFrame(NSButton::alloc(mtm), rect(10.,10.,80.,20.)); unsafe { b.setTarget(Some(&h)); b.setAction(Some(sel!(go:))); } c.addSubview(&b); let f = NSTextField::initWithFrame(NSTextField::alloc(mtm), rect(0.,50.,80.,20.)); c.addSubview(&f);
  app.finishLaunching(); w.makeKeyAndOrderFront(None);
  let d = std::env::var("D").ok().and_then(|a| a.parse().ok()).unwrap_or(0.0f64);
  unsafe { let _: () = msg_send![&h, performSelector: sel!(press:), withObject: None::<&AnyObject>, afterDelay: d]; }
  app.run();
}
