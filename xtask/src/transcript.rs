//! What a recipe should say, and whether it did.

/// Stands for any text within a line, but not for none.
const ANY: &str = "{any}";

/// The file that a recipe's conversation is compared with: a header of `#` lines that says what
/// was made general in it, an empty line, the conversation.
pub(crate) struct Expected<'a> {
    lines: Vec<&'a str>,
}

impl<'a> Expected<'a> {
    /// Reads the file's text. Without a header there is no telling where the conversation begins,
    /// as its own lines may begin with `#` too.
    pub(crate) fn parse(file: &'a str) -> Result<Self, String> {
        let mut lines = file.lines();
        let mut headed = false;
        for line in lines.by_ref() {
            match line {
                "" if headed => {
                    return Ok(Self {
                        lines: lines.collect(),
                    });
                }
                _ if line.starts_with('#') => headed = true,
                _ => break,
            }
        }
        Err("it must begin with a header of `#` lines and an empty line".to_owned())
    }

    /// Compares the two line by line. An error shows where they part.
    pub(crate) fn compare(&self, said: &str) -> Result<(), String> {
        let said: Vec<&str> = said.lines().collect();
        for number in 0..self.lines.len().max(said.len()) {
            let expected = self.lines.get(number).copied();
            let found = said.get(number).copied();
            let same = match (expected, found) {
                (Some(expected), Some(found)) => matches(expected, found),
                _ => false,
            };
            if !same {
                return Err(format!(
                    "line {} of the conversation differs\n  expected: {}\n  it said:  {}",
                    number + 1,
                    expected.unwrap_or("(nothing more)"),
                    found.unwrap_or("(nothing more)"),
                ));
            }
        }
        Ok(())
    }
}

/// Whether `line` is what `pattern` says. Each `{any}` takes as little as it can, the last one the
/// rest; that finds a way if there is one.
fn matches(pattern: &str, line: &str) -> bool {
    let Some((start, mut pattern)) = pattern.split_once(ANY) else {
        return pattern == line;
    };
    let Some(mut rest) = line.strip_prefix(start) else {
        return false;
    };
    // At each turn an `{any}` has just been passed: it needs a character, then what follows it.
    while let Some((middle, after)) = pattern.split_once(ANY) {
        let Some(found) = after_one(rest).and_then(|from| from.split_once(middle)) else {
            return false;
        };
        (rest, pattern) = (found.1, after);
    }
    after_one(rest).is_some_and(|rest| rest.ends_with(pattern))
}

/// What follows the first character, if there is one.
fn after_one(text: &str) -> Option<&str> {
    let mut characters = text.chars();
    characters.next()?;
    Some(characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::{Expected, matches};

    #[test]
    fn any_is_some_text_within_a_line() {
        for (pattern, line, same) in [
            ("", "", true),
            ("a", "a", true),
            ("a", "b", false),
            ("v{any}", "v12", true),
            ("v{any}", "v", false),
            ("{any}", "", false),
            ("{any}", "é", true),
            ("{any} b", "a b b", true),
            ("pid {any}, app {any}.", "pid 7, app demo.", true),
            ("pid {any}, app {any}.", "pid 7, app .", false),
            ("pid {any}, app {any}.", "pid , app x.", false),
            ("{any}x{any}x", "axbx", true),
            ("{any}x{any}x", "axx", false),
            ("{any}{any}", "ab", true),
            ("{any}{any}", "a", false),
            ("a{any}a", "aa", false),
        ] {
            assert_eq!(matches(pattern, line), same, "{pattern:?} and {line:?}");
        }
    }

    #[test]
    fn the_header_ends_at_the_first_empty_line() {
        let expected = Expected::parse("# What is general here.\n\n# revision {any}\n\nend\n");
        let expected = expected.expect("a header and a conversation");
        assert_eq!(expected.compare("# revision 12\n\nend\n"), Ok(()));
        for other in [
            "# revision 12\n\nend\nmore\n",
            "# revision 12\n",
            "",
            "# x\n\nend\n",
        ] {
            assert!(expected.compare(other).is_err(), "{other:?}");
        }
        for file in ["", "# only a header\n", "no header\n\nend\n", "\nend\n"] {
            assert!(Expected::parse(file).is_err(), "{file:?}");
        }
    }
}
