"""Decides who may see the page, and lets a page that is closed end its own kernel."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.identity import PasswordIdentityProvider, User
from tornado.web import HTTPError

from dialframe.widgets.page_server import KERNELS


class Door(PasswordIdentityProvider):
    """Accepts requests with the token, and gives the browser the token that it needs to end its kernel.

    A page that is closed asks the server to end its kernel, with the token against forged requests.
    That token comes with the login form, which who has the address with its token never sees: without
    it the kernel, and the list that is open in it, would stay.
    """

    async def get_user(self, handler: Any) -> User | None:
        """Who asks, or None."""
        answer = super().get_user(handler)
        user = answer if answer is None or isinstance(answer, User) else await answer
        begins = user is not None and type(handler).__name__ == "VoilaHandler"
        # Each page that is opened starts a kernel: so many, and no more.
        if begins and len(handler.settings["kernel_manager"].list_kernel_ids()) >= KERNELS:
            raise HTTPError(
                503, f"{KERNELS} pages are open already; close one, and load this one again"
            )
        if user is not None and handler.get_cookie("_xsrf") is None:
            handler.current_user = user
            _ = handler.xsrf_token  # being asked for it sets the cookie
        return user
