//! What an agent surface costs: the user interfaces that are measured, and how.

pub mod egui_app;
