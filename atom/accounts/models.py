"""People and the tree that they work in."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.base_session import AbstractBaseSession
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower, Now

from atom.core.clock import RowTimeField
from atom.core.field_errors import SLUG_PATTERN, SLUG_RULE
from atom.core.ids import uuid7
from atom.core.models import TimestampedModel

slug_validator = RegexValidator(SLUG_PATTERN, SLUG_RULE)

ROLES = ("viewer", "labeler", "researcher", "admin")
ROLE_CHOICES = [(role, role) for role in ROLES]
# Each gives what those before it give.
SCOPES = ("read", "push", "write", "admin")
RANK = {role: index for index, role in enumerate(ROLES)}

_UNIT_OR_PROJECT = Q(unit__isnull=True) ^ Q(project__isnull=True)


class User(AbstractUser):
    """A person or a service account. `is_superuser` is the installation's administrator."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    full_name = models.CharField(max_length=200, blank=True)
    language = models.CharField(max_length=8, default="en")
    # When a mailed link, or a provider of single sign-on, proved the address. Until then it is
    # only a claim.
    email_proven_at = models.DateTimeField(null=True)

    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]

    class Meta(AbstractUser.Meta):
        constraints: ClassVar = [
            # Mail finds one account; many have no address.
            models.UniqueConstraint(Lower("email"), condition=~Q(email=""), name="user_email_once"),
        ]

    def __str__(self) -> str:
        return self.username

    def get_full_name(self) -> str:
        """Return what others read; Django would put a first and a last name together."""
        return self.full_name or self.username

    def get_short_name(self) -> str:
        """Return the same."""
        return self.get_full_name()


class Organisation(TimestampedModel):
    """The root of one tree of units."""

    name = models.CharField(max_length=200, unique=True)

    def __str__(self) -> str:
        return self.name


class Unit(TimestampedModel):
    """A department or team. `path` lists the ids from the root, so a subtree is a prefix."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="units")
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="children")
    name = models.CharField(max_length=200)
    path = models.CharField(max_length=1000, db_index=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organisation", "parent", "name"], name="unit_name"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def lineage_ids(self) -> list[str]:
        """Return the hex ids of the units from the root to this one."""
        return self.path.strip("/").split("/")


class ProjectQuerySet(models.QuerySet["Project"]):
    """Reads of projects."""

    def visible_to(self, user: User) -> ProjectQuerySet:
        """Return the projects in which `user` has any role, directly or through a unit."""
        if user.is_superuser:
            return self
        bindings = RoleBinding.objects.filter(user=user)
        direct = bindings.filter(project=models.OuterRef("pk"))
        through_unit = (
            bindings.filter(unit__isnull=False)
            .annotate(
                project_path=models.ExpressionWrapper(
                    models.OuterRef("unit__path"), output_field=models.CharField()
                )
            )
            .filter(project_path__startswith=models.F("unit__path"))
        )
        return self.filter(models.Exists(direct) | models.Exists(through_unit))


class Project(TimestampedModel):
    """The home of datasets, runs, models and label tasks. Slugs are unique per installation."""

    slug = models.CharField(max_length=63, unique=True, validators=[slug_validator])
    name = models.CharField(max_length=200)
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="projects")

    objects = ProjectQuerySet.as_manager()

    def __str__(self) -> str:
        return self.slug


class RoleBinding(TimestampedModel):
    """A role of a user in one project, or in every project under a unit."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="role_bindings")
    role = models.CharField(max_length=20, choices=ROLE_CHOICES)
    unit = models.ForeignKey(Unit, null=True, on_delete=models.CASCADE, related_name="bindings")
    project = models.ForeignKey(
        Project, null=True, on_delete=models.CASCADE, related_name="bindings"
    )

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=_UNIT_OR_PROJECT, name="binding_unit_or_project"),
            models.CheckConstraint(condition=Q(role__in=ROLES), name="binding_role"),
            models.UniqueConstraint(
                fields=["user", "unit", "project"], name="binding_once", nulls_distinct=False
            ),
        ]


class ServiceAccount(TimestampedModel):
    """A user for programs, owned by a project or unit; nobody signs in as it by password."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="service_account")
    name = models.CharField(max_length=63)
    unit = models.ForeignKey(
        Unit, null=True, on_delete=models.PROTECT, related_name="service_accounts"
    )
    project = models.ForeignKey(
        Project, null=True, on_delete=models.CASCADE, related_name="service_accounts"
    )
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=_UNIT_OR_PROJECT, name="service_unit_or_project"),
            models.UniqueConstraint(
                fields=["name", "unit", "project"], name="service_name_once", nulls_distinct=False
            ),
        ]

    @property
    def scope(self) -> Project | Unit:
        """Return what owns it, and where alone it has a role."""
        found = self.project or self.unit
        assert found is not None  # by the constraint
        return found


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Reads of invitations."""

    def pending(self) -> InvitationQuerySet:
        """Return those that were neither accepted nor taken back; they may have expired."""
        return self.filter(accepted_at=None, revoked_at=None)


class Invitation(TimestampedModel):
    """A link that gives its holder a role, once. Only the link's hash is kept."""

    email = models.EmailField(blank=True)
    role = models.CharField(max_length=20, choices=ROLE_CHOICES)
    unit = models.ForeignKey(Unit, null=True, on_delete=models.CASCADE, related_name="invitations")
    project = models.ForeignKey(
        Project, null=True, on_delete=models.CASCADE, related_name="invitations"
    )
    token_hash = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    expires_at = models.DateTimeField()
    mailed_at = models.DateTimeField(null=True)
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=_UNIT_OR_PROJECT, name="invitation_unit_or_project"),
            models.CheckConstraint(condition=Q(role__in=ROLES), name="invitation_role"),
            models.CheckConstraint(
                condition=Q(accepted_at=None) | Q(revoked_at=None), name="invitation_one_end"
            ),
        ]

    @property
    def scope(self) -> Project | Unit:
        """Return where it gives the role."""
        found = self.project or self.unit
        assert found is not None  # by the constraint
        return found


class ApiToken(TimestampedModel):
    """A program's key: `atom_<prefix>_<secret>`, of which only the secret's hash is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12, unique=True)
    secret_hash = models.CharField(max_length=64)
    scopes = ArrayField(models.CharField(max_length=20))
    project = models.ForeignKey(Project, null=True, on_delete=models.CASCADE, related_name="+")
    # Provenance that the server adds to each version made with the token, as JSON: for the token
    # of a run, the run. It is text, because each request reads this row and few need the value.
    made_by = models.TextField(blank=True, default="")
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)


class S3KeyPairQuerySet(models.QuerySet["S3KeyPair"]):
    """Reads of S3 key pairs."""

    def in_force(self) -> S3KeyPairQuerySet:
        """Return the pairs that are neither revoked nor expired and whose owner is active."""
        unexpired = Q(expires_at=None) | Q(expires_at__gt=Now())
        return self.filter(unexpired, revoked_at=None, user__is_active=True)


class S3KeyPair(TimestampedModel):
    """A key pair with which an S3 tool signs its reads of one project.

    The signature needs the secret itself, so it is kept encrypted (`atom.core.crypto`).
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="s3_key_pairs")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    access_key_id = models.CharField(max_length=20, unique=True)
    encrypted_secret = models.TextField()
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = S3KeyPairQuerySet.as_manager()

    def __str__(self) -> str:
        return self.access_key_id


class Session(AbstractBaseSession):
    """One browser that is signed in. Its key is a secret: `public_id` names it to people."""

    public_id = models.UUIDField(default=uuid7, unique=True, editable=False)
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="sessions")
    user_agent = models.CharField(max_length=400, blank=True)
    ip_address = models.GenericIPAddressField(null=True)
    created_at = RowTimeField(auto_now_add=True)
    last_seen_at = RowTimeField(auto_now_add=True)

    class Meta(AbstractBaseSession.Meta):
        abstract = False
        indexes: ClassVar = [models.Index(fields=["user", "-created_at"])]

    @classmethod
    def get_session_store_class(cls) -> Any:
        """Return what reads and writes these rows."""
        from atom.accounts.sessions import SessionStore

        return SessionStore

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Write; a change of the data leaves alone what is known about the browser."""
        if kwargs.get("force_update"):
            kwargs["update_fields"] = ["session_data", "expire_date", "user"]
        super().save(*args, **kwargs)


class SecondFactor(TimestampedModel):
    """An authenticator's secret, encrypted. `pending` is one that no code has confirmed yet."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="second_factor")
    encrypted_secret = models.TextField(blank=True)
    encrypted_pending = models.TextField(blank=True)
    confirmed_at = models.DateTimeField(null=True)
    # The step of time of the last code that was used: no code counts twice.
    last_step = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(confirmed_at=None) ^ ~Q(encrypted_secret=""),
                name="second_factor_confirmed",
            ),
        ]


class RecoveryCode(TimestampedModel):
    """A code for a person who lost the authenticator. Only its hash is kept; it works once."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="recovery_codes")
    code_hash = models.CharField(max_length=64)
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "code_hash"], name="recovery_code_once"),
        ]


class ExternalIdentity(TimestampedModel):
    """The identity of a person at a provider of single sign-on; only its subject never changes."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=255)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "external identities"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="identity_once"),
        ]


class AuditEvent(models.Model):
    """An entry of the audit log: actor, verb, object and time. Rows are never changed."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = RowTimeField(auto_now_add=True)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    actor_name = models.CharField(max_length=150, blank=True)
    verb = models.CharField(max_length=60)
    object_type = models.CharField(max_length=60)
    object_id = models.CharField(max_length=100)
    project = models.ForeignKey(Project, null=True, on_delete=models.SET_NULL, related_name="+")
    # Among whose activity it is shown, where that is not the object itself: a tag's dataset.
    subject_id = models.UUIDField(null=True)
    data = models.JSONField(default=dict)
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["subject_id", "-at", "-id"],
                condition=models.Q(subject_id__isnull=False),
                name="audit_subject",
            ),
            models.Index(fields=["-at", "-id"]),
            models.Index(fields=["project", "-at"]),
            models.Index(fields=["actor_name", "-at"]),
            models.Index(fields=["verb", "-at"]),
            models.Index(fields=["object_id", "-at"]),
        ]
