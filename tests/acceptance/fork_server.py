"""`pgrag` without its start: a process that has imported everything forks a child for each command.

A command is a process of its own all the same, with its arguments, environment, folder, streams and
exit status; what is saved is the time in which Python reads the same modules again.
"""

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys

#: What commands import when they need it.
MODULES = (
    "pgrag.answer", "pgrag.cli", "pgrag.client", "pgrag.evaluation", "pgrag.ingest.enrichment",
    "pgrag.ingest.pipeline", "pgrag.mcp", "pgrag.models.embedding", "pgrag.models.reranking",
    "pgrag.service.app", "pgrag.service.doctor",
)  # fmt: skip


class ForkServer:
    """Runs commands in children of one process."""

    def __init__(self, path, environment):
        """Start it; it listens on a socket at `path`."""
        self._path = os.fspath(path)
        self._process = subprocess.Popen(
            [sys.executable, __file__, self._path],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout.readline() == b"ready\n"

    def stop(self):
        """End it; a command that is on its way goes on."""
        self._process.kill()
        self._process.communicate()

    def run(self, program, arguments, *, folder, environment, streams, timeout):
        """Run a program of Python on these files as stdin, stdout and stderr; return its status.

        Raises TimeoutError when it does not end in time; the command is killed.
        """
        request = json.dumps([program, arguments, str(folder), environment]).encode()
        with socket.socket(socket.AF_UNIX) as connection, connection.makefile() as reply:
            connection.settimeout(timeout)
            connection.connect(self._path)
            socket.send_fds(connection, [b"\n"], [stream.fileno() for stream in streams])
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            command = int(reply.readline())
            try:
                return int(reply.readline())
            except TimeoutError:
                os.kill(command, signal.SIGKILL)
                raise


def _accept(path):
    """Fork for every connection and return it in the child; end when stdin is closed."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("ready", flush=True)
    while True:
        if sys.stdin in select.select([listener, sys.stdin], [], [])[0]:
            sys.exit()
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            return connection
        connection.close()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass


def _become_command(connection):
    """Return the program in a grandchild that has all it needs; the child waits for its status."""
    _, streams, *_ = socket.recv_fds(connection, 1, 3)
    with connection.makefile() as request:
        program: str
        program, arguments, folder, environment = json.load(request)
    if pid := os.fork():
        connection.sendall(b"%d\n" % pid)
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        os._exit(0)
    connection.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    return program


if __name__ == "__main__":
    for name in MODULES:
        importlib.import_module(name)
    importlib.import_module("pgrag.cli.program").program()
    exec(_become_command(_accept(sys.argv[1])))
