-- Whoever had a place that went over to another is told with its next answer, whatever becomes of the hint (R24). Uses what `open` made, and `taken`:
-- instance → its places that are no longer its own.
for owner, list in pairs(taken) do
  local theirs = redis.call('HGET', state, 'kept:' .. owner)
  if theirs then
    local separator = string.find(theirs, '^[^ ]* [^ ]* [^ ]* [^ ]* [^ ]* ') and ',' or ' '
    change('kept:' .. owner, theirs .. separator .. '*' .. table.concat(list, ',*'))
  end
end
