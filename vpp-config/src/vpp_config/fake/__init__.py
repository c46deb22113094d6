"""A VPP in memory, for tests: the same protocol, the same answers, the same refusals as VPP 26.06.

``tests/integration/vpp/test_contract.py`` checks the behavior of the real VPP, and runs on both.
"""

from vpp_config.fake.vpp import FakeVpp

__all__ = ["FakeVpp"]
