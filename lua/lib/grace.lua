-- Whoever speaks of this epoch in a grace is back; it ends early when all are back whom the returning ones knew (R16). Anything else may be a
-- late copy of what was sent before the loss, by one that has tickets to bring back: it is asked to come again at once.
-- Uses what `open` made, and `known`: instances, each followed by a blank.
if now < graceUntil then
  -- Those of a grace before count no longer.
  local stored = graceBegins and {} or redis.call('HMGET', state, 'awaited', 'returned')
  local awaited = (stored[1] or '') .. known
  local returned = stored[2] or ''
  if epoch ~= knownEpoch then
    more = 1
  elseif not string.find(' ' .. returned, ' ' .. instance .. ' ', 1, true) then
    returned = returned .. instance .. ' '
  end
  change('awaited', awaited)
  change('returned', returned)
  local missing = awaited == ''
  for id in string.gmatch(awaited, '%S+') do
    if not string.find(' ' .. returned, ' ' .. id .. ' ', 1, true) then missing = true end
  end
  if not missing then
    graceUntil = 0
  end
end
