//! Words from outside, made fit to stand in a message of ours.

/// Characters of a foreign word that a message shows.
const SHOWN: usize = 64;

/// `word` between backticks: cut after 64 characters, and without a character that could
/// end the quotation, break the line or reorder the text around it.
pub(crate) fn quoted(word: &str) -> String {
    let mut out = String::from("`");
    for (n, c) in word.chars().enumerate() {
        if n == SHOWN {
            out.push('…');
            break;
        }
        if disturbs(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out.push('`');
    out
}

/// The words, each between backticks, with commas.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|w| format!("`{w}`")).collect();
    words.join(", ")
}

/// The known word that `word` was most likely meant to be, if one is near enough.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(SHOWN + 1).collect();
    if word.len() > SHOWN {
        return None;
    }
    // One slip in three letters: `ids` is `id`, but `force` is not `from`.
    let allowed = (word.len() / 3).clamp(1, 3);
    known
        .map(|k| (distance(&word, k), k))
        .filter(|(d, _)| *d <= allowed)
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

fn disturbs(c: char) -> bool {
    c.is_control()
        || c == '`'
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
        )
}

/// How many letters must be inserted, deleted or replaced to make one word the other.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // `row` holds the distances of the part of `a` read so far to each beginning of `b`.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut left = i + 1;
        let mut next = vec![left];
        for (above, cb) in row.windows(2).zip(&b) {
            let &[diagonal, straight] = above else { break };
            left = (diagonal + usize::from(ca != cb))
                .min(straight + 1)
                .min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let known = [
            "id",
            "include",
            "limit",
            "from",
            "to",
            "timeout_ms",
            "window",
        ];
        let check = |word: &str, meant: Option<&str>| {
            assert_eq!(nearest(word, known.into_iter()), meant, "{word}");
        };
        check("inclde", Some("include"));
        check("includes", Some("include"));
        check("ids", Some("id"));
        check("Id", Some("id"));
        check("timeout-ms", Some("timeout_ms"));
        check("force", None);
        check("colour", None);
        check("", None);
        check(&"x".repeat(100_000), None);
    }

    #[test]
    fn a_quoted_word_cannot_leave_its_quotes() {
        let check = |word: &str, shown: &str| assert_eq!(quoted(word), shown);
        check("force", "`force`");
        check("größe", "`größe`");
        check("a`b", "`a\\u{60}b`");
        check(
            "a\nb\u{202e}c\u{2028}d\0",
            "`a\\u{a}b\\u{202e}c\\u{2028}d\\u{0}`",
        );
        assert_eq!(quoted(&"x".repeat(65)), format!("`{}…`", "x".repeat(64)));
        assert_eq!(quoted(&"x".repeat(64)), format!("`{}`", "x".repeat(64)));
    }
}
