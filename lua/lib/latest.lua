-- Whether a place that comes back is still its owner's: it may have gone over to another meanwhile, which its owner could not be told (R24).
-- The one that was moved more often is right. Uses `waiting`, `aside`, `parked`, `member`, and what `keyed` made. Adds to `taken`: instance → its
-- places that went over to another. `untold`: places that are known to have gone over.
local isLatest = not untold[member]
local text = string.sub(member, 1, 16)
local secret, moves = string.match(member, '^%d+:[^:]+:[^.]+%.([^.:]+)%.?(%d*)')
for _, set in ipairs({ waiting, aside, parked }) do
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', set, text, text)) do
    -- (A number that an instance chose by itself may be another ticket's, too.)
    local itsSecret, itsMoves = string.match(other, '^%d+:[^:]+:[^.]+%.([^.:]+)%.?(%d*)')
    if other ~= member and itsSecret == secret then
      if (tonumber(itsMoves) or 0) > (tonumber(moves) or 0) then
        isLatest = false
      else
        redis.call('ZREM', set, other)
        local owner = ownerOf(other)
        if owner ~= instance then
          taken[owner] = taken[owner] or {}
          table.insert(taken[owner], other)
        end
        if capped ~= 0 and set ~= aside then put(other) end
      end
    end
  end
end
