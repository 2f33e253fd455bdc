//! Appended to the copy of objc2 that the GNUstep build uses, and to nothing else.
//!
//! GCC's Objective-C runtime, which GNUstep on Debian is built with, has no entry points for
//! reference counting by the compiler. objc2 calls them; here each is the message that it stands
//! for, looked up as GCC's own code does.

#[allow(warnings)]
mod gcc_runtime {
    use core::ffi::{CStr, c_char, c_int, c_void};

    type Object = *mut c_void;

    #[link(name = "objc")]
    unsafe extern "C-unwind" {
        fn objc_msg_lookup(to: Object, selector: *const c_void) -> *const c_void;
        fn sel_registerName(name: *const c_char) -> *const c_void;
        fn objc_getClass(name: *const c_char) -> Object;
    }

    unsafe fn message(to: Object, name: &CStr) -> Object {
        if to.is_null() {
            return to;
        }
        unsafe {
            let selector = sel_registerName(name.as_ptr());
            let method = objc_msg_lookup(to, selector);
            let method: unsafe extern "C-unwind" fn(Object, *const c_void) -> Object =
                core::mem::transmute(method);
            method(to, selector)
        }
    }

    macro_rules! messages {
        ($($symbol:ident sends $name:literal;)*) => {$(
            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $symbol(to: Object) -> Object {
                unsafe { message(to, $name) }
            }
        )*};
    }

    messages! {
        objc_alloc sends c"alloc";
        objc_retain sends c"retain";
        objc_retainAutoreleasedReturnValue sends c"retain";
        objc_autorelease sends c"autorelease";
        objc_autoreleaseReturnValue sends c"autorelease";
    }

    #[unsafe(no_mangle)]
    unsafe extern "C-unwind" fn objc_release(to: Object) {
        unsafe { message(to, c"release") };
    }

    #[unsafe(no_mangle)]
    unsafe extern "C-unwind" fn objc_retainAutorelease(to: Object) -> Object {
        unsafe { message(message(to, c"retain"), c"autorelease") }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C-unwind" fn objc_autoreleasePoolPush() -> Object {
        unsafe { message(objc_getClass(c"NSAutoreleasePool".as_ptr()), c"new") }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C-unwind" fn objc_autoreleasePoolPop(pool: Object) {
        unsafe { message(pool, c"release") };
    }

    /// In GCC's headers it is inline, so no library exports it: an object begins with its class.
    #[unsafe(no_mangle)]
    unsafe extern "C-unwind" fn object_getClass(of: Object) -> Object {
        if of.is_null() { of } else { unsafe { *of.cast::<Object>() } }
    }

    // The linker drops a library that nothing refers to, and with it all classes of AppKit.
    #[link(name = "gnustep-gui")]
    unsafe extern "C" {
        fn NSApplicationMain(argc: c_int, argv: *const *const c_char) -> c_int;
    }
    #[used]
    static KEPT: unsafe extern "C" fn(c_int, *const *const c_char) -> c_int = NSApplicationMain;
}
