-- The grace after a loss ends early when all are back whom the returning ones knew (R16). Uses what `open` made.
local function comeBack(known)
  if not inGrace() then return end
  local stored = redis.call('HMGET', state, 'awaited', 'returned', 'graced')
  -- The grace may have started in this very script, or be a boot grace, which awaits nobody.
  local fresh = lossSeen or stored[3] ~= '1'
  local awaited = (fresh and '' or stored[1] or '') .. known
  local returned = ' ' .. (fresh and '' or stored[2] or '')
  if not string.find(returned, ' ' .. instance .. ' ', 1, true) then returned = returned .. instance .. ' ' end
  change('returned', string.sub(returned, 2))
  change('awaited', awaited)
  if awaited == '' then return end
  for id in string.gmatch(awaited, '%S+') do
    if not string.find(returned, ' ' .. id .. ' ', 1, true) then return end
  end
  graceUntil = 0
  change('grace', 0)
end
