"""What the web process serves beside Django: the portal, static files, media, WebSockets."""
