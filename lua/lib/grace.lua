-- Whoever shows up in a grace is back; it ends early when all are back whom the returning ones knew (R16).
-- Uses what `open` made, and `known`: instances, each followed by a blank.
if now < graceUntil then
  local stored = redis.call('HMGET', state, 'awaited', 'returned', 'graced')
  -- The grace may have begun in this very call.
  local isFresh = isNew or lossSeen or stored[3] ~= '1'
  local awaited = (isFresh and '' or stored[1] or '') .. known
  local returned = isFresh and '' or stored[2] or ''
  if not string.find(' ' .. returned, ' ' .. instance .. ' ', 1, true) then returned = returned .. instance .. ' ' end
  change('awaited', awaited)
  change('returned', returned)
  local missing = awaited == ''
  for id in string.gmatch(awaited, '%S+') do
    if not string.find(' ' .. returned, ' ' .. id .. ' ', 1, true) then missing = true end
  end
  if not missing then
    graceUntil = 0
    change('grace', 0)
  end
end
