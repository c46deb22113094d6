"""`python -m packer.image STAGE...`: stages of the image build; without one, all of them."""

import os
import sys

from packer.image.errors import BuildError
from packer.image.settings import read_settings
from packer.image.stages import STAGES


def main(arguments: list[str]) -> int:
    """Run the named stages; 1 when one fails, 2 when one does not exist."""
    unknown = [name for name in arguments if name not in STAGES]
    if unknown:
        print(
            f"millrace image: no stage {', '.join(unknown)}: there are {', '.join(STAGES)}", file=sys.stderr
        )
        return 2
    try:
        settings = read_settings(os.environ)
        for name in arguments or STAGES:
            STAGES[name](settings)
    except BuildError as error:
        print(f"millrace image: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
