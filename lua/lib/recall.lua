-- Who is parked and may enter the line does so, with its old number (R22). Those of a key of which a ticket has left; all, from the oldest on,
-- when caps have changed, instances have died or memory was lost: `comb` says how far that has got, -1 for not begun.
-- Uses what `keyed` and `members` made.
if capped ~= 0 then
  if comb ~= 0 and now >= graceUntil then
    local found = redis.call('ZRANGEBYSCORE', parked, '(' .. string.format('%d', comb), '(inf', 'WITHSCORES', 'LIMIT', 0, 500)
    for i = 1, #found, 2 do
      local member = found[i]
      if ownerIsAlive(member) then
        put(member, ':3:')
        leftKeys[string.match(member, '[^:]*$')] = true
      else
        parkedCount = parkedCount - redis.call('ZREM', parked, member)
        put(member)
      end
    end
    comb = #found == 1000 and tonumber(found[1000]) or 0
    if comb ~= 0 then more = 1 end
  end
  recallAll()
  if not hasCaps and parkedCount == 0 and comb == 0 then
    capped = 0
    redis.call('UNLINK', parked, keyed)
  end
end
