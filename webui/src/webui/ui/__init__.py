"""The browser pages: views ask services, templates show the answers, static modules enliven."""
