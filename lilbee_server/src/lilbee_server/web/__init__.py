"""The page that the server shows to browsers: search, reading and the rest, without a network and without a build."""
