"""The jobs pages, below `/p/{project}/`; each tail is the API's."""

from __future__ import annotations

from django.urls import path

from jobs import lab_views, views

app_name = "jobs"

urlpatterns = [
    path("contradictions", views.contradiction_list, name="contradictions"),
    path("simulate", lab_views.simulate, name="simulate"),
    path("keys", lab_views.key_list, name="keys"),
    path("keys/<str:recipe>/<str:digest>", lab_views.key, name="key"),
    path("keys/<str:recipe>/<str:digest>/release", lab_views.release_key, name="release_key"),
    path("jobs", views.job_list, name="jobs"),
    path("jobs/<str:number>", views.job_of_number, name="job_of_number"),
    path("jobs/<str:system>/<str:instance>/<str:number>", views.job, name="job"),
    path("scopes/<str:scope>", views.scope, name="scope"),
    path("scopes/<str:scope>/invokes/<str:invoke>", views.invoke, name="invoke"),
]
