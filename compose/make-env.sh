#!/bin/sh
# Makes .env: a copy of .env.example in which every secret has a value of its own. An .env that is there already stays
# as it is.
set -eu
cd "$(dirname "$0")/.."

if [ -e .env ]; then
  echo 'make-env.sh: .env is there already, and is left as it is' >&2
  exit 1
fi

umask 077
while IFS= read -r line; do
  case $line in
    [A-Z]*=) line=$line$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n') ;;
  esac
  printf '%s\n' "$line"
done <.env.example >.env.new
mv .env.new .env

echo '.env is made. Keep a copy in a safe place: the rules in the database match nothing without its DOMAIN_HASH_KEY.'
