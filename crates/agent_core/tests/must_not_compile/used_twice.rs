use agent_core::Authorised;

fn main() {}

fn twice(authorised: Authorised<u64>) {
    let _ = authorised.perform();
    let _ = authorised.perform();
}
