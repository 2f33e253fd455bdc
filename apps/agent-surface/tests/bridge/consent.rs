//! What the user takes back by the command while an app runs and its agents are connected: each is
//! a program of its own, which the app knows by what is in its file.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use agent_consent::{Answer, Consent, Rule, Scripted, utc};
use agent_surface::{
    Limits, Scope, Surface,
    headless::{Headless, Tree, Widget},
};
use agent_test_support::{Apart, Client, eventually, reason};
use serde_json::{Value, json};

use crate::support::{App, Place};

/// An app as people have them: its rules are where the user's are, and its user answers as it is
/// told to, a word a line.
pub(crate) fn be_an_app_that_asks(id: &str) -> ! {
    let clicks = Arc::new(AtomicU32::new(0));
    let clicked = clicks.clone();
    let app = Headless::start("ui", move |tree| {
        let save = Widget::button("Save")
            .tag("save")
            .on_click(move |tree, _| show(tree, clicked.fetch_add(1, Ordering::SeqCst) + 1));
        let status = Widget::words("0").tag("status");
        tree.open_window(Widget::window("Form").tag("main").children([save, status]));
    });
    let user = Scripted::new();
    let consent = Consent::builder(id).prompt(user.clone()).build();
    // Agents here ask again and again.
    let limits = Limits {
        actions: None,
        ..Limits::default()
    };
    let surface = Surface::builder(id)
        .gate(consent.gate())
        .limits(limits)
        .headless(&app)
        .serve()
        .unwrap();
    println!("serving");
    for line in std::io::stdin().lines().map_while(Result::ok) {
        match line.as_str() {
            "always" => println!("{}", user.answer(Answer::Always)),
            "day" => println!("{}", user.answer(Answer::Day)),
            "asked" => println!("{}", user.shown()),
            "clicks" => println!("{}", clicks.load(Ordering::SeqCst)),
            "change" => {
                app.run(|tree| show(tree, 4711));
                println!("changed");
            }
            odd => panic!("{odd:?}"),
        }
    }
    drop((surface, consent));
    println!("clicks {}", clicks.load(Ordering::SeqCst));
    std::process::exit(0)
}

fn show(tree: &mut Tree, number: u32) {
    if let Some(status) = tree.find("status") {
        tree.set_text(status, number.to_string());
    }
}

fn outcome(reply: &Value) -> &str {
    reply["result"]["outcome"].as_str().unwrap_or(reason(reply))
}

/// An agent that the user lets in by this answer, which is on the disk when this returns.
fn let_in(place: &Place, app: &mut App, name: &str, answer: &str) -> Apart {
    let mut agent = place.agent(name, app);
    assert_eq!(outcome(&agent.client.click("save")), "consent_pending");
    assert_eq!(app.ask(answer), "true");
    assert_eq!(outcome(&agent.client.click("save")), "allowed");
    eventually("it is remembered", || rule_of(place, name).is_some());
    agent
}

fn rule_of(place: &Place, name: &str) -> Option<Rule> {
    let mut rules = place.rules("org.a").load().rules.into_iter();
    rules.find(|rule| rule.name == name)
}

/// What stands before a rule in the list.
fn listed_as(rule: &Rule) -> String {
    rule.id().as_str()[..8].to_owned()
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs()
}

/// Asks until it is refused; how often it was served.
fn ask_until_refused(client: &mut Client) -> u32 {
    let mut served = 0;
    eventually("it is refused", || match outcome(&client.click("save")) {
        "allowed" => {
            served += 1;
            false
        }
        refused => {
            assert_eq!(refused, "consent_denied");
            true
        }
    });
    served
}

pub(crate) fn rule_2_what_the_command_takes_back_is_over_for_who_is_connected() {
    const DAY: u64 = 24 * 60 * 60;
    let place = Place::new();
    let before = now();
    let mut app = place.app("org.a", "asking");
    let mut caller = let_in(&place, &mut app, "caller", "always");
    let mut daily = let_in(&place, &mut app, "daily", "day");

    let (ok, listed) = place.run(&["consent"]);
    assert!(ok, "{listed}");
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines[0], "org.a");
    for (name, holds) in [("caller", None), ("daily", Some(DAY))] {
        let rule = rule_of(&place, name).unwrap();
        assert!((before..=now()).contains(&rule.since), "{rule:?}");
        let (id, since) = (listed_as(&rule), utc(rule.since));
        let until = holds.map_or("for good".to_owned(), |holds| {
            format!("until {}", utc(rule.since + holds))
        });
        let line = format!("  {id}  \"{name}\" may, since {since}, {until}");
        assert!(lines.contains(&&*line), "{line}\nis not in\n{listed}");
        let program = rule.program.unwrap();
        assert!(program.ends_with(&format!("bin/{name}")), "{program}");
        assert!(listed.contains(&program), "{listed}");
    }

    // The same program once more: it is pushed what happens to one node, and waits for what
    // happens to another.
    let mut listens = place.agent("caller", &app);
    let listener = &mut listens.client;
    listener.get(
        "subscribe",
        json!({"node": "status", "verb": "changed", "push": true}),
    );
    let made = listener.get("subscribe", json!({"node": "main", "verb": "closed"}));
    let poll = json!({"subscription": made["subscription"], "wait_ms": 30_000});
    listener.send("poll_events", poll.clone());
    assert_eq!(outcome(&caller.client.click("save")), "allowed");
    assert_eq!(listener.reply()["method"], "event");

    let id = listed_as(&rule_of(&place, "caller").unwrap());
    let said = place.run(&["consent", "--revoke", &id]);
    assert_eq!(said, (true, "forgotten: \"caller\" in org.a\n".to_owned()));
    // What it asks meanwhile may still be served, for a moment.
    let served = 3 + ask_until_refused(&mut caller.client);
    for _ in 0..10 {
        assert_eq!(outcome(&caller.client.click("save")), "consent_denied");
    }
    assert_eq!(app.ask("clicks"), served.to_string());
    // Whoever waited is told, and after that nothing of what it listened to.
    let mut last = listener.reply();
    while last["method"] == "event" {
        last = listener.reply();
    }
    assert_eq!(reason(&last), "consent_denied");
    assert_eq!(app.ask("change"), "changed");
    assert_eq!(reason(&listener.ask("poll_events", poll)), "consent_denied");

    // It is asked about when it comes again; who was not meant is served on.
    assert_eq!(app.ask("asked"), "2");
    let mut again = place.agent("caller", &app);
    assert_eq!(outcome(&again.client.click("save")), "consent_pending");
    assert_eq!(app.ask("asked"), "3");
    assert_eq!(outcome(&daily.client.click("save")), "allowed");
    let (_, listed) = place.run(&["consent"]);
    assert!(
        listed.contains("\"daily\"") && !listed.contains("\"caller\""),
        "{listed}"
    );

    let said = place.run(&["consent", "--revoke-all"]);
    assert_eq!(said, (true, "forgotten: \"daily\" in org.a\n".to_owned()));
    let served = served + 1 + ask_until_refused(&mut daily.client);
    let nothing =
        "nothing is saved about any agent; what ends with an app is shown there\n".to_owned();
    assert_eq!(place.run(&["consent"]), (true, nothing));
    assert_eq!(app.quit(), served);
}

pub(crate) fn a_rule_that_is_not_told_from_others_stays() {
    let place = Place::new();
    let save = |number: u32| {
        let rule = Rule {
            app: "org.a".into(),
            scope: Scope::Surface,
            agent: format!("program {number}"),
            name: format!("agent {number}"),
            program: None,
            content: None,
            evidence: Vec::new(),
            allow: true,
            since: 1_767_225_600,
            until: None,
            last_used: None,
            uses: 0,
        };
        place.rules("org.a").save(&rule).unwrap();
        rule.id().as_str().to_owned()
    };
    let revoke = |beginning: &str| {
        let (ok, said) = place.run(&["consent", "--revoke", beginning]);
        assert!(!ok, "{said}");
        said
    };
    // No beginning at all is that of none, also where there is only one.
    let first = save(0);
    for unknown in ["", "no such", &format!("{first}0")] {
        assert_eq!(
            revoke(unknown),
            format!(
                "agent-surface: no rule is called \"{unknown}\"; without --revoke they are listed\n"
            )
        );
    }
    // Sixteen digits, and so two at least of seventeen begin with the same one.
    let mut ids = vec![first];
    ids.extend((1..17).map(save));
    let digit = |id: &&String| ids.iter().filter(|it| it[..1] == id[..1]).count() > 1;
    let digit = &ids.iter().find(digit).unwrap()[..1];
    let said = revoke(digit);
    assert!(
        said.starts_with(&format!(
            "agent-surface: several rules begin with \"{digit}\", say which:\n"
        )),
        "{said}"
    );
    for (number, id) in ids.iter().enumerate() {
        let line = format!("  {id}  \"agent {number}\" in org.a");
        let is_told = said.lines().any(|it| it == line);
        assert_eq!(is_told, id.starts_with(digit), "{line}\n{said}");
    }
    assert_eq!(place.rules("org.a").load().rules.len(), ids.len());
    // As it is told there it is one.
    let (ok, said) = place.run(&["consent", "--revoke", &ids[0]]);
    assert!(ok, "{said}");
    assert_eq!(place.rules("org.a").load().rules.len(), ids.len() - 1);
}

pub(crate) fn rule_13_a_spoilt_rule_is_told_of_and_lets_nobody_in() {
    let place = Place::new();
    let mut app = place.app("org.a", "asking");
    let agent = let_in(&place, &mut app, "caller", "always");
    drop(agent);
    app.quit();
    let rule = rule_of(&place, "caller").unwrap();
    let file = format!("{}.json", rule.id().as_str());
    let file = place.rules("org.a").folder().join(file);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() / 2]).unwrap();

    let (ok, said) = place.run(&["consent"]);
    assert!(ok, "{said}");
    let path = file.display();
    let told = format!("agent-surface: \"{path}\" counts for nothing: it is not a JSON object\n");
    assert!(said.contains(&told), "{said}");
    assert!(
        said.contains("nothing is saved about any agent; what ends with an app is shown there\n"),
        "{said}"
    );
    let revoke = ["consent", "--revoke", &listed_as(&rule)];
    assert!(!place.run(&revoke).0, "it is none any more");

    let mut app = place.app("org.a", "asking");
    let mut agent = place.agent("caller", &app);
    assert_eq!(outcome(&agent.client.click("save")), "consent_pending");
    assert_eq!((app.ask("asked"), app.quit()), ("1".to_owned(), 0));
}
