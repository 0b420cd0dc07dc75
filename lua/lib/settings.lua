-- Sees to it that there are legal settings, and reads them. `declaring`: this instance has just started, its code counts from now on.
-- `rejoining`: the operator's settings of the highest version come back with a rejoin (R18).
-- Uses what `open` made, and `declared`.
local limit, sizeLimit, leaseMs = tonumber(fields[10]), tonumber(fields[11]), tonumber(fields[12])
local settingsFine = limit and sizeLimit and leaseMs and limit >= 0 and sizeLimit >= 0 and leaseMs >= 1
local settingsBroken = not settingsFine and not isNew and not lossSeen
if not settingsFine or declaring or rejoining then
  --@include records
  local record = storedRecord()
  local known = readJson(declared)
  local changed = not settingsFine
  if declaring then
    for _, name in ipairs(settingNames) do changed = changed or record.code[name] ~= known.code[name] end
    record.code = known.code
  end
  if rejoining and (tonumber(known.version) or 0) > record.version then
    record.operator, record.version, record.by = known.operator, tonumber(known.version), known.by or ''
    changed = true
  end
  if changed then putInForce(record) end
  limit, sizeLimit, leaseMs = tonumber(fields[10]), tonumber(fields[11]), tonumber(fields[12])
end
local leaseEnd = now + math.ceil(leaseMs)
