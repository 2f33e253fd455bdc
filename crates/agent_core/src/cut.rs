//! Cutting long text for a reply: on a grapheme border, marked (rule 10).

use unicode_segmentation::UnicodeSegmentation;

/// What stands where a text was cut.
pub const ELLIPSIS: char = '…';

/// A text as it goes into a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The text, or its start followed by [`ELLIPSIS`].
    pub text: String,
    /// The full length in graphemes, if it was cut.
    pub full_length: Option<u64>,
}

/// The first `graphemes` of `text`, and no more than `32 * graphemes` bytes: one grapheme may
/// be of any size.
pub fn cut(text: String, graphemes: usize) -> Cut {
    if text.len() <= graphemes {
        return Cut {
            text,
            full_length: None,
        };
    }
    let max_bytes = graphemes.saturating_mul(32);
    let mut end = None;
    let mut count = 0u64;
    for (at, grapheme) in text.grapheme_indices(true) {
        let fits = (count as usize) < graphemes && at + grapheme.len() <= max_bytes;
        if !fits && end.is_none() {
            end = Some(at);
        }
        count += 1;
    }
    match end {
        None => Cut {
            text,
            full_length: None,
        },
        Some(end) => {
            let mut text = text;
            text.truncate(end);
            text.push(ELLIPSIS);
            Cut {
                text,
                full_length: Some(count),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rule_10_cut_between_graphemes() {
        let family = "👨\u{200d}👩\u{200d}👧";
        let cut_one = cut(family.repeat(3), 2);
        assert_eq!(cut_one.text, format!("{family}{family}…"));
        assert_eq!(cut_one.full_length, Some(3));
        assert_eq!(cut("e\u{301}".repeat(2), 2).full_length, None);
    }

    #[test]
    fn rule_10_one_endless_grapheme_is_cut_whole() {
        let monster = format!("a{}", "\u{301}".repeat(100_000));
        assert_eq!(
            cut(monster, 200),
            Cut {
                text: "…".into(),
                full_length: Some(1)
            }
        );
    }

    proptest! {
        #[test]
        fn rule_10_what_is_cut_is_a_prefix_by_graphemes(text in ".{0,40}", at in 1usize..20) {
            let whole: Vec<&str> = text.graphemes(true).collect();
            let cut = cut(text.clone(), at);
            if let Some(length) = cut.full_length {
                prop_assert_eq!(length as usize, whole.len());
                prop_assert_eq!(cut.text, format!("{}…", whole[..at].concat()));
            } else {
                prop_assert!(whole.len() <= at);
                prop_assert_eq!(cut.text, text);
            }
        }
    }
}
