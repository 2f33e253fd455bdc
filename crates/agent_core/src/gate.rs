//! The gate in front of every request: a pure predicate, asked before anything looks at the UI
//! and again when an action enters the UI thread (rule 2).

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{Arc, Weak},
};

use crate::{
    policy::{Confirmed, Connections, Pending, Policy, Question},
    verb::Verb,
};

/// How a request reaches the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// From an assistant that is part of the app.
    InApp,
    /// From another process.
    External,
}

/// What a consent is for. A yes to one is no yes to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The verbs, on what is exposed.
    Surface,
    /// The whole tree, where the app armed it.
    Full,
    /// The developer's inspector.
    Inspector,
}

/// What the kernel says of the process at the other end, read when it connected.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Peer {
    /// Its user.
    pub uid: Option<u32>,
    /// Its process, if it is known: never the app's own.
    pub pid: Option<u32>,
    /// When that process started, in the kernel's ticks since boot: with the pid it names one
    /// process for good.
    pub started: Option<u64>,
    /// The program it runs.
    pub executable: Option<PathBuf>,
    /// What the app calls whoever is behind a stream that it handed over: it vouches for that,
    /// and the kernel knows nothing of it.
    pub named: Option<String>,
}

/// One request, as a policy sees it: facts only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Which one, unique for the run of the app: the same whenever a policy is asked or told of
    /// it, so that an end finds its beginning though several of a connection are on their way.
    pub number: u64,
    /// Where it comes from.
    pub channel: Channel,
    /// The connection it came on, unique for the run of the app.
    pub connection: u64,
    /// What the client calls itself: a claim, to be shown as one.
    pub claimed_name: Option<String>,
    /// What the kernel says of it. `None`: it can't be identified.
    pub peer: Option<Arc<Peer>>,
    /// The operation.
    pub verb: Verb,
    /// What it is part of.
    pub scope: Scope,
    /// The id that it names, as it came: nothing has looked whether it exists.
    pub target: Option<String>,
}

/// Why a request was refused, for the app's own log. An agent is told no more than that it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The app gave no policy.
    NoPolicy,
    /// The policy said so, for this reason.
    Policy(String),
    /// The policy panicked; a refusal is what is left (rule 13).
    PolicyPanicked,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoPolicy => write!(f, "the app gave no policy: pass a gate to the builder"),
            Self::Policy(why) => write!(f, "{why}"),
            Self::PolicyPanicked => write!(f, "the policy panicked"),
        }
    }
}

/// What the gate says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Decision {
    /// Go on.
    Allow,
    /// Refused.
    Deny(Reason),
    /// Nobody has decided yet. Where nobody is there to ask, it is a refusal.
    Ask,
}

impl Decision {
    /// A refusal for a reason of the policy's own.
    pub fn deny(why: impl Into<String>) -> Self {
        Self::Deny(Reason::Policy(why.into()))
    }
}

/// A policy, ready to be asked. Asking it never waits, and never fails: a policy that panics
/// has refused (where the app is built to unwind).
#[derive(Clone)]
pub struct AuthGate {
    policy: Option<Arc<dyn Policy>>,
}

/// A policy that is a predicate and no more.
struct Predicate<F>(F);

impl<F: Fn(&Request) -> Decision + Send + Sync + 'static> Policy for Predicate<F> {
    fn check(&self, request: &Request) -> Decision {
        (self.0)(request)
    }
}

impl AuthGate {
    /// Refuses everybody who comes from outside: what an app has that gives no policy. An
    /// assistant of the app's own, for which it made a session by its own code, is let in.
    pub fn deny_all() -> Self {
        Self { policy: None }
    }

    /// Asks `policy`, from any thread and from several at once. It must be pure: no I/O, no
    /// prompt, no waiting. Anything it remembers is a snapshot in memory.
    pub fn serve(policy: impl Fn(&Request) -> Decision + Send + Sync + 'static) -> Self {
        Self::of(Arc::new(Predicate(policy)))
    }

    /// Asks `policy`, and lets it know what comes of what it said.
    pub fn of(policy: Arc<dyn Policy>) -> Self {
        Self {
            policy: Some(policy),
        }
    }

    /// The policy behind it, if it is a `P`: for whoever made that, to find it again.
    pub fn policy<P: Policy>(&self) -> Option<&P> {
        let policy: &dyn Any = self.policy.as_deref()?;
        policy.downcast_ref()
    }

    /// What becomes of `request`. Any thread; never waits; consent can be asked for by the
    /// caller if this answers [`Decision::Ask`].
    ///
    /// An assistant of the app's own is let in where nobody has decided, be it for want of a
    /// policy or of an answer: the app has let it in by making it. A policy that refuses it is
    /// obeyed, which is how a user stops it too.
    pub fn check(&self, request: &Request) -> Decision {
        let decision = match &self.policy {
            None => Decision::Deny(Reason::NoPolicy),
            Some(policy) => {
                caught(|| policy.check(request)).unwrap_or(Decision::Deny(Reason::PolicyPanicked))
            }
        };
        match (request.channel, decision) {
            (Channel::InApp, Decision::Ask | Decision::Deny(Reason::NoPolicy)) => Decision::Allow,
            (_, decision) => decision,
        }
    }

    /// See [`Policy::met`].
    pub fn met(&self, request: &Request) {
        self.tell(|policy| policy.met(request));
    }

    /// See [`Policy::ask`]. `None`, nobody to ask: without an answer it is a no.
    pub fn ask(&self, request: &Request) -> Option<Pending> {
        let policy = self.policy.as_ref()?;
        caught(|| policy.ask(request)).flatten()
    }

    /// See [`Policy::confirm`].
    pub fn confirm(&self, question: &Question) -> Confirmed {
        self.policy
            .as_ref()
            .and_then(|policy| caught(|| policy.confirm(question)))
            .unwrap_or(Confirmed::No)
    }

    /// See [`Policy::acting`].
    pub fn acting(&self, request: &Request) {
        self.tell(|policy| policy.acting(request));
    }

    /// See [`Policy::done`].
    pub fn done(&self, request: &Request, outcome: &'static str) {
        self.tell(|policy| policy.done(request, outcome));
    }

    /// See [`Policy::gone`].
    pub fn gone(&self, connection: u64) {
        self.tell(|policy| policy.gone(connection));
    }

    /// See [`Policy::attach`].
    pub fn attach(&self, server: Weak<dyn Connections>) {
        self.tell(|policy| policy.attach(server));
    }

    fn tell(&self, what: impl FnOnce(&dyn Policy)) {
        if let Some(policy) = &self.policy {
            let _ = caught(|| what(policy.as_ref()));
        }
    }
}

fn caught<T>(ask: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(ask)).ok()
}

impl std::fmt::Debug for AuthGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.policy.is_some() {
            "AuthGate::serve(..)"
        } else {
            "AuthGate::deny_all()"
        })
    }
}

impl Default for AuthGate {
    fn default() -> Self {
        Self::deny_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            number: 1,
            channel: Channel::External,
            connection: 1,
            claimed_name: None,
            peer: None,
            verb: Verb::Click,
            scope: Scope::Surface,
            target: Some("save".into()),
        }
    }

    #[test]
    fn rule_2_no_policy_denies() {
        let denied = Decision::Deny(Reason::NoPolicy);
        assert_eq!(AuthGate::default().check(&request()), denied);
        assert_eq!(AuthGate::deny_all().check(&request()), denied);
    }

    #[test]
    fn the_policy_decides_on_what_the_request_holds() {
        let gate = AuthGate::serve(|request| match request.verb {
            Verb::Click => Decision::Allow,
            Verb::SetText => Decision::Ask,
            _ => Decision::deny("only clicks"),
        });
        assert_eq!(gate.check(&request()), Decision::Allow);
        let with = |verb| Request { verb, ..request() };
        assert_eq!(gate.check(&with(Verb::SetText)), Decision::Ask);
        assert_eq!(
            gate.check(&with(Verb::Hello)),
            Decision::deny("only clicks")
        );
    }

    #[test]
    fn the_policy_behind_a_gate_is_found_by_its_type() {
        struct Own(u8);
        impl Policy for Own {
            fn check(&self, _: &Request) -> Decision {
                Decision::Allow
            }
        }
        let gate = AuthGate::of(Arc::new(Own(7)));
        assert_eq!(gate.policy::<Own>().map(|own| own.0), Some(7));
        for other in [AuthGate::deny_all(), AuthGate::serve(|_| Decision::Allow)] {
            assert!(other.policy::<Own>().is_none(), "{other:?}");
        }
    }

    #[test]
    fn the_apps_own_assistant_is_let_in_where_nobody_has_decided() {
        let in_app = Request {
            number: 1,
            channel: Channel::InApp,
            ..request()
        };
        for (gate, decision) in [
            (AuthGate::deny_all(), Decision::Allow),
            (AuthGate::serve(|_| Decision::Ask), Decision::Allow),
            (AuthGate::serve(|_| Decision::Allow), Decision::Allow),
            (
                AuthGate::serve(|_| Decision::deny("lockdown")),
                Decision::deny("lockdown"),
            ),
            (
                AuthGate::serve(|_| panic!("a fault in the policy")),
                Decision::Deny(Reason::PolicyPanicked),
            ),
        ] {
            assert_eq!(gate.check(&in_app), decision, "{gate:?}");
        }
    }

    #[test]
    fn rule_13_a_policy_that_panics_has_refused() {
        let gate = AuthGate::serve(|_| panic!("a fault in the policy"));
        assert_eq!(
            gate.check(&request()),
            Decision::Deny(Reason::PolicyPanicked)
        );
    }
}
