//! Bytes into lines, without I/O.

/// What a [`LineSplitter`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// One line, without its newline; a `\r` before that is still there.
    Line(&'a [u8]),
    /// A line passed the limit. Given once for it, as soon as that is known; the rest of
    /// the line is thrown away and the next line is served.
    TooLong,
}

/// Cuts a stream of bytes, pushed in whatever chunks they came in, into lines.
///
/// Holds at most the limit in memory: the beginning of a line whose end hasn't come yet.
/// What is left when the stream ends is no line, and is to be dropped with the splitter:
/// a request that was cut off must not be performed.
#[derive(Debug)]
pub struct LineSplitter {
    max: usize,
    /// The unfinished line, empty while `skipping`.
    held: Vec<u8>,
    /// In the rest of a line that was too long.
    skipping: bool,
}

/// Capacity that is kept from line to line, so that ordinary lines cost no allocation and
/// one large line costs its memory once only.
const KEPT: usize = 16 * 1024;

impl LineSplitter {
    /// A splitter for lines of at most `max` bytes, the newline not counted.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            held: Vec::new(),
            skipping: false,
        }
    }

    /// Sets the limit from the next [`push`](Self::push) on. A line that was already found
    /// too long stays so; one that is held and is now too long is given up at that push.
    pub fn set_max(&mut self, max: usize) {
        self.max = max;
    }

    /// The bytes held of a line whose end hasn't come yet.
    pub fn buffered(&self) -> usize {
        self.held.len()
    }

    /// Takes the next bytes of the stream and gives each line that they end, in order.
    pub fn push(&mut self, bytes: &[u8], sink: &mut impl FnMut(Piece<'_>)) {
        let mut rest = bytes;
        while let Some(end) = newline(rest) {
            let (line, after) = rest.split_at(end);
            self.end_line(line, sink);
            rest = after.get(1..).unwrap_or_default();
        }
        self.hold(rest, sink);
    }

    /// `tail` is the last of the line; what is held stands before it.
    fn end_line(&mut self, tail: &[u8], sink: &mut impl FnMut(Piece<'_>)) {
        if self.skipping {
            self.skipping = false;
        } else if !self.fits(tail) {
            sink(Piece::TooLong);
        } else if self.held.is_empty() {
            sink(Piece::Line(tail));
        } else {
            self.append(tail);
            sink(Piece::Line(&self.held));
        }
        self.release();
    }

    /// `part` is the beginning or the middle of a line.
    fn hold(&mut self, part: &[u8], sink: &mut impl FnMut(Piece<'_>)) {
        if self.skipping {
            return;
        }
        if self.fits(part) {
            self.append(part);
        } else {
            self.skipping = true;
            self.release();
            sink(Piece::TooLong);
        }
    }

    fn fits(&self, part: &[u8]) -> bool {
        self.held.len().saturating_add(part.len()) <= self.max
    }

    /// Appends what [`fits`](Self::fits). A `Vec` left to itself could reserve twice the
    /// limit; this one never reserves more than the limit.
    fn append(&mut self, part: &[u8]) {
        let needed = self.held.len() + part.len();
        if needed > self.held.capacity() {
            let roomy = self.held.capacity().saturating_mul(2).min(self.max);
            self.held.reserve_exact(roomy.max(needed) - self.held.len());
        }
        self.held.extend_from_slice(part);
    }

    fn release(&mut self) {
        self.held.clear();
        self.held.shrink_to(KEPT);
    }
}

/// Where the first newline is. Most chunks of a long line have none, and `contains` tells
/// so several bytes at a time.
fn newline(bytes: &[u8]) -> Option<usize> {
    if bytes.contains(&b'\n') {
        bytes.iter().position(|byte| *byte == b'\n')
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(splitter: &mut LineSplitter, chunks: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let mut out = Vec::new();
        for chunk in chunks {
            splitter.push(chunk, &mut |piece| {
                out.push(match piece {
                    Piece::Line(line) => Some(line.to_vec()),
                    Piece::TooLong => None,
                });
            });
        }
        out
    }

    /// `!` stands for a line that was too long.
    fn check(max: usize, chunks: &[&str], expected: &[&str]) {
        let chunks: Vec<&[u8]> = chunks.iter().map(|c| c.as_bytes()).collect();
        let found = pieces(&mut LineSplitter::new(max), &chunks);
        let expected: Vec<_> = expected
            .iter()
            .map(|e| (*e != "!").then(|| e.as_bytes().to_vec()))
            .collect();
        assert_eq!(found, expected, "{chunks:?}");
    }

    #[test]
    fn lines_come_whole_and_in_order() {
        check(4, &[], &[]);
        check(4, &[""], &[]);
        check(4, &["\n"], &[""]);
        check(4, &["a\nb\n"], &["a", "b"]);
        check(4, &["a\r\n\nb"], &["a\r", ""]);
        check(4, &["a", "b", "\n", "c\n"], &["ab", "c"]);
        check(4, &["abcd\n"], &["abcd"]);
        check(4, &["abcd", "\n"], &["abcd"]);
        check(4, &["abcde\n", "f\n"], &["!", "f"]);
        check(4, &["abcde", "fgh", "ijk\nl\n"], &["!", "l"]);
        check(4, &["ab", "cde"], &["!"]);
        check(4, &["ab\ncdefg\nhi\njklmn"], &["ab", "!", "hi", "!"]);
        check(0, &["\na\n\n"], &["", "!", ""]);
    }

    #[test]
    fn too_long_is_told_before_the_line_ends() {
        let mut splitter = LineSplitter::new(4);
        assert_eq!(pieces(&mut splitter, &[b"abcde"]), [None]);
        assert_eq!(pieces(&mut splitter, &[b"more", b"more"]), []);
        assert_eq!(pieces(&mut splitter, &[b"\nok\n"]), [Some(b"ok".to_vec())]);
    }

    #[test]
    fn the_limit_can_be_moved_between_pushes() {
        let mut splitter = LineSplitter::new(4);
        assert_eq!(pieces(&mut splitter, &[b"abc"]), []);
        splitter.set_max(8);
        assert_eq!(
            pieces(&mut splitter, &[b"defgh\n"]),
            [Some(b"abcdefgh".to_vec())]
        );
        assert_eq!(pieces(&mut splitter, &[b"abcdefghi"]), [None]);
        splitter.set_max(100);
        assert_eq!(pieces(&mut splitter, &[b"j\nk"]), []);
        splitter.set_max(0);
        assert_eq!(pieces(&mut splitter, &[b""]), [None]);
        assert_eq!(splitter.buffered(), 0);
    }

    #[test]
    fn rule_10_memory_stays_within_the_limit() {
        const MAX: usize = 64 * 1024;
        let mut splitter = LineSplitter::new(MAX);
        let chunk = vec![b'x'; 1024 * 1024];
        let mut told = 0;
        let mut within = |splitter: &mut LineSplitter, bytes: &[u8]| {
            splitter.push(bytes, &mut |piece| {
                assert_eq!(piece, Piece::TooLong);
                told += 1;
            });
            assert!(splitter.buffered() <= MAX && splitter.held.capacity() <= MAX);
        };
        // The first bytes in small chunks, so that the buffer grows as far as it can.
        for part in chunk.chunks(1000) {
            within(&mut splitter, part);
        }
        for _ in 0..1024 {
            within(&mut splitter, &chunk);
        }
        assert_eq!(told, 1);
    }

    #[test]
    fn a_large_line_gives_its_memory_back() {
        let mut splitter = LineSplitter::new(1024 * 1024);
        let large = vec![b'x'; 900_000];
        assert_eq!(pieces(&mut splitter, &[&large]), []);
        assert!(splitter.held.capacity() >= 900_000);
        assert_eq!(pieces(&mut splitter, &[b"\n"]).len(), 1);
        assert!(splitter.held.capacity() <= KEPT);
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_pieces(
            bytes in prop::collection::vec(prop::sample::select(&b"ab\r\n"[..]), 0..200),
            cuts in prop::collection::vec(0_usize..200, 0..12),
            max in 0_usize..12,
        ) {
            let whole = pieces(&mut LineSplitter::new(max), &[&bytes]);
            let mut splitter = LineSplitter::new(max);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
            prop_assert_eq!(pieces(&mut splitter, &chunks), whole);
            prop_assert!(splitter.buffered() <= max);

            // The slow and obvious way, for lines that have an end.
            let ends = bytes.iter().filter(|b| **b == b'\n').count();
            let slow: Vec<Option<Vec<u8>>> = bytes
                .split(|b| *b == b'\n')
                .enumerate()
                .filter(|(n, line)| *n < ends || line.len() > max)
                .map(|(_, line)| (line.len() <= max).then(|| line.to_vec()))
                .collect();
            prop_assert_eq!(pieces(&mut LineSplitter::new(max), &[&bytes]), slow);
        }
    }
}
