"""A person or program that logs in."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.core.validators import RegexValidator
from django.db import models

from webui.accounts.roles import Role

USERNAME_PATTERN = r"^[a-z][a-z0-9._-]{0,31}\Z"


class UserManager(BaseUserManager["User"]):
    """Makes users."""

    def create_user(self, username: str, password: str, role: str = Role.VIEWER) -> User:
        """A new, active user with a hashed password."""
        user = self.model(username=username, role=role)
        user.set_password(password)
        user.full_clean()
        user.save(using=self._db)
        return user


class User(AbstractBaseUser):
    """A login. The name has a closed alphabet, as it is written into logs and revisions."""

    username = models.CharField(
        max_length=32,
        unique=True,
        validators=[
            RegexValidator(
                USERNAME_PATTERN,
                "must be at most 32 of a-z 0-9 . _ -, and begin with one of a-z",
            )
        ],
    )
    role = models.CharField(max_length=16, choices=Role.choices, default=Role.VIEWER)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        ordering = ("username",)

    def __str__(self) -> str:
        return str(self.username)

    def has_role(self, role: Role | str) -> bool:
        """Whether this user may do what `role` may."""
        return bool(self.is_active) and Role(self.role).includes(Role(role))

    def clean(self) -> None:
        """The name is compared as typed, never folded."""

    def get_username(self) -> Any:
        """The login name."""
        return self.username
