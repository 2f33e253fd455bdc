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
    "asdf bunx bwrap cargo chpst chroot chrt conda corepack coreutils cpulimit daemonize \
     dbus-launch dbus-run-session devbox direnv distrobox doas docker dotenvx dtach entr \
     env fakeroot faketime find firejail flatpak flatpak-bwrap flock fnm gdb gio git go \
     gosu gtk-launch hatch hyperfine ionice just linux32 linux64 lldb lldb-server ltrace \
     machinectl make mamba micromamba mise nice ninja nix nix-shell nohup npm npx nsenter \
     numactl parallel pdm perf pipx pixi pkexec pnpm pnpx podman poetry prlimit proot \
     rlwrap rr run0 runcon runuser rustup rye script setarch setpriv setsid setuidgid \
     snap snap-confine start-stop-daemon stdbuf strace su su-exec su-rs sudo sudo-rs \
     systemd-inhibit systemd-nspawn systemd-run taskset time timeout toolbox unshare uv \
     uvx valgrind volta watch watchexec xargs xdg-open xvfb-run yarn yarnpkg",
    // Lines go through it.
    "nc nc.openbsd nc.traditional ncat netcat socat ssh websocat",
    // Sessions, and what starts things in them.
    "abduco agetty anacron at atd awesome bspwm catatonit cinnamon cinnamon-session \
     conmon containerd-shim containerd-shim-runc-v cosmic-session cron crond crun \
     dbus-broker dbus-broker-launch dbus-daemon dinit dmenu docker-init dropbear \
     dumb-init dvtm dwm fuzzel gdm gdm-session-worker gdm-wayland-session gdm-x-session \
     getty gnome-session gnome-session-binary gnome-session-service gnome-shell greetd \
     hyprland i3 init kded kdeinit krunner kwin_wayland kwin_x11 labwc launchd lightdm \
     login lxqt-session lxsession mate-session mosh-server niri openbox plasma_session \
     plasmashell river rofi runc runsv runsvdir s6-supervise s6-svscan screen sddm \
     sddm-helper shpool sshd sshd-auth sshd-session startx supervise sway sxhkd systemd \
     systemd-executor tini tini-static tmate tmux ttyd waybar wofi xfce4-panel \
     xfce4-session xfdesktop xinit zellij",
    // Terminals.
    "alacritty contour cool-retro-term cosmic-term deepin-terminal foot footclient \
     ghostty gnome-terminal gnome-terminal-server iterm kgx kitty konsole lxterminal \
     mate-terminal ptyxis ptyxis-agent qterminal rio rxvt sakura st terminal terminator \
     terminology tilda tilix urxvt urxvtd uxterm vte-spawn wezterm \
     wezterm-gui wezterm-mux-server xfce4-terminal xterm yakuake",
];

const SHELLS: &[&str] = &[
    "ash bash bash-static brush busybox busybox-static busybox.static csh dash elvish \
     fish ksh lksh loksh mksh mksh-static nu oksh osh powershell pwsh rbash rc rksh rzsh \
     sh tcsh toybox xonsh yash ysh zsh zsh-static",
];

const INTERPRETERS: &[&str] = &[
    "awk beam.smp box64 box86 bun cjs clisp csi dart deno dotnet ecl electron elixir erl \
     escript expect fexinterpreter gawk gjs gjs-console graalpy gsi gst-launch guile hhvm \
     janet java javaw jruby julia ld.so lua luajit mawk moar mono mono-sgen nawk node \
     nodejs ocaml octave octave-cli original-awk osascript perl petite php php-cgi \
     php-fpm phpdbg pypy python pythonw qjs r racket raku rakudo rscript ruby runghc sbcl \
     scheme sed swipl tclsh tjs truffleruby tsx wasmedge wasmer wasmtime wine \
     wine-preloader wine64-preloader wish",
];

/// Launchers that are scripts, by their files' names.
const SCRIPTS: &[&str] = &[
    "conda corepack corepack.js hatch nodemon nodemon.js npm npm-cli.js npx npx-cli.js \
     pdm pipx pnpm pnpm.cjs pnpm.mjs pnpx pnpx.cjs poetry yarn yarn.js yarnpkg",
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
    let known = |groups| words(groups).any(|known| known == name || known == unversioned(&name));
    if known(SHELLS) {
        Part::Shell
    } else if known(INTERPRETERS) || words(INTERPRETERS).any(|known| known == before_version(&name))
    {
        Part::Interpreter
    } else if known(LAUNCHERS) {
        Part::Launcher
    } else {
        Part::Own
    }
}

/// Whether this script only starts what it is told to.
pub(crate) fn is_launcher(script: &Path) -> bool {
    let name = script.file_name().unwrap_or_default().to_string_lossy();
    words(SCRIPTS).any(|known| known == name)
}

fn words(groups: &[&'static str]) -> impl Iterator<Item = &'static str> {
    groups.iter().flat_map(|group| group.split(' '))
}

/// `python3.12` is `python`, `node-20` is `node`.
fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || ".-_".contains(c))
}

/// What an interpreter is called may go on after its version, as in `python3.13t` and
/// `perl5.36-x86_64-linux-gnu`.
fn before_version(name: &str) -> &str {
    let end = name.find(|c: char| c.is_ascii_digit());
    unversioned(name.get(..end.unwrap_or(name.len())).unwrap_or(name))
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
        check("/usr/bin/perl5.36-x86_64-linux-gnu", Part::Interpreter);
        check("/usr/bin/python3.13t", Part::Interpreter);
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
    fn every_word_of_the_lists_is_found_and_stands_in_one() {
        let lists = [
            (SHELLS, Part::Shell),
            (INTERPRETERS, Part::Interpreter),
            (LAUNCHERS, Part::Launcher),
        ];
        for (list, expected) in lists {
            for word in words(list) {
                assert!(!word.is_empty());
                let path = Path::new("/usr/bin").join(word);
                assert_eq!(part(&path), expected, "{word:?}");
            }
        }
        for word in words(SCRIPTS) {
            assert!(is_launcher(&Path::new("/usr/lib").join(word)), "{word:?}");
        }
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
        check("-bash", None);
        check("-zsh -i", None);
        check("bash ./run.sh", Some("./run.sh"));
    }
}
