-- Give the next id of a bare message; a counter that begins anew makes the known epoch stale.
local counter, epoch = KEYS[1], KEYS[2]
local id = redis.call('INCR', counter)
if id == 1 then
  redis.call('DEL', epoch)
end
return id
