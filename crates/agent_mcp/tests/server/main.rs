//! The server, as its clients and the app see it, over real sockets and against a backend with
//! a thread of its own.
//!
//! | module | what |
//! |---|---|
//! | `support` | the backend, a folder, a server of both |
//! | `table` | each row of the error table, and that the next request is served |
//! | `gate` | rule 2: nothing looks at the UI before the gate; revocation |
//! | `consent` | while the user is asked; what the policy is told; `desk` is that policy, `slow` another |
//! | `turns` | rule 9: deadlines, cancelling, a busy UI thread; the order of things |
//! | `bounds` | rule 10: each row of the limits |
//! | `place` | where the socket is, who may be there, what stays behind |
//! | `streams` | `serve_fd`, and who is at the other end |

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in tests a failed expectation is a failed test"
)]

mod bounds;
mod consent;
mod desk;
mod gate;
mod place;
mod slow;
mod streams;
mod support;
mod table;
mod turns;
