//! What stands beside the socket, for whoever looks for apps. No secret is in it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{peer, server::App};

/// The app, as the file beside its socket describes it.
#[derive(Debug, Serialize)]
pub(crate) struct Descriptor {
    app: String,
    name: String,
    pid: u32,
    /// When the process started, in the kernel's ticks since boot: with the pid it names one
    /// process for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<u64>,
    /// The socket's path. What in it is not Unicode is replaced; the socket stands beside this
    /// file in any case.
    address: String,
    protocol: u32,
    armed: Vec<&'static str>,
}

impl Descriptor {
    pub(crate) fn new(app: &App, address: &Path) -> Self {
        Self {
            app: app.id.clone(),
            name: app.name.clone(),
            pid: app.pid,
            started: peer::started(app.pid),
            address: address.to_string_lossy().into_owned(),
            protocol: agent_wire::PROTOCOL,
            armed: app.armed(),
        }
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        // Strings, numbers and a list of words: there is nothing in it that JSON can't hold.
        let mut json = serde_json::to_vec(self).unwrap_or_default();
        json.push(b'\n');
        json
    }
}

/// The same, as read from a file that anything may have written.
#[derive(Debug, Deserialize)]
pub(crate) struct Described {
    pub(crate) app: String,
    pub(crate) name: String,
    pub(crate) pid: u32,
    pub(crate) started: Option<u64>,
}
