//! Pictures of a window for inspectors. A host takes one of a frame to come, and what must not be
//! seen may be anywhere in that: a picture counts only if every frame since it was asked for was
//! looked at, as the pass drew it that was shown. Else another one is taken.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use agent_inspect::{Hide, Job, Look, Looker, No, Picture, Told};
use egui::{ColorImage, Context, ScreenshotCallback, ViewportCommand, ViewportId};

use crate::{
    scene::{Key, Scene},
    state::lock,
};

/// A picture that is being taken.
pub(crate) struct Taking {
    job: Option<Job>,
    viewport: ViewportId,
    window: Key,
    /// Of this node alone.
    node: Option<Key>,
    hide: Hide,
    /// How the frames looked that the picture may be of.
    looks: Vec<Look>,
    scale: f64,
    asked: Asked,
    /// When the host was asked, and how many frames it has drawn since.
    waits: (Instant, usize),
}

/// A host that takes a picture takes it of the next frame or the one after; some say never that they
/// don't. After so many frames, and so long, there will be none.
const MOST_FRAMES: usize = 20;
const AT_LEAST: Duration = Duration::from_secs(2);

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// The host is to be asked, at the end of a frame.
    NotYet,
    /// It was, and each frame since then was looked at.
    Sure,
    /// It was, and a frame since then was not.
    Unsure,
}

/// The pictures that are being taken.
#[derive(Default)]
pub(crate) struct Pictures(Vec<Arc<Mutex<Taking>>>);

impl Pictures {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes one of this window, or of a node in it.
    pub(crate) fn take(
        &mut self,
        (viewport, window): (ViewportId, Key),
        node: Option<Key>,
        hide: Hide,
        job: Job,
    ) {
        self.0.push(Arc::new(Mutex::new(Taking {
            job: Some(job),
            viewport,
            window,
            node,
            hide,
            looks: Vec::new(),
            scale: 1.0,
            asked: Asked::NotYet,
            waits: (Instant::now(), 0),
        })));
    }

    /// Whether a frame of this window may be the one.
    pub(crate) fn may_be_of(&self, viewport: ViewportId) -> bool {
        self.0.iter().any(|it| {
            let taking = lock(it);
            taking.viewport == viewport && taking.asked != Asked::NotYet
        })
    }

    /// A frame of a window is over; `seen`: as its last pass drew it, if that was looked at.
    /// `rested`: the next frames can be.
    pub(crate) fn frame_over(
        &mut self,
        ctx: &Context,
        viewport: ViewportId,
        seen: Option<&Scene>,
        rested: bool,
    ) {
        let now = Instant::now();
        let mut look = None;
        self.0.retain(|it| {
            let mut taking = lock(it);
            taking.job = taking.job.take().and_then(|job| job.unless_late(now));
            if taking.job.is_none() {
                return false;
            }
            if taking.viewport != viewport {
                return true;
            }
            if taking.asked != Asked::NotYet && taking.is_over(now) {
                return false;
            }
            match (taking.asked, seen) {
                (Asked::NotYet, _) if rested => {
                    // What is asked for now is of a frame after this one.
                    taking.asked = Asked::Sure;
                    taking.waits = (now, 0);
                    drop(taking);
                    ask(ctx, viewport, it.clone());
                }
                (Asked::Sure, Some(scene)) => {
                    let look = look.get_or_insert_with(|| Looker::default().look(scene));
                    taking.saw(look, ctx);
                }
                (Asked::Sure, None) => taking.asked = Asked::Unsure,
                _ => {}
            }
            true
        });
    }
}

fn ask(ctx: &Context, viewport: ViewportId, taking: Arc<Mutex<Taking>>) {
    let shot = Shot(Some(taking));
    let take = ScreenshotCallback::new(move |image| shot.finish(&image));
    ctx.send_viewport_cmd_to(viewport, ViewportCommand::Screenshot(take));
}

/// What a host was asked for. If it is dropped, nothing is drawn anywhere.
struct Shot(Option<Arc<Mutex<Taking>>>);

impl Shot {
    fn finish(mut self, image: &ColorImage) {
        if let Some(taking) = self.0.take() {
            lock(&taking).finish(image);
        }
    }
}

impl Drop for Shot {
    fn drop(&mut self) {
        let taking = self.0.take();
        if let Some(job) = taking.and_then(|taking| lock(&taking).job.take()) {
            let why = "it is drawn nowhere, or its host takes no pictures";
            job.answer(Err(No::Unsupported(why)));
        }
    }
}

impl Taking {
    /// Another frame was drawn without a picture. Answers whether there will be none.
    fn is_over(&mut self, now: Instant) -> bool {
        let (since, frames) = &mut self.waits;
        *frames += 1;
        let is_over = *frames > MOST_FRAMES && now.duration_since(*since) > AT_LEAST;
        if is_over && let Some(job) = self.job.take() {
            let why = "its host takes no picture of this window";
            job.answer(Err(No::Unsupported(why)));
        }
        is_over
    }

    fn saw(&mut self, look: &Look, ctx: &Context) {
        let scale = ctx.input_for(self.viewport, |input| input.pixels_per_point());
        self.scale = f64::from(scale);
        if self.looks.last() != Some(look) {
            self.looks.push(look.clone());
        }
    }

    fn finish(&mut self, image: &ColorImage) {
        if self.asked == Asked::Unsure || self.looks.is_empty() {
            // Frames go on being drawn for it, and at the end of one the host is asked again.
            self.asked = Asked::NotYet;
            self.looks.clear();
            return;
        }
        let Some(job) = self.job.take() else {
            return;
        };
        let mut picture = Picture {
            width: image.width(),
            height: image.height(),
            pixels: image.pixels.iter().map(|pixel| pixel.to_array()).collect(),
            scale: self.scale,
            from: (0.0, 0.0),
        };
        for look in &self.looks {
            picture.black_out(look, self.window, self.hide);
        }
        let Some(node) = self.node else {
            return job.answer(Ok(Told::Picture(picture)));
        };
        // Where it was in the end.
        let looks = self.looks.last().into_iter();
        let mut nodes = looks.flat_map(|look| look.nodes.iter());
        job.answer(match nodes.find(|it| it.handle == node) {
            Some(node) => Ok(Told::Picture(match node.frame {
                Some(frame) => picture.crop(frame),
                None => picture,
            })),
            None => Err(No::NotFound),
        });
    }
}
