"""Values of the library as the page shows them: pure functions, without requests, templates or files."""
