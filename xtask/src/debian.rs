//! What a window needs of Debian and its kin, and getting it.

use std::{process::Command, time::Duration};

use crate::{
    program::{self, capture},
    step::Ended,
};

/// An X server without a screen, OpenGL in software, and the libraries that a window is opened
/// with: the toolkits load them at run time, so a build without them succeeds.
const FOR_WINDOWS: &[&str] = &[
    "xvfb",
    "libgl1",
    "libegl1",
    "libgl1-mesa-dri",
    "libxkbcommon-x11-0",
    "libxcursor1",
    "libxi6",
    "libxrandr2",
    "libx11-xcb1",
];

/// GNUstep's AppKit with what draws it, and a compiler for Objective-C: enough to build the AppKit
/// backend on Linux and to run it.
pub(crate) const FOR_GNUSTEP: &[&str] = &[
    "xvfb",
    "libgnustep-gui-dev",
    "gnustep-back0.29-cairo",
    "gobjc",
];

/// A question to dpkg, apt or sudo that needs no network.
const QUICK: Duration = Duration::from_secs(30);

/// Whether windows can be opened: what is missing, if anything is.
pub(crate) fn can_open_windows() -> Result<(), String> {
    if !program::is_installed("dpkg-query") {
        // Not Debian: its libraries go by other names, so the one program must do as a sign.
        return if crate::xvfb::is_installed() {
            Ok(())
        } else {
            Err("no Xvfb on this machine; install it and OpenGL by your system's means".to_owned())
        };
    }
    are_installed(FOR_WINDOWS)
}

fn are_installed(packages: &[&'static str]) -> Result<(), String> {
    match missing(packages)?.as_slice() {
        [] => Ok(()),
        missing => Err(format!(
            "missing packages; as root: apt-get install {}",
            missing.join(" ")
        )),
    }
}

/// Sees to it that windows can be opened: installs what is missing if it may, and says so first.
/// Where it can't, that is a reason to skip what needs a window, not a failure.
pub(crate) fn prepare_for_windows(may_install: bool) -> Result<Ended, String> {
    prepare("windows", FOR_WINDOWS, can_open_windows, may_install)
}

/// The same for GNUstep.
pub(crate) fn prepare_for_gnustep(may_install: bool) -> Result<Ended, String> {
    let there = || are_installed(FOR_GNUSTEP);
    prepare("GNUstep", FOR_GNUSTEP, there, may_install)
}

fn prepare(
    what: &str,
    packages: &[&'static str],
    are_there: impl Fn() -> Result<(), String>,
    may_install: bool,
) -> Result<Ended, String> {
    println!("{what} needs these Debian packages: {}", packages.join(" "));
    let Err(why) = are_there() else {
        return Ok(Ended::Passed("all there".to_owned()));
    };
    if !may_install {
        return Ok(Ended::Skipped(format!("--no-install; {why}")));
    }
    if !program::is_installed("apt-get") || !program::is_installed("dpkg-query") {
        return Ok(Ended::Skipped(format!("no apt-get here; {why}")));
    }
    let Some(rights) = Rights::of_this_user() else {
        return Ok(Ended::Skipped(format!(
            "not root, and no sudo without a password; {why}"
        )));
    };
    let missing = missing(packages)?;
    println!("installing by apt-get: {}", missing.join(" "));
    // Without fresh lists the old ones may still do, and a new machine has none: install decides.
    if let Err(error) = program::run(rights.apt_get().arg("update")) {
        println!("apt-get update {error}; going on with the lists that are there");
    }
    let mut install = rights.apt_get();
    install
        .args(["install", "--yes", "--no-install-recommends"])
        .args(&missing);
    if let Err(error) = program::run(&mut install) {
        return Ok(Ended::Skipped(format!("apt-get install {error}; {why}")));
    }
    Ok(match are_there() {
        Ok(()) => Ended::Passed(format!("installed {}", missing.join(" "))),
        Err(why) => Ended::Skipped(format!("apt-get succeeded, yet {why}")),
    })
}

/// Those of the packages that are not installed.
fn missing(packages: &[&'static str]) -> Result<Vec<&'static str>, String> {
    let mut missing = Vec::new();
    for package in packages {
        let mut query = Command::new("dpkg-query");
        query.args(["--show", "--showformat=${db:Status-Status}\n", package]);
        let answer = capture(&mut query, QUICK)?;
        // It fails for a package it never heard of, and several architectures give several lines.
        if !answer.stdout.lines().any(|status| status == "installed") {
            missing.push(*package);
        }
    }
    Ok(missing)
}

/// By what right packages may be installed.
enum Rights {
    Root,
    Sudo,
}

impl Rights {
    /// `None`: by none. Never asks for a password.
    fn of_this_user() -> Option<Self> {
        let id = capture(Command::new("id").arg("-u"), QUICK).ok()?;
        if id.stdout.trim() == "0" {
            return Some(Self::Root);
        }
        let sudo = capture(Command::new("sudo").args(["-n", "true"]), QUICK).ok()?;
        sudo.status.success().then_some(Self::Sudo)
    }

    /// One that asks nothing, and does not wait forever for a lock or a server.
    fn apt_get(&self) -> Command {
        let mut command = match self {
            Self::Root => Command::new("env"),
            Self::Sudo => {
                let mut sudo = Command::new("sudo");
                sudo.args(["-n", "env"]);
                sudo
            }
        };
        command
            .args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"])
            .args(["-o", "DPkg::Lock::Timeout=60"])
            .args(["-o", "Acquire::Retries=2"])
            .args(["-o", "Acquire::http::Timeout=20"]);
        command
    }
}
