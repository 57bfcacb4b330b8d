#!/bin/sh
# Creates a cluster in an empty data folder, with the user and database of POSTGRES_…, as the public image does.
set -eu
PATH=$PATH:$(echo /usr/lib/postgresql/*/bin)

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf '%s' "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256 --encoding=UTF8 --pgdata="$PGDATA"
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE \"$POSTGRES_DB\"" | postgres --single -D "$PGDATA" postgres
fi
exec "$@" -c 'listen_addresses=*'
