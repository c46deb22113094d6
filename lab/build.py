"""One lab, step by step: `up` from any state, and `down`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lab import accounts, agent_process, bgp_index, readiness, state, traffic, web_process
from lab.accounts import Account
from lab.databases import Databases
from lab.initial_document import build as initial_document
from lab.kernel_settings import Register
from lab.layout import Layout
from lab.leftovers import end_processes, marked_processes
from lab.namespaces import Dataplane
from lab.programs import frr_programs, frr_watch, index_program, peer_programs, traffic_programs
from lab.readiness import Check
from lab.router_agent import RouterAgent
from lab.state import LabState
from lab.supervision import Program, Supervisor
from lab.topology import Topology, remove_tree
from lab.web_process import USERNAME, Web

Database = Literal["sqlite", "postgres"]
Stage = Literal["topology", "routing", "agent", "all"]
"""How much is started: the neighbours; also FRR and VPP; also the agent and its first commit; everything."""

_STAGES: tuple[Stage, ...] = ("topology", "routing", "agent", "all")
_AGENT_LIMIT_S = 60.0
_START_LIMIT_S = 60.0
_READY_LIMIT_S = 120.0


@dataclass(frozen=True)
class Wanted:
    """The requested lab."""

    directory: Path
    prefix: str
    dataplane: Dataplane
    reason: str
    database: Database = "sqlite"
    stage: Stage = "all"
    initial_commit: bool = True


class Lab:
    """The lab described by `wanted`; `say` takes lines for the person at the terminal."""

    def __init__(self, wanted: Wanted, say: Callable[[str], None]) -> None:
        self.wanted = wanted
        self.say = say
        self.layout = Layout(wanted.directory.resolve())
        self.topology = Topology(wanted.prefix, self.layout.directory, wanted.dataplane)
        self.names = self.topology.namespaces
        self.supervisor = Supervisor(self.layout.directory)
        self.agent = RouterAgent(self.layout.agent_socket)
        self.vpp = self.topology.vpp

    def up(self) -> None:
        """Make the missing parts, start the stopped programs, wait until the lab is ready.

        Raises LabError (NotReady in particular); the parts made so far stay, for inspection and for `down`.
        """
        self.layout.make(accounts.invoking().uid)
        if not self.topology.state_file.exists():
            self._note(self._first_record())
        if not self.topology.intact() or not self.supervisor.alive():
            # Processes in namespaces without names cannot be kept, nor can processes without a supervisor.
            self.supervisor.stop()
        self.topology.create()
        traffic.build(self.layout.bin)
        agent_process.write_settings(
            self.layout, self.names, self.wanted.dataplane, (0, self._web_account().uid)
        )
        if self._reaches("all") and not self.supervisor.alive():
            self._reserve_port()
        databases = self._databases()
        if databases is not None:
            databases.prepare()
        programs = self._network_programs(databases)
        if self._reaches("all") and self.supervisor.alive():
            programs += self._web(databases).programs()  # keep the running programs
        self.supervisor.start(programs)
        self.supervisor.wait_running(_START_LIMIT_S)
        if self._reaches("agent"):
            self._first_commit()
        if self._reaches("all"):
            self._start_web(databases, programs)
        readiness.wait(self.checks(), _READY_LIMIT_S, lambda name: self.say(f"  ready: {name}"))

    def down(self) -> None:
        """End every process and remove everything on record, and the lab's directory with it."""
        record = self.topology.state
        self.supervisor.stop()
        # PostgreSQL and Redis may keep their files elsewhere, where their owner can reach them.
        for path in map(Path, record.paths):
            end_processes(marked_processes(path))
        self.topology.destroy()
        for path in self.layout.files():
            remove_tree(path)
        if self.layout.directory.is_dir() and not any(self.layout.directory.iterdir()):
            self.layout.directory.rmdir()

    def checks(self) -> list[Check]:
        """The conditions for this lab to be ready, as far as it is started."""
        found = [
            Check("network", lambda: None if self.topology.intact() else "a namespace or link is missing"),
            Check("processes", self._stopped_processes),
        ]
        if self._reaches("agent"):
            found.append(Check("agent", self.agent.problem))
            if self.wanted.initial_commit and self._runs_the_first_document():
                found += readiness.routing_checks(self.names)
                found += readiness.forwarding_checks(self.names, self.wanted.dataplane, self.layout)
        if self._reaches("all"):
            found.append(readiness.page_check(self._web(self._databases()).base_url, self.layout.ca_file))
        return found

    def environment(self) -> dict[str, str]:
        """The content of the env file."""
        values = {
            "AGENT_SOCKET": str(self.layout.agent_socket),
            "MILLRACE_AGENT_SOCKET": str(self.layout.agent_socket),
            "DATAPLANE": self.wanted.dataplane,
            "ROUTER_NAMESPACE": self.names.router,
        }
        if self.vpp is not None:
            values["VPP_CLI_SOCKET"] = str(self.layout.vpp("cli.sock"))
            values["VPP_API_SOCKET"] = str(self.layout.vpp("api.sock"))
            values["FEEDER_SOCKET"] = str(self.layout.feeder_socket)
        if self._reaches("all"):
            web = self._web(self._databases())
            values = {
                "BASE_URL": web.base_url,
                "USERNAME": USERNAME,
                "PASSWORD": web.password(),
                "TOKEN": web.token(),
                "CA_FILE": str(self.layout.ca_file),
                **values,
            }
        return values

    def _note(self, record: LabState) -> None:
        state.save(self.topology.state_file, record)

    def _reaches(self, stage: Stage) -> bool:
        return _STAGES.index(self.wanted.stage) >= _STAGES.index(stage)

    def _first_record(self) -> LabState:
        return LabState(
            prefix=self.wanted.prefix,
            dataplane=self.wanted.dataplane,
            dataplane_reason=self.wanted.reason,
            database=self.wanted.database,
            stage=self.wanted.stage,
            initial_commit=self.wanted.initial_commit,
            web_uid=self._choose_web_account().uid if self._reaches("all") else 0,
        )

    def _reserve_port(self) -> None:
        record = self.topology.state
        if record.web_port == 0 or not web_process.port_is_free(record.web_port):
            register = Register()
            port = register.reserve_port(record.prefix, self.layout.directory, web_process.port_is_free)
            self._note(record.changed(web_port=port))

    def _network_programs(self, databases: Databases | None) -> list[Program]:
        programs = peer_programs(self.layout.directory, self.names)
        if self._reaches("routing"):
            if self.vpp is not None:
                programs += self.vpp.programs(self.say)
            programs += frr_programs(self.names, self.wanted.dataplane)
            programs.append(frr_watch(self.layout.directory, self.names))
        if self._reaches("agent"):
            index = index_program(self.layout, self.names, self.say)
            if index is not None:
                programs.append(index)
            else:
                self.say(f"NOTE: BGP routes cannot be searched: {bgp_index.lacking()}")
            programs.append(agent_process.program(self.layout))
            programs += traffic_programs(self.names)
        if databases is not None:
            programs += databases.programs()
        return programs

    def _first_commit(self) -> None:
        self.agent.wait(_AGENT_LIMIT_S)
        record = self.topology.state
        if not self.wanted.initial_commit or record.initial_commit_done:
            return
        if self.agent.revision() == 0:
            document = initial_document(self.wanted.dataplane)
            revision = self.agent.commit(document, "The lab's first document", _READY_LIMIT_S)
            self.say(f"  committed the first document as revision {revision}")
        self._note(record.changed(initial_commit_done=True))

    def _start_web(self, databases: Databases | None, programs: list[Program]) -> None:
        web = self._web(databases)
        web.prepare()
        if databases is not None:
            databases.wait(_START_LIMIT_S)
            databases.ensure_database()
        web.migrate()
        web.ensure_administrator()
        names = {program.name for program in web.programs()}
        self.supervisor.start(
            [*(program for program in programs if program.name not in names), *web.programs()]
        )
        self.supervisor.wait_running(_START_LIMIT_S)

    def _stopped_processes(self) -> str | None:
        states = self.supervisor.states()
        if not states:
            return "supervisord does not run"
        stopped = [f"{name} is {seen}" for name, seen in sorted(states.items()) if seen != "RUNNING"]
        return ", ".join(stopped) or None

    def _web(self, databases: Databases | None) -> Web:
        return Web(self.layout, self._web_account(), self.topology.state.web_port, databases)

    def _web_account(self) -> Account:
        return Account.of(self.topology.state.web_uid)

    def _choose_web_account(self) -> Account:
        account = accounts.unprivileged()
        refusal = accounts.can_run_the_code(account) or accounts.can_reach(account, self.layout.directory)
        if refusal is None:
            return account
        self.say(f"NOTE: the web half runs as root, because {refusal}.")
        self.say(
            "      The appliance never does that; a checkout that others may read gives it a user of its own."
        )
        return Account.of(0)

    def _runs_the_first_document(self) -> bool:
        """Whether nobody has changed the router yet: after a change, its forwarding is up to the user."""
        return self.agent.problem() is None and self.agent.revision() <= 1

    def _databases(self) -> Databases | None:
        if self.wanted.database != "postgres" or not self._reaches("all"):
            return None
        account = accounts.unprivileged()
        if accounts.can_reach(account, self.layout.directory) is None:
            return Databases(self.layout.directory / "databases", account)
        # PostgreSQL refuses to run as root, and no other account may enter here.
        elsewhere = Path("/var/tmp") / f"millrace-lab-{self.wanted.prefix}"
        self._note(self.topology.state.owning([elsewhere]))
        return Databases(elsewhere, account)
