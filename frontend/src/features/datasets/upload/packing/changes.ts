/** The file that tells the server what a push puts and deletes: an Arrow file of the columns of `sending.py`. */
import { type DataType, Int64, makeBuilder, Table, tableToIPC, Utf8, type Vector } from 'apache-arrow';

export interface Put {
  path: string;
  size: number;
  /** BLAKE3 of the file and of its pack, in hex. */
  digest: string;
  pack: string;
  offset: number;
  /** JSON; null where nothing is said. */
  attributes: string | null;
  /** The split that its folder names; null where none does. */
  split?: string | null;
}

interface Row extends Partial<Omit<Put, 'path'>> {
  op: 'put' | 'delete';
  path: string;
}

/** The bytes of the changes file. No path is both put and deleted. */
export function changesFile(puts: readonly Put[], deletes: readonly string[]): Uint8Array<ArrayBuffer> {
  const rows: Row[] = [
    ...puts.map((put) => ({ op: 'put' as const, ...put })),
    ...deletes.map((path) => ({ op: 'delete' as const, path })),
  ];
  const text = (of: (row: Row) => string | null | undefined) =>
    vectorOf(
      new Utf8(),
      rows.map((row) => of(row) ?? null),
    );
  const whole = (of: (row: Row) => number | undefined) =>
    vectorOf(
      new Int64(),
      rows.map((row) => {
        const value = of(row);
        return value === undefined ? null : BigInt(value);
      }),
    );
  const table = new Table({
    op: text(({ op }) => op),
    path: text(({ path }) => path),
    size: whole(({ size }) => size),
    digest: text(({ digest }) => digest),
    // The server knows the type by the name.
    media_type: text(() => null),
    attributes: text(({ attributes }) => attributes),
    pack: text(({ pack }) => pack),
    offset: whole(({ offset }) => offset),
    ...(puts.some(({ split }) => split) && { split: text(({ split }) => split) }),
  });
  return tableToIPC(table, 'file') as Uint8Array<ArrayBuffer>;
}

/** A vector as of `vectorFromArray`; that compiles a test for nulls from text, which the page's policy forbids. */
function vectorOf<T extends DataType>(type: T, values: readonly (T['TValue'] | null)[]): Vector<T> {
  const builder = makeBuilder<T>({ type });
  values.forEach((value, index) => {
    if (value === null) builder.setValid(index, false);
    else builder.set(index, value);
  });
  return builder.finish().toVector();
}
