"""Tests: unit tests a room, fixtures, architecture, packaging, corpus. See CONTRIBUTING.md."""
