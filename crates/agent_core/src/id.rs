//! Node ids: which are valid, how keys of data become part of one, and automatic ones.

use crate::role::Role;

/// The longest id, in bytes.
pub const MAX_ID_BYTES: usize = 200;

/// The id of the root that all windows are below, in automatic ids.
pub const ROOT_ID: &str = "app";

/// Why a developer's id or key was refused at tagging. The node stays unexposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BadId {
    /// It has no characters.
    Empty,
    /// It would be longer than [`MAX_ID_BYTES`] bytes.
    TooLong,
    /// It holds this character, which is neither an ASCII letter or digit nor `-`, `_`, `.`, `:`.
    Character(char),
}

impl std::fmt::Display for BadId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => write!(f, "an id needs at least one character"),
            Self::TooLong => write!(f, "an id has at most {MAX_ID_BYTES} bytes"),
            Self::Character(c) => write!(
                f,
                "the character {c:?} is not allowed: use letters, digits, `-`, `_`, `.` or `:`"
            ),
        }
    }
}

impl std::error::Error for BadId {}

fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':')
}

/// Whether a developer may call a node (or a window, or an app) `id`.
///
/// # Errors
/// Says which rule of `Node ids` on the wire it breaks.
pub fn check_id(id: &str) -> Result<(), BadId> {
    if id.is_empty() {
        return Err(BadId::Empty);
    }
    if id.len() > MAX_ID_BYTES {
        return Err(BadId::TooLong);
    }
    match id.chars().find(|c| !plain(*c)) {
        Some(c) => Err(BadId::Character(c)),
        None => Ok(()),
    }
}

/// `container/key`, the key being any text: what is neither allowed in a developer's id nor a
/// letter or digit of another script is percent-encoded (RFC 3986, 2.1), so that no key from
/// data can look like a path, a quote or another line.
///
/// # Errors
/// If the key is empty, or the whole is longer than [`MAX_ID_BYTES`].
pub fn keyed_id(container: &str, key: &str) -> Result<String, BadId> {
    if key.is_empty() {
        return Err(BadId::Empty);
    }
    let mut id = String::with_capacity(container.len() + 1 + key.len());
    id.push_str(container);
    id.push('/');
    for c in key.chars() {
        if plain(c) || (!c.is_ascii() && c.is_alphanumeric()) {
            id.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                id.push('%');
                id.extend([byte >> 4, byte & 15].map(|n| b"0123456789ABCDEF"[n as usize] as char));
            }
        }
        if id.len() > MAX_ID_BYTES {
            return Err(BadId::TooLong);
        }
    }
    Ok(id)
}

/// The two parts of a [`keyed_id`]: the id of what is around it, and the key as it is in the data.
/// `None` if it has no such form.
pub fn split_key(id: &str) -> Option<(&str, String)> {
    let (container, encoded) = id.rsplit_once('/')?;
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut hex = || (rest.next()? as char).to_digit(16);
            bytes.push((hex()? * 16 + hex()?) as u8);
        } else {
            bytes.push(byte);
        }
    }
    Some((container, String::from_utf8(bytes).ok()?))
}

/// `parent/role#index`: names a place in one `full` reply, and can't be acted on. `#` is in no
/// other id.
pub fn automatic_id(parent: &str, role: Role, index: usize) -> String {
    format!("{parent}/{}#{index}", role.word())
}

/// Whether `id` has the form of an automatic one.
pub fn is_automatic(id: &str) -> bool {
    id.contains('#')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn developer_ids() {
        for good in ["a", "save-btn", "x_1.y:z", &"a".repeat(200)] {
            assert_eq!(check_id(good), Ok(()), "{good}");
        }
        for (bad, why) in [
            ("", BadId::Empty),
            ("a b", BadId::Character(' ')),
            ("a/b", BadId::Character('/')),
            ("größe", BadId::Character('ö')),
            ("a#0", BadId::Character('#')),
            ("a\u{202e}", BadId::Character('\u{202e}')),
        ] {
            assert_eq!(check_id(bad), Err(why), "{bad:?}");
        }
        assert_eq!(check_id(&"a".repeat(201)), Err(BadId::TooLong));
    }

    #[test]
    fn keys_are_encoded() {
        let id = |key: &str| keyed_id("files", key).unwrap();
        assert_eq!(id("a b/c] \"x\""), "files/a%20b%2Fc%5D%20%22x%22");
        assert_eq!(id("größe"), "files/größe");
        assert_eq!(id("\u{202e}"), "files/%E2%80%AE");
        assert_eq!(keyed_id("files", ""), Err(BadId::Empty));
        assert_eq!(keyed_id("files", &"x".repeat(195)), Err(BadId::TooLong));
    }

    proptest! {
        #[test]
        fn rule_5_different_keys_give_different_ids(a in ".{1,20}", b in ".{1,20}") {
            let (x, y) = (keyed_id("l", &a), keyed_id("l", &b));
            if let (Ok(x), Ok(y)) = (x, y) {
                prop_assert_eq!(x == y, a == b);
                prop_assert_eq!(split_key(&x), Some(("l", a)));
                prop_assert_eq!(x.matches('/').count(), 1);
                prop_assert!(!x.chars().any(|c| c.is_whitespace() || c.is_control() || "\"[]#".contains(c)));
            }
        }
    }
}
