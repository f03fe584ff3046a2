"""Settings of the shop: Oscar's defaults, a SQLite file, basic authentication, six requests in ten seconds per user."""

import os
from pathlib import Path

from oscar import INSTALLED_APPS as OSCAR_APPS
from oscar.defaults import *  # noqa: F403 - the way in which Oscar documents its defaults to be taken over

DATA = Path(os.environ["SHOP_DATA"])

SECRET_KEY = "only-for-this-test"
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "shop.urls"
INSTALLED_APPS = [*OSCAR_APPS, "rest_framework", "oscarapi"]
SITE_ID = 1
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": DATA / "shop.sqlite3"}}
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "oscarapi.middleware.ApiBasketMiddleWare",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}}
# Checking a password takes a tenth of a second on purpose; this shop's are not worth it.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

OSCAR_DEFAULT_CURRENCY = "EUR"
OSCARAPI_BLOCK_ADMIN_API_ACCESS = False
OSCARAPI_OVERRIDE_MODULES = ["shop.api"]
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.BasicAuthentication"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.LimitOffsetPagination",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_THROTTLE_CLASSES": ["shop.throttle.TenSeconds"],
    "DEFAULT_THROTTLE_RATES": {"user": "6"},
    "COERCE_DECIMAL_TO_STRING": True,
}
