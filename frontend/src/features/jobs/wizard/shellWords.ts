const SAFE = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** Quotes a word for a POSIX shell. */
export function quoteWord(word: string): string {
  return SAFE.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export const joinWords = (words: readonly string[]): string => words.map(quoteWord).join(' ');

/** Splits a command line as a POSIX shell would, without expansions; null if a quote is left open. */
export function splitWords(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string;
    if (quote) {
      if (char === quote) quote = '';
      else if (char === '\\' && quote === '"' && /["\\$`]/.test(line[at + 1] ?? '')) word += line[++at] as string;
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (char === '\\' && at + 1 < line.length) {
      word = (word ?? '') + line[++at];
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + char;
  }
  if (quote) return null;
  if (word !== null) words.push(word);
  return words;
}
