//! Where a real provider goes. The one here is a script, so that the recipe runs anywhere.

/// What decides the next step: a language model, as a rule, asked over the network. It is called on
/// a thread of its own, and may take its time.
pub(crate) trait Model: Send {
    /// What to do next: `goal` is what the person wants, `screen` what the app shows now, and
    /// `came_of` what became of the last step (empty at first).
    fn next(&mut self, goal: &str, screen: &str, came_of: &str) -> Step;
}

/// One step of the model's.
#[derive(Debug)]
pub(crate) enum Step {
    /// Write this text into the field of this id.
    Write(String, String),
    /// Press what has this id.
    Press(String),
    /// Say this to the person, and be done.
    Say(String),
}

/// Knows two sentences: `order for <name>`, and anything with the caption of a button in it. Like a
/// model it has nothing to go by but the words on the screen.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    steps: usize,
}

impl Model for Scripted {
    fn next(&mut self, goal: &str, screen: &str, came_of: &str) -> Step {
        let step = std::mem::take(&mut self.steps);
        if !came_of.is_empty() && !came_of.starts_with("allowed") {
            return Step::Say(format!("That didn't work ({came_of})."));
        }
        if let Some(customer) = goal.strip_prefix("order for ") {
            let field = find(screen, "textbox", "Customer");
            let save = find(screen, "button", "Save");
            return match (step, field, save) {
                (0, Some(field), _) => self.go_on(step, Step::Write(field, customer.to_owned())),
                (1, _, Some(save)) => self.go_on(step, Step::Press(save)),
                (2, _, _) => Step::Say(format!("The order for {customer} is saved.")),
                _ => Step::Say("I can't see where orders are made.".to_owned()),
            };
        }
        if step > 0 {
            return Step::Say("Done.".to_owned());
        }
        let mut buttons = screen.lines().filter_map(|line| {
            let (role, name, id) = words(line)?;
            (role == "button" && goal.to_lowercase().contains(&name.to_lowercase())).then_some(id)
        });
        match buttons.next() {
            Some(id) => self.go_on(step, Step::Press(id.to_owned())),
            // It is on no screen, but its id may be guessed.
            None if goal.contains("your own Ask") => {
                self.go_on(step, Step::Press("ask".to_owned()))
            }
            None => Step::Say("I can't see such a button.".to_owned()),
        }
    }
}

impl Scripted {
    fn go_on(&mut self, step: usize, what: Step) -> Step {
        self.steps = step + 1;
        what
    }
}

/// The id of what has this role and name.
fn find(screen: &str, role: &str, name: &str) -> Option<String> {
    let mut lines = screen.lines().filter_map(words);
    let (.., id) = lines.find(|(its, called, _)| *its == role && *called == name)?;
    Some(id.to_owned())
}

/// A line of the screen: `role "name" [id]`.
fn words(line: &str) -> Option<(&str, &str, &str)> {
    let (role, rest) = line.trim().split_once(" \"")?;
    let (name, rest) = rest.split_once("\" [")?;
    Some((role, name, rest.split_once(']')?.0))
}
