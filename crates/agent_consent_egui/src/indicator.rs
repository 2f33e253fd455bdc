//! Who is connected, who acts, and how to stop it.

use agent_consent::Consent;
use egui::{
    Button, KeyboardShortcut, Sense, Ui,
    accesskit::{Live, Role},
    vec2,
};

use crate::{
    agents::{ACTING_FOR, Recent, name},
    texts::Texts,
    ui::Wish,
};

/// Draws it, and says what the user wants.
pub(crate) fn draw(
    ui: &mut Ui,
    consent: &Consent,
    recent: &Recent,
    texts: &Texts,
    stop_all: Option<KeyboardShortcut>,
) -> Option<Wish> {
    let now = ui.input(|input| input.time);
    let connected = consent.connected();
    let stopped = consent.is_stopped();
    let acts = |connection: u64| recent.acts(connection, now);
    let acting = connected
        .iter()
        .find(|it| it.acting || acts(it.who.connection));
    let says = match (stopped, acting, connected.as_slice()) {
        (true, ..) => texts.stopped.clone(),
        (_, Some(one), _) => Texts::fill(&texts.acting, "agent", &name(&one.who, texts)),
        (_, None, []) => texts.nobody.clone(),
        (_, None, [one]) if one.admitted.is_empty() => {
            Texts::fill(&texts.asking, "agent", &name(&one.who, texts))
        }
        (_, None, [one]) => Texts::fill(&texts.one, "agent", &name(&one.who, texts)),
        (_, None, all) => Texts::fill(&texts.several, "count", &all.len().to_string()),
    };
    if acting.is_some() {
        ui.ctx().request_repaint_after_secs(ACTING_FOR as f32);
    }
    let mut wish = None;
    ui.horizontal(|ui| {
        let visuals = ui.visuals();
        let color = match (stopped, acting.is_some(), connected.is_empty()) {
            (true, ..) => visuals.error_fg_color,
            (_, true, _) => visuals.warn_fg_color,
            (_, _, false) => visuals.hyperlink_color,
            _ => visuals.weak_text_color(),
        };
        let (dot, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
        ui.painter().circle_filled(dot.center(), 4.0, color);
        if connected.is_empty() {
            let label = ui.label(&says);
            // A screen reader says what has changed, when it has nothing else to say.
            ui.ctx().accesskit_node_builder(label.id, |node| {
                node.set_role(Role::Status);
                node.set_live(Live::Polite);
                node.set_label(says.clone());
            });
        } else {
            let menu = ui.menu_button(&says, |ui| {
                for it in &connected {
                    let called = name(&it.who, texts);
                    ui.horizontal(|ui| {
                        if it.acting || acts(it.who.connection) {
                            ui.label(&texts.acting_now);
                        }
                        if ui
                            .button(Texts::fill(&texts.stop, "agent", &called))
                            .clicked()
                        {
                            wish = Some(Wish::Stop(it.who.connection));
                        }
                    });
                }
            });
            ui.ctx()
                .accesskit_node_builder(menu.response.id, |node| node.set_live(Live::Polite));
        }
        if stopped {
            // Not where it would do nothing: the app's mode itself lets nobody in.
            if consent.can_resume() && ui.button(&texts.go_on).clicked() {
                wish = Some(Wish::GoOn);
            }
        } else if !connected.is_empty() {
            let label = match stop_all {
                None => texts.stop_all.clone(),
                Some(keys) => {
                    let keys = ui.ctx().format_shortcut(&keys);
                    Texts::fill(&texts.stop_all_by, "shortcut", &keys)
                }
            };
            if ui.add(Button::new(label)).clicked() {
                wish = Some(Wish::StopAll);
            }
        }
    });
    wish
}
