/** Says the reasons of importers in another language: a report holds them as English texts, without codes. */

interface Template {
  pattern: RegExp;
  words: string;
}

/** Texts with `{}` for each value, and what they are in the language. */
export type Texts = Readonly<Record<string, string>>;

const SPECIAL = /[.*+?^${}()|[\]\\]/g;
/** `{2}` is the second value as it is, `{2:w}` one that is a reason itself. */
const SLOT = /\{(\d+)(:w)?\}/g;

const lettersOf = (text: string) => text.replaceAll('{}', '').length;
const beginsWithValue = (text: string) => Number(text.startsWith('{}'));

/** Those with the most letters of their own first: they fit more closely than others. */
function templatesOf(texts: Texts): Template[] {
  return Object.entries(texts)
    .sort(([one], [other]) => lettersOf(other) - lettersOf(one))
    .sort(([one], [other]) => beginsWithValue(one) - beginsWithValue(other))
    .map(([text, words]) => {
      const parts = text.split('{}').map((part) => part.replace(SPECIAL, '\\$&'));
      return { pattern: new RegExp(`^${parts.join('(.*?)')}$`, 's'), words };
    });
}

/** Returns what says a text in the language; a text that it does not know stays as it is. */
export function textSayer(texts: Texts): (text: string) => string {
  const templates = templatesOf(texts);
  const say = (text: string): string => {
    for (const { pattern, words } of templates) {
      const found = pattern.exec(text);
      if (found) {
        return words.replace(SLOT, (_, number: string, isReason: string | undefined) => {
          const value = found[Number(number)] ?? '';
          // A value is shorter than what it stands in, so this ends.
          return isReason ? say(value) : value;
        });
      }
    }
    return text;
  };
  return say;
}
