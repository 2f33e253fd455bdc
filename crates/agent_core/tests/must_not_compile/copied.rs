use agent_core::Authorised;

fn main() {}

fn copy(authorised: &Authorised<u64>) -> Authorised<u64> {
    authorised.clone()
}
