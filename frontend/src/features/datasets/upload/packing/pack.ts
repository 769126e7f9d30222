/** Packs of files as a browser has them: hashed piece by piece, sent as a blob that holds none of their bytes. No React. */
import { createBLAKE3, type IHasher } from 'hash-wasm';
import { utf8 } from './paths';
import { type Bytes, dataPadding, endBytes, memberHead } from './tar';

export interface Member {
  path: string;
  blob: Blob;
}

export interface PackedMember {
  path: string;
  /** The offset of its data in the pack. */
  offset: number;
  size: number;
  /** BLAKE3, in hex. */
  digest: string;
}

export interface PackSummary {
  digest: string;
  size: number;
  members: PackedMember[];
}

/** A file could not be read, or is not what it was when it was chosen. */
export class FileUnreadable extends Error {
  readonly path: string;

  constructor(path: string) {
    super(path);
    this.name = 'FileUnreadable';
    this.path = path;
  }
}

const PIECE_BYTES = 4 << 20;

async function* pieces({ path, blob }: Member): AsyncGenerator<Bytes> {
  for (let at = 0; at < blob.size; at += PIECE_BYTES) {
    let data: Bytes;
    try {
      data = new Uint8Array(await blob.slice(at, at + PIECE_BYTES).arrayBuffer());
    } catch {
      throw new FileUnreadable(path);
    }
    if (data.length !== Math.min(PIECE_BYTES, blob.size - at)) throw new FileUnreadable(path);
    yield data;
  }
}

interface Layout {
  member: Member;
  head: Bytes;
  offset: number;
  padding: number;
}

/** Heads, places and paddings of members in path order; `end` is where the members end. */
function layOut(members: readonly Member[]): { rows: Layout[]; end: number } {
  const rows: Layout[] = [];
  let end = 0;
  for (const member of members) {
    const head = memberHead(utf8(member.path), member.blob.size, end);
    const padding = dataPadding(member.blob.size);
    rows.push({ member, head, offset: end + head.length, padding });
    end += head.length + member.blob.size + padding;
  }
  return { rows, end };
}

/** The pack as a blob: the bytes of the files stay on the disk until they are sent. */
export function packBlob(members: readonly Member[]): Blob {
  const { rows, end } = layOut(members);
  const parts = rows.flatMap(({ head, member, padding }) => [head, member.blob, new Uint8Array(padding)]);
  return new Blob([...parts, new Uint8Array(endBytes(end))]);
}

/** Reads the files once and hashes each of them and the whole pack. Raises FileUnreadable. */
export async function hashPack(members: readonly Member[], onBytes?: (bytes: number) => void): Promise<PackSummary> {
  const [whole, one] = await Promise.all([createBLAKE3(), createBLAKE3()]);
  whole.init();
  const { rows, end } = layOut(members);
  const packed: PackedMember[] = [];
  for (const { member, head, offset, padding } of rows) {
    whole.update(head);
    const digest = await hashInto(one, member, (data) => {
      whole.update(data);
      onBytes?.(data.length);
    });
    whole.update(new Uint8Array(padding));
    packed.push({ path: member.path, offset, size: member.blob.size, digest });
  }
  whole.update(new Uint8Array(endBytes(end)));
  return { digest: whole.digest('hex'), size: end + endBytes(end), members: packed };
}

/** BLAKE3 of one file, in hex. Raises FileUnreadable. */
export async function hashFile(member: Member): Promise<string> {
  return hashInto(await createBLAKE3(), member);
}

async function hashInto(hasher: IHasher, member: Member, also?: (data: Bytes) => void): Promise<string> {
  hasher.init();
  for await (const data of pieces(member)) {
    hasher.update(data);
    also?.(data);
  }
  return hasher.digest('hex');
}
