//! A remembered answer, and how it stands in a file.

use agent_core::Scope;
use serde_json::{Map, Value, json};

use crate::{
    clock::{unix, utc},
    evidence::hash,
};

/// The only form of a rule's file so far.
const VERSION: u64 = 1;

/// Which rule: the name of its file, where it has one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub(crate) String);

impl RuleId {
    /// Made of all that a rule is for, by a hash: nothing that a client says has a part in how
    /// a file is called.
    pub(crate) fn of(app: &str, scope: Scope, agent: &str) -> Self {
        let key = json!([app, word(scope), agent]).to_string();
        Self(hash(key.as_bytes()))
    }

    /// The name of its file, without the ending.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What the user has decided about an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// For which app.
    pub app: String,
    /// To what.
    pub scope: Scope,
    /// Who: see [`Agent::id`](crate::Agent::id).
    pub agent: String,
    /// What the program is called.
    pub name: String,
    /// The file of the program, if that is known.
    pub program: Option<String>,
    /// What was in that file, as SHA-256 in hexadecimal digits. `None`: it is known by its path.
    pub content: Option<String>,
    /// On what evidence it was taken for who it is, a line each.
    pub evidence: Vec<String>,
    /// Whether it was a yes.
    pub allow: bool,
    /// Since when, in seconds since 1970.
    pub since: u64,
    /// Until when it holds. `None`: until it is revoked.
    pub until: Option<u64>,
    /// When it was last made use of.
    pub last_used: Option<u64>,
    /// How many requests it has let in.
    pub uses: u64,
}

/// Why a rule's file counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    /// It is not what a rule looks like.
    Form(&'static str),
    /// A later release wrote it; this one leaves it alone.
    Newer,
}

impl Rule {
    /// Which one it is: the name of its file.
    pub fn id(&self) -> RuleId {
        RuleId::of(&self.app, self.scope, &self.agent)
    }

    /// Whether it is in force. A clock that was set back must not make a day longer.
    pub fn holds(&self, now: u64) -> bool {
        const SET_BACK: u64 = 300;
        self.until
            .is_none_or(|until| now < until && now.saturating_add(SET_BACK) >= self.since)
    }

    /// Whether it is the same answer, however often it was made use of since.
    pub(crate) fn is_as_answered(&self, other: &Self) -> bool {
        (self.allow, self.since, self.until) == (other.allow, other.since, other.until)
    }

    /// As its file has it; what else `before` has, an earlier state of that file, is kept.
    pub(crate) fn write(&self, before: Option<Map<String, Value>>) -> Vec<u8> {
        let mut fields = before.unwrap_or_default();
        let mut set = |name: &str, value: Value| {
            if value.is_null() {
                fields.remove(name);
            } else {
                fields.insert(name.to_owned(), value);
            }
        };
        set("version", json!(VERSION));
        set("app", json!(self.app));
        set("scope", json!(word(self.scope)));
        set("agent", json!(self.agent));
        set("name", json!(self.name));
        set("program", json!(self.program));
        set("content", json!(self.content));
        set("evidence", json!(self.evidence));
        set("allow", json!(self.allow));
        set("since", json!(utc(self.since)));
        set("until", json!(self.until.map(utc)));
        set("last_used", json!(self.last_used.map(utc)));
        set("uses", json!(self.uses));
        let mut bytes = serde_json::to_vec_pretty(&fields).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<(Self, Map<String, Value>), Bad> {
        let fields: Map<String, Value> =
            serde_json::from_slice(bytes).map_err(|_| Bad::Form("it is not a JSON object"))?;
        match fields.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(later) if later > VERSION => return Err(Bad::Newer),
            _ => return Err(Bad::Form("it has no version")),
        }
        let rule = Self::from_fields(&fields).ok_or(Bad::Form("a field is missing or odd"))?;
        Ok((rule, fields))
    }

    fn from_fields(fields: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| Some(fields.get(name)?.as_str()?.to_owned());
        // Absent is one thing, there and not understood another.
        let time = |name: &str| match fields.get(name) {
            None => Some(None),
            Some(value) => unix(value.as_str()?).map(Some),
        };
        let optional = |name: &str| match fields.get(name) {
            None => Some(None),
            Some(value) => value.as_str().map(|text| Some(text.to_owned())),
        };
        let evidence = fields.get("evidence")?.as_array()?.iter();
        Some(Self {
            app: text("app")?,
            scope: scope(fields.get("scope")?.as_str()?)?,
            agent: text("agent")?,
            name: text("name")?,
            program: optional("program")?,
            content: optional("content")?,
            evidence: evidence
                .map(|line| line.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
            allow: fields.get("allow")?.as_bool()?,
            since: time("since")??,
            until: time("until")?,
            last_used: time("last_used")?,
            uses: fields.get("uses")?.as_u64()?,
        })
    }
}

/// The word for a scope in files.
pub(crate) const fn word(scope: Scope) -> &'static str {
    match scope {
        Scope::Surface => "surface",
        Scope::Full => "full",
        Scope::Inspector => "inspector",
    }
}

fn scope(word: &str) -> Option<Scope> {
    [Scope::Surface, Scope::Full, Scope::Inspector]
        .into_iter()
        .find(|scope| self::word(*scope) == word)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn rule(agent: &str) -> Rule {
        Rule {
            app: "org.example.orders".into(),
            scope: Scope::Surface,
            agent: agent.into(),
            name: "agent".into(),
            program: Some("/usr/bin/agent".into()),
            content: Some("00".into()),
            evidence: vec!["/usr/bin/agent".into()],
            allow: true,
            since: 1_800_000_000,
            until: None,
            last_used: None,
            uses: 0,
        }
    }

    #[test]
    fn a_rule_is_read_as_it_was_written_and_keeps_what_it_does_not_know() {
        let mut rule = rule("a");
        rule.until = Some(1_800_086_400);
        rule.last_used = Some(1_800_000_007);
        let mut before = Map::new();
        before.insert("note".into(), json!("mine"));
        before.insert("uses".into(), json!(7));
        let bytes = rule.write(Some(before));
        let (read, fields) = Rule::read(&bytes).unwrap();
        assert_eq!(read, rule);
        assert_eq!(fields["note"], "mine");
        assert_eq!(fields["uses"], 0);
    }

    #[test]
    fn rule_13_what_is_not_quite_a_rule_is_none() {
        let whole: Map<String, Value> = serde_json::from_slice(&rule("a").write(None)).unwrap();
        let check = |change: &dyn Fn(&mut Map<String, Value>), expected: Option<Bad>| {
            let mut fields = whole.clone();
            change(&mut fields);
            let read = Rule::read(&serde_json::to_vec(&fields).unwrap());
            match expected {
                Some(bad) => assert_eq!(read.err(), Some(bad), "{fields:?}"),
                None => assert!(read.is_ok(), "{fields:?}"),
            }
        };
        check(&|_| {}, None);
        for name in [
            "app", "scope", "agent", "name", "evidence", "allow", "since", "uses",
        ] {
            let odd = Bad::Form("a field is missing or odd");
            check(&|fields| drop(fields.remove(name)), Some(odd.clone()));
            check(
                &|fields| drop(fields.insert(name.into(), json!({}))),
                Some(odd),
            );
        }
        // A limit that is not understood must not be taken for none.
        check(
            &|fields| drop(fields.insert("until".into(), json!("tomorrow"))),
            Some(Bad::Form("a field is missing or odd")),
        );
        check(
            &|fields| drop(fields.insert("version".into(), json!(2))),
            Some(Bad::Newer),
        );
        check(
            &|fields| drop(fields.insert("version".into(), json!("1"))),
            Some(Bad::Form("it has no version")),
        );
        for bytes in [&b""[..], b"[]", b"{", b"\xff", b"null"] {
            assert_eq!(
                Rule::read(bytes).err(),
                Some(Bad::Form("it is not a JSON object"))
            );
        }
    }

    #[test]
    fn a_day_is_over_after_a_day_and_when_the_clock_was_set_back() {
        let mut rule = rule("a");
        assert!(rule.holds(0) && rule.holds(u64::MAX));
        rule.until = Some(rule.since + 86_400);
        assert!(rule.holds(rule.since) && rule.holds(rule.since + 86_399));
        assert!(!rule.holds(rule.since + 86_400));
        assert!(!rule.holds(rule.since - 301));
    }

    #[test]
    fn app_scope_and_agent_make_the_key() {
        let id = |app: &str, scope, agent: &str| RuleId::of(app, scope, agent);
        let one = id("a", Scope::Surface, "b");
        assert_eq!(one, id("a", Scope::Surface, "b"));
        assert_eq!(one.as_str().len(), 64);
        assert_ne!(one, id("a", Scope::Full, "b"));
        assert_ne!(one, id("b", Scope::Surface, "b"));
        assert_ne!(one, id("a", Scope::Surface, "a"));
        assert_ne!(
            id("a\"", Scope::Surface, "b"),
            id("a", Scope::Surface, "\"b")
        );
    }
}
