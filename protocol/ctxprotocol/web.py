"""What every HTTPS connection of ours has in common, of the client's (a hub) and of the daemon's (providers).

Who is trusted, that no cookie is kept, and why there is no connection. Loads TLS only when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl
    from http.cookiejar import CookieJar


def trusting(ca_file: str) -> ssl.SSLContext:
    """Return who is trusted: the usual ones, and those of a file that the caller names. Raises OSError for that.

    The certificates of the package, not those that SSL_CERT_FILE of whoever started the process names.
    """
    import ssl

    import certifi

    context = ssl.create_default_context(cafile=certifi.where())
    if ca_file:
        context.load_verify_locations(cafile=ca_file)
    return context


def no_cookies() -> CookieJar:
    """Return a jar that keeps none, and so sends none back: nobody needs to know that it was the same machine."""
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    return CookieJar(DefaultCookiePolicy(allowed_domains=()))


def no_connection(fault: Exception) -> str:
    """Return why there is no connection, without what a library would tell."""
    text = str(fault)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return "its certificate is not one that is trusted here"
    if "SSL" in text or "TLS" in text:
        return "no TLS with it"
    return "it does not answer" if "imeout" in type(fault).__name__ else "connection refused or no route"


def is_cut(fault: Exception) -> bool:
    """Say whether a fault of the protocol is that the other side hung up."""
    return "peer closed" in str(fault) or "disconnected" in str(fault)
