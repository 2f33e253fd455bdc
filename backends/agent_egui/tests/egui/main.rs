//! The backend on a bare `egui::Context`: no window, the real plugin, the app's real passes.

mod acting;
mod describing;
mod driver;
mod reader;
