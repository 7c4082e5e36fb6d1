// A precompiled header needs a target to belong to, and a target needs a source.
