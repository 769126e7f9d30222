/** Says the server's sentences in the language of the page, by their codes and their parameters. */

/** A sentence by its code, and the values that it names; a value may be a sentence. */
export interface Sentence {
  code: string;
  params: Readonly<Record<string, unknown>>;
}

type Words = Readonly<Record<string, string>>;

/** `{name}` is a parameter as it is, `{name:w}` one that is said in words itself. */
const SLOT = /\{(\w+)(:w)?\}/g;

const isSentence = (value: unknown): value is Sentence =>
  typeof value === 'object' && value !== null && 'code' in value && 'params' in value;

/** Returns the sentence in the language of `templates` and `words`; undefined for a code that they lack. */
export function saySentence({ code, params }: Sentence, templates: Words, words: Words): string | undefined {
  return templates[code]?.replace(SLOT, (_, name: string, isSaid: string | undefined) => {
    const value = params[name];
    if (isSentence(value)) return saySentence(value, templates, words) ?? value.code;
    const text = String(value);
    return (isSaid && words[text]) || text;
  });
}
