//! What the user reads, in one table that the app can replace: other words, another language.

use agent_core::{Action, Question, Scope};

use crate::{
    evidence::{Agent, Link, Proof, Script},
    prompt::{Answer, Choice},
    shown::{Piece, Text, Theirs},
};

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        /// Every text that is shown. In braces stands what is filled in; a text may leave it out,
        /// and have it anywhere. What comes from outside is set apart and escaped when filled in;
        /// `{why}` is what the system says, or the disk's keeper in English.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Texts {
            $($(#[$doc])* pub $name: String,)*
        }

        impl Default for Texts {
            /// English.
            fn default() -> Self {
                Self { $($name: $text.to_owned(),)* }
            }
        }

        #[cfg(test)]
        impl Texts {
            /// Each, with its name.
            fn each(&mut self) -> Vec<(&'static str, &mut String)> {
                vec![$((stringify!($name), &mut self.$name),)*]
            }
        }
    };
}

texts! {
    /// The question for [`Scope::Surface`]; `{agent}`.
    ask_surface = "May {agent} see and use this app?";
    /// The question for [`Scope::Full`]; `{agent}`.
    ask_full = "May {agent} see everything in this app's windows, also what is not meant for agents?";
    /// The question for [`Scope::Inspector`]; `{agent}`.
    ask_inspector = "May {agent} inspect this app as its developer would?";
    /// In place of `{agent}`, where that can't be identified.
    unidentified = "a program that can't be identified";
    /// In place of `{agent}`, for an assistant that is part of the app.
    assistant = "this app's assistant";
    /// `{claim}`: what the client calls itself.
    claims = "It calls itself {claim}, which anybody can.";
    /// `{program}`: the path of the program that asks.
    program = "Program: {program}";
    /// `{client}`: the program that connected; `{program}`: the one that asks.
    program_by = "Program: {program}. It connected through {client}";
    /// After who connected, once for each that it was started by, all the way up; `{parent}`.
    started_by = ", started by {parent}";
    /// In place of `{parent}`, where that can't be read.
    hidden = "a program that can't be looked at";
    /// The program lies where the user can't write.
    known_by_path = "It is part of the system, and known by its path.";
    /// The program lies where the user can write.
    known_by_content = "It is known by its content: should it change, you are asked again.";
    /// `{script}`, `{program}`.
    script = "It is the script {script}, run by {program}. That can't be proven, so a yes ends when this app quits.";
    /// After that, where it can be read; `{hash}`: of what is in it now, by SHA-256.
    script_hash = "What is in it now has the hash {hash}.";
    /// Nothing is known of it that could be remembered.
    unknown = "Who it is can't be told, so a yes ends with this connection.";
    /// Of one that the app handed a connection to, under a name of the app's own.
    vouched = "The app itself made this connection, and calls it so.";
    /// The program is not the one that was allowed.
    changed = "It has changed since you allowed it.";
    /// `{agent}`, `{node}`.
    confirm_click = "May {agent} press {node}?";
    /// `{agent}`, `{node}`.
    confirm_set_text = "May {agent} write to {node}?";
    /// `{agent}`, `{node}`.
    confirm_focus = "May {agent} go to {node}?";
    /// `{agent}`, `{node}`.
    confirm_scroll_to = "May {agent} scroll to {node}?";
    /// `{agent}`, `{node}`.
    confirm_submit = "May {agent} press Enter in {node}?";
    /// `{agent}`, `{node}`.
    confirm_select = "May {agent} select {node}?";
    /// `{agent}`, `{node}`.
    confirm_check = "May {agent} switch on {node}?";
    /// `{agent}`, `{node}`.
    confirm_uncheck = "May {agent} switch off {node}?";
    /// `{agent}`, `{node}`, `{value}`.
    confirm_set_value = "May {agent} set {node} to {value}?";
    /// `{agent}`, `{node}`.
    confirm_expand = "May {agent} open {node}?";
    /// `{agent}`, `{node}`.
    confirm_collapse = "May {agent} close {node}?";
    /// `{window}`.
    in_window = "In the window {window}.";
    /// `{text}`: what would be written.
    would_write = "It would write: {text}";
    /// A part of the text would be replaced; `{text}`.
    would_write_part = "It would replace a part of the text by: {text}";
    /// All of the text would be removed.
    would_empty = "It would remove all text.";
    /// Why the developer's mark asks.
    this_once = "A yes is for this one time.";
    /// The button for [`Answer::Once`] to an agent.
    once = "Allow once";
    /// The button for [`Answer::Once`] to an action.
    yes = "Do it";
    /// The button for [`Answer::UntilQuit`].
    until_quit = "Allow until this app quits";
    /// The button for [`Answer::Day`].
    day = "Allow for a day";
    /// The button for [`Answer::Always`].
    always = "Always allow";
    /// The button for [`Answer::No`] to an agent.
    no = "Not now";
    /// The button for [`Answer::No`] to an action.
    do_not = "Don't";
    /// The button for [`Answer::Never`].
    never = "Never allow";
    /// `{agent}`, `{why}`: it is shown with [`Prompt::tell`](crate::Prompt::tell).
    not_saved = "What you said about {agent} could not be saved and holds until this app quits: {why}";
    /// `{agent}`, `{why}`.
    not_revoked = "What you took back from {agent} could not be removed from the disk, and would hold again when this app is next started: {why}";
    /// `{path}`, `{why}`.
    bad_rule = "A remembered answer counts for nothing, {why}: {path}";
    /// `{path}`, `{why}`.
    bad_folder = "Remembered answers can't be read, {why}: {path}";
    /// In place of `{why}`, where the disk has not answered for a while.
    disk_hangs = "the disk does not answer";
    /// `{why}`.
    not_logged = "What agents do is not being logged: {why}";
}

impl Texts {
    /// What an agent is called in a question.
    pub(crate) fn name(&self, agent: Option<&Agent>) -> Piece {
        match agent {
            None => Piece::Ours(self.assistant.clone()),
            Some(agent) => match agent.name() {
                Some(name) => Piece::theirs(&name),
                None => Piece::Ours(self.unidentified.clone()),
            },
        }
    }

    pub(crate) fn ask(&self, scope: Scope, agent: &Agent) -> Text {
        let template = match scope {
            Scope::Surface => &self.ask_surface,
            Scope::Full => &self.ask_full,
            Scope::Inspector => &self.ask_inspector,
        };
        Text::fill(template, &[("agent", self.name(Some(agent)))])
    }

    /// What is known of an agent, a paragraph each.
    pub(crate) fn evidence(&self, agent: &Agent, claim: Option<&str>, changed: bool) -> Vec<Text> {
        let mut lines = Vec::new();
        if changed {
            lines.push(Text::ours(&self.changed));
        }
        // A name that the app vouches for is no claim.
        if let Some(claim) = claim.filter(|_| !agent.is_vouched_for()) {
            lines.push(Text::fill(&self.claims, &[("claim", Piece::theirs(claim))]));
        }
        lines.extend(self.chain(agent));
        match agent.principal() {
            None if agent.is_vouched_for() => lines.push(Text::ours(&self.vouched)),
            None => lines.push(Text::ours(&self.unknown)),
            Some(link) => lines.extend(self.proof(agent, link)),
        }
        lines
    }

    /// Who asks, who connected, and by whom that was started, all the way up.
    fn chain(&self, agent: &Agent) -> Option<Text> {
        let path = |link: &Link| match &link.executable {
            Some(path) => Piece::theirs(&path.to_string_lossy()),
            None => Piece::Ours(self.hidden.clone()),
        };
        let client = agent.chain().first()?;
        let program = agent.principal().unwrap_or(client);
        let named = [("program", path(program)), ("client", path(client))];
        let mut text = if program == client {
            Text::fill(&self.program, &named)
        } else {
            Text::fill(&self.program_by, &named)
        };
        let mut last = path(client);
        for parent in agent.chain().iter().skip(1).map(path) {
            // A shell in a shell, a worker of a server: once says it.
            if parent != last {
                let named = [("parent", parent.clone())];
                text.pieces
                    .extend(Text::fill(&self.started_by, &named).pieces);
                last = parent;
            }
        }
        Some(text)
    }

    fn proof(&self, agent: &Agent, link: &Link) -> Vec<Text> {
        match (&link.script, &link.proof) {
            (Some(Script { path, content }), _) if !agent.is_proven() => {
                let program = link.executable.as_deref().unwrap_or(path);
                let named = [
                    ("script", Piece::theirs(&path.to_string_lossy())),
                    ("program", Piece::theirs(&program.to_string_lossy())),
                ];
                let hash = content.as_deref().map(|hash| {
                    let named = [("hash", Piece::theirs(hash))];
                    Text::fill(&self.script_hash, &named)
                });
                let script = Text::fill(&self.script, &named);
                [script].into_iter().chain(hash).collect()
            }
            (_, Some(Proof::Path)) => vec![Text::ours(&self.known_by_path)],
            (_, Some(Proof::Content(_))) => vec![Text::ours(&self.known_by_content)],
            (_, None) => Vec::new(),
        }
    }

    pub(crate) fn confirm(&self, question: &Question, agent: Option<&Agent>) -> Text {
        let template = match &question.action {
            Action::Click => &self.confirm_click,
            Action::SetText { .. } => &self.confirm_set_text,
            Action::ScrollTo { .. } => &self.confirm_scroll_to,
            Action::Focus => &self.confirm_focus,
            Action::Submit => &self.confirm_submit,
            Action::Select => &self.confirm_select,
            Action::SetChecked(true) => &self.confirm_check,
            Action::SetChecked(false) => &self.confirm_uncheck,
            Action::SetValue(_) => &self.confirm_set_value,
            Action::Expand => &self.confirm_expand,
            Action::Collapse => &self.confirm_collapse,
        };
        let node = match question.name.as_str() {
            "" => &question.node,
            name => name,
        };
        let mut named = vec![("agent", self.name(agent)), ("node", Piece::theirs(node))];
        if let Action::SetValue(value) = question.action {
            named.push(("value", Piece::theirs(&value.to_string())));
        }
        Text::fill(template, &named)
    }

    pub(crate) fn about(&self, question: &Question) -> Vec<Text> {
        let mut lines = Vec::new();
        if !question.window.is_empty() {
            let window = [("window", Piece::theirs(&question.window))];
            lines.push(Text::fill(&self.in_window, &window));
        }
        if let Action::SetText { value, range, .. } = &question.action {
            let text = [("text", Piece::Theirs(Theirs::whole(value)))];
            lines.push(match range {
                None if value.is_empty() => Text::ours(&self.would_empty),
                None => Text::fill(&self.would_write, &text),
                Some(_) => Text::fill(&self.would_write_part, &text),
            });
        }
        lines.push(Text::ours(&self.this_once));
        lines
    }

    /// The buttons under a question about an agent.
    pub(crate) fn choices(&self, answers: impl IntoIterator<Item = Answer>) -> Vec<Choice> {
        let label = |answer| match answer {
            Answer::Once => &self.once,
            Answer::UntilQuit => &self.until_quit,
            Answer::Day => &self.day,
            Answer::Always => &self.always,
            Answer::No => &self.no,
            Answer::Never => &self.never,
        };
        answers
            .into_iter()
            .map(|answer| Choice {
                answer,
                label: label(answer).clone(),
            })
            .collect()
    }

    /// The buttons under a question about an action.
    pub(crate) fn yes_or_no(&self) -> Vec<Choice> {
        let choice = |answer, label: &String| Choice {
            answer,
            label: label.clone(),
        };
        vec![
            choice(Answer::No, &self.do_not),
            choice(Answer::Once, &self.yes),
        ]
    }
}

#[cfg(test)]
mod tests;
