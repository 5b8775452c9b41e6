"""How long libpq waits for a network."""

LIVELY = {
    "connect_timeout": 10,
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""A network that is cut sends no end of the connection: without these of libpq, a session waits for
a reply as long as the kernel likes, two hours and more. Here it is about 10 seconds.
"""
