//! Words from outside made fit to be shown beside our own: they can neither hide, nor reorder
//! what stands around them, nor pass for something that the app says.

use std::fmt::Write as _;

use agent_core::cut;

/// Graphemes of a foreign word that are shown; the whole is there on request.
const SHOWN: usize = 80;

/// Graphemes of a foreign word that are kept at all.
const KEPT: usize = 2_000;

/// What the user reads, piece by piece, so that a toolkit can set foreign words apart from ours.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Text {
    /// In order.
    pub pieces: Vec<Piece>,
}

/// A piece of a [`Text`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// From the table of texts: the app's own words.
    Ours(String),
    /// A name, a path, a text that comes from outside. To be shown as a thing apart, such as in
    /// another typeface and in a layout of its own.
    Theirs(Theirs),
}

/// Foreign words, escaped: without anything that breaks a line, reorders or hides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theirs {
    /// What to show.
    pub short: String,
    /// All of it, where [`short`](Self::short) was cut: to be shown when the user asks for it.
    pub full: Option<String>,
}

impl Piece {
    /// Foreign words.
    pub(crate) fn theirs(words: &str) -> Self {
        Self::Theirs(Theirs::new(words))
    }
}

impl Theirs {
    /// These words, escaped and cut.
    pub fn new(words: &str) -> Self {
        Self::of(escape(&cut(words.to_owned(), KEPT).text))
    }

    /// A text, of which nothing is kept back: the user has to be able to see all of it.
    pub(crate) fn whole(text: &str) -> Self {
        Self::of(escape(text))
    }

    fn of(full: String) -> Self {
        let short = cut(full.clone(), SHOWN);
        Self {
            full: short.full_length.map(|_| full),
            short: short.text,
        }
    }
}

impl Text {
    /// The app's own words alone.
    pub fn ours(words: impl Into<String>) -> Self {
        Self {
            pieces: vec![Piece::Ours(words.into())],
        }
    }

    /// `template` with each `{name}` replaced by the piece of that name; braces that name
    /// nothing stay as they are.
    pub(crate) fn fill(template: &str, named: &[(&str, Piece)]) -> Self {
        let mut pieces = Vec::new();
        let mut rest = template;
        while let Some((at, name, piece)) = named
            .iter()
            .filter_map(|(name, piece)| Some((rest.find(&format!("{{{name}}}"))?, name, piece)))
            .min_by_key(|(at, ..)| *at)
        {
            let (before, after) = rest.split_at(at);
            if !before.is_empty() {
                pieces.push(Piece::Ours(before.to_owned()));
            }
            pieces.push(piece.clone());
            rest = after.get(name.len() + 2..).unwrap_or_default();
        }
        if !rest.is_empty() {
            pieces.push(Piece::Ours(rest.to_owned()));
        }
        Self { pieces }
    }

    /// As one line, foreign words between quotation marks that they can't end. Those with
    /// letters that run from right to left are isolated from what stands around them.
    pub fn plain(&self) -> String {
        self.line(|theirs| &theirs.short)
    }

    /// The same, with nothing cut.
    pub fn plain_full(&self) -> String {
        self.line(|theirs| theirs.full.as_ref().unwrap_or(&theirs.short))
    }

    fn line<'a>(&'a self, words: impl Fn(&'a Theirs) -> &'a String) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Ours(ours) => out.push_str(ours),
                Piece::Theirs(theirs) => {
                    let words = words(theirs);
                    if words.chars().any(runs_leftwards) {
                        let _ = write!(out, "“\u{2068}{words}\u{2069}”");
                    } else {
                        let _ = write!(out, "“{words}”");
                    }
                }
            }
        }
        out
    }
}

/// Without anything that breaks a line, reorders or hides.
pub(crate) fn escape(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if deceives(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Characters that break a line, reorder or hide text, look like nothing, or end our quotation.
fn deceives(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(
            c,
            '“' | '”' | '\u{2ba}' | '\u{2033}' | '\u{2036}' | '\u{275b}'..='\u{2760}'
                | '\u{301d}'..='\u{301f}' | '\u{ff02}' | '\u{1f676}'..='\u{1f678}' | '\u{201e}' | '\u{201f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'
                | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

fn runs_leftwards(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
            | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_words_stay_within_their_quotes() {
        let check = |words: &str, shown: &str| {
            let text = Text::fill("{name} asks", &[("name", Piece::theirs(words))]);
            assert_eq!(text.plain(), format!("{shown} asks"), "{words:?}");
        };
        check("claude", "“claude”");
        check("a\nAllowed by system", "“a\\nAllowed by system”");
        check("a” is allowed. “b", "“a\\u{201d} is allowed. \\u{201c}b”");
        check("\u{202e}edualc", "“\\u{202e}edualc”");
        check("cl\u{200b}aude", "“cl\\u{200b}aude”");
        check("a\u{2003}b\u{a0}c", "“a\\u{2003}b\\u{a0}c”");
        check("a❞b＂", "“a\\u{275e}b\\u{ff02}”");
        check("{name}", "“{name}”");
        check("شكرا", "“\u{2068}شكرا\u{2069}”");
    }

    #[test]
    fn long_words_are_cut_and_there_on_request() {
        let long = "x".repeat(100);
        let text = Text::fill("{path} asks", &[("path", Piece::theirs(&long))]);
        assert_eq!(text.plain(), format!("“{}…” asks", "x".repeat(80)));
        assert_eq!(text.plain_full(), format!("“{long}” asks"));
        let endless = "y".repeat(1_000_000);
        assert!(
            Theirs::new(&endless)
                .full
                .is_some_and(|full| full.len() < 3_000)
        );
        assert_eq!(Theirs::whole(&endless).full, Some(endless));
    }

    #[test]
    fn a_template_may_name_its_words_in_any_order_or_not_at_all() {
        let words = [("a", Piece::theirs("1")), ("b", Piece::theirs("{a}"))];
        let plain = |template| Text::fill(template, &words).plain();
        assert_eq!(plain("{b} then {a}"), "“{a}” then “1”");
        assert_eq!(plain("none {c}"), "none {c}");
        assert_eq!(plain(""), "");
        assert_eq!(plain("{a}{a}"), "“1”“1”");
    }
}
