# A standby of docker/compose.replicas.yaml: copies the primary the first time, then follows it.
set -eu
chmod 700 "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    pg_basebackup --dbname "host=database user=pgrag" --pgdata "$PGDATA" \
        --write-recovery-conf --checkpoint=fast
fi
# The feedback keeps on the primary what a search on the standby still reads.
exec postgres -c hba_file=/etc/pg_hba.conf -c unix_socket_directories=/tmp -c hot_standby_feedback=on
