//! What tests draw at random is fixed, wherever they run: a test always passes or always fails.

use proptest::test_runner::{Config, RngSeed};

#[test]
fn random_cases_have_a_fixed_seed_and_leave_no_files() {
    let config = Config::default();
    let told = "tests are run by cargo from within the repository, so that .cargo/config.toml counts";
    assert!(matches!(config.rng_seed, RngSeed::Fixed(_)), "{told}");
    assert!(config.failure_persistence.is_none(), "{told}");
}
