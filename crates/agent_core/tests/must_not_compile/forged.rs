use agent_core::{Action, Authorised};

fn main() {
    let _ = Authorised { node: 1_u64, action: Action::Click, secret: false };
}
