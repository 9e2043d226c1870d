"""The pages about buses, below `/p/{project}/`; each tail is the API's."""

from __future__ import annotations

from django.urls import path

from events import lane_views, ledger_views, views

app_name = "events"

urlpatterns = [
    path("installations", views.installation_list, name="installations"),
    path("installations/<str:installation>", views.installation, name="installation"),
    path("installations/<str:installation>/resumes", ledger_views.resume_list, name="resumes"),
    path("installations/<str:installation>/rollout", ledger_views.rollout, name="rollout"),
    path("installations/<str:installation>/resets", ledger_views.reset_list, name="resets"),
    path("buses/<str:bus>", views.bus, name="bus"),
    path("buses/<str:bus>/findings", views.finding_list, name="findings"),
    path("findings/<str:finding>", views.finding, name="finding"),
    path("lanes/<str:lane>", lane_views.lane, name="lane"),
    path("lanes/<str:lane>/buffer", lane_views.lane_buffer, name="lane_buffer"),
    path("lanes/<str:lane>/resume", lane_views.lane_resume, name="lane_resume"),
]
