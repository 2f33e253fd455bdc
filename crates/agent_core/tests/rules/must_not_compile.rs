//! An authorised action can be neither made, nor copied, nor used twice, nor dropped unseen.

#[test]
fn rule_4_an_authorised_action_is_the_cores_alone() {
    trybuild::TestCases::new().compile_fail("tests/must_not_compile/*.rs");
}
