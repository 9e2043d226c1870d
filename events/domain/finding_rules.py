"""The rules behind findings, each in a sentence: what was seen that made the detector speak.

Source: reference/events-and-loops.md section 4; for keys, reference/pad.md section 7 (point 6).
Answers to resumes have rules of their own, in `resume`.
"""

from __future__ import annotations

RULES: dict[str, str] = {
    "another_token": "A message carries an epoch that the lane has not seen.",
    "in_maintenance": "The same, inside a maintenance window that somebody announced.",
    "token_returned": "A message carries an epoch that the lane had left.",
    "late_generation": "A lower epoch number comes less than 30 s after a higher one began.",
    "generation_fell": "A lower epoch number comes 30 s or more after the lane's own began.",
    "known_id": "An id that the lane holds comes with another body in the same epoch.",
    "low_run": "Three ids below the high-water mark rise without old numbering in between.",
    "fills_hole": "An id that was missing comes within 2 s.",
    "reordered": "An unknown id comes at most 16 below the high-water mark.",
    "lone_low": "An id far below comes, and no rising run follows it.",
    "old_numbering": "Soon after a restart an id goes on where the life before had ended.",
    "two_writers": "Ids come again with other bodies, three times within 16 messages.",
    "open_too_long": "Ids that the lane went past are missing for longer than 2 s.",
    "head_not_reached": "The lane is below a sampled head for longer than 2 s.",
    "same_body": "The id comes again in one lane and epoch, with the same body.",
    "same_id": "The id comes again in one lane and epoch, and a body to compare is missing.",
    "same_body_new_id": "A body comes again in its channel under another id within 60 s.",
    "same_event": "Epoch, id and body are those of another installation.",
    "another_body": "Epoch and id are those of another installation, and the body is not.",
    "same_event_of_a_name": "The same in one channel, by a short epoch that both may have chosen.",
    "another_body_of_a_name": "Epoch, channel and id are another's, the epoch short, the body not.",
    "same_bodies": "Eight different bodies come under equal ids, each within a minute.",
    "both_forms": "One lane receives messages with an epoch and without one.",
    "bare_after_roll": "A message without an epoch comes more than 1 h after the first with one.",
    "neither_form": "A message is neither JSON with an id nor epoch, id and JSON.",
    "large_after_small": "An id from 2^59 on comes after smaller ones.",
    "small_after_large": "An id below 2^59 comes while others are above.",
    "another_base": "An id from 2^59 on is 2^20 or more away from those of the process before.",
    "no_date_near": "An id from 2^59 on is no time within 400 days of its arrival.",
    "all_rounded": "At least 24 low bits in a row are zero, as doubles leave them.",
    "head_fell": "Two samples of one node and epoch fall.",
    "siblings_receive": "Nothing comes for 90 s while frames are on and a sibling receives.",
    "key_expires": "A sample shows a time to live on a key that has to last.",
    "key_is_no_string": "A sample shows a key that has to last as another type than a string.",
    "value_of_no_use": "A sample shows a value that the key's role and the profile do not allow.",
    "policy_takes_any_key": "The policy of eviction is one over all keys.",
    "source_of_epochs_absent": "The epoch key holds a number, and no key counts epochs.",
}
"""Every rule by which the detectors of a bus and of its keys speak, with what it means."""
