import type { DocumentProblem } from './objectBench';

/** One result of many that were sent at once. */
export interface Result {
  ok: boolean;
  errors?: Readonly<Record<string, readonly string[]>>;
  places?: readonly { pointer: string; at: readonly number[] }[];
}

/** `document/objects/3/box` and `document.objects.3.box`: inside of the document, `objects/3/box`. */
export const pointerIn = (name: string): string => name.replace(/^document[/.]?/, '').replaceAll('.', '/');

/** The faults for which one document among many was refused. */
export function problemsOfResult({ ok, errors = {}, places = [] }: Result): DocumentProblem[] {
  if (ok) return [];
  return Object.entries(errors).map(([name, texts]) => {
    const [x, y] = places.find(({ pointer }) => pointer === name)?.at ?? [];
    const at: [number, number] | null = x === undefined || y === undefined ? null : [x, y];
    return { pointer: pointerIn(name), texts: [...texts], at };
  });
}
