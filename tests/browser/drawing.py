"""A labeler's mouse on the canvas: where places of the picture lie on the screen, and back."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Page, expect

# The room that the canvas leaves around a picture which it fits.
MARGIN = 16
_RECT = """(host) => {
  const { left, top, width, height } = host.getBoundingClientRect();
  return [left, top, width, height];
}"""
Place = tuple[float, float]


@dataclass(frozen=True)
class Fitted:
    """A picture that lies in the middle of the canvas, as large as it fits."""

    left: float
    top: float
    scale: float

    def picture(self, screen: Place) -> Place:
        """Return the place of the picture below a place of the screen."""
        return (screen[0] - self.left) / self.scale, (screen[1] - self.top) / self.scale

    def screen(self, picture: Place) -> Place:
        """Return the whole pixel of the screen that is nearest to a place of the picture."""
        x, y = picture
        return round(x * self.scale + self.left), round(y * self.scale + self.top)


def fit_picture(page: Page, width: int, height: int) -> Fitted:
    """Have the page fit the picture and return where it lies then."""
    expect(page.locator("[data-picture=ready]")).to_be_visible()
    canvas = page.get_by_role("application")
    canvas.focus()
    page.keyboard.press("0")
    left, top, across, down = canvas.evaluate(_RECT)
    scale = min((across - 2 * MARGIN) / width, (down - 2 * MARGIN) / height)
    middle = left + across / 2, top + down / 2
    return Fitted(middle[0] - width * scale / 2, middle[1] - height * scale / 2, scale)


def drag(page: Page, start: Place, end: Place) -> None:
    """Press at one place of the screen and let go at another one."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def click_each(page: Page, places: list[Place]) -> None:
    """Click places of the screen one after another."""
    for place in places:
        page.mouse.click(*place)
