// Prints the gzip sizes that the gates speak of: initial JS, CSS, and each lazy chunk. Run after `npm run build`.
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const GATES_KB = { initialJs: 260, css: 40, lazyChunk: 80 };
const dist = new URL('../dist/', import.meta.url);
const gzKb = (name) => gzipSync(readFileSync(new URL(name, dist))).length / 1024;
const html = readFileSync(new URL('index.html', dist), 'utf8');
const initial = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map((match) => match[1]);
const sum = (names) => names.reduce((total, name) => total + gzKb(name), 0);

const initialJs = sum(initial.filter((name) => name.endsWith('.js')));
const css = sum(initial.filter((name) => name.endsWith('.css')));
const lazy = readdirSync(new URL('assets/', dist))
  .map((name) => `assets/${name}`)
  .filter((name) => name.endsWith('.js') && !initial.includes(name))
  .map((name) => ({ name, kb: gzKb(name) }))
  .sort((a, b) => b.kb - a.kb);

console.log(`initial js ${initialJs.toFixed(1)} KB gz (gate ${GATES_KB.initialJs})`);
console.log(`initial css ${css.toFixed(1)} KB gz (gate ${GATES_KB.css})`);
for (const { name, kb } of lazy.slice(0, 15)) console.log(`lazy ${kb.toFixed(1)} KB gz ${name}`);
const over = initialJs > GATES_KB.initialJs || css > GATES_KB.css || lazy.some(({ kb }) => kb > GATES_KB.lazyChunk);
if (over) {
  console.error('a size gate is exceeded');
  process.exit(1);
}
