/** The values of a tile of 16 bits, row by row, the channels of a pixel side by side. */
export interface DeepTile {
  width: number;
  height: number;
  channels: number;
  values: Uint16Array;
}

/** The least value that is black and the greatest that is white, by centre and width. */
export interface ValueWindow {
  centre: number;
  width: number;
}

const SIGNATURE_BYTES = 8;
const GREY = 0;
const RGB = 2;
const WHITE = 255;

export class DeepTileError extends Error {}

async function inflated(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Browsers keep only the upper 8 bits of such a file, so it is read here: rows without filter, as the server writes. */
export async function decodeDeepTile(file: ArrayBuffer): Promise<DeepTile> {
  const view = new DataView(file);
  const parts: Uint8Array[] = [];
  let [width, height, channels] = [0, 0, 1];
  for (let at = SIGNATURE_BYTES; at + 12 <= file.byteLength; ) {
    const length = view.getUint32(at);
    const kind = String.fromCharCode(...new Uint8Array(file, at + 4, 4));
    const begin = at + 8;
    if (kind === 'IHDR') {
      [width, height] = [view.getUint32(begin), view.getUint32(begin + 4)];
      const [bits, colour] = [view.getUint8(begin + 8), view.getUint8(begin + 9)];
      if (bits !== 16 || (colour !== GREY && colour !== RGB)) throw new DeepTileError('no tile of 16 bits');
      channels = colour === RGB ? 3 : 1;
    }
    if (kind === 'IDAT') parts.push(new Uint8Array(file, begin, length));
    at = begin + length + 4;
  }
  const data = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    data.set(part, end);
    end += part.length;
  }
  return { width, height, channels, values: valuesOf(await inflated(data), width, height, channels) };
}

function valuesOf(rows: Uint8Array, width: number, height: number, channels: number): Uint16Array {
  const across = width * channels;
  const stride = 1 + 2 * across;
  if (rows.length !== stride * height) throw new DeepTileError('the tile is cut off');
  const values = new Uint16Array(across * height);
  for (let row = 0; row < height; row++) {
    const start = row * stride;
    if (rows[start] !== 0) throw new DeepTileError('the rows of the tile are filtered');
    for (let index = 0, from = start + 1; index < across; index++, from += 2)
      values[row * across + index] = ((rows[from] as number) << 8) | (rows[from + 1] as number);
  }
  return values;
}

/** The brightness of each stored value; `zero` is the value that is stored as 0. */
export function tableOf({ centre, width }: ValueWindow, zero = 0): Uint8ClampedArray {
  const table = new Uint8ClampedArray(65536);
  const black = centre - width / 2 - zero;
  const scale = WHITE / Math.max(width, 1e-9);
  for (let value = 0; value < table.length; value++) table[value] = Math.round((value - black) * scale);
  return table;
}

/** Pixels as `ImageData` keeps them. */
export function pixelsOf({ channels, values }: DeepTile, table: Uint8ClampedArray, to: Uint8ClampedArray): void {
  const step = channels === 3 ? 1 : 0;
  for (let pixel = 0, from = 0; from < values.length; pixel += 4, from += channels) {
    to[pixel] = table[values[from] as number] as number;
    to[pixel + 1] = table[values[from + step] as number] as number;
    to[pixel + 2] = table[values[from + 2 * step] as number] as number;
    to[pixel + 3] = WHITE;
  }
}

/** The window that shows the whole range. */
export const windowOfRange = (low: number, high: number): ValueWindow => ({
  centre: (low + high) / 2,
  width: Math.max(1, high - low),
});
