//! The words of the panel and the indicator that the question doesn't bring along.

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        /// Every text of these widgets, beside those of the questions
        /// ([`agent_consent::Texts`]). In braces stands what is filled in; a text may leave it
        /// out.
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
    };
}

texts! {
    /// Under a question; `{shortcut}`: what leads to it by keyboard.
    answer_by_keyboard = "{shortcut} to answer by keyboard";
    /// The button that closes a question without an answer.
    decide_later = "Decide later";
    /// The button that shows long names and paths in full.
    show_all = "Show long names in full";
    /// The button that shortens them again.
    show_less = "Shorten long names";
    /// The button under something that the user should know.
    understood = "Understood";
    /// The indicator, where no agent is connected.
    nobody = "No agent is connected";
    /// The indicator, for one agent; `{agent}`.
    one = "Connected: {agent}";
    /// The indicator, for one that has not been let in; `{agent}`.
    asking = "Not let in yet: {agent}";
    /// The indicator, for several; `{count}`.
    several = "{count} agents are connected";
    /// The indicator, while an agent acts; `{agent}`.
    acting = "Acting: {agent}";
    /// The indicator, while all agents are stopped.
    stopped = "All agents are stopped";
    /// In the list of agents, of one that acts.
    acting_now = "acting now";
    /// In place of `{agent}`, where its program can't be identified; `{claim}`: what it calls
    /// itself.
    claims = "a program that calls itself {claim}";
    /// In place of `{agent}`, where it can't be identified and doesn't say a name.
    unidentified = "a program that can't be identified";
    /// In place of `{agent}`, for an assistant that is part of the app.
    assistant = "this app's assistant";
    /// The button that stops one agent; `{agent}`.
    stop = "Stop {agent}";
    /// The button that stops all.
    stop_all = "Stop all";
    /// The same, where there is a shortcut for it; `{shortcut}`.
    stop_all_by = "Stop all ({shortcut})";
    /// The button that lets agents in again, as far as they were.
    go_on = "Let agents in again";
    /// The list of what the user has decided, where there is nothing in it.
    no_rules = "Nothing is remembered about any agent";
    /// In that list; `{agent}`.
    may_use = "{agent} may use this app";
    /// In that list; `{agent}`.
    may_not_use = "{agent} may not use this app";
    /// In that list; `{agent}`.
    may_see_all = "{agent} may see everything in this app's windows";
    /// In that list; `{agent}`.
    may_not_see_all = "{agent} may not see everything in this app's windows";
    /// In that list; `{agent}`.
    may_inspect = "{agent} may inspect this app";
    /// In that list; `{agent}`.
    may_not_inspect = "{agent} may not inspect this app";
    /// Since when that holds; `{time}`.
    since = "since {time},";
    /// Until when, after [`since`](Self::since); `{time}`.
    until = "until {time};";
    /// The same, of what has no end.
    until_taken_back = "until you take it back;";
    /// The same, of what isn't on the disk.
    until_quit = "until this app quits;";
    /// How often it was made use of; `{count}`, `{time}`: the last time.
    used = "used: {count}, last {time}";
    /// The same, of what never was.
    not_used = "not used yet";
    /// Opens what the agent was known by.
    evidence = "What it is known by";
    /// The button that takes one back; `{agent}`.
    take_back = "Take back from {agent}";
    /// The button that takes all back.
    take_back_all = "Take back all, and stop who is connected";
}

impl Texts {
    /// A text with what it names filled in.
    pub(crate) fn fill(text: &str, name: &str, value: &str) -> String {
        text.replace(&format!("{{{name}}}"), value)
    }
}
