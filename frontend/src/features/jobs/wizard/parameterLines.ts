/** JSON where it is JSON, else the text itself: as `-p` on the command line. */
function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A value so that it is read as it is: text that is JSON, or has line breaks, is in quotation marks. */
export const parameterText = (value: unknown): string =>
  typeof value === 'string' && read(value) === value && value.trim() === value && !value.includes('\n')
    ? value
    : JSON.stringify(value);

/** One NAME=VALUE a line. */
export const linesOfParameters = (parameters: Record<string, unknown>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${parameterText(value)}`)
    .join('\n');

/** The parameters of such lines; null where a line has no name or no value. */
export function parametersOfLines(lines: string): Record<string, unknown> | null {
  const given = lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const pairs = given.map((line) => [line.slice(0, Math.max(0, line.indexOf('='))).trim(), line] as const);
  if (pairs.some(([name]) => name === '')) return null;
  return Object.fromEntries(pairs.map(([name, line]) => [name, read(line.slice(line.indexOf('=') + 1).trim())]));
}
