//! A prompt for a program that runs in a terminal: the question is printed, the answer is a line.

use std::{
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    prompt::{Asked, Prompt, QuestionId},
    shown::Text,
};

/// Asks on a terminal. The choices are numbered; an empty line waves the question away. What was
/// typed before a question was there does not answer it.
pub struct Terminal {
    screen: Arc<Mutex<Screen>>,
}

struct Screen {
    output: Box<dyn Write + Send>,
    open: Option<Asked>,
    texts: TerminalTexts,
}

/// The words of a [`Terminal`] that a question doesn't bring along; those of the questions are in
/// [`Texts`](crate::Texts).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalTexts {
    /// After a line that chooses nothing; `{count}`: the number of choices.
    pub choose: String,
    /// After a question that was taken back.
    pub withdrawn: String,
}

impl Default for TerminalTexts {
    /// English.
    fn default() -> Self {
        Self {
            choose: "A number from 1 to {count}: ".to_owned(),
            withdrawn: "(withdrawn)".to_owned(),
        }
    }
}

impl Terminal {
    /// On standard error and standard input, which nobody else should read.
    ///
    /// # Errors
    /// If no thread can be started to read from it.
    pub fn new() -> io::Result<Self> {
        Self::over(io::BufReader::new(io::stdin()), io::stderr())
    }

    /// On any pair of streams. `input` is read by a thread of its own, up to its end.
    ///
    /// # Errors
    /// If no thread can be started to read from it.
    pub fn over(
        input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<Self> {
        let screen = Arc::new(Mutex::new(Screen {
            output: Box::new(output),
            open: None,
            texts: TerminalTexts::default(),
        }));
        let reads = screen.clone();
        std::thread::Builder::new()
            .name("agent-prompt".into())
            .spawn(move || {
                for line in input.lines().map_while(Result::ok) {
                    answer(&reads, line.trim());
                }
                // Nobody is there any more.
                let open = lock(&reads).open.take();
                drop(open);
            })?;
        Ok(Self { screen })
    }

    /// Other words, or another language.
    #[must_use]
    pub fn with_texts(self, texts: TerminalTexts) -> Self {
        lock(&self.screen).texts = texts;
        self
    }
}

fn lock(screen: &Mutex<Screen>) -> std::sync::MutexGuard<'_, Screen> {
    screen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Screen {
    /// A terminal that is gone shows nothing; the question waits for who asks to go.
    fn print(&mut self, text: &str) {
        let _ = self.output.write_all(text.as_bytes());
        let _ = self.output.flush();
    }
}

fn answer(screen: &Mutex<Screen>, line: &str) {
    let Some(asked) = lock(screen).open.take() else {
        return;
    };
    if line.is_empty() {
        asked.dismiss();
        return;
    }
    let number = line.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    match number.and_then(|n| asked.choices().get(n)) {
        Some(choice) => {
            asked.answer(choice.answer);
        }
        None => {
            let count = asked.choices().len().to_string();
            let mut screen = lock(screen);
            // It may have been withdrawn just now.
            if !asked.is_open() {
                return;
            }
            let choose = screen.texts.choose.replace("{count}", &count);
            screen.print(&choose);
            screen.open = Some(asked);
        }
    }
}

impl Prompt for Terminal {
    fn show(&self, question: Asked) {
        let mut text = format!("\n{}\n", question.heading().plain());
        for line in question.details() {
            text.push_str(&format!("  {}\n", line.plain_full()));
        }
        for (n, choice) in question.choices().iter().enumerate() {
            text.push_str(&format!("  {}  {}\n", n + 1, choice.label));
        }
        text.push_str("> ");
        let mut screen = lock(&self.screen);
        let before = screen.open.replace(question);
        screen.print(&text);
        drop(screen);
        drop(before);
    }

    fn withdraw(&self, question: QuestionId) {
        let mut screen = lock(&self.screen);
        let gone = screen.open.take_if(|open| open.id() == question);
        if gone.is_some() {
            let withdrawn = format!("\n{}\n", screen.texts.withdrawn);
            screen.print(&withdrawn);
        }
        drop(screen);
        drop(gone);
    }

    fn tell(&self, what: &Text) {
        lock(&self.screen).print(&format!("\n{}\n", what.plain()));
    }
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Terminal")
    }
}
