"""Where the shop's API is."""

from django.urls import include, path

urlpatterns = [path("api/", include("oscarapi.urls"))]
