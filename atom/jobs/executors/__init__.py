"""Ways of running an attempt: `local` starts a detached supervisor on this machine."""
