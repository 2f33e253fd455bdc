//! `agent-inspector`: the window. Mostly started by `agent-surface inspect`.

use std::{path::PathBuf, process::ExitCode};

use agent_inspector::{Inspector, Watch, Which, serve};
use agent_surface::{AuthGate, Decision, Surface};
use eframe::egui::{Ui, ViewportBuilder};
use lexopt::{Arg, Parser, ValueExt as _};

const USAGE: &str = "\
usage: agent-inspector [APP] [--at SOCKET] [--let-agents-in]

  APP              the app's id, as `agent-surface apps` lists it
  --at SOCKET      the app that serves at this path
  --let-agents-in  agents may operate the inspector's own window";

struct Options {
    which: Which,
    open: bool,
}

fn main() -> ExitCode {
    let options = match read(Parser::from_env()) {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            eprintln!("agent-inspector: {why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("agent-inspector: {}", no_window(&why));
            ExitCode::FAILURE
        }
    }
}

/// Why there is no window, in words for whoever started this.
fn no_window(why: &eframe::Error) -> String {
    match why {
        eframe::Error::WinitEventLoop(why) => format!(
            "there is no display that a window could be opened on; DISPLAY names one that runs \
             ({why})"
        ),
        why => why.to_string(),
    }
}

fn read(mut parser: Parser) -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options {
        which: Which::Called(None),
        open: false,
    };
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            Arg::Long("let-agents-in") => options.open = true,
            Arg::Long("at") => options.which = Which::At(PathBuf::from(parser.value()?)),
            Arg::Value(id) if options.which == Which::Called(None) => {
                options.which = Which::Called(Some(id.string()?));
            }
            odd => return Err(odd.unexpected()),
        }
    }
    Ok(Some(options))
}

/// The window, and its own surface as long as that is open.
struct Window {
    inspector: Inspector,
    _surface: Option<Surface>,
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.inspector.ui(ui);
    }
}

fn run(options: Options) -> Result<(), eframe::Error> {
    let native = eframe::NativeOptions {
        viewport: ViewportBuilder::default().with_inner_size([1_280.0, 800.0]),
        ..Default::default()
    };
    let create: eframe::AppCreator<'_> = Box::new(move |cc| {
        let wake = cc.egui_ctx.clone();
        let watch = Watch::start(options.which, move || wake.request_repaint())?;
        let surface = match options.open {
            true => {
                let gate = AuthGate::serve(|_| Decision::Allow);
                let surface = serve(&cc.egui_ctx, gate)?;
                if let Some(address) = surface.address() {
                    println!("Serving at {}", address.display());
                }
                Some(surface)
            }
            false => None,
        };
        Ok(Box::new(Window {
            inspector: Inspector::new(watch),
            _surface: surface,
        }))
    });
    eframe::run_native("Inspector", native, create)
}
