use std::{collections::HashMap, path::PathBuf};

use agent_surface::{
    EventVerb, Limits, Surface, Tag,
    egui::{AgentResponse as _, AgentUi as _, AgentWidget as _},
};
use agent_test_support::{Client, Random, TempDir, allow, folder};
use egui::{Id, TextEdit, Ui};

use super::{Change, Kind, LEAKS, Leak, Plan, Shown, UNEXPOSED, World, converse};
use crate::windowless::Windowless;

/// What one world draws.
struct Drawn {
    shown: Vec<Shown>,
    /// What is not exposed is drawn as the dice from here on say.
    seed: u64,
    dice: Random,
    secrets: HashMap<String, String>,
    status: String,
    clicks: usize,
}

struct EguiWorld {
    client: Client,
    surface: Surface,
    app: Windowless<Drawn>,
    dice: Random,
}

fn draw(ui: &mut Ui, world: &mut Drawn) {
    ui.agent_window("main");
    let mut noise = Random(world.seed);
    let clicks = world.clicks;
    let mut shown = std::mem::take(&mut world.shown);
    level(ui, &mut shown, world, &mut noise);
    world.shown = shown;
    ui.label(&world.status).agent_id("status");
    if world.clicks > clicks {
        // A handler ran: everything that is not exposed is another one in the next pass.
        world.seed = world.dice.next();
        world.status = format!("clicked {}", world.clicks);
    }
}

fn level(ui: &mut Ui, level: &mut [Shown], world: &mut Drawn, noise: &mut Random) {
    for shown in level {
        scatter(ui, noise, 0);
        match noise.below(6) {
            // More or less around it.
            0 => drop(ui.scope(|ui| one(ui, shown, world, noise))),
            1 => drop(ui.horizontal(|ui| {
                ui.label("beside it");
                one(ui, shown, world, noise);
            })),
            2 => drop(ui.agent_tagged(Tag::new().exposed(false), |ui| {
                ui.label("above it");
                one(ui, shown, world, noise);
            })),
            3 => drop(ui.agent_group(
                "u1",
                |tag| tag.exposed(false),
                |ui| one(ui, shown, world, noise),
            )),
            _ => one(ui, shown, world, noise),
        }
    }
    scatter(ui, noise, 0);
}

/// Things that are not exposed, as many and such as the dice say.
fn scatter(ui: &mut Ui, noise: &mut Random, depth: usize) {
    for _ in 0..noise.below(3 - depth) {
        let mut text = noise.below(300).to_string();
        // Often the id of something exposed: only exposed nodes claim one.
        let id = match noise.below(2) {
            0 => (*noise.one_of(UNEXPOSED)).to_owned(),
            _ => format!("n{}", noise.below(8)),
        };
        match noise.below(11) {
            0 => drop(ui.label(text)),
            1 => drop(ui.button(text)),
            2 => drop(ui.text_edit_singleline(&mut text)),
            3 => drop(ui.checkbox(&mut noise.once_in(2), text)),
            4 => drop(ui.add(egui::Button::new(text).agent(Tag::id(id).exposed(false)))),
            5 => drop(ui.add(TextEdit::singleline(&mut text).agent(Tag::id(id).exposed(false)))),
            6 => drop(ui.agent(Tag::id(id).excluded(), |ui| ui.label(text))),
            7 => drop(ui.agent_tagged(Tag::new().excluded(), |ui| {
                ui.button(text).agent_id(id.clone());
                ui.agent_group(
                    id,
                    |tag| tag,
                    |ui| {
                        ui.agent(Tag::key("row 3"), |ui| ui.label("x"));
                    },
                );
            })),
            8 => drop(ui.add_enabled(false, egui::Button::new(text))),
            9 => drop(ui.add_visible(false, egui::Button::new(text))),
            _ if depth < 2 => drop(ui.group(|ui| scatter(ui, noise, depth + 1))),
            _ => {}
        }
    }
}

fn one(ui: &mut Ui, shown: &mut Shown, world: &mut Drawn, noise: &mut Random) {
    let tag = match shown.kind {
        Kind::Row => Tag::key(shown.id.clone()),
        _ => Tag::id(shown.id.clone()),
    };
    let tag = if shown.observe { tag.ceiling([]) } else { tag };
    let (enabled, visible) = (shown.enabled, shown.visible);
    // The same in both worlds, and exposed to nobody.
    ui.scope(|ui| {
        if !enabled {
            ui.disable();
        }
        if !visible {
            ui.set_invisible();
        }
        widget(ui, tag, shown, world, noise);
    });
}

fn widget(ui: &mut Ui, tag: Tag, shown: &mut Shown, world: &mut Drawn, noise: &mut Random) {
    match shown.kind {
        Kind::Button => {
            let text = shown.text.clone();
            let button = match shown.spelling {
                0 => ui.add(egui::Button::new(text).agent(tag)),
                1 => ui.agent(tag, |ui| ui.button(text)),
                _ if shown.observe => ui.agent(tag, |ui| ui.button(text)),
                _ => ui.button(text).agent_id(shown.id.clone()),
            };
            if button.clicked() {
                world.clicks += 1;
            }
        }
        Kind::Field => {
            // The focus is egui's, and goes by its own ids: a field that can have it keeps its.
            let field = TextEdit::singleline(&mut shown.text).id(Id::unique(&shown.id));
            if shown.labelled {
                let secret = ui.agent_tagged(Tag::new().secret(), |ui| {
                    ui.label(noise.below(300).to_string()).id
                });
                let named = ui.label("Its name").id;
                ui.add(field.agent(tag))
                    .labelled_by(secret.inner)
                    .labelled_by(named);
            } else if shown.spelling == 0 {
                ui.agent(tag, |ui| ui.add(field));
            } else {
                ui.add(field.agent(tag));
            }
        }
        Kind::Secret => {
            let tag = if shown.spelling > 0 {
                tag.secret()
            } else {
                tag
            };
            let text = world.secrets.entry(shown.id.clone()).or_default();
            let field = TextEdit::singleline(text).id(Id::unique(&shown.id));
            ui.add(field.password(shown.spelling == 0).agent(tag));
        }
        Kind::Check => {
            let text = shown.text.clone();
            let checked = &mut shown.checked;
            match shown.spelling {
                0 => drop(ui.add(egui::Checkbox::new(checked, text).agent(tag))),
                _ => drop(ui.agent(tag, |ui| ui.checkbox(checked, text))),
            }
        }
        Kind::Label => match shown.spelling {
            0 => drop(ui.add(egui::Label::new(&shown.text).agent(tag))),
            1 => drop(ui.agent(tag, |ui| ui.label(&shown.text))),
            _ => drop(ui.label(&shown.text).agent_id(shown.id.clone())),
        },
        Kind::Group | Kind::List | Kind::Row => {
            let tag = match shown.kind {
                Kind::List => tag.role(agent_surface::Role::List),
                _ => tag.label(shown.text.clone()),
            };
            ui.agent_tagged(tag, |ui| level(ui, &mut shown.inside, world, noise));
        }
    }
}

impl EguiWorld {
    /// An app that draws nothing yet: what it has laid out once it need not lay out again for
    /// the next conversation.
    fn new(path: PathBuf) -> Self {
        let world = Drawn {
            shown: Vec::new(),
            seed: 0,
            dice: Random(0),
            secrets: HashMap::new(),
            status: String::new(),
            clicks: 0,
        };
        let app = Windowless::start(world, draw);
        let surface = Surface::builder("org.example.world")
            .gate(allow())
            .egui(&app.ctx)
            .limits(Limits {
                actions: None,
                ..Limits::default()
            })
            .at(path)
            .serve()
            .unwrap();
        let client = Client::connect(surface.address().unwrap());
        Self {
            client,
            surface,
            app,
            dice: Random(0),
        }
    }

    /// Another app under the same roof. `false`: there is nothing to leak in it.
    fn begin(&mut self, plan: &Plan, seed: u64, leak: Leak) -> bool {
        let mut shown = plan.shown.clone();
        if !leak.put_into(&mut shown) {
            return false;
        }
        self.dice = Random(seed ^ 1);
        self.app.change(move |world| {
            let mut dice = Random(seed);
            *world = Drawn {
                shown,
                seed: dice.next(),
                dice,
                secrets: HashMap::new(),
                status: "nothing".into(),
                clicks: 0,
            };
        });
        true
    }
}

fn find<'a>(level: &'a mut [Shown], id: &str) -> Option<&'a mut Shown> {
    level.iter_mut().find_map(|shown| {
        if shown.id == id {
            Some(shown)
        } else {
            find(&mut shown.inside, id)
        }
    })
}

impl World for EguiWorld {
    fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    fn change(&mut self, change: &Change) {
        let change = change.clone();
        self.app.change_undrawn(move |world| match change {
            Change::Text(id, text) => find(&mut world.shown, &id).unwrap().text = text,
            Change::Enabled(id) => find(&mut world.shown, &id).unwrap().enabled ^= true,
            Change::Visible(id) => find(&mut world.shown, &id).unwrap().visible ^= true,
            Change::Checked(id) => find(&mut world.shown, &id).unwrap().checked ^= true,
            Change::Secrets => {
                let dice = &mut world.dice;
                for secret in world.secrets.values_mut() {
                    *secret = dice.next().to_string();
                    let length = 1 + dice.below(10);
                    secret.truncate(length);
                }
            }
        });
    }

    fn stir(&mut self) {
        let stir = |world: &mut Drawn| world.seed = world.dice.next();
        // Most often the frame that serves the next request is the first to draw it.
        if self.dice.once_in(3) {
            self.app.change(stir);
        } else {
            self.app.change_undrawn(stir);
        }
        for _ in 0..self.dice.below(3) {
            let id: &&str = self.dice.one_of(UNEXPOSED);
            self.surface.emit(id, EventVerb::Changed);
        }
    }
}

/// A pair of worlds, for one conversation after the other.
struct Pair {
    one: EguiWorld,
    other: EguiWorld,
    _folder: TempDir,
}

impl Pair {
    fn new() -> Self {
        let folder = folder();
        Self {
            one: EguiWorld::new(folder.path().join("a")),
            other: EguiWorld::new(folder.path().join("b")),
            _folder: folder,
        }
    }

    fn check(&mut self, seed: u64, leak: Leak) -> Option<Result<usize, String>> {
        let plan = Plan::new(&mut Random(seed));
        let began = self.one.begin(&plan, seed ^ 0xA, Leak::None)
            && self.other.begin(&plan, seed ^ 0xB00, leak);
        // The focus is egui's, and goes with automatic ids: that it is lost when they shift is
        // no doing of ours.
        began.then(|| converse(seed, &plan, false, &mut self.one, &mut self.other))
    }
}

fn conversations(seeds: std::ops::Range<u64>) {
    let mut pair = Pair::new();
    for seed in seeds {
        if let Some(Err(difference)) = pair.check(seed, Leak::None) {
            panic!("{difference}");
        }
    }
}

#[test]
fn rule_1_replies_are_byte_identical_on_egui() {
    conversations(0..200);
}

#[test]
#[ignore = "takes minutes: for the night"]
fn rule_1_replies_are_byte_identical_on_egui_at_length() {
    conversations(1_000_000..1_010_000);
}

#[test]
fn a_difference_that_is_exposed_is_found_on_egui() {
    for leak in LEAKS {
        let mut pair = Pair::new();
        let found = (0..12).find_map(|seed| pair.check(seed, leak).filter(Result::is_err));
        assert!(found.is_some(), "{leak:?} is not found");
    }
}
