import { deflateSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { type DeepTile, decodeDeepTile, pixelsOf, tableOf, windowOfRange } from './deepTile';
import { factorOf, levelOf, TileLayer, type TileSource, tilesIn } from './tiles';

const SOURCE: TileSource = {
  url: '/media/tiles/t/{level}/{x}_{y}',
  width: 20000,
  height: 12500,
  tile: 512,
  levels: 7,
  bits: 16,
  low: 0,
  high: 65535,
  zero: 0,
};

test('the level has a pixel for each pixel of the screen, and never more than twice as many', () => {
  for (const scale of [1, 0.51, 0.5, 0.26, 0.25, 0.1, 1 / 64]) {
    const shown = factorOf(SOURCE, levelOf(SOURCE, scale)) * scale;
    expect(shown).toBeLessThanOrEqual(1);
    expect(shown).toBeGreaterThan(0.5);
  }
  expect(levelOf(SOURCE, 8)).toBe(6);
  expect(levelOf(SOURCE, 1 / 1000)).toBe(0);
});

test('the tiles of a rectangle cover it and no more, those in its middle first', () => {
  const places = tilesIn(SOURCE, 6, [500, 0, 1600, 600]);
  expect(places).toHaveLength(5 * 2);
  expect(places[0]).toEqual({ level: 6, x: 2, y: 0 });
  expect(tilesIn(SOURCE, 6, [-900, -900, 100, 100])).toEqual([]);
  expect(tilesIn(SOURCE, 6, [19990, 12490, 500, 500])).toEqual([{ level: 6, x: 39, y: 24 }]);
});

/** A PNG of 16 bits in grey, as the server writes its tiles. */
function pngOf(width: number, height: number, values: readonly number[]): ArrayBuffer {
  const rows = Buffer.alloc(height * (1 + 2 * width));
  values.forEach((value, index) => {
    const row = Math.floor(index / width);
    rows.writeUInt16BE(value, row * (1 + 2 * width) + 1 + 2 * (index % width));
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(16, 8);
  const chunk = (kind: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(kind), data, Buffer.alloc(4)]);
  };
  const packed = deflateSync(rows);
  const half = packed.length >> 1;
  const file = Buffer.concat([
    Buffer.alloc(8),
    chunk('IHDR', header),
    chunk('IDAT', packed.subarray(0, half)),
    chunk('IDAT', packed.subarray(half)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
  return new Uint8Array(file).buffer;
}

test('a tile of 16 bits keeps each value', async () => {
  const values = [0, 1, 255, 256, 4095, 65535];
  const tile = await decodeDeepTile(pngOf(3, 2, values));
  expect([...tile.values]).toEqual(values);
  expect([tile.width, tile.height, tile.channels]).toEqual([3, 2, 1]);
});

test('a window makes black and white of its ends, in real values', () => {
  const tile: DeepTile = { width: 3, height: 1, channels: 1, values: Uint16Array.of(1000, 1500, 2000) };
  const shown = (table: Uint8ClampedArray) => {
    const pixels = new Uint8ClampedArray(12);
    pixelsOf(tile, table, pixels);
    return [pixels[0], pixels[4], pixels[8]];
  };
  expect(shown(tableOf(windowOfRange(1000, 2000)))).toEqual([0, 128, 255]);
  expect(shown(tableOf({ centre: 1500, width: 2 }))).toEqual([0, 128, 255]);
  // Signed pixels: what is stored as 0 means -32768.
  expect(shown(tableOf(windowOfRange(-31768, -30768), -32768))).toEqual([0, 128, 255]);
});

test('at most eight tiles are on their way, and those out of sight are given up', async () => {
  const asked: string[] = [];
  const given: string[] = [];
  const load = vi.fn((address: string, _: boolean, signal: AbortSignal) => {
    asked.push(address);
    signal.addEventListener('abort', () => given.push(address));
    return new Promise<never>(() => {});
  });
  const layer = new TileLayer(SOURCE, () => {}, load);
  const context = { save() {}, restore() {}, beginPath() {}, rect() {}, clip() {}, drawImage() {} };
  const paint = (x: number) => layer.paint(context as never, 1, [x, 0, 2048, 1024]);
  paint(0);
  expect(asked).toHaveLength(8);
  expect(asked[0]).toBe('/media/tiles/t/0/0_0');
  paint(10240);
  // The coarsest tile stays asked for: it stands in for all others.
  expect(given).toHaveLength(7);
  layer.dispose();
  expect(given).toContain('/media/tiles/t/0/0_0');
});
