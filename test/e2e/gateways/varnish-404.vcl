# With a page if the service does not respond:
# https://varnish-cache.org/docs/7.1/users-guide/vcl-built-in-subs.html#vcl-backend-error
vcl 4.1;

backend default {
    .host = "127.0.0.1";
    .port = "8080";
}

sub vcl_backend_error {
    set beresp.status = 404;
    set beresp.http.Content-Type = "text/html; charset=utf-8";
    synthetic("<html><body><h1>Page not found</h1></body></html>");
    return (deliver);
}
