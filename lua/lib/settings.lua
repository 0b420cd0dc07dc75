-- Sees to it that there are settings. `declaring`: this instance has just started, its code counts from now on.
-- `rejoining`: the operator's settings of the highest version come back with a rejoin (R18).
-- Uses what `open` made, and `terms`.
if limit < 0 or declaring or rejoining then
  --@include records
  local record = storedRecord()
  local changed = limit < 0
  if declaring then
    for _, name in ipairs(settingNames) do changed = changed or record.code[name] ~= known.code[name] end
    record.code = known.code
  end
  if rejoining and (tonumber(known.version) or 0) > record.version then
    record.operator, record.version, record.by = known.operator, tonumber(known.version), known.by or ''
    changed = true
  end
  if changed then putInForce(record) end
end
local leaseEnd = now + math.ceil(leaseMs)
-- (A score is cheaper given as text than as a number.)
local leaseEndText = string.format('%d', leaseEnd)
