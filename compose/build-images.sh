#!/bin/sh
# Builds the images, or those of the targets that are named, with labels that tell what they were built from.
#
#   compose/build-images.sh [control-plane | resolver | block-page | migrate]...
#
# Reads IMAGE_PREFIX, WEIR_VERSION, BASE_IMAGE, NPM_CONFIG_REGISTRY, REVISION and SOURCE from the environment, or from
# .env (see .env.example). By default REVISION is the commit of this clone, and SOURCE the address it was cloned from.
set -eu
cd "$(dirname "$0")/.."

# Value of a variable: from the environment, from .env, or the default.
setting() {
  value=$(printenv "$1") || value=$(sed -n "s/^$1=//p" .env 2>/dev/null | tail -n 1)
  printf '%s' "${value:-$2}"
}

# A commit with uncommitted changes ends in -dirty. Credentials in the address are left out.
commit=$(git describe --always --dirty --abbrev=40 --exclude='*' 2>/dev/null || true)
address=$(git config --get remote.origin.url 2>/dev/null | sed 's,//[^/@]*@,//,' || true)
version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
prefix=$(setting IMAGE_PREFIX weir)
tag=$(setting WEIR_VERSION "$version")
REVISION=$(setting REVISION "$commit")
SOURCE=$(setting SOURCE "$address")
BASE_IMAGE=$(setting BASE_IMAGE '')
NPM_CONFIG_REGISTRY=$(setting NPM_CONFIG_REGISTRY '')
if [ -z "$REVISION" ] || [ -z "$SOURCE" ]; then
  echo 'build-images.sh: REVISION and SOURCE are not set, and git does not know them' >&2
  exit 1
fi

[ $# -gt 0 ] || set -- control-plane resolver block-page migrate
for target in "$@"; do
  echo "Building $prefix/$target:$tag from $REVISION"
  docker build --target "$target" --tag "$prefix/$target:$tag" \
    --build-arg REVISION="$REVISION" --build-arg SOURCE="$SOURCE" \
    ${BASE_IMAGE:+--build-arg BASE_IMAGE="$BASE_IMAGE"} \
    ${NPM_CONFIG_REGISTRY:+--build-arg NPM_CONFIG_REGISTRY="$NPM_CONFIG_REGISTRY"} .
done
