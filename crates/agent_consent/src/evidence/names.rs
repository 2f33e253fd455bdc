//! Programs that only pass on what another wants, by their names: they are not who asks.
//!
//! A program that takes such a name is passed over like them, so that whoever started it is
//! asked about instead, or nobody can be identified: it wins nothing.

use std::path::Path;

/// What a program is to whoever runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// It acts on its own account.
    Own,
    /// Our own bridge and command, launchers, relays, terminals, and what sessions run under.
    Launcher,
    /// It runs commands, typed or written.
    Shell,
    /// It runs a script.
    Interpreter,
}

const LAUNCHERS: &[&str] = &[
    // Ours.
    "agent-surface",
    // One program starts another.
    "bwrap cargo chroot chrt corepack dbus-launch dbus-run-session direnv distrobox doas \
     docker dtach env faketime find firejail flatpak flatpak-bwrap flock gdb go ionice \
     just linux32 linux64 ltrace make mise ninja nice nix nix-shell nohup npm npx nsenter \
     numactl parallel pipx pkexec pnpm pnpx podman poetry prlimit rlwrap runcon runuser \
     rustup script setarch setpriv setsid snap snap-confine start-stop-daemon stdbuf \
     strace su sudo systemd-inhibit systemd-run taskset time timeout toolbox unshare uv \
     uvx valgrind volta watch xargs xdg-open xvfb-run yarn",
    // Lines go through it.
    "nc nc.openbsd nc.traditional ncat netcat socat ssh websocat",
    // Sessions, and what starts things in them.
    "abduco anacron at atd catatonit conmon containerd-shim containerd-shim-runc-v cron \
     crond crun dbus-broker dbus-broker-launch dbus-daemon docker-init dropbear dumb-init \
     dwm gdm gdm-session-worker gdm-wayland-session gdm-x-session gnome-session \
     gnome-session-binary gnome-shell hyprland i3 init kded kdeinit krunner kwin_wayland \
     launchd lightdm login mate-session mosh-server openbox plasmashell plasma_session \
     runc runsv runsvdir s6-supervise s6-svscan screen sddm sddm-helper sshd sshd-auth \
     sshd-session startx supervise sway systemd systemd-executor tini tmate tmux waybar \
     xfce4-panel xfce4-session xfdesktop xinit zellij",
    // Terminals.
    "alacritty deepin-terminal foot footclient ghostty gnome-terminal \
     gnome-terminal-server iterm kgx kitty konsole lxterminal mate-terminal ptyxis \
     ptyxis-agent qterminal rio rxvt st terminal terminator tilix urxvt urxvtd uxterm \
     vte-spawn wezterm wezterm-gui wezterm-mux-server xfce4-terminal xterm yakuake",
];

const SHELLS: &[&str] = &[
    "ash bash busybox csh dash elvish fish ksh lksh loksh mksh nu oksh osh powershell \
     pwsh rbash rc sh tcsh toybox yash ysh zsh",
];

const INTERPRETERS: &[&str] = &[
    "beam.smp bun clisp deno dotnet electron erl expect gjs gjs-console gst-launch guile \
     java julia ld.so lua luajit mono mono-sgen node nodejs osascript perl php php-cgi \
     pypy python qjs racket rscript ruby sbcl swipl tclsh tsx wasmtime wasmer wine \
     wine-preloader wine64-preloader wish",
];

/// What the program in this file is.
pub(crate) fn part(executable: &Path) -> Part {
    let name = executable.file_name().unwrap_or_default();
    let name = name.to_string_lossy().to_lowercase();
    // The loader runs any program that it is told to; an emulator likewise.
    if ["ld-linux", "ld-musl", "ld-2", "qemu-"]
        .iter()
        .any(|start| name.starts_with(start))
    {
        return Part::Interpreter;
    }
    let known = |groups: &[&str]| {
        let mut words = groups.iter().flat_map(|group| group.split(' '));
        words.any(|known| known == name || known == unversioned(&name))
    };
    if known(SHELLS) {
        Part::Shell
    } else if known(INTERPRETERS) {
        Part::Interpreter
    } else if known(LAUNCHERS) {
        Part::Launcher
    } else {
        Part::Own
    }
}

/// `python3.12` is `python`, `node-20` is `node`.
fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || ".-_".contains(c))
}

/// How an interpreter's arguments are to be read.
struct Options {
    /// The commands themselves come next, or from standard input.
    inline: &'static [&'static str],
    /// These have a word of their own after them.
    with_word: &'static [&'static str],
}

const PYTHON: Options = Options {
    inline: &["-", "-c", "-m"],
    with_word: &["-W", "-X", "--check-hash-based-pycs"],
};

const NODE: Options = Options {
    inline: &["-", "-e", "-p", "-pe", "--eval", "--print"],
    with_word: &[
        "-C",
        "-r",
        "--conditions",
        "--env-file",
        "--experimental-loader",
        "--import",
        "--loader",
        "--require",
    ],
};

const OTHER: Options = Options {
    inline: &[
        "-",
        "-E",
        "-c",
        "-e",
        "-s",
        "--command",
        "--eval",
        "--module",
    ],
    with_word: &[
        "-I",
        "-L",
        "-O",
        "-W",
        "-cp",
        "-classpath",
        "-o",
        "-r",
        "--add-modules",
        "--add-opens",
        "--argv0",
        "--class-path",
        "--config",
        "--env-file",
        "--library-path",
        "--require",
    ],
};

/// The file that an interpreter with these arguments runs, as they spell it: what follows its
/// own options. `None`: commands given in the arguments or on standard input.
pub(crate) fn script<'a>(executable: &Path, arguments: &'a [String]) -> Option<&'a str> {
    let name = executable.file_name().unwrap_or_default().to_string_lossy();
    let options = match () {
        () if name.starts_with("python") || name.starts_with("pypy") => &PYTHON,
        () if name.starts_with("node") => &NODE,
        () => &OTHER,
    };
    let mut words = arguments.iter().skip(1).map(String::as_str);
    while let Some(word) = words.next() {
        let inline = |option: &&str| {
            word == *option || (option.len() > 2 && word.starts_with(&format!("{option}=")))
        };
        if ["-jar", "-f", "--"].contains(&word) {
            return words.next();
        } else if options.inline.iter().any(inline) {
            return None;
        } else if options.with_word.contains(&word) {
            words.next();
        } else if !word.starts_with('-') && !["run", "exec"].contains(&word) {
            return Some(word);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_a_program_is_for() {
        let check =
            |path: &str, expected: Part| assert_eq!(part(Path::new(path)), expected, "{path}");
        check("/usr/bin/bash", Part::Shell);
        check("/bin/busybox", Part::Shell);
        check("/usr/bin/python3.12", Part::Interpreter);
        check("/opt/node-20/bin/node", Part::Interpreter);
        check("/usr/bin/php8.2", Part::Interpreter);
        check("/lib64/ld-linux-x86-64.so.2", Part::Interpreter);
        check("/usr/lib/electron/electron", Part::Interpreter);
        check("/home/a/.cargo/bin/agent-surface", Part::Launcher);
        check("/usr/sbin/sshd", Part::Launcher);
        check("/usr/libexec/gnome-terminal-server", Part::Launcher);
        check("/home/a/.local/bin/claude", Part::Own);
        check("/usr/bin/pythonic", Part::Own);
        check("/opt/7", Part::Own);
        check("/", Part::Own);
    }

    #[test]
    fn the_script_follows_the_interpreters_own_options() {
        let check = |line: &str, expected: Option<&str>| {
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let program = Path::new(&arguments[0]);
            assert_eq!(script(program, &arguments), expected, "{line}");
        };
        check("node agent.js --port 1", Some("agent.js"));
        check(
            "node --inspect -r ts-node/register agent.ts",
            Some("agent.ts"),
        );
        check("node -e require('x')", None);
        check("node --eval=1 x.js", None);
        check("python3 -u -X dev agent.py", Some("agent.py"));
        check("python3 -c print(1)", None);
        check("python3 -m agent", None);
        check("python3 -", None);
        check("python3 -I -s agent.py", Some("agent.py"));
        check("python3", None);
        check("java -cp a:b -jar agent.jar", Some("agent.jar"));
        check("deno run --allow-all agent.ts", Some("agent.ts"));
        check(
            "/lib64/ld-linux-x86-64.so.2 --argv0 claude /tmp/evil",
            Some("/tmp/evil"),
        );
        check("sh -c exec", None);
        check("bash ./run.sh", Some("./run.sh"));
    }
}
