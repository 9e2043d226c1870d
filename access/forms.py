"""What people type on the pages of access."""

from __future__ import annotations

from datetime import timedelta

from django import forms

from access.domain import names, rights, tokens


class LoginForm(forms.Form):
    """A user name and a password."""

    username = forms.CharField(
        label="User name",
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    password = forms.CharField(
        max_length=1024,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class TokenForm(forms.Form):
    """A new token: its name, scope, life and source."""

    name = forms.CharField(max_length=100)
    scope = forms.ChoiceField(choices=[(scope, scope) for scope in rights.SCOPES])
    expires = forms.CharField(
        required=False,
        max_length=6,
        label="Expires after",
        help_text="Such as 90d or 12h; empty means never.",
    )
    source = forms.CharField(
        required=False,
        max_length=129,
        help_text="SYSTEM/INSTANCE, such as oban/prod-1; cannot be changed later.",
    )

    def clean_name(self) -> str:
        try:
            return names.check_name(self.cleaned_data["name"])
        except names.BadName as error:
            raise forms.ValidationError(str(error)) from error

    def clean_expires(self) -> timedelta | None:
        text = self.cleaned_data["expires"]
        if not text:
            return None
        try:
            return tokens.parse_duration(text)
        except tokens.BadDuration as error:
            raise forms.ValidationError(str(error)) from error

    def clean_source(self) -> str:
        source: str = self.cleaned_data["source"]
        try:
            names.parse_source(source)
        except names.BadName as error:
            raise forms.ValidationError(str(error)) from error
        return source


class RevokeForm(forms.Form):
    """Why a token is revoked."""

    reason = forms.CharField(required=False, max_length=500)

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        try:
            return names.check_reason(reason) if reason else ""
        except names.BadName as error:
            raise forms.ValidationError(str(error)) from error


class MemberForm(forms.Form):
    """An existing user's name and the role to give."""

    user = forms.CharField(max_length=64)
    role = forms.ChoiceField(choices=[(role, role) for role in rights.ROLES])


class PreferencesForm(forms.Form):
    """How pages look in this browser."""

    theme = forms.ChoiceField(choices=[("auto", "Auto"), ("light", "Light"), ("dark", "Dark")])
