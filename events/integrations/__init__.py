"""Buses as they are watched: a Redis that is only listened to, replicas' metrics and logs."""
