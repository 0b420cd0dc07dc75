-- Permits in use: always derived from who holds them, never stored. Counting suffices where every ticket has one.
-- Uses what `numbers` and `members` made, and `runningCount`.
local used = runningCount
if weighted ~= 0 then
  used = 0
  for from = 0, runningCount, 500 do
    for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
      if member ~= '~' then used = used + permitsOf(member) end
    end
  end
end
