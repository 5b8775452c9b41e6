#!/bin/sh
# The entry point of the image: it runs a command; without one it indexes /docs and serves the page.
set -eu
if [ $# = 0 ]; then
    set -- pgrag serve --host 0.0.0.0 --port 8000
    if [ -n "$(ls -A /docs 2>/dev/null)" ]; then
        set -- "$@" --index "${LIBRARY:-docs}=/docs"
    else
        echo 'Nothing to index: /docs is not mounted, empty, or closed to the user pgrag. Give the' \
            'container your folder: docker run -p 8000:8000 -v "$PWD/docs:/docs" IMAGE' >&2
    fi
    # A database of yours has keys. Of its own, the container has what is mounted, for all who reach it;
    # it answers to names that it knows only, because a page of any site may call a port of this machine.
    [ -n "${PGRAG_DATABASE_URL:-}" ] || set -- "$@" --open --open --allow-host "${ALLOW_HOST:-localhost}"
fi
[ -z "${PGRAG_DATABASE_URL:-}" ] || exec "$@"

# The embedded database lives in this container, and is stopped before it ends: else it would have to
# recover. A command in the background has no standard input of its own.
exec 3<&0
"$@" <&3 3<&- &
command=$!
stopped=''
trap 'stopped=yes; kill -TERM "$command" 2>/dev/null || true' TERM INT
status=0
wait "$command" 2>/dev/null || status=$?
# A signal ends the wait, not the command.
while kill -0 "$command" 2>/dev/null; do
    wait "$command" 2>/dev/null || true
done
pgrag db stop >/dev/null
[ -n "$stopped" ] || exit "$status"
