#!/usr/bin/env bash
# The protocol's official conformance suite against this tree: the program as it is shipped, and the same server with the tools
# that the suite calls (examples/conformance.rs).
#
# Whatever the suite requires of a revision must pass, but for the exceptions listed in `<server>-<revision>.yml`, each with its
# reason. The lists are exact: an exception that passes, or that was never met, fails this run too. The two older revisions of
# the handshake are judged by the list of the newest.
#
# Needs npm and the network the first time: the suite, and the Node it needs, are installed below `target`.
set -euo pipefail
cd "$(dirname "$0")/../.."

suite=0.2.0-alpha.12
node=22.23.5
work=target/conformance
lists=tests/conformance

mkdir -p "$work"
work=$(cd "$work" && pwd)

# --- the suite -----------------------------------------------------------------------------------------------------------

platform=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
  x86_64 | amd64) platform+=-x64 ;;
  aarch64 | arm64) platform+=-arm64 ;;
  *) echo "there is no Node $node for $(uname -sm) here" >&2; exit 1 ;;
esac

if [[ $(cat "$work/installed" 2>/dev/null) != "$suite $node" ]]; then
  rm -rf "$work/node_modules" "$work/package.json" "$work/package-lock.json"
  echo '{"private": true}' >"$work/package.json"
  npm install --prefix "$work" --no-audit --no-fund --loglevel=error --save-exact \
    "@modelcontextprotocol/conformance@$suite" "node-$platform@$node"
  echo "$suite $node" >"$work/installed"
fi
export PATH="$work/node_modules/node-$platform/bin:$PATH" NO_COLOR=1

suite() {
  node "$work/node_modules/@modelcontextprotocol/conformance/dist/index.js" "$@"
}

# --- the servers ---------------------------------------------------------------------------------------------------------

cargo build --bin remontoire --example conformance
built=${CARGO_TARGET_DIR:-target}/debug

started=()
trap '[[ ${#started[@]} -eq 0 ]] || kill "${started[@]}" 2>/dev/null || true' EXIT

# start NAME COMMAND…: starts a server; its address is in $url then.
start() {
  local name=$1
  shift
  "$@" >"$work/$name.out" 2>&1 &
  started+=($!)
  url=
  for _ in $(seq 300); do
    url=$(grep -o 'http://[^ ]*/mcp' "$work/$name.out" || true)
    [[ -z $url ]] || return 0
    sleep 0.1
  done
  echo "$name did not start:" >&2
  cat "$work/$name.out" >&2
  exit 1
}

# --- the runs ------------------------------------------------------------------------------------------------------------

failed=0

# run LOG LIST ARGUMENT…: one run of the suite against $url, judged by a list.
run() {
  local log=$1 list=$2
  shift 2
  echo "== server --url $url $*" >>"$log"
  if ! suite server --url "$url" --expected-failures "$list" -o "$work/results" "$@" >>"$log" 2>&1; then
    echo "not as expected: $*"
    failed=1
  fi
}

# The scenarios that a revision's run reports without judging them, each with the kind it is of.
unscored() {
  suite list --requirements "$1" | awk '/^  [a-z-]+ \([0-9]+\):/ { kind = $1 } / \[server\]$/ { print kind, $2 }'
}

# judge SERVER REVISION [OLDER…]: everything the suite has for a revision, and the suites of older ones, by the list of the first.
judge() {
  local server=$1 revision=$2
  shift 2
  local list=$lists/$server-$revision.yml log=$work/$server-$revision.log
  echo "$server $revision $*"
  : >"$log"
  run "$log" "$list" --requirements "$revision"
  local kind scenario
  while read -r kind scenario; do
    if [[ $kind == extension ]]; then
      # Extensions belong to no revision: naming one would skip them.
      run "$log" "$list" --scenario "$scenario"
    else
      run "$log" "$list" --scenario "$scenario" --spec-version "$revision"
    fi
  done < <(unscored "$revision")
  for revision in "$@"; do
    run "$log" "$list" --suite all --spec-version "$revision"
  done
  # What the list excuses must be what was excused.
  if ! diff <(sed -n 's/^ *- *\([^ #]*\).*/\1/p' "$list" | sort) <(sed -n 's/^ *~ *//p' "$log" | sort -u) >"$work/unmet"; then
    sed -n 's/^< /never met: /p; s/^> /unlisted: /p' "$work/unmet"
    failed=1
  fi
  sed 's/\x1b\[[0-9;]*m//g' "$log" | sed -n '/^Stale baseline entries/,/^$/p; /^Unexpected failures (/,/^$/p' | grep '^  ' | sort -u || true
}

rm -rf "$work/results"
start shipped "$built/remontoire" serve --port 0
judge shipped 2025-11-25 2025-06-18 2025-03-26
judge shipped 2026-07-28
start fixture "$built/examples/conformance"
judge fixture 2025-11-25 2025-06-18 2025-03-26
judge fixture 2026-07-28

if [[ $failed -ne 0 ]]; then
  echo "failed; the logs are in $work"
  exit 1
fi
echo "passed, but for the exceptions listed"
