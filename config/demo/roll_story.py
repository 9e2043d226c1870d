"""The story of scenario 4: a fleet's way from bare ids to prefixed ones, and what goes wrong on it.

Each chapter says beside what it does which finding the ledger has to come to. Source: seed 002,
reference/pad.md sections 3 to 5, reference/events-and-loops.md section 4.
"""

from __future__ import annotations

from config.demo.pad_names import body
from config.demo.pad_publisher import V0, V2
from config.demo.roll_fleet import CLIENTS, REPLICAS, TAIL, Fleet
from config.demo.roll_lines import OURS, THEIRS, WATCH
from events.domain import codes

LANES = (TAIL, *CLIENTS)
ALL_BUT_R3 = (TAIL, "r1", "r2")
"""The lanes that hear more than the quiet workspace."""
LOST_IN_FAILOVER = 12
SETTLED_S = 2.5
"""By then what one lane has and another has not is lost, and not only late."""


def tell(fleet: Fleet) -> None:
    """Tell the whole story."""
    for chapter in (bare, restarts_unseen, first_roll, illegal_mix, second_roll, evicted_epoch,
                    restarts_with_epoch, failed_over, shared_namespace):  # fmt: skip
        chapter(fleet)
        fleet.tell_all()


def bare(fleet: Fleet) -> None:
    """All replicas know bare ids alone; two of them publish at once, and their calls mix."""
    for name in REPLICAS:
        fleet.start(name, V0)
    fleet.tell_head()
    fleet.chat(17, ("ws-1", "ws-2", "ws-3"))
    fleet.resume("r2", "ws-1", fleet.newest["ws-1"] - 6)
    fleet.resume("r3", "ws-3", fleet.newest["ws-3"] + 1_000)
    one, other = (fleet.replicas[name].running.publisher for name in ("r1", "r2"))
    early, late = one.assign().id, other.assign().id
    other.send(fleet.event("ws-1", "r2"), late)
    fleet.settle()
    one.send(fleet.event("ws-1", "r1"), early)
    fleet.settle()
    fleet.provoked(codes.INTERLEAVE, *ALL_BUT_R3)
    # The newest by place is the lower id, so the higher one looks as if it were not there yet.
    fleet.resume("r1", "ws-1", late, codes.NEEDLESS_RESYNC)
    fleet.newest["ws-1"] = late
    fleet.chat(3)


def restarts_unseen(fleet: Fleet) -> None:
    """The counter is lost and climbs past where the quiet workspace was: no number tells."""
    before = dict(fleet.newest)
    fleet.client.delete(fleet.names.counter)
    fleet.chat(max(before.values()) + 4)
    fleet.provoked(codes.RESET_NO_EPOCH, *ALL_BUT_R3)
    fleet.resume("r2", "ws-2", before["ws-2"], codes.AMBIGUOUS_RESUME)
    fleet.lose_next("r1")
    lost = fleet.say("ws-3", "r2")
    fleet.say("ws-3", "r2")
    fleet.resume("r1", "ws-3", before["ws-3"], codes.SILENT_SKIP, [lost.id])
    # Its lane heard nothing of the restart, so neither the replica nor arithmetic can object.
    fleet.resume("r3", "ws-3", before["ws-3"])


def first_roll(fleet: Fleet) -> None:
    """Two replicas get the version that reads both forms and still writes bare ids."""
    for name in ("r1", "r2"):
        fleet.restart(name, V2)
        fleet.chat(4)


def illegal_mix(fleet: Fleet) -> None:
    """One replica writes epochs while an old one still runs, which cannot read them."""
    fleet.restart("r1", V2, flag=True)
    before = fleet.newest["ws-3"]
    lost = []
    for _ in range(3):
        lost.append(fleet.say("ws-3", "r1").id)
        fleet.provoked(codes.UNPARSABLE, "r3")
    fleet.say("ws-3", "r2")
    fleet.clock.wait_s(SETTLED_S)
    fleet.resume("r3", "ws-3", before, codes.SILENT_SKIP, lost)
    fleet.tell_replica("r3")
    fleet.restart("r1", V2)
    fleet.provoked(codes.MIXED_FORMS, *ALL_BUT_R3)
    fleet.restart("r3", V2)
    fleet.chat(4, ("ws-1", "ws-3"))


def second_roll(fleet: Fleet) -> None:
    """One by one the replicas begin to write epochs; all read both forms by now."""
    for name in REPLICAS:
        fleet.restart(name, V2, flag=True)
        fleet.chat(5, ("ws-1", "ws-2", "ws-3"))
    fleet.provoked(codes.MIXED_FORMS, "r3")
    for _ in range(2):
        fleet.say("ws-1", "r1", "a reply that was lost")
    fleet.resume("r2", "ws-1", fleet.newest["ws-1"])


def evicted_epoch(fleet: Fleet) -> None:
    """The epoch's key is evicted: ids go on as if nothing were, under another epoch."""
    old = fleet.epoch
    before = fleet.newest["ws-1"]
    fleet.client.delete(fleet.names.epoch)
    fleet.chat(6, ("ws-1", "ws-2", "ws-3"))
    fleet.provoked(codes.EPOCH_CHANGE)
    fleet.resume("r1", "ws-1", before - 5)
    late = f"{old}|{fleet.newest['ws-2'] - 1}|{body(fleet.event('ws-2', 'r2'))}"
    fleet.client.publish(fleet.names.channel("ws-2"), late)
    fleet.settle()
    fleet.provoked(codes.EPOCH_REGRESSED)
    fleet.chat(6, ("ws-1", "ws-2", "ws-3"))


def restarts_with_epoch(fleet: Fleet) -> None:
    """The counter is lost again and climbs past; this time the epoch tells the quiet workspace."""
    before = fleet.newest["ws-3"]
    fleet.client.delete(fleet.names.counter)
    fleet.chat(before + 3)
    fleet.say("ws-3", "r1")
    fleet.say("ws-3", "r1")
    fleet.provoked(codes.EPOCH_CHANGE)
    fleet.resume("r3", "ws-3", before)
    fleet.resume("r3", "ws-3", fleet.newest["ws-3"])


def failed_over(fleet: Fleet) -> None:
    """A copy of Redis that lags takes over: the epoch is the same, and the counter is behind."""
    head = fleet.tell_head()
    fleet.client.set(fleet.names.counter, head - LOST_IN_FAILOVER)
    fleet.clock.pass_s(5)
    fleet.tell_head()
    fleet.provoked(codes.HW_REGRESS)
    fleet.chat(LOST_IN_FAILOVER - 2, ("ws-1", "ws-2", "ws-3"))
    fleet.provoked(codes.RESET_NO_EPOCH, *LANES)
    fleet.resume("r1", "ws-1", head)
    fleet.chat(8, ("ws-1", "ws-2", "ws-3"))


def shared_namespace(fleet: Fleet) -> None:
    """Another installation on the same Redis hears our notifications for a moment."""
    for hearing in ((OURS,), (OURS, THEIRS), (OURS, THEIRS), (OURS,)):
        fleet.notify(hearing)
    fleet.provoked(codes.CROSS_FEED, TAIL, bus=WATCH)
