"""The browser pages: views call services, templates show the answers, static modules add interaction."""
