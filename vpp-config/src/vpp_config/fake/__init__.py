"""A VPP in memory, for tests: the same protocol, the same answers, the same refusals as VPP 26.06.

What the real VPP does is measured by ``tests/integration/vpp/test_contract.py``, which runs on both.
"""

from vpp_config.fake.vpp import FakeVpp

__all__ = ["FakeVpp"]
