"""The ledger's pages, below `/p/{project}/`; each tail is the API's."""

from __future__ import annotations

from django.urls import path

from ledger import live, producer_views, reconcile_views, views

app_name = "ledger"

urlpatterns = [
    path("receipts", views.receipt_list, name="receipts"),
    path("receipts/<str:ref>", views.receipt, name="receipt"),
    path("receipts/<str:ref>/raw", views.raw, name="raw"),
    path("receipts/<str:ref>/explain", views.explain, name="explain"),
    path("subjects/<str:kind>/<str:name>", views.subject, name="subject"),
    path("tasks", views.task_list, name="tasks"),
    path("tasks/<str:name>", views.task, name="task"),
    path("policies", views.policy_list, name="policies"),
    path("producers", producer_views.producer_list, name="producers"),
    path("producers/<str:spool>", producer_views.producer, name="producer"),
    path("producers/<str:spool>/waive", producer_views.waive_missing, name="waive"),
    path("quarantine", views.quarantine, name="quarantine"),
    path("quarantine/<str:ref>/redrive", views.redrive_receipt, name="redrive"),
    path("quarantine/<str:ref>/close", views.close_receipt, name="close"),
    path("attention/<str:item>/acknowledge", views.acknowledge_item, name="acknowledge"),
    path("reconcile", reconcile_views.reconcile, name="reconcile"),
    path("live", live.stream, name="live"),
]
