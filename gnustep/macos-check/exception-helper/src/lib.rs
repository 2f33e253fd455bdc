//! The one function that objc2 calls, declared. Nothing that is only checked is linked.

#![no_std]

use core::ffi::c_void;

unsafe extern "C-unwind" {
    #[link_name = "objc2_exception_helper_0_1_try_catch"]
    pub fn try_catch(
        f: extern "C-unwind" fn(*mut c_void),
        context: *mut c_void,
        error: *mut *mut c_void,
    ) -> u8;
}
