# Puts a version where the stage has it, and remembers the one before.
set -eu
stage=$1 service=$2 version=$3
place=places/$stage/$service
mkdir -p "$place"
[ ! -f "$place/version" ] || cp "$place/version" "$place/before"
echo "$version" > "$place/version"
# How many requests the version gets wrong is said by whoever built it.
grep -o '"faults":[0-9]*' "$SEAWAY_MESSAGE" | cut -d: -f2 > "$place/faults" || echo 0 > "$place/faults"
sleep 0.1
printf '{"result": "pass", "message": "%s %s is in %s", "data": {"deployment": {"place": "%s"}}}' \
  "$service" "$version" "$stage" "$place" > "$SEAWAY_RESULT"
