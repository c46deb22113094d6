# The commands of this repository. The work is in setup/ (what is installed), lab/ (make up) and tests/.
.DEFAULT_GOAL := help
.PHONY: help up down test bench soak soak-impact ova image-tools image-test image-compare environment assets lint format lock clean
.NOTPARALLEL:

# vpp or linux; left empty, the lab takes VPP where it is installed.
DATAPLANE ?=
# postgres; left empty, the embedded SQLite and in-process jobs.
DATABASE ?=
# Further arguments for pytest, as in: make test PYTEST="-k bgp"
PYTEST ?=
# The number of processes that run tests, which wait more than they compute; left empty, three, and two machines that
# boot the image. 0: all in one, in order.
JOBS ?=
# A feature's name, as in: make test FEATURE=bfd
FEATURE ?=

# 1: the tests that need neither root nor a lab nor a server, as a contributor runs them before a commit.
QUICK ?=

# The image: where VPP's packages come from (fdio, dir:PATH or none), its version, and a Debian mirror or snapshot
# instead of the one this machine's apt uses.
VPP_SOURCE ?= fdio
VERSION ?=
DEBIAN_MIRROR ?=
DEBIAN_SECURITY_MIRROR ?=

ifneq ($(filter-out feeder,$(ROUTES)),)
$(error ROUTES=$(ROUTES): only the feeder carries FRR's routes into VPP now (docs/adr/0063-linux-nl-is-gone.md))
endif

PYTHON := .venv/bin/python
export PYTHONDONTWRITEBYTECODE := 1

help:
	@echo "make up [DATAPLANE=vpp|linux] [DATABASE=postgres]   set up and start the lab and the whole stack"
	@echo "make down                                           remove what make up made"
	@echo "make test [FEATURE=bfd] [PYTEST=...]                set up and run every test that needs no image, or one feature's"
	@echo "make test QUICK=1                                   without root, labs and servers, in some minutes"
	@echo "make bench                                          print the numbers of tests/bench"
	@echo "make soak [PYTEST=...]                              long campaigns of tests/soak: faults, growth, hostile peers"
	@echo "make soak-impact [MILLRACE_ROUNDS=500]              random commits under mixed traffic: foretold, then measured"
	@echo "make ova [VPP_SOURCE=fdio|dir:PATH|none]            build the image: OVA, qcow2, upgrade file, descriptors in dist/"
	@echo "make image-test [PYTEST=...]                        boot the image in dist/ and test it"
	@echo "make image-compare [VPP_SOURCE=...]                 build twice and list every difference"
	@echo "make lint | format | lock | assets | clean"

ifneq ($(QUICK),)

test:
	@setup/packages.sh python node
	@setup/python.sh
	@setup/assets.sh
	@$(PYTHON) -m pytest -n $(or $(JOBS),3) --time-table --quick $(if $(FEATURE),--feature '$(FEATURE)') \
	    tests/unit tests/golden tests/property tests/api $(PYTEST); status=$$?; setup/give_back.sh; exit $$status

endif

# Namespaces and Debian's packages need root.
ifneq ($(shell id -u),0)

up down $(if $(QUICK),,test) bench soak soak-impact ova image-tools image-test image-compare clean:
	@echo "millrace: 'make $@' needs root (network namespaces, Debian packages): running it through sudo" >&2
	@sudo -E $(MAKE) --no-print-directory $@ \
	    DATAPLANE='$(DATAPLANE)' DATABASE='$(DATABASE)' PYTEST='$(value PYTEST)' FEATURE='$(FEATURE)' \
	    VPP_SOURCE='$(VPP_SOURCE)' VERSION='$(VERSION)' \
	    DEBIAN_MIRROR='$(DEBIAN_MIRROR)' DEBIAN_SECURITY_MIRROR='$(DEBIAN_SECURITY_MIRROR)'

else

up:
	@setup/packages.sh python node lab rust $(if $(filter postgres,$(DATABASE)),database)
	@$(if $(filter vpp,$(DATAPLANE)),setup/vpp.sh)
	@setup/python.sh
	@setup/assets.sh
	@exec $(PYTHON) -m lab up $(if $(DATAPLANE),--dataplane $(DATAPLANE)) \
	    $(if $(DATABASE),--database $(DATABASE))

down:
	@if [ -x $(PYTHON) ]; then exec $(PYTHON) -m lab down; else echo "millrace: nothing was set up here" >&2; fi

ifeq ($(QUICK),)

test:
	@setup/packages.sh python node lab rust database test
	@setup/python.sh
	@setup/assets.sh
	@$(PYTHON) -m pytest -n $(or $(JOBS),3) --time-table \
	    $(if $(FEATURE),--feature '$(FEATURE)') $(PYTEST); status=$$?; setup/give_back.sh; exit $$status

endif

bench:
	@setup/packages.sh python node lab rust database
	@setup/python.sh
	@setup/assets.sh
	@$(PYTHON) -m pytest -m bench -s --timeout=1800 tests/bench $(PYTEST); status=$$?; setup/give_back.sh; exit $$status

soak:
	@setup/packages.sh python node lab rust database test
	@setup/python.sh
	@setup/assets.sh
	@$(PYTHON) -m pytest -m soak -s --timeout=14400 tests/soak $(PYTEST); status=$$?; setup/give_back.sh; exit $$status

# 500 rounds on each data plane, unless the environment says otherwise.
soak-impact: export MILLRACE_ROUNDS := $(or $(MILLRACE_ROUNDS),500)
soak-impact: export MILLRACE_LABS := $(or $(MILLRACE_LABS),2)
soak-impact:
	@setup/packages.sh python node lab rust test
	@setup/python.sh
	@setup/assets.sh
	@$(PYTHON) -m pytest -m soak -s tests/soak/test_impact_calibration.py $(PYTEST); \
	    status=$$?; setup/give_back.sh; exit $$status

ova:
	@setup/packages.sh python node image rust
	@setup/python.sh
	@setup/assets.sh
	@setup/packer.sh
	@packer build -color=false -var 'vpp_source=$(VPP_SOURCE)' -var 'version=$(VERSION)' \
	    -var 'debian_mirror=$(DEBIAN_MIRROR)' -var 'debian_security_mirror=$(DEBIAN_SECURITY_MIRROR)' \
	    packer/millrace.pkr.hcl; status=$$?; setup/give_back.sh; exit $$status

# Debian 13's QEMU and disk tools, for packer/qemu and the image's tests.
image-tools:
	@setup/packages.sh python image
	@setup/python.sh
	@DEBIAN_MIRROR='$(DEBIAN_MIRROR)' DEBIAN_SECURITY_MIRROR='$(DEBIAN_SECURITY_MIRROR)' \
	    $(PYTHON) -m packer.image tools

image-test: image-tools
	@setup/packages.sh python lab test
	@setup/python.sh
	@$(PYTHON) -m tests.image.ready
	@$(PYTHON) -m pytest -m image -v -n $(or $(JOBS),2) --timeout=3600 tests/image $(PYTEST); status=$$?; setup/give_back.sh; exit $$status

image-compare:
	@setup/packages.sh python node image rust
	@setup/python.sh
	@setup/assets.sh
	@VPP_SOURCE='$(VPP_SOURCE)' MILLRACE_VERSION='$(VERSION)' \
	    DEBIAN_MIRROR='$(DEBIAN_MIRROR)' DEBIAN_SECURITY_MIRROR='$(DEBIAN_SECURITY_MIRROR)' \
	    $(PYTHON) -m packer.image.compare

clean: down
	rm -rf .image
	rm -rf .venv .tools node_modules webui/src/webui/static/vendor dist .hypothesis .lab \
	    .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

endif

environment:
	@setup/packages.sh python
	@setup/python.sh

assets: environment
	@setup/packages.sh node
	@setup/assets.sh

lint: environment
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	.venv/bin/lint-imports

format: environment
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

# Rewrites requirements/*.txt from the members' pyproject.toml; UPGRADE=1 takes newer versions.
lock: environment
	@setup/lock.sh $(if $(UPGRADE),--upgrade)
