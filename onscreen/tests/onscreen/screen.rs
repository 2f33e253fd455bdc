//! The display: its pointer, its windows, its pixels.

use agent_test_support::eventually;
use x11rb::{
    connection::Connection as _,
    protocol::{
        xproto::{
            self, AtomEnum, ConnectionExt as _, ImageFormat, MapState, PropMode, Window as XWindow,
        },
        xtest::ConnectionExt as _,
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use crate::image::Image;

/// The left button.
const BUTTON: u8 = 1;

/// The display of these tests: never that of the person who starts them.
pub(crate) fn display() -> String {
    std::env::var("ONSCREEN_DISPLAY").expect("run by `cargo xtask test`, which starts a display")
}

pub(crate) struct Screen {
    server: RustConnection,
    root: XWindow,
}

/// A window of somebody's, in pixels of the screen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) id: XWindow,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: u16,
    pub(crate) height: u16,
}

impl Screen {
    pub(crate) fn open() -> Self {
        let (server, screen) = RustConnection::connect(Some(&display())).unwrap();
        let root = server.setup().roots[screen].root;
        let screen = Self { server, root };
        // Out of everybody's way, wherever the test before left it.
        screen.fake(xproto::MOTION_NOTIFY_EVENT, 0, 1_279.0, 799.0);
        screen
    }

    fn fake(&self, kind: u8, detail: u8, x: f64, y: f64) {
        let (x, y) = (x.round() as i16, y.round() as i16);
        let sent = self
            .server
            .xtest_fake_input(kind, detail, 0, self.root, x, y, 0);
        sent.unwrap().check().unwrap();
    }

    /// Moves the pointer to a pixel.
    pub(crate) fn point(&self, (x, y): (f64, f64)) {
        self.fake(xproto::MOTION_NOTIFY_EVENT, 0, x, y);
    }

    /// Presses and releases the button where the pointer is.
    pub(crate) fn click(&self) {
        self.fake(xproto::BUTTON_PRESS_EVENT, BUTTON, 0.0, 0.0);
        self.fake(xproto::BUTTON_RELEASE_EVENT, BUTTON, 0.0, 0.0);
    }

    /// Whether a window of this title is to be seen now, and where.
    pub(crate) fn find(&self, title: &str) -> Option<Place> {
        let tree = self.server.query_tree(self.root).unwrap().reply().unwrap();
        tree.children.into_iter().find_map(|id| {
            // It may be gone at any moment.
            let seen = self.server.get_window_attributes(id).ok()?.reply().ok()?;
            let named = (seen.map_state == MapState::VIEWABLE).then(|| self.title(id))??;
            let size = self.server.get_geometry(id).ok()?.reply().ok()?;
            let place = (named == title).then_some(size)?;
            Some(Place {
                id,
                x: f64::from(place.x),
                y: f64::from(place.y),
                width: place.width,
                height: place.height,
            })
        })
    }

    fn title(&self, id: XWindow) -> Option<String> {
        let title =
            self.server
                .get_property(false, id, AtomEnum::WM_NAME, AtomEnum::ANY, 0, u32::MAX / 4);
        String::from_utf8(title.ok()?.reply().ok()?.value).ok()
    }

    /// Waits for a window of this title.
    pub(crate) fn window(&self, title: &str) -> Place {
        let mut found = None;
        eventually(&format!("a window {title:?}"), || {
            found = self.find(title);
            found.is_some()
        });
        found.unwrap()
    }

    /// What a window shows now, be it covered or not.
    pub(crate) fn shot(&self, place: Place) -> Image {
        let shot = self
            .server
            .get_image(
                ImageFormat::Z_PIXMAP,
                place.id,
                0,
                0,
                place.width,
                place.height,
                u32::MAX,
            )
            .unwrap()
            .reply()
            .unwrap();
        let pixels = shot.data.chunks_exact(4);
        Image {
            width: place.width.into(),
            height: place.height.into(),
            pixels: pixels.map(|bgrx| [bgrx[2], bgrx[1], bgrx[0]]).collect(),
        }
    }

    /// Does to a window what a window manager does that minimises it: there is none here.
    pub(crate) fn minimise(&self, place: Place) {
        let atom = |name: &str| {
            let atom = self.server.intern_atom(false, name.as_bytes());
            atom.unwrap().reply().unwrap().atom
        };
        let (state, hidden) = (atom("_NET_WM_STATE"), atom("_NET_WM_STATE_HIDDEN"));
        let server = &self.server;
        server
            .change_property32(
                PropMode::REPLACE,
                place.id,
                state,
                AtomEnum::ATOM,
                &[hidden],
            )
            .unwrap()
            .check()
            .unwrap();
        server.unmap_window(place.id).unwrap().check().unwrap();
    }
}
