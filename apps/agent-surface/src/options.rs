//! The command line.

use lexopt::{Arg, Parser, ValueExt as _};

pub(crate) const USAGE: &str = "\
usage: agent-surface <command>

  apps                            the apps that let agents in, and the program behind each
  describe [APP]                  what an app shows to agents, as an outline
  consent [APP]                   whom the user lets into which app, or keeps out, and since when
    --revoke RULE                 forgets that answer, by the beginning of what stands before it
    --revoke-all                  forgets them all, of APP if that is given
  inspect [APP]                   opens the developer's view of an app that armed it
    --let-agents-in               agents may operate that window
  mcp [--app APP] [--read-only]   an MCP server on standard input and output, for that app or
                                  for all that run; MCP clients start it
  help, version                   this, and which version it is

APP is an app's id as `apps` lists it.";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Version,
    Apps,
    Consent {
        app: Option<String>,
        revoke: Option<Revoke>,
    },
    Describe {
        app: Option<String>,
    },
    Inspect {
        app: Option<String>,
        open: bool,
    },
    Mcp {
        app: Option<String>,
        read_only: bool,
    },
}

/// What is to be forgotten.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Revoke {
    /// The rule whose name begins so.
    One(String),
    /// Every rule.
    All,
}

pub(crate) fn read() -> Result<Command, String> {
    parse(Parser::from_env()).map_err(|error| error.to_string())
}

fn parse(mut parser: Parser) -> Result<Command, lexopt::Error> {
    let mut command = match parser.next()? {
        None | Some(Arg::Long("help") | Arg::Short('h')) => return Ok(Command::Help),
        Some(Arg::Long("version") | Arg::Short('V')) => return Ok(Command::Version),
        Some(Arg::Value(word)) => match word.string()?.as_str() {
            "help" => Command::Help,
            "version" => Command::Version,
            "apps" => Command::Apps,
            "consent" => Command::Consent {
                app: None,
                revoke: None,
            },
            "describe" => Command::Describe { app: None },
            "inspect" => Command::Inspect {
                app: None,
                open: false,
            },
            "mcp" => Command::Mcp {
                app: None,
                read_only: false,
            },
            other => return Err(format!("there is no command `{other}`").into()),
        },
        Some(odd) => return Err(odd.unexpected()),
    };
    while let Some(arg) = parser.next()? {
        match (&mut command, arg) {
            (_, Arg::Long("help") | Arg::Short('h')) => return Ok(Command::Help),
            (
                Command::Describe { app: app @ None }
                | Command::Inspect {
                    app: app @ None, ..
                }
                | Command::Consent {
                    app: app @ None, ..
                },
                Arg::Value(id),
            ) => *app = Some(id.string()?),
            (
                Command::Consent {
                    revoke: revoke @ None,
                    ..
                },
                Arg::Long("revoke"),
            ) => *revoke = Some(Revoke::One(parser.value()?.string()?)),
            (
                Command::Consent {
                    revoke: revoke @ None,
                    ..
                },
                Arg::Long("revoke-all"),
            ) => *revoke = Some(Revoke::All),
            (
                Command::Mcp {
                    app: app @ None, ..
                },
                Arg::Long("app"),
            ) => {
                *app = Some(parser.value()?.string()?);
            }
            (Command::Mcp { read_only, .. }, Arg::Long("read-only")) => *read_only = true,
            (Command::Inspect { open, .. }, Arg::Long("let-agents-in")) => *open = true,
            (_, odd) => return Err(odd.unexpected()),
        }
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_read() {
        let check = |line: &str, expected: Option<Command>| {
            let words = line.split_ascii_whitespace();
            let read = parse(Parser::from_args(words));
            assert_eq!(read.ok(), expected, "{line}");
        };
        let app = || Some("org.example.a".to_owned());
        check("", Some(Command::Help));
        check("--help", Some(Command::Help));
        check("mcp --help", Some(Command::Help));
        check("apps", Some(Command::Apps));
        check("apps x", None);
        check("describe", Some(Command::Describe { app: None }));
        check(
            "describe org.example.a",
            Some(Command::Describe { app: app() }),
        );
        check("describe a b", None);
        let consent = |revoke| Some(Command::Consent { app: app(), revoke });
        check("consent org.example.a", consent(None));
        check(
            "consent --revoke 3fa9 org.example.a",
            consent(Some(Revoke::One("3fa9".to_owned()))),
        );
        check(
            "consent org.example.a --revoke-all",
            consent(Some(Revoke::All)),
        );
        check("consent --revoke-all --revoke 3fa9", None);
        check("consent --revoke", None);
        let inspect = |app, open| Some(Command::Inspect { app, open });
        check("inspect", inspect(None, false));
        check("inspect org.example.a", inspect(app(), false));
        check(
            "inspect --let-agents-in org.example.a",
            inspect(app(), true),
        );
        check("inspect a b", None);
        check("describe --let-agents-in", None);
        check(
            "mcp",
            Some(Command::Mcp {
                app: None,
                read_only: false,
            }),
        );
        check(
            "mcp --read-only --app org.example.a",
            Some(Command::Mcp {
                app: app(),
                read_only: true,
            }),
        );
        check("mcp --app", None);
        check("mcp --app a --app b", None);
        check("mcp --frobnicate", None);
        check("frobnicate", None);
    }
}
