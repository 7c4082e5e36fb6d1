#!/bin/sh
# What this sandbox has, as far as a shell can see.
echo "directory: $(pwd)"
echo "user: $(id -un 2>/dev/null || whoami)"
for program in python3 node bash git curl; do
  if command -v "$program" >/dev/null 2>&1; then echo "has: $program"; else echo "lacks: $program"; fi
done
if [ -d skills ]; then
  for skill in skills/*/; do
    [ -f "$skill/SKILL.md" ] && echo "skill: $(basename "$skill")"
  done
fi
exit 0
