//! `cargo run -p egui_agent`: the app, and an agent in a second process that operates it.
//!
//! Runs in a window where there is a display, and without one where there is none: the same
//! user interface, the same plugin.

mod app;
mod client;

use std::{
    error::Error,
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use agent_surface::{AuthGate, Decision, Surface};
use app::Orders;
use eframe::egui::{self, ViewportBuilder, ViewportCommand, ViewportId};

type Done<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["--client", address, ..] => client::converse(Path::new(address), args.contains(&"--full")),
        _ if args.iter().all(|arg| ["--serve", "--full"].contains(arg)) => run(Demo {
            serve: args.contains(&"--serve"),
            full: args.contains(&"--full"),
        }),
        _ => Err("usage: egui_agent [--serve] [--full]\n  --serve  keep the app up, and print how to talk to it\n  --full   let agents see the whole tree too, to compare".into()),
    };
    done.map_or_else(
        |error| {
            eprintln!("{error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

struct Demo {
    serve: bool,
    full: bool,
}

impl Demo {
    /// Serves the app. Its gate is a door that it can shut.
    fn serve(self, ctx: &egui::Context) -> Done<Surface> {
        let open = Arc::new(AtomicBool::new(true));
        let door = open.clone();
        let gate = AuthGate::serve(move |_request| match door.load(Ordering::Relaxed) {
            true => Decision::Allow,
            false => Decision::deny("the door is shut"),
        });
        let surface = Surface::builder("org.example.orders").name("Orders").gate(gate).egui(ctx);
        let surface = if self.full { surface.arm_full() } else { surface }.serve()?;
        let address = surface.address().ok_or("the surface has no address")?.to_owned();
        if self.serve {
            println!("Serving at {0}\nTry:\n  echo '{1}' | socat -t2 - UNIX-CONNECT:{0}", address.display(), client::EXAMPLE);
        } else {
            let ctx = ctx.clone();
            std::thread::spawn(move || {
                println!("== An agent connects ==");
                client::in_a_process_of_its_own(&address, self.full);
                open.store(false, Ordering::Relaxed);
                println!("\n== The app shuts its door ==");
                client::in_a_process_of_its_own(&address, self.full);
                ctx.send_viewport_cmd_to(ViewportId::ROOT, ViewportCommand::Close);
                ctx.request_repaint();
            });
        }
        Ok(surface)
    }
}

/// The app's window, and its surface as long as that is open.
struct Window(Orders, #[expect(dead_code, reason = "serves until it is dropped")] Surface);

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.0.ui(ui);
    }
}

fn run(demo: Demo) -> Done {
    let display = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if display("DISPLAY") || display("WAYLAND_DISPLAY") {
        let viewport = ViewportBuilder::default().with_title("Orders").with_inner_size([420.0, 360.0]);
        let options = eframe::NativeOptions { viewport, ..Default::default() };
        eframe::run_native("Orders", options, Box::new(|cc| {
            let surface = demo.serve(&cc.egui_ctx).map_err(|error| error.to_string())?;
            Ok(Box::new(Window(Orders::default(), surface)))
        }))?;
    } else {
        println!("(no display: the same app, without a window)");
        let ctx = egui::Context::default();
        let _surface = demo.serve(&ctx)?;
        let mut orders = Orders::default();
        agent_surface::egui::run_windowless(&ctx, "Orders", egui::vec2(420.0, 360.0), |ui| orders.ui(ui));
    }
    Ok(())
}
