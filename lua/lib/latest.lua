-- Whether a place that comes back is still its owner's: it may have gone over to another meanwhile, which its owner could not be told (R24).
-- The one that was moved more often is right. Uses `waiting`, `aside`, `parked`, `member`, and what `keyed` made. Adds to `taken`: instance → its
-- places that went over to another.
local isLatest = true
local text = string.sub(member, 1, 16)
local generation = tonumber(string.match(member, '^%d+:[^:]+:[^.]+%.[^.:]+%.(%d+)')) or 0
for _, set in ipairs({ waiting, aside, parked }) do
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', set, text, text)) do
    if other ~= member then
      if (tonumber(string.match(other, '^%d+:[^:]+:[^.]+%.[^.:]+%.(%d+)')) or 0) > generation then
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
