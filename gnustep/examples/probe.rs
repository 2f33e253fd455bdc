#![allow(unused, deprecated)]
use agent_appkit as _;
use objc2::rc::*; use objc2::runtime::*; use objc2::*; use objc2_app_kit::*; use objc2_foundation::*;
use std::time::*;
fn rect(x: f64, y: f64, w: f64, h: f64) -> NSRect { NSRect::new(NSPoint::new(x, y), NSSize::new(w, h)) }
fn pump(app: &NSApplication, ms: u64) {
    let end = Instant::now() + Duration::from_millis(ms);
    while Instant::now() < end { autoreleasepool(|_| {
        let until = NSDate::dateWithTimeIntervalSinceNow(0.02);
        let ev = app.nextEventMatchingMask_untilDate_inMode_dequeue(NSEventMask::Any, Some(&until), unsafe{NSDefaultRunLoopMode}, true);
        if let Some(ev) = ev { app.sendEvent(&ev); } }); }
}
define_class!(#[unsafe(super(NSObject))] #[thread_kind=MainThreadOnly] #[name="PH"] struct H; impl H {
  #[unsafe(method(go:))] fn go(&self, s: &AnyObject) { println!("action from {:?}", s.class().name()); }
  #[unsafe(method(throw:))] fn throw(&self, s: &AnyObject) { let e = NSException::new(&NSString::from_str("Boom"), Some(&NSString::from_str("why")), None).unwrap(); let e = std::mem::ManuallyDrop::new(e); e.raise(); }
  #[unsafe(method(upd:))] fn upd(&self, s: &AnyObject) { println!("didUpdate"); }
  #[unsafe(method(timer:))] fn timer(&self, s: &AnyObject) { println!("timer in nested loop; modalWindow {:?}", NSApplication::sharedApplication(self.mtm()).modalWindow().map(|w| w.title().to_string())); NSApplication::sharedApplication(self.mtm()).stopModal(); }
});
fn main() { let mtm = MainThreadMarker::new().unwrap(); autoreleasepool(|_| { let r = objc2::exception::catch(std::panic::AssertUnwindSafe(|| run(mtm))); if let Err(e) = r { println!("EXC {e:?}"); } }) }
fn win(mtm: MainThreadMarker, t: &str) -> Retained<NSWindow> { let w = unsafe { NSWindow::initWithContentRect_styleMask_backing_defer(NSWindow::alloc(mtm), rect(100.,100.,300.,200.), NSWindowStyleMask::Titled|NSWindowStyleMask::Closable, NSBackingStoreType::Buffered, false) }; unsafe { w.setReleasedWhenClosed(false) }; w.setTitle(&NSString::from_str(t)); w }
fn run(mtm: MainThreadMarker) {
  let app = NSApplication::sharedApplication(mtm);
  let h: Retained<H> = unsafe { msg_send![H::alloc(mtm), init] };
  let w = win(mtm, "main"); let c = w.contentView().unwrap();
  app.finishLaunching(); w.makeKeyAndOrderFront(None); pump(&app, 300);
  println!("key {} main {} visible {}", w.isKeyWindow(), w.isMainWindow(), w.isVisible());
  for t in [NSButtonType::MomentaryLight, NSButtonType::PushOnPushOff, NSButtonType::Switch, NSButtonType::Radio] {
    let b = NSButton::initWithFrame(NSButton::alloc(mtm), rect(0.,0.,80.,20.)); b.setButtonType(t);
    let cell: Retained<NSButtonCell> = b.cell().unwrap().downcast().unwrap();
    let img = b.image().and_then(|i| i.name()).map(|n| n.to_string());
    println!("{t:?}: showsStateBy {:?} highlightsBy {:?} image {img:?}", cell.showsStateBy(), cell.highlightsBy());
    unsafe { b.setTarget(Some(&h)); b.setAction(Some(sel!(go:))); } c.addSubview(&b);
    let s = Instant::now(); unsafe { b.performClick(None) }; println!("  performClick {:?} state {}", s.elapsed(), b.state());
  }
  let sw = NSSwitch::initWithFrame(NSSwitch::alloc(mtm), rect(0.,0.,80.,20.)); c.addSubview(&sw); unsafe { sw.setTarget(Some(&h)); sw.setAction(Some(sel!(go:))); }
  println!("switch cell {:?} isControl {} responds state {} performClick {}", sw.cell().map(|c| c.class().name().to_owned()), sw.isKindOfClass(NSControl::class()), sw.respondsToSelector(sel!(setState:)), sw.respondsToSelector(sel!(performClick:)));
  unsafe { sw.performClick(None) }; println!("switch state {}", sw.state());
  // accessibility
  for s in [sel!(accessibilityLabel), sel!(setAccessibilityLabel:), sel!(accessibilityIdentifier), sel!(accessibilityRole), sel!(accessibilityTitleUIElement), sel!(setPlaceholderString:), sel!(isHiddenOrHasHiddenAncestor), sel!(performSelectorOnMainThread:withObject:waitUntilDone:modes:)] { println!("NSView {s:?} {}", sw.respondsToSelector(s)); }
  let f = NSTextField::initWithFrame(NSTextField::alloc(mtm), rect(0.,50.,80.,20.)); c.addSubview(&f);
  for s in [sel!(formatter), sel!(currentEditor), sel!(validateEditing)] { println!("NSTextField {s:?} {}", f.respondsToSelector(s)); }
  f.setStringValue(&NSString::from_str("abc"));
  w.makeFirstResponder(Some(&f));
  let ed = f.currentEditor().unwrap(); println!("fr {:?} editor {:?} allowsUndo? {}", w.firstResponder().map(|r| r.class().name().to_owned()), ed.class().name(), unsafe { let b: bool = msg_send![&ed, allowsUndo]; b });
  println!("field subviews {}", f.subviews().len());
  let um = w.undoManager(); println!("um {:?}", um.as_ref().map(|u| u.class().name().to_owned()));
  unsafe { let tv: &NSTextView = ed.downcast_ref::<NSTextView>().unwrap(); tv.setAllowsUndo(true);
    let r = NSRange::new(0, 3); let s = NSString::from_str("xyz");
    println!("should {}", tv.shouldChangeTextInRange_replacementString(r, Some(&s))); tv.replaceCharactersInRange_withString(r, &s); tv.didChangeText();
    println!("now {} canUndo {:?}", f.stringValue(), w.undoManager().map(|u| u.canUndo()));
    if let Some(u) = w.undoManager() { u.undo(); } println!("after undo {}", f.stringValue()); }
  w.makeFirstResponder(None);
  // textview undo
  let tv = NSTextView::initWithFrame(NSTextView::alloc(mtm), rect(0.,80.,80.,50.)); c.addSubview(&tv); tv.setAllowsUndo(true); tv.setString(&NSString::from_str("hello"));
  println!("tv um {:?} w um", tv.undoManager().is_some());
  let r = NSRange::new(0,5); let s = NSString::from_str("bye"); unsafe { println!("should {}", tv.shouldChangeTextInRange_replacementString(r, Some(&s))); tv.replaceCharactersInRange_withString(r, &s); tv.didChangeText(); }
  println!("tv {} canUndo {:?}", tv.string(), tv.undoManager().map(|u| u.canUndo())); if let Some(u) = tv.undoManager() { u.undo(); } println!("tv after undo {}", tv.string());
  // popup
  let p = NSPopUpButton::initWithFrame_pullsDown(NSPopUpButton::alloc(mtm), rect(0.,0.,80.,20.), false); c.addSubview(&p); for t in ["a","b"] { p.addItemWithTitle(&NSString::from_str(t)); }
  unsafe { p.setTarget(Some(&h)); p.setAction(Some(sel!(go:))); }
  let it = p.itemAtIndex(1).unwrap(); println!("item action {:?} target {:?}", it.action(), unsafe { it.target() }.map(|t| t.class().name().to_owned()));
  p.selectItem(Some(&it)); unsafe { p.sendAction_to(p.action(), p.target().as_deref()); } println!("popup {:?}", p.titleOfSelectedItem());
  // exceptions
  let b = NSButton::initWithFrame(NSButton::alloc(mtm), rect(0.,0.,80.,20.)); c.addSubview(&b); unsafe { b.setTarget(Some(&h)); b.setAction(Some(sel!(throw:))); }
  let r = objc2::exception::catch(std::panic::AssertUnwindSafe(|| unsafe { b.performClick(None) })); println!("caught {:?}", r.map_err(|e| format!("{e:?}")));
  // modal
  let d = win(mtm, "dialog");
  unsafe { let _: Retained<NSObject> = msg_send![class!(NSTimer), scheduledTimerWithTimeInterval: 0.3f64, target: &*h, selector: sel!(timer:), userInfo: None::<&AnyObject>, repeats: false]; }
  let t: Retained<NSObject> = unsafe { msg_send![class!(NSTimer), timerWithTimeInterval: 0.3f64, target: &*h, selector: sel!(timer:), userInfo: None::<&AnyObject>, repeats: false] };
  unsafe { let rl: Retained<NSObject> = msg_send![class!(NSRunLoop), currentRunLoop]; let _: () = msg_send![&rl, addTimer: &*t, forMode: NSModalPanelRunLoopMode]; }
  println!("beginSheet sel on window {}", w.respondsToSelector(sel!(beginSheet:completionHandler:)));
  let s = Instant::now(); unsafe { let _: () = msg_send![&app, beginSheet: &*d, modalForWindow: &*w, modalDelegate: None::<&AnyObject>, didEndSelector: None::<Sel>, contextInfo: std::ptr::null_mut::<std::ffi::c_void>()]; }
  println!("beginSheet took {:?} attached {:?} sheetParent {:?}", s.elapsed(), w.attachedSheet().map(|w| w.title().to_string()), d.sheetParent().map(|w| w.title().to_string()));
  pump(&app, 600);
  println!("windows {:?}", app.windows().iter().map(|w| (w.title().to_string(), w.class().name().to_owned(), w.isVisible())).collect::<Vec<_>>());
}
