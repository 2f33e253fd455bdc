//! Which process of the chain is the one that asks, and whether that can be proven.

use std::{fmt::Write as _, os::unix::ffi::OsStrExt as _, path::Path, sync::Arc};

use agent_core::Peer;

use super::{
    Fingerprints, Link, Proof, Script,
    fingerprint::hash,
    names::{Part, part, script},
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
            Some(first.started) != peer.started
                || (peer.executable.is_some() && first.executable != peer.executable)
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

/// Finds who asks, the lowest in the chain that acts on its own account, and looks at the files
/// of everybody up to there. `None`: it can't be told.
fn look(chain: &mut [Link], prints: &Fingerprints) -> Option<usize> {
    for (at, link) in chain.iter_mut().enumerate() {
        // What can't be read may be anything: to go on would take its parent for it.
        let path = link.executable.clone()?;
        let (found, file) = platform::executable(link.pid)?;
        if found != path {
            return None;
        }
        link.proof = Some(prints.prove(&path, &file)?);
        let part = part(&path);
        if matches!(part, Part::Shell | Part::Interpreter) {
            link.script = script_of(link.pid, &path, prints);
        }
        match part {
            // What is left by its parent falls to the first process, which may be any program
            // in a container: that did not start it.
            Part::Own if at > 0 && link.pid == FIRST_PROCESS => {}
            Part::Own => return Some(at),
            Part::Interpreter if link.script.is_some() => return Some(at),
            Part::Interpreter | Part::Shell | Part::Launcher => {}
        }
    }
    None
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
            pid: 1,
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
