#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# examples/quickstart.sh with substitutes for what it starts: quickstart.sh SCRIPT
#
# --help runs nothing. Output of tools goes to the log, of which 20 lines are shown when a step fails, with its exit code.
# The example gets a text and the arguments, and its exit code is the script's.
set -uo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/a project/examples" "$folder/a project/cmake" "$folder/bin"
cp "$1" "$folder/a project/examples/"
cd "$folder/a project" || exit 1
export STEPS="$folder/steps" PATH="$folder/bin:$PATH"

failed=0
fail() {
  echo "FAILED: $*"
  cat out err steps 2>/dev/null
  failed=1
}

: >cmake/environment.sh
cat >cmake/dependencies.sh <<'SCRIPT'
meshtensor_install() {
  echo "install $*" >>"$STEPS"
  echo "noise of apt"
  [[ " $* " != *" ${MISSING:-none} "* ]]
}
SCRIPT
cat >"$folder/bin/cmake" <<'SCRIPT'
#!/usr/bin/env bash
echo "cmake $*" >>"$STEPS"
if [[ "$1" = --build ]]; then
  seq -f 'noise %g' 100
  if [ -n "${BREAKS:-}" ]; then exit "$BREAKS"; fi
  mkdir -p "$2/examples"
  printf '#!/usr/bin/env bash\nprintf "<%%s>" transformer "$@"; echo\nexit 3\n' >"$2/examples/transformer"
  chmod +x "$2/examples/transformer"
fi
SCRIPT
cat >"$folder/bin/bible" <<'SCRIPT'
#!/usr/bin/env bash
[ -z "${NO_BIBLE:-}" ] || exit 1
printf 'Ge1:1 In the beginning\n1Sm1:2 And God said\n'
SCRIPT
chmod +x "$folder"/bin/*

# try CODE ARGUMENTS...: runs the script; the steps that it took are then in `steps`.
try() {
  local code=$1 got
  shift
  : >"$STEPS"
  examples/quickstart.sh "$@" >out 2>err </dev/null
  got=$?
  cp "$STEPS" steps
  [ "$got" -eq "$code" ] || fail "$*: exit code $got, not $code"
}
bible=build/quickstart/king_james_bible.txt

for option in --help -h; do
  try 0 --steps 5 "$option"
  [ ! -s steps ] && [ ! -e build ] || fail "$option starts something"
  [ ! -s err ] || fail "$option: standard error"
  for words in Usage: --text --mesh MESHTENSOR_INSTALL build/quickstart.log; do grep -qF -- "$words" out || fail "$option: no $words"; done
done

try 3 --seed 7
[ "$(wc -l <steps)" -eq 3 ] && grep -qx 'install build library examples text' steps || fail 'not three steps'
grep -q '^cmake --preset quickstart$' steps && grep -q '^cmake --build .* --target transformer$' steps || fail 'other builds'
! grep -q noise out err || fail 'the output of a tool is shown'
[ "$(grep -c noise build/quickstart.log)" -eq 101 ] || fail 'the log does not have the output of the tools'
[ "$(tail -n 1 out)" = "<transformer><--evaluations><2><--text><$bible><--prompt><And God said, ><--temperature><0.5><--steps><1000><--seed><7>" ] ||
  fail 'other arguments'
grep -q '^train .*the King James Bible' out || fail 'which text it is is not said'
cmp "$bible" <(printf 'In the beginning\nAnd God said\n') || fail 'another text'
[ "$(wc -l <out)" -le 6 ] && [ ! -s err ] || fail 'it says too much'

try 3 --text=mine --minutes 2
[ "$(tail -n 1 out)" = '<transformer><--evaluations><2><--text=mine><--minutes><2>' ] || fail 'a given text or time is not taken'
grep -qx 'install build library examples' steps || fail 'the text is installed, but another one is given'

rm "$bible"
MISSING=text NO_BIBLE=1 try 3
[ "$(tail -n 1 out)" = '<transformer><--evaluations><2><--steps><1000>' ] && [ ! -e "$bible" ] || fail 'without the Bible'
grep -q "^train .*library's own headers" out || fail 'which text it is instead is not said'

BREAKS=7 try 7
[ "$(grep -c '^noise' err)" -eq 20 ] && grep -qx 'noise 100' err && grep -q 'exit code 7.*build/quickstart.log' err ||
  fail 'a build that fails'
! grep -q transformer out || fail 'it goes on after a failure'
MISSING=library try 1
[ "$(wc -l <steps)" -eq 2 ] || fail 'it goes on without a library'
(cd / && "$folder/a project/examples/quickstart.sh" --steps 1 >"$folder/out" 2>&1)
grep -qF "<--text><$folder/a project/$bible>" "$folder/out" || fail 'from another folder'
exit $failed
