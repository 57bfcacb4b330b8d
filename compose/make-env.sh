#!/bin/sh
# Creates .env: a copy of .env.example with a new value for every secret, and with what only new installations turn on.
# Does not change an existing .env.
set -eu
cd "$(dirname "$0")/.."

if [ -e .env ]; then
  echo 'make-env.sh: .env exists already; it is not changed' >&2
  exit 1
fi

umask 077
while IFS= read -r line; do
  case $line in
    [A-Z]*=) line=$line$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n') ;;
    '#BLOCK_REBINDING='*) line=BLOCK_REBINDING=true ;;
  esac
  printf '%s\n' "$line"
done <.env.example >.env.new
mv .env.new .env

echo '.env is written. Keep a copy in a safe place: without its DOMAIN_HASH_KEY no rule in the database matches.'
