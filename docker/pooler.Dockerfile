# PgBouncer of Debian, for docker/compose.pooled.yaml and the tests.
ARG BASE_IMAGE=debian:trixie-slim
FROM ${BASE_IMAGE}
RUN command -v pgbouncer >/dev/null || \
    (apt-get update && apt-get install -y --no-install-recommends pgbouncer && rm -rf /var/lib/apt/lists/*)
COPY pgbouncer.ini /etc/pgbouncer/pgbouncer.ini
USER nobody
ENV PGRAG_SERVER=database PGRAG_WAIT=60
EXPOSE 6432
# The file of the passwords is written at the start: PgBouncer reads no variables.
CMD ["sh", "-c", "umask 077 && printf '\"pgrag\" \"%s\"\\n' \"$PGRAG_PASSWORD\" >/tmp/users && sed \"s/host=database/host=$PGRAG_SERVER/; s/^query_wait_timeout.*/query_wait_timeout = $PGRAG_WAIT/\" /etc/pgbouncer/pgbouncer.ini >/tmp/pgbouncer.ini && exec pgbouncer /tmp/pgbouncer.ini"]
