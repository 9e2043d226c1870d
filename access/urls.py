"""The addresses of access."""

from __future__ import annotations

from django.urls import path

from access import login_views, views
from kit.http import converters  # noqa: F401 - importing it makes <number:…> known

app_name = "access"

urlpatterns = [
    path("", views.home, name="home"),
    path("login", login_views.log_in, name="login"),
    path("login/link/<str:secret>", login_views.log_in_by_link, name="login_link"),
    path("logout", login_views.log_out, name="logout"),
    path("preferences", login_views.preferences, name="preferences"),
    path("theme", login_views.preferences),
    path("projects", views.projects, name="projects"),
    path("projects.json", views.projects_json),
    path("p/<str:slug>/tokens", views.tokens, name="tokens"),
    path("p/<str:slug>/tokens.json", views.tokens_json),
    path("p/<str:slug>/tokens/<number:token_id>/revoke", views.revoke_token, name="revoke_token"),
    path("p/<str:slug>/members", views.members, name="members"),
    path("p/<str:slug>/members.json", views.members_json),
    path("p/<str:slug>/members/<number:user_id>/remove", views.remove_member, name="remove_member"),
]
