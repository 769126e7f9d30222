/** Says the details of problems in another language than the server's, by the texts that it makes them of. */

interface Template {
  text: string;
  pattern: RegExp;
  words: string;
}

/** Texts with `{}` for each value, and what they are in the language. */
type Texts = Readonly<Record<string, string>>;

const SPECIAL = /[.*+?^${}()|[\]\\]/g;
/** `{2}` is the second value as it is, `{2:w}` one that is said in words itself. */
const SLOT = /\{(\d+)(:w)?\}/g;

const lettersOf = (text: string) => text.replaceAll('{}', '').length;
const beginsWithValue = (text: string) => Number(text.startsWith('{}'));

/** Those with the most letters of their own first: they fit more closely than others. */
function templatesOf(texts: Texts): Template[] {
  return Object.entries(texts)
    .sort(([one], [other]) => lettersOf(other) - lettersOf(one))
    .map(([text, words]) => {
      const parts = text.split('{}').map((part) => part.replace(SPECIAL, '\\$&'));
      return { text, pattern: new RegExp(`^${parts.join('(.*?)')}$`, 's'), words };
    });
}

/** A value at the beginning takes in whatever stands before it: those texts are tried last. */
const bySentence = (texts: Texts) =>
  templatesOf(texts).sort((one, other) => beginsWithValue(one.text) - beginsWithValue(other.text));

/** A sentence by its code, and the values that it names; a value may be a sentence. */
export interface Sentence {
  code: string;
  params: Readonly<Record<string, unknown>>;
}

export type SayDetail = (detail: string, sentence?: Sentence) => string;

const NAMED = /\{(\w+)(:w)?\}/g;
const isSentence = (value: unknown): value is Sentence =>
  typeof value === 'object' && value !== null && 'code' in value && 'params' in value;

/** What says details in a language; a text that it does not know stays as it is. */
export function detailSayer(texts: Texts, values: Texts, sentences: Texts = {}): SayDetail {
  const templates = bySentence(texts);
  const ofValues = [...templatesOf(values), ...templates];
  const say = (text: string, known: Template[]): string => {
    for (const { pattern, words } of known) {
      const found = pattern.exec(text);
      if (found) {
        return words.replace(SLOT, (_, number: string, isSaid: string | undefined) => {
          const value = found[Number(number)] ?? '';
          // A value is shorter than what it stands in, so this ends.
          return isSaid ? say(value, ofValues) : value;
        });
      }
    }
    return text;
  };
  const saySentence = ({ code, params }: Sentence): string | undefined =>
    sentences[code]?.replace(NAMED, (_, name: string, isSaid: string | undefined) => {
      const value = params[name];
      if (isSentence(value)) return saySentence(value) ?? value.code;
      return isSaid ? say(String(value), ofValues) : String(value);
    });
  return (detail, sentence) => (sentence && saySentence(sentence)) ?? say(detail, templates);
}
