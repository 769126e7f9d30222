import type { FieldCode } from '@/api/errors';
import { fieldWords, problemSentence } from '@/shared/domain/problemWords';
import type { DocumentProblem } from './documentTable';

/** One result of many that were sent at once. */
export interface Result {
  ok: boolean;
  code?: string;
  detail?: string;
  detail_code?: string;
  detail_params?: Record<string, unknown>;
  action?: string;
  errors?: Readonly<Record<string, readonly string[]>>;
  /** The same by codes, for other languages. */
  error_codes?: Readonly<Record<string, readonly FieldCode[]>>;
  places?: readonly { pointer: string; at: readonly number[] }[];
}

/** `document/objects/3/box` and `document.objects.3.box`: inside of the document, `objects/3/box`. */
export const pointerIn = (name: string): string => name.replace(/^document[/.]?/, '').replaceAll('.', '/');

/** The faults for which one document among many was refused. */
export function problemsOfResult({ ok, errors = {}, error_codes = {}, places = [] }: Result): DocumentProblem[] {
  if (ok) return [];
  const fields = Object.fromEntries(Object.entries(errors).map(([name, texts]) => [name, texts.join(' ')]));
  return Object.entries(fieldWords({ fields, fieldCodes: error_codes })).map(([name, text]) => {
    const [x, y] = places.find(({ pointer }) => pointer === name)?.at ?? [];
    const at: [number, number] | null = x === undefined || y === undefined ? null : [x, y];
    return { pointer: pointerIn(name), texts: [text], at };
  });
}

/** Why an entry of a batch was refused as a whole, and the next step; empty where the server does not say. */
export const refusalOf = ({ code, detail, action, ...rest }: Result): string =>
  code && detail ? problemSentence({ ...rest, code, detail, action: action ?? '' }) : '';
