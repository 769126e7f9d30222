import { utf8 } from './paths';
import { endBytes, memberBytes } from './tar';

export interface Sized {
  path: string;
  size: number;
}

export interface PackPlan<File extends Sized> {
  files: File[];
  /** The size of the future pack, to the byte. */
  bytes: number;
}

const MIB = 1 << 20;
/** Those of the command line: the same folder makes the same packs, whoever sends it. */
export const LIMITS = { target: 128 * MIB, own: 64 * MIB };

/** The packs of files that are sorted by their UTF-8 paths: the same files, the same packs. */
export function planPacks<File extends Sized>(files: readonly File[], limits = LIMITS): PackPlan<File>[] {
  const packs: PackPlan<File>[] = [];
  let members: File[] = [];
  let position = 0;
  const close = (held: File[], at: number) => packs.push({ files: held, bytes: at + endBytes(at) });
  for (const file of files) {
    const path = utf8(file.path);
    if (file.size >= limits.own) {
      close([file], memberBytes(path, file.size, 0));
      continue;
    }
    let length = memberBytes(path, file.size, position);
    if (members.length > 0 && position + length > limits.target) {
      close(members, position);
      [members, position] = [[], 0];
      length = memberBytes(path, file.size, 0);
    }
    members.push(file);
    position += length;
  }
  if (members.length > 0) close(members, position);
  return packs;
}

/** The size of a pack of these files, to the byte. */
export function packBytes(files: readonly Sized[]): number {
  const position = files.reduce((at, { path, size }) => at + memberBytes(utf8(path), size, at), 0);
  return position + endBytes(position);
}
