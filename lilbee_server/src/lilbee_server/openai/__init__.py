"""The wire form of OpenAI's interface, as far as a library has it. No routes."""
