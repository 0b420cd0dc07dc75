-- The numbers of a queue's state are packed in one field: reading and writing them one by one would take most of a call's time.
-- A field that is not what it should be counts as lost. `close` packs them in the same order.
local epochNumber, seq, last, skewMs, sweepAt, quietUntil, graceUntil, grants = 0, 0, 0, 0, 0, 0, 0, 0
local limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent = -1, 0, 0, 0, 0, 0, 0, 0, 0, 0
local keyLimit, keySizeLimit, capped, comb = math.huge, math.huge, 0, 0
if fields[1] and #fields[1] == 176 then
  epochNumber, seq, last, skewMs, sweepAt, quietUntil, graceUntil, grants,
  limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent,
  keyLimit, keySizeLimit, capped, comb = struct.unpack('<dddddddddddddddddddddd', fields[1])
end
