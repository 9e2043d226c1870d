-- Give the next id of a bare message, of a counter that is repaired where it cannot count.
local counter, epoch = KEYS[1], KEYS[2]
local shape, kind, length = repair_counter(counter)
local id = next_id(counter)
if id == '1' then
  redis.call('DEL', epoch)
end
return {id, shape, kind, length}
