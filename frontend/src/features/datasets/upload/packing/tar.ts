/** Tar headers of a pack: the same bytes as `atom_sdk.packs.tar` writes. Rules: `sdk/atom_sdk/packs/README.md`. */
import { utf8 } from './paths';

export type Bytes = Uint8Array<ArrayBuffer>;

const BLOCK = 512;
const ALIGNMENT = 4096;
const END_MARK = 2 * BLOCK;
const MAX_NAME = 100;
const MAX_OCTAL_SIZE = 0o77777777777;
const PAX_NAME = utf8('././@PaxHeader');
const SMALLEST_COMMENT = '12 comment=\n'.length;
const QUESTION_MARK = 0x3f;
const SPACE = 0x20;

/** `-value mod size`: how far it is to the next multiple. */
const gapTo = (size: number, value: number) => (size - (value % size)) % size;

export const dataPadding = (size: number): number => gapTo(BLOCK, size);

/** How many zero bytes end a pack after `position` bytes of members. */
export const endBytes = (position: number): number => END_MARK + gapTo(ALIGNMENT, position + END_MARK);

function ustarHeader(name: Bytes, size: number, type: string): Bytes {
  const block = new Uint8Array(BLOCK);
  const put = (at: number, text: string) => block.set(utf8(text), at);
  block.set(name, 0);
  put(100, '0000644\0');
  put(108, '0000000\0'.repeat(2));
  put(124, `${size.toString(8).padStart(11, '0')}\0`);
  put(136, '00000000000\0');
  // Its own eight bytes count as spaces.
  block.fill(SPACE, 148, 156);
  put(156, type);
  put(257, 'ustar\x0000');
  put(329, '0000000\0'.repeat(2));
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}

/** One record: its length, which counts itself, key, value, line feed. */
function paxRecord(key: string, value: Bytes): Bytes {
  const rest = key.length + value.length + 3;
  let length = rest + String(rest).length;
  if (String(length).length > String(rest).length) length += 1;
  return joined([utf8(`${length} ${key}=`), value, utf8('\n')]);
}

function commentRecord(length: number): Bytes {
  const start = `${length} comment=`;
  return utf8(`${start}${' '.repeat(length - start.length - 1)}\n`);
}

const isAscii = (bytes: Bytes) => bytes.every((byte) => byte < 0x80);

function records(path: Bytes, size: number): Bytes {
  const found: Bytes[] = [];
  if (path.length > MAX_NAME || !isAscii(path)) found.push(paxRecord('path', path));
  if (size > MAX_OCTAL_SIZE) found.push(paxRecord('size', utf8(String(size))));
  return joined(found);
}

/** Length of the pax body that aligns the data, 0 where no pax header is needed. */
function paxBodyBytes(recordsBytes: number, position: number): number {
  const gap = gapTo(ALIGNMENT, position + BLOCK);
  if (gap === 0 && recordsBytes === 0) return 0;
  let body = gap - BLOCK;
  while (body < recordsBytes + SMALLEST_COMMENT) body += ALIGNMENT;
  return body;
}

/** Header bytes of a member that starts at `position`; its data follows, aligned. */
export function memberHead(path: Bytes, size: number, position: number): Bytes {
  const given = records(path, size);
  const body = paxBodyBytes(given.length, position);
  const octalSize = size <= MAX_OCTAL_SIZE ? size : 0;
  const name = given.length > 0 ? path.slice(0, MAX_NAME).map((byte) => (byte < 0x80 ? byte : QUESTION_MARK)) : path;
  if (body === 0) return ustarHeader(name, octalSize, '0');
  const comment = commentRecord(body - given.length);
  return joined([ustarHeader(PAX_NAME, body, 'x'), given, comment, ustarHeader(name, octalSize, '0')]);
}

/** Length of head, data and padding of a member that starts at `position`. */
export function memberBytes(path: Bytes, size: number, position: number): number {
  const body = paxBodyBytes(records(path, size).length, position);
  return BLOCK + (body === 0 ? 0 : BLOCK + body) + size + dataPadding(size);
}

function joined(parts: readonly Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
