//! Conversations with a server of the tests' own, which does what no server should.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    time::Duration,
};

use crate::{
    case::{Case, Consent, parse},
    control::{Ask, Control, Counters},
    door::Door,
    fixture::Options,
};

use super::{Failure, play};

/// A case of these steps, which keeps `tulip-é` secret.
fn case(steps: &str) -> Case {
    let text = format!(
        r#"{{"name":"n","from":"f","ui":{{"windows":[{{"id":"main","children":[
            {{"kind":"button","id":"ok","text":"Ok","on_click":[{{"count":"pressed"}}]}}]}}]}},
            "steps":{steps},"never_on_the_wire":["tulip-é"]}}"#
    );
    parse(Path::new("wire/a.case.json"), &text).unwrap()
}

/// Plays it against a server that answers each line with what `answer` makes of its id.
fn played(
    steps: &str,
    answer: impl Fn(&str) -> String + Send + Sync + 'static,
) -> Result<(), Box<Failure>> {
    let place = tempfile::tempdir().unwrap();
    let address = place.path().join("socket");
    let listener = UnixListener::bind(&address).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let _ = serve(stream, &answer);
        }
    });
    let door = Door::new(
        "org.example.case",
        &place.path().join("rules"),
        Consent::Allow,
    );
    let patience = Duration::from_secs(10);
    let (control, asked) = Control::new(|| (), || (), door, Counters::default(), patience);
    std::thread::spawn(move || {
        for asked in asked {
            let result = match &asked.ask {
                Ask::Effects(_) => Err("there is no node \"ok\" now".to_owned()),
                _ => Ok("window [main]".to_owned()),
            };
            asked.done(result);
        }
    });
    let options = Options {
        step: patience,
        ..Options::default()
    };
    play(&case(steps), &address, &control, &options)
}

fn serve(stream: UnixStream, answer: &dyn Fn(&str) -> String) -> std::io::Result<()> {
    let mut to = stream.try_clone()?;
    for line in BufReader::new(stream).lines() {
        let value: serde_json::Value = serde_json::from_str(&line?).unwrap_or_default();
        to.write_all(answer(&value["id"].to_string()).as_bytes())?;
    }
    Ok(())
}

fn reply(id: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"outcome\":\"allowed\"}}}}\n")
}

const CLICK: &str =
    r#"{"send":{"method":"click","params":{"id":"ok"}},"expect":{"result":{"outcome":"allowed"}}}"#;

#[test]
fn what_is_as_expected_passes() {
    played(&format!("[{CLICK},{CLICK}]"), reply).unwrap();
}

#[test]
fn each_way_to_fail_is_told_as_what_it_is() {
    type Server = fn(&str) -> String;
    let rows: &[(&str, Server, &str, &str)] = &[
        (
            r#"[{"send":{"method":"click","params":{"id":"ok"}},"expect":{"result":{"outcome":"not_found"}}}]"#,
            reply,
            "steps[0]",
            "at result.outcome\n  expected \"not_found\"\n  received \"allowed\"",
        ),
        (
            CLICK,
            |id| reply(id) + &reply(id),
            "",
            "a reply came that no step asked for",
        ),
        (
            CLICK,
            |id| reply(id) + &reply("null"),
            "",
            "a reply came that no step asked for",
        ),
        (
            CLICK,
            |_| String::new(),
            "steps[0]",
            "received nothing within 10s",
        ),
        (
            CLICK,
            |_| "not json\n".into(),
            "steps[0]",
            "a line that is not JSON",
        ),
        (
            CLICK,
            |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":1,\"result\":2}}\n"),
            "steps[0]",
            "a line that is not JSON",
        ),
        (
            CLICK,
            |id| format!("{{\"id\":{id},\"result\":1}}\n"),
            "steps[0]",
            "neither a reply nor a notification",
        ),
        (
            CLICK,
            |id| reply(id).replace("allowed", "allowed tulip-\\u00E9"),
            "steps[0]",
            "\"tulip-é\" is never to be on the wire",
        ),
        (
            r#"{"raw":"x"}"#,
            |_| reply("null"),
            "",
            "a reply came that no step asked for",
        ),
        (
            r#"[{"raw":"x"},{"expect_quiet_ms":100}]"#,
            |_| {
                r#"{"jsonrpc":"2.0","method":"event","params":{"source":"ok","verb":"clicked"}}"#
                    .to_owned()
                    + "\n"
            },
            "steps[1]",
            "expected no event for 100 ms",
        ),
        (
            r#"[{"raw":"x"},{"expect_event":{"source":"ok","verb":"toggled"}}]"#,
            |_| {
                r#"{"jsonrpc":"2.0","method":"event","params":{"source":"ok","verb":"clicked"}}"#
                    .to_owned()
                    + "\n"
            },
            "steps[1]",
            "passed over [{\"source\":\"ok\",\"verb\":\"clicked\"}]",
        ),
        (
            r#"[{"app":{"counter":{"pressed":1}}}]"#,
            reply,
            "steps[0]",
            "the counter \"pressed\"\nexpected 1\nreceived 0",
        ),
        (
            r#"[{"app":{"effects":[{"remove":{"node":"ok"}}]}}]"#,
            reply,
            "steps[0]",
            "there is no node \"ok\" now",
        ),
        (
            r#"[{"repeat":3,"steps":[{"expect_closed":"a"}]}]"#,
            reply,
            "steps[0].steps[0] (round 1 of 3)",
            "expected the server to end the connection",
        ),
    ];
    // All at a time: some wait for what never comes.
    std::thread::scope(|all| {
        for (steps, server, step, why) in rows {
            all.spawn(move || fails(steps, *server, step, why));
        }
    });
}

/// That these steps fail, at this one, for this reason.
fn fails(steps: &str, server: fn(&str) -> String, step: &str, why: &str) {
    let steps = if steps.starts_with('[') {
        steps.to_owned()
    } else {
        format!("[{steps}]")
    };
    let failure = match played(&steps, server) {
        Err(failure) => failure,
        Ok(()) => panic!("passed: {steps}, which should say {why}"),
    };
    assert!(failure.why.contains(why), "{steps}: {failure}");
    // A line too many may be seen in its own step, or after it.
    assert!(step.is_empty() || failure.step == step, "{failure}");
    assert!(
        failure
            .to_string()
            .contains("the whole tree:\n    window [main]")
    );
}
