"""A Model Context Protocol server over a lilbee library."""
