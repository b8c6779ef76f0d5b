"""What engines did, from Python."""

import certus


def test_statistics_are_of_the_block_alone():
    with certus.statistics() as seen:
        certus.simulate("zoo/toy/toy.certus", runs=7, steps=3)
    assert seen.counts["simulated_runs"] == 7
    assert {"simulation"} <= {phase["name"] for phase in seen.phases} and "simulated runs" in str(seen)
    certus.simulate("zoo/toy/toy.certus", runs=5, steps=3)
    with certus.statistics() as again:
        pass
    assert again.counts == {} and again.phases == []
