"""Who is let in, told to the page's server; a kernel whose page was closed can then be ended by that page."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.identity import PasswordIdentityProvider, User


class Door(PasswordIdentityProvider):
    """Lets in who has the token, and gives the browser what its farewell has to carry.

    A page that is closed asks the server to end its kernel, with the token against forged requests.
    That token comes with the login form, which who has the address with its token never sees: without
    it the kernel, and the list that is open in it, would stay.
    """

    async def get_user(self, handler: Any) -> User | None:
        """Who asks, or None."""
        found = super().get_user(handler)
        user = found if found is None or isinstance(found, User) else await found
        if user is not None and handler.get_cookie("_xsrf") is None:
            handler.current_user = user
            _ = handler.xsrf_token  # being asked for it sets the cookie
        return user
