"""The tables of access: none is a read table, and none is rebuilt from the log."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models


class Installation(models.Model):
    """The one row that names this installation; made at first start, never changed.

    `installation_id` is 16 random hexadecimal digits. It goes into the default log origin, so
    that two installations that never set LOG_ORIGIN still sign under different names.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    installation_id = models.CharField(max_length=16, unique=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="access_installation_is_single"),
        ]

    def __str__(self) -> str:
        return self.installation_id


class User(AbstractBaseUser):
    """A person who logs in; what they may do is said by their memberships alone."""

    id = models.BigAutoField(primary_key=True)
    username = models.CharField(max_length=64, unique=True)
    display_name = models.CharField(max_length=100, blank=True, default="")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = BaseUserManager()

    def __str__(self) -> str:
        return self.username


class Project(models.Model):
    """A tenant: owns its tokens, its members and one Merkle log.

    `origin` is the name under which the log is signed. It is fixed when the project is made and
    no rename, move or restore changes it; `slug` and `name` may change.
    """

    id = models.BigAutoField(primary_key=True)
    slug = models.CharField(max_length=40, unique=True)
    name = models.CharField(max_length=100)
    log_id = models.CharField(max_length=16, unique=True)
    origin = models.CharField(max_length=255, unique=True)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.slug


class ProjectSlug(models.Model):
    """Every slug that a project has or had; an old one redirects for ever.

    The current slug is here too: one unique column then keeps a new project from taking an
    address that old links still use.
    """

    slug = models.CharField(max_length=40, primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="slugs")

    def __str__(self) -> str:
        return self.slug


class Member(models.Model):
    """A person's role in a project."""

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="members")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=16)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="access_member_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=["viewer", "auditor", "operator", "admin"]),
                name="access_member_role_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.project_id}: {self.role}"


class ApiToken(models.Model):
    """A program's way in: a project, a scope and a source; only the hash of its text is kept.

    Never deleted, since deliveries name it. `source_system` and `source_instance` are given to
    receipts that state no source, so they are fixed when the token is made: a later change would
    give the jobs of one token two names.
    """

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16)
    secret_hash = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=16)
    source_system = models.CharField(max_length=64, blank=True, default="")
    source_instance = models.CharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=150, blank=True, default="")
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(scope__in=["ingest", "read", "operate", "admin"]),
                name="access_token_scope_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class LoginLink(models.Model):
    """A one-time way to log in without a password; only the hash of its secret is kept."""

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="login_links")
    secret_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"log-in link {self.pk} for user {self.user_id}"


class LoginFailure(models.Model):
    """One refused password, kept for as long as the throttle looks back.

    In the database and not in a cache: the throttle must hold across processes and must not
    fail with Redis. Account and address are hashes, so a password typed as a name is not kept.
    """

    id = models.BigAutoField(primary_key=True)
    account_hash = models.CharField(max_length=64)
    address_hash = models.CharField(max_length=64)
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [
            models.Index(fields=["account_hash", "at"], name="access_loginfailure_account"),
        ]

    def __str__(self) -> str:
        return f"refused password {self.pk}"


class Action(models.Model):
    """Who did what, or was refused: an outbox that the follower drains into `act` receipts.

    The actor is frozen text, so that the row still says who it was after a rename or a removal.
    `before` and `after` are JSON texts of what changed; no secret is ever in them. A row without
    a project concerns the installation and belongs to no log.
    """

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, related_name="actions", null=True, blank=True
    )
    at = models.DateTimeField()
    actor_type = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=64)
    actor_label = models.CharField(max_length=200)
    verb = models.CharField(max_length=64)
    target = models.CharField(max_length=300)
    reason = models.TextField(blank=True, default="")
    before = models.TextField(blank=True, default="")
    after = models.TextField(blank=True, default="")
    outcome = models.CharField(max_length=8)
    drained_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(outcome__in=["done", "denied"]),
                name="access_action_outcome_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["project", "-id"], name="access_action_newest"),
            models.Index(
                fields=["project", "id"],
                name="access_action_undrained",
                condition=models.Q(drained_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.target} ({self.outcome})"
