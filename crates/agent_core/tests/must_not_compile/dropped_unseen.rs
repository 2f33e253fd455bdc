#![deny(unused_must_use)]

use agent_core::Authorised;

fn main() {}

fn forget(make: impl Fn() -> Authorised<u64>) {
    make();
}
