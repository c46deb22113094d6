"""Typed, declarative configuration of FRRouting: render, observe, plan, apply."""

from importlib import metadata

from frr_config.client import Frr, FrrClient
from frr_config.config import FrrConfig, masked_diff
from frr_config.errors import FrrCommandError, FrrConfigError, FrrError, FrrUnavailable, RenderError
from frr_config.fake import FakeFrr
from frr_config.health import DaemonHealth
from frr_config.line import Line
from frr_config.operation import Operation
from frr_config.page import Page
from frr_config.parsing import parse
from frr_config.planning import plan
from frr_config.rendering import render
from frr_config.routing import Routing, VrfRouting
from frr_config.state import State
from frr_config.step import Command, Step
from frr_config.tables import required_daemons
from frr_config.version import V8_4, V10_3, FrrVersion

__version__ = metadata.version("frr-config")

__all__ = [
    "V8_4",
    "V10_3",
    "Command",
    "DaemonHealth",
    "FakeFrr",
    "Frr",
    "FrrClient",
    "FrrCommandError",
    "FrrConfig",
    "FrrConfigError",
    "FrrError",
    "FrrUnavailable",
    "FrrVersion",
    "Line",
    "Operation",
    "Page",
    "RenderError",
    "Routing",
    "State",
    "Step",
    "VrfRouting",
    "masked_diff",
    "parse",
    "plan",
    "render",
    "required_daemons",
]
