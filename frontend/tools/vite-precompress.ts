import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const TEXT = /\.(js|css|html|svg|json)$/;
const MIN_BYTES = 1024;
const brotli = promisify(brotliCompress);
const gz = promisify(gzip);

async function compressFile(path: string): Promise<void> {
  const body = await readFile(path);
  if (body.length < MIN_BYTES) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  await Promise.all([
    brotli(body, { params }).then((out) => writeFile(`${path}.br`, out)),
    gz(body, { level: 9 }).then((out) => writeFile(`${path}.gz`, out)),
  ]);
}

/** Writes `.br` and `.gz` beside every text asset, so that the server never compresses on request. */
export function precompress(): Plugin {
  return {
    name: 'atom-precompress',
    apply: 'build',
    async writeBundle({ dir }) {
      if (!dir) return;
      const names = await readdir(dir, { recursive: true });
      await Promise.all(names.filter((name) => TEXT.test(name)).map((name) => compressFile(join(dir, name))));
    },
  };
}
