// Control characters, halves of characters, and what turns the direction of the text after it.
const UNSEEN = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A name as it is shown: characters that cannot be seen are their codes. One that turns the direction would have
 * `photo<U+202E>gnp.exe` look like `photoexe.png`, and turn what stands after it on the page.
 */
export const visible = (name: string): string =>
  name.replace(UNSEEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
