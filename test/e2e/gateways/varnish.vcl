# https://varnish-cache.org/docs/7.1/users-guide/vcl-backends.html
vcl 4.1;

backend default {
    .host = "127.0.0.1";
    .port = "8080";
}
