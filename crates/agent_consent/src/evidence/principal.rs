//! Which process of the chain is the one that asks, and whether that can be proven.

use std::{fmt::Write as _, os::unix::ffi::OsStrExt as _, path::Path, sync::Arc};

use agent_core::Peer;

use super::{
    Fingerprints, Link, Proof, Script,
    fingerprint::hash,
    names::{Part, is_launcher, part, script},
    platform,
};

/// Parents that are followed up at most.
const MAX_LINKS: usize = 64;

/// Who asks, as far as the kernel can tell. Two connections are of one agent if they have the
/// same [`id`](Self::id): the same program, by path or content, started in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    id: Option<String>,
    proven: bool,
    principal: Option<usize>,
    chain: Vec<Link>,
    looks: Arc<str>,
    /// What the app calls it.
    named: Option<String>,
}

impl Agent {
    /// Nobody that can be told apart from others.
    pub fn unidentified() -> Self {
        Self::of(Vec::new(), None)
    }

    /// Who is at the other end of a connection. Reads files, of which a large program takes its
    /// time: not for the UI thread.
    pub fn behind(peer: Option<&Arc<Peer>>, prints: &Fingerprints) -> Self {
        let Some(peer) = peer else {
            return Self::unidentified();
        };
        let own = Some(rustix::process::geteuid().as_raw());
        match (peer.pid, &peer.named) {
            _ if peer.uid != own => Self::unidentified(),
            (Some(pid), _) => Self::process(pid, peer, prints),
            (None, Some(name)) => Self::vouched_for(name),
            (None, None) => Self::unidentified(),
        }
    }

    /// Whom the app calls so: no program stands behind it that anybody could look at.
    fn vouched_for(name: &str) -> Self {
        let looks = format!("the app calls it {}", name.escape_debug());
        Self {
            id: Some(format!("named:{}", hash(looks.as_bytes()))),
            proven: false,
            principal: None,
            chain: Vec::new(),
            looks: looks.into(),
            named: Some(name.to_owned()),
        }
    }

    fn process(pid: u32, peer: &Peer, prints: &Fingerprints) -> Self {
        // Held from before the first look to after the last: all that was seen is of one process.
        let held = platform::hold(pid);
        let mut chain = chain(pid);
        // The number may be another's by now, and a process may have become another program
        // since it connected: then nobody knows who connected.
        let first = chain.first();
        if first.is_none_or(|first| {
            Some(first.started) != peer.started || first.executable != peer.executable
        }) {
            return Self::of(chain, None);
        }
        let principal = look(&mut chain, prints);
        // What was read of a process is its own if it is still the one that runs there.
        let same = |link: &Link| {
            platform::stat(link.pid).is_some_and(|found| found.started == link.started)
                && platform::executable(link.pid).map(|(path, _)| path) == link.executable
        };
        let proven = chain
            .iter()
            .take(principal.map_or(0, |at| at + 1))
            .all(same);
        let ended = held.is_some_and(|held| platform::has_ended(&held));
        Self::of(chain, principal.filter(|_| proven && !ended))
    }

    fn of(chain: Vec<Link>, principal: Option<usize>) -> Self {
        let looks: Arc<str> = looks(&chain, principal).into();
        let below = chain
            .get(..principal.map_or(0, |at| at + 1))
            .unwrap_or_default();
        let proven = !below.is_empty() && below.iter().all(|link| kind(link) != Part::Interpreter);
        Self {
            id: principal.map(|_| format!("program:{}", hash(looks.as_bytes()))),
            proven,
            principal,
            chain,
            looks,
            named: None,
        }
    }

    /// What tells this agent from others. `None`: it can't be identified, and shares nothing
    /// with anybody, not even with another connection of its own.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Whether it is an executable of its own, so that a yes can be remembered: what a script is
    /// can't be proven.
    pub fn is_proven(&self) -> bool {
        self.proven
    }

    /// Whether the app itself says who it is.
    pub fn is_vouched_for(&self) -> bool {
        self.named.is_some()
    }

    /// The process that asks. `None`: it can't be identified, or the app says who it is.
    pub fn principal(&self) -> Option<&Link> {
        self.chain.get(self.principal?)
    }

    /// From the process that connected up to the first of all, as far as they could be found.
    pub fn chain(&self) -> &[Link] {
        &self.chain
    }

    /// What the program is called: its file's name, or its script's; or what the app calls it,
    /// which handed its stream over and vouches for that.
    pub fn name(&self) -> Option<String> {
        if self.is_vouched_for() {
            return self.named.clone();
        }
        let link = self.principal()?;
        let path = match &link.script {
            Some(script) if kind(link) == Part::Interpreter => &script.path,
            _ => link.executable.as_ref()?,
        };
        Some(path.file_name()?.to_string_lossy().into_owned())
    }

    /// The file that makes it what it is, and what is in that, where it isn't known by its path.
    pub(crate) fn file(&self) -> Option<(&Path, Option<&str>)> {
        let link = self.principal()?;
        match (&link.script, &link.proof) {
            (Some(script), _) if kind(link) == Part::Interpreter => {
                Some((&script.path, script.content.as_deref()))
            }
            (_, Some(Proof::Content(content))) => {
                Some((link.executable.as_deref()?, Some(content)))
            }
            (_, _) => Some((link.executable.as_deref()?, None)),
        }
    }

    /// By what those can be told apart who can't be identified, so that a no to one of them
    /// holds for a while for all that look like it.
    pub(crate) fn looks(&self) -> &Arc<str> {
        &self.looks
    }

    /// For tests of what doesn't depend on how an agent is found.
    #[cfg(test)]
    pub(crate) fn pretend(path: &str, content: &str) -> Self {
        Self::of(vec![Link::pretend(path, content)], Some(0))
    }

    /// The same, of whoever asks in this chain.
    #[cfg(test)]
    pub(crate) fn pretend_behind(chain: Vec<Link>) -> Self {
        let principal = principal_of(&chain);
        Self::of(chain, principal)
    }
}

/// What the kernel says of a process and of its parents.
fn chain(pid: u32) -> Vec<Link> {
    let mut chain: Vec<Link> = Vec::new();
    let mut next = pid;
    while next != 0 && chain.len() < MAX_LINKS {
        let Some(stat) = platform::stat(next) else {
            break;
        };
        // A parent is older than its child, or it is not the parent but has its number.
        if chain
            .last()
            .is_some_and(|child| stat.started > child.started)
        {
            break;
        }
        let executable = platform::executable(next).map(|(path, _)| path);
        // If the child has another parent by now, this one is gone.
        if chain.last().is_some_and(|child| {
            platform::stat(child.pid)
                .is_none_or(|now| now.parent != next || now.started != child.started)
        }) {
            break;
        }
        chain.push(Link {
            pid: next,
            started: stat.started,
            leads_session: stat.session == next,
            executable,
            proof: None,
            script: None,
        });
        next = stat.parent;
    }
    chain
}

/// The number of the process that all that lost their parent fall to.
const FIRST_PROCESS: u32 = 1;

/// What a process of the chain is to the question who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// It asks.
    Asks,
    /// It passes on what one above it wants, or what nobody does who can be found.
    PassesOn,
    /// It may be anything.
    Unknown,
}

/// Looks at the files of everybody up to who asks, and of nobody above: a large program takes its
/// time. Who that is; `None`: it can't be told.
fn look(chain: &mut [Link], prints: &Fingerprints) -> Option<usize> {
    for (at, link) in chain.iter_mut().enumerate() {
        read(link, prints);
        if stands(at, link) != Stands::PassesOn {
            break;
        }
    }
    principal_of(chain)
}

/// Finds by what the program is known, and what it runs. What can't be read stays as it is.
fn read(link: &mut Link, prints: &Fingerprints) {
    let (Some(path), Some((found, file))) = (&link.executable, platform::executable(link.pid))
    else {
        return;
    };
    if found == *path {
        link.proof = prints.prove(path, &file);
        if matches!(part(path), Part::Shell | Part::Interpreter) {
            link.script = script_of(link.pid, path, prints);
        }
    }
}

/// Who asks in a chain that was looked at: the lowest that acts on its own account. `None`: it
/// can't be told.
fn principal_of(chain: &[Link]) -> Option<usize> {
    let mut links = chain.iter().enumerate();
    links.find_map(|(at, link)| match stands(at, link) {
        Stands::PassesOn => None,
        Stands::Asks => Some(Some(at)),
        Stands::Unknown => Some(None),
    })?
}

fn stands(at: usize, link: &Link) -> Stands {
    // What can't be read may be anything: to go on would take its parent for it.
    let (Some(path), Some(_)) = (&link.executable, &link.proof) else {
        return Stands::Unknown;
    };
    // What is left by its parent falls to the first process, which may be any program in a
    // container: that did not start it.
    if at > 0 && link.pid == FIRST_PROCESS {
        return Stands::PassesOn;
    }
    match (part(path), &link.script) {
        (Part::Own, _) => Stands::Asks,
        (Part::Interpreter, Some(script)) if !is_launcher(&script.path) => Stands::Asks,
        (Part::Interpreter | Part::Shell | Part::Launcher, _) => Stands::PassesOn,
    }
}

fn script_of(pid: u32, executable: &Path, prints: &Fingerprints) -> Option<Script> {
    let arguments = platform::arguments(pid);
    let path = platform::resolve(pid, script(executable, &arguments)?)?;
    let path = std::fs::canonicalize(path).ok()?;
    let content = platform::open(&path).and_then(|file| prints.content(&file));
    (content.is_some() || path.is_dir()).then_some(Script { path, content })
}

fn kind(link: &Link) -> Part {
    link.executable.as_deref().map_or(Part::Own, part)
}

/// All that an agent is known by, in one text: up to who asks each program with its proof and
/// its script, above it by whom that was started. Whoever is in between more than once in a row
/// counts once.
fn looks(chain: &[Link], principal: Option<usize>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (at, link) in chain.iter().enumerate() {
        let mut line = match &link.executable {
            Some(path) => quoted(path),
            None => "?".to_owned(),
        };
        if principal.is_none_or(|principal| at <= principal) {
            match &link.proof {
                Some(Proof::Path) => line.push_str(" the system's"),
                Some(Proof::Content(content)) => {
                    let _ = write!(line, " {content}");
                }
                None => {}
            }
            if link.leads_session {
                line.push_str(" in a session of its own");
            }
            if let Some(script) = &link.script {
                let content = script.content.as_deref().unwrap_or("?");
                let _ = write!(line, " runs {} {content}", quoted(&script.path));
            }
        }
        if principal == Some(at) {
            line.push_str(" asks");
        }
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
impl Link {
    /// A program of this path and content, which nobody else stands behind.
    pub(crate) fn pretend(path: &str, content: &str) -> Self {
        Self {
            pid: 100,
            started: 1,
            leads_session: false,
            executable: Some(path.into()),
            proof: Some(Proof::Content(content.into())),
            script: None,
        }
    }
}

/// Byte by byte, so that no two paths give the same text and none can end its line.
fn quoted(path: &Path) -> String {
    path.as_os_str().as_bytes().escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_different_makes_another_agent() {
        let chain = vec![
            Link::pretend("/a/agent", "1"),
            Link::pretend("/bin/bash", "2"),
            Link::pretend("/bin/term", "3"),
        ];
        let id = |chain: &[Link], at| Agent::of(chain.to_vec(), Some(at)).id().unwrap().to_owned();
        let known = id(&chain, 0);
        assert_eq!(known, id(&chain, 0));
        let with = |change: fn(&mut Vec<Link>)| {
            let mut chain = chain.clone();
            change(&mut chain);
            chain
        };
        let others = [
            with(|chain| chain[0].executable = Some("/b/agent".into())),
            with(|chain| chain[0].proof = Some(Proof::Content("4".into()))),
            with(|chain| chain[0].proof = Some(Proof::Path)),
            with(|chain| drop(chain.remove(1))),
            with(|chain| chain[0].leads_session = true),
            with(|chain| chain[1].executable = None),
            with(|chain| chain[2].executable = Some("/bin/xterm".into())),
            with(|chain| {
                chain[0].script = Some(Script {
                    path: "/a".into(),
                    content: None,
                });
            }),
        ];
        for other in others {
            assert_ne!(known, id(&other, 0), "{other:?}");
        }
        assert_ne!(known, id(&chain, 1));
        // How a parent's file is known, its number, and how often it stands there are no matter.
        let same = with(|chain| {
            chain[1].proof = None;
            chain[1].pid = 77;
            chain[1].leads_session = true;
            let again = chain[1].clone();
            chain.insert(1, again);
        });
        assert_eq!(known, id(&same, 0));
    }

    /// A chain that was looked at, from who connected up, a word a program: `?` can't be read, `!`
    /// is deleted or only in memory, `1:x` is the first process, `x(y)` runs the script y.
    fn chain(line: &str) -> Vec<Link> {
        let link = |word: &str| {
            let (program, script) = match word.strip_suffix(')').and_then(|it| it.split_once('(')) {
                Some((program, script)) => (program, Some(script)),
                None => (word, None),
            };
            let name = program.strip_prefix("1:");
            let mut link = Link::pretend(&format!("/bin/{}", name.unwrap_or(program)), "1");
            if name.is_some() {
                link.pid = FIRST_PROCESS;
            }
            link.script = script.map(|script| Script {
                path: format!("/a/{script}").into(),
                content: Some("2".into()),
            });
            match program {
                "?" => link.proof = None,
                "!" => (link.executable, link.proof) = (None, None),
                _ => {}
            }
            link
        };
        line.split_whitespace().map(link).collect()
    }

    fn asks(line: &str) -> Option<String> {
        let chain = chain(line);
        let principal = principal_of(&chain);
        Agent::of(chain, principal).name()
    }

    #[test]
    fn who_asks_is_the_nearest_that_acts_on_its_own_account() {
        let check =
            |line: &str, name: &str| assert_eq!(asks(line).as_deref(), Some(name), "{line}");
        check("claude", "claude");
        check("claude bash xterm 1:systemd", "claude");
        check("agent-surface claude bash xterm", "claude");
        check("agent-surface claude codex", "claude");
        check("agent-surface sh claude", "claude");
        check("agent-surface agent-surface claude", "claude");
        check("socat bash sudo systemd-run claude", "claude");
        // Whatever the shell's script is called, and whatever a launcher is told.
        check("agent-surface bash(run.sh) claude", "claude");
        check("agent-surface python3.12 claude", "claude");
        check("agent-surface python3.12(agent.py) bash", "agent.py");
        check("agent-surface node-20(agent.js) claude", "agent.js");
        check("agent-surface node(npx-cli.js) claude", "claude");
        check(
            "agent-surface sh node(npx-cli.js) node(cli.js) zsh",
            "cli.js",
        );
        // What is above who asks is no matter.
        check("claude ?", "claude");
        check("claude ! 1:init", "claude");
        // The first process, where that is who connected.
        check("1:claude", "claude");
        check("1:node(agent.js)", "agent.js");
    }

    #[test]
    fn who_asks_cannot_be_told_where_nobody_acts_on_its_own_account() {
        for line in [
            "",
            "bash",
            "bash tmux 1:systemd",
            "agent-surface bash sshd-session sshd 1:systemd",
            "agent-surface",
            "agent-surface bash(run.sh) gnome-terminal-server systemd 1:systemd",
            "python3",
            "node bash xterm",
            "node(npx-cli.js) bash xterm",
            // What can't be read may be anything.
            "?",
            "!",
            "agent-surface ? claude",
            "agent-surface bash ! claude",
            // What its parent left falls to the first process.
            "agent-surface 1:claude",
            "agent-surface bash 1:node(server.js)",
            "agent-surface bash 1:?",
        ] {
            assert_eq!(principal_of(&chain(line)), None, "{line}");
        }
    }

    #[test]
    fn what_only_passes_on_is_passed_over_by_whatever_name_it_goes() {
        let launchers = "agent-surface bunx bwrap cargo chrt coreutils dbus-run-session distrobox \
            doas docker env find flatpak flock git go ionice just make mise nice nix nohup npm npx \
            nsenter parallel pipx pkexec pnpm podman poetry prlimit run0 runuser script screen-5 \
            setarch setpriv setsid snap socat ssh sshd sshd-session stdbuf strace su sudo sudo-rs \
            systemd systemd-run taskset time timeout tini tmux uv uvx valgrind watch xargs xterm \
            gnome-terminal-server kitty konsole login screen xvfb-run yarn zellij";
        let shells = "ash bash bash-5.2 busybox csh dash fish ksh ksh93 mksh nu pwsh sh tcsh \
            toybox zsh zsh-5.9 xonsh";
        let interpreters = "awk bun deno dotnet electron electron30 erl gjs guile-3.0 java julia \
            lua5.4 luajit mawk node node-20 node22 nodejs osascript perl perl5.36.0 \
            perl5.36-x86_64-linux-gnu php8.2 pypy3 python python3 python3.12 python3.12-dbg \
            python3.13t qemu-aarch64-static ld-linux-x86-64.so.2 rscript ruby ruby3.1 sed tclsh8.6 \
            wasmtime wine64";
        let words = || {
            let all = [launchers, shells, interpreters];
            all.into_iter().flat_map(str::split_whitespace)
        };
        for word in words() {
            let check = |line: String, expected| {
                assert_eq!(principal_of(&chain(&line)), expected, "{line}");
            };
            check(word.to_owned(), None);
            check(format!("{word} claude"), Some(1));
            check(format!("agent-surface {word} bash claude"), Some(3));
            check(format!("claude {word}"), Some(0));
        }
        for word in interpreters.split_whitespace() {
            assert_eq!(
                principal_of(&chain(&format!("{word}(a.x)"))),
                Some(0),
                "{word}"
            );
        }
        for word in shells
            .split_whitespace()
            .chain(launchers.split_whitespace())
        {
            assert_eq!(
                principal_of(&chain(&format!("{word}(a.x)"))),
                None,
                "{word}"
            );
        }
        for own in [
            "claude",
            "code",
            "cursor",
            "agent",
            "pythonic",
            "nodeagent",
            "shell-gpt",
            "i3x",
        ] {
            assert_eq!(asks(&format!("{own} bash")).as_deref(), Some(own));
        }
    }

    #[test]
    fn an_interpreter_proves_nothing() {
        let own = || Link::pretend("/a/agent", "1");
        let check = |below: Vec<Link>, expected| {
            let at = below.len();
            let chain: Vec<Link> = below.into_iter().chain([own()]).collect();
            assert_eq!(Agent::of(chain, Some(at)).is_proven(), expected);
        };
        check(vec![], true);
        check(vec![Link::pretend("/usr/bin/agent-surface", "2")], true);
        check(
            vec![
                Link::pretend("/usr/bin/agent-surface", "2"),
                Link::pretend("/bin/sh", "3"),
            ],
            true,
        );
        check(vec![Link::pretend("/usr/bin/python3", "4")], false);
        assert!(!Agent::of(vec![Link::pretend("/usr/bin/node", "5")], Some(0)).is_proven());
        assert!(!Agent::unidentified().is_proven());
        assert_eq!(Agent::unidentified().id(), None);
    }

    #[test]
    fn whom_the_app_calls_so_is_one_agent_of_which_nothing_is_proven() {
        let named = |name: &str, uid| {
            let peer = Peer {
                uid: Some(uid),
                named: Some(name.to_owned()),
                ..Peer::default()
            };
            Agent::behind(Some(&Arc::new(peer)), &Fingerprints::default())
        };
        let own = rustix::process::geteuid().as_raw();
        let helper = named("Helper", own);
        assert_eq!(helper.name().as_deref(), Some("Helper"));
        assert!(helper.id().is_some() && !helper.is_proven());
        assert_eq!(helper.id(), named("Helper", own).id());
        assert_ne!(helper.id(), named("Other", own).id());
        assert_eq!(named("Helper", own + 1), Agent::unidentified());
    }

    #[test]
    fn a_script_gives_its_name() {
        let mut node = Link::pretend("/usr/bin/node", "1");
        assert_eq!(
            Agent::of(vec![node.clone()], Some(0)).name().as_deref(),
            Some("node")
        );
        node.script = Some(Script {
            path: "/a/agent.js".into(),
            content: None,
        });
        assert_eq!(
            Agent::of(vec![node], Some(0)).name().as_deref(),
            Some("agent.js")
        );
    }
}
