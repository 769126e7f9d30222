"""The web process beside Django: portal, static files, media, WebSockets."""
