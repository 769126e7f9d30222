/** Hashes away from the page, which stays quick meanwhile: see `packer.ts`. */
import { changesFile } from './changes';
import { FileUnreadable, hashFile, hashPack } from './pack';
import type { Answer, Question } from './packer';

const post = (answer: Answer) => self.postMessage(answer);

async function answer({ id, ask }: Question): Promise<void> {
  const onBytes = (bytes: number) => post({ id, bytes });
  if (ask.what === 'pack') post({ id, done: await hashPack(ask.members, onBytes) });
  else if (ask.what === 'file') post({ id, done: await hashFile(ask.member) });
  else {
    const blob = new Blob([changesFile(ask.puts, ask.deletes)]);
    post({ id, done: { blob, digest: await hashFile({ path: '', blob }) } });
  }
}

self.onmessage = ({ data }: MessageEvent<Question>) => {
  answer(data).catch((error: unknown) => {
    const unreadable = error instanceof FileUnreadable ? error.path : undefined;
    post({ id: data.id, failed: String(error), unreadable });
  });
};
