#![doc = include_str!("../README.md")]
//!
//! # Contents
//!
//! | to | use |
//! |---|---|
//! | serve | [`serve`], [`serve_uds`], [`serve_fd`] with a [`Config`] |
//! | see who is there, revoke, stop | [`Server`], [`Client`] |
//! | let a developer's inspector ask | [`Inspector`] |
//! | bound it | [`Limits`], [`ActionRate`] |
//! | say who is at the other end of a stream | [`FdPeer`] |
//! | tell why it can't be | [`ServeError`] |
//! | find the apps that serve, and connect to one | [`discover`], [`Running`] |
//!
//! # Threads
//!
//! One accepts; each connection has one that reads and judges, and one that writes and keeps the
//! time, and judges again what was held back while the user was asked. A request wakes the reader,
//! the UI thread and the writer, once each. What the UI thread does for a reply is to put the answer
//! into the connection's outbox: it is made into JSON, and waits for a slow client, on the writer's
//! thread.

#![deny(unsafe_code)]

mod address;
mod bind;
mod budget;
mod connection;
mod descriptor;
mod discover;
mod error;
mod from_wire;
#[cfg(feature = "inspector")]
mod inspect;
mod inspector;
mod judge;
mod limits;
#[cfg(feature = "mcp")]
pub mod mcp;
mod outbox;
mod peer;
mod rate;
mod reader;
mod server;
mod sync;
mod sys;
mod tell;
mod to_wire;
mod writer;

pub use discover::{ConnectError, Found, Odd, Running, described, discover, discover_in};
pub use error::ServeError;
pub use inspector::Inspector;
pub use limits::{ActionRate, Limits};
pub use peer::FdPeer;
pub use server::{Client, Config, Server, serve, serve_fd, serve_uds};
