//! `peer_egui_mcp server`: the MCP server of `egui_mcp`, on stdio.
//! `peer_egui_mcp window OTHERS`: a window with 20 buttons and 10 fields that are exposed among this
//! many labels that are not. It lets `egui_mcp` in where `EGUI_INSPECTION` says, and us.

#![forbid(unsafe_code)]

use std::{error::Error, time::Duration};

use agent_surface::{
    AuthGate, Decision, Surface,
    egui::{AgentResponse as _, AgentUi as _, AgentWidget as _},
};
use eframe::egui::{CentralPanel, Grid, ScrollArea, TextEdit, Ui, ViewportBuilder};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["server"] => serve_peer(),
        ["window", others] => show_window(others.parse()?),
        _ => Err("say `server`, or `window` and how many other labels it shows".into()),
    }
}

/// As its own program does.
fn serve_peer() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(egui_mcp::server::run())
}

fn show_window(others: usize) -> Result<(), Box<dyn Error>> {
    let native = eframe::NativeOptions {
        viewport: ViewportBuilder::default().with_inner_size([800.0, 700.0]),
        ..Default::default()
    };
    let create: eframe::AppCreator<'_> = Box::new(move |cc| {
        if !egui_inspection::attach_from_env(&cc.egui_ctx, None)? {
            return Err("say in EGUI_INSPECTION where the peer is let in".into());
        }
        let surface = Surface::builder("org.example.thirty")
            .name("Form")
            .gate(AuthGate::serve(|_| Decision::Allow))
            .egui(&cc.egui_ctx)
            .serve()?;
        println!("serving");
        Ok(Box::new(Window {
            fields: Default::default(),
            others: (0..others)
                .map(|n| format!("row {n} of what no agent sees"))
                .collect(),
            _surface: surface,
        }))
    });
    eframe::run_native("Form", native, create)?;
    Ok(())
}

struct Window {
    fields: [String; 10],
    others: Vec<String>,
    _surface: Surface,
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        ui.agent_window(agent_surface::Tag::id("main").label("Form"));
        CentralPanel::default().show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                for n in 1..=20 {
                    ui.button(format!("Action {n:02}"))
                        .agent_id(format!("btn-{n:02}"));
                }
            });
            Grid::new("fields").num_columns(4).show(ui, |ui| {
                for (n, text) in (1..).zip(&mut self.fields) {
                    let label = ui.label(format!("Field {n:02}"));
                    let field = TextEdit::singleline(text).desired_width(150.0);
                    ui.add(field.agent_id(format!("field-{n:02}")))
                        .labelled_by(label.id);
                    if n % 2 == 0 {
                        ui.end_row();
                    }
                }
            });
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                for text in &self.others {
                    ui.label(text);
                }
            });
        });
        // The peer's requests don't wake a window that has nothing to draw.
        ui.ctx().request_repaint_after(Duration::from_millis(50));
    }
}
