# Puts the version back that was there before.
set -eu
stage=$1 service=$2
place=places/$stage/$service
mv "$place/before" "$place/version"
echo 0 > "$place/faults"
printf '{"result": "pass", "message": "%s is back at %s"}' "$service" "$(cat "$place/version")" \
  > "$SEAWAY_RESULT"
