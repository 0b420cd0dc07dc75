-- One message for each other instance that got grants, on the channel of its process; with `nudge` one for everybody: look at the store
-- soon. A hint may be lost, so a refused PUBLISH (rights) must not undo the grant.
-- Uses what `open` and `grant` made, `channel` and `nudge`.
for owner, list in pairs(otherGrants) do
  redis.pcall('PUBLISH', channel .. string.match(owner, '^[^.]+'), owner .. ' ' .. knownEpoch .. ' ' .. list)
end
if nudge then
  for _, id in ipairs(redis.call('ZRANGE', instances, 0, 499)) do
    if id ~= '~' and id ~= instance then
      redis.pcall('PUBLISH', channel .. string.match(id, '^[^.]+'), id .. ' ' .. knownEpoch .. ' ')
    end
  end
end
